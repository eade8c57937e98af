import { createPaymentToken } from '../../commands/payments/create-payment-token.ts'
import { newId } from '../../db/new-id.ts'
import { TEST_CARDS } from '../../test/support/cards.ts'
import { tokenBody } from '../../test/support/tokens.ts'
import type { Environment } from '../environment.ts'
import { startHelper } from '../helper.ts'
import { besideBaseline, type Metric, withCpu } from '../metric.ts'
import type { LoadJob, LoadResult } from '../processes/load.ts'
import type { TokenBaselineCalls } from '../processes/token-baseline.ts'
import { cpuSeconds, type Program, residentMegabytes } from '../program.ts'
import { percentile } from '../statistics.ts'
import type { ScenarioContext } from './scenario.ts'

const CLIENTS = 20
const ROUND = 5_000
const AIM = 0.4
const EXPIRING = 1_000
const ARMED = 5_000
const MINUTE = 60_000
/** Until the first expires: Temporal has every timer by then. Milliseconds. */
const LEAD = 45_000
const TIMEOUT = 300_000
const HELD = 'exists (select from payment_tokens where card_cipher is not null and expiration_time <= now())'

export async function tokens(context: ScenarioContext): Promise<Metric[]> {
  const environment = await context.environment()
  const made = await making(context, environment)
  // Wake-ups left by the creation would otherwise be armed as well.
  await environment.query(`delete from wake_ups where workflow = 'token-expiry'`)
  await environment.query('update payment_tokens set card_cipher = null')
  const worker = await environment.startWorker()
  await environment.drained(TIMEOUT)
  const memory = await armed(context, environment, worker)
  const lateness = await erasing(context, environment, worker)
  await worker.stop()
  return [made, ...lateness, memory]
}

async function making(
  { teardown, divisor, rounds, say }: ScenarioContext,
  environment: Environment,
): Promise<Metric> {
  const { databaseUrl, port, api, merchant, load, databaseCpu } = environment
  const baseline = startHelper<TokenBaselineCalls>('token-baseline.ts', teardown)
  const baselinePort = await baseline.call('listen', databaseUrl, 10_000)
  const body = JSON.stringify(tokenBody(TEST_CARDS.approves))
  const request = `POST /organizations/${merchant.organizationId}/tokens HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${merchant.publishableKey}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  const run = async (to: number, pid: number) => {
    const duration = ROUND / divisor
    const job: LoadJob = { port: to, clients: CLIENTS, duration, requests: [request], status: 201 }
    const work = (): Promise<LoadResult> => load.call('run', job, duration + 30_000)
    return await withCpu(
      { server: () => cpuSeconds(pid), database: databaseCpu },
      work,
      (result) => result.requests,
    )
  }
  const service: Awaited<ReturnType<typeof run>>[] = []
  const bare: typeof service = []
  await run(port, api.pid)
  await run(baselinePort, baseline.pid)
  for (let round = 1; round <= rounds; round += 1) {
    const one = await run(port, api.pid)
    const other = await run(baselinePort, baseline.pid)
    service.push(one)
    bare.push(other)
    say(
      `tokens ${round}/${rounds}: ${Math.round(one.result.rate)}/s, baseline ${Math.round(other.result.rate)}/s`,
    )
  }
  return {
    what: `POST tokens, ${CLIENTS} clients, API alone`,
    unit: '/s',
    service: service.map(({ result }) => result.rate),
    baseline: bare.map(({ result }) => result.rate),
    aim: AIM,
    beside: besideBaseline(service, bare),
    note: 'Publishable key looked up, worker stopped: token and wake-up are committed and wait. Baseline: bare Koa, AJV with the same schema, the same JWE, one insert into a table like that of tokens.',
  }
}

async function armed(
  { divisor, say }: ScenarioContext,
  environment: Environment,
  worker: Program,
): Promise<Metric> {
  const count = ARMED / divisor
  const pid = await environment.temporal.pid()
  const before = residentMegabytes(pid)
  await makeTokens(environment, count, (now) => now + 30 * MINUTE)
  await environment.drained(TIMEOUT)
  await environment.idle(worker, TIMEOUT)
  const after = residentMegabytes(pid)
  await environment.query('update payment_tokens set card_cipher = null')
  const each = before === null || after === null ? Number.NaN : ((after - before) * 1000) / count
  say(`tokens: ${each.toFixed(1)} MB of Temporal per 1,000 armed expiries`)
  return {
    what: 'memory of Temporal per 1,000 armed expiries',
    unit: 'MB',
    service: [each],
    baseline: [],
    aim: null,
    beside: { armed: count, 'before MB': before, 'after MB': after },
    note: 'Resident memory of the server process before and after; its caches and its garbage are part of it.',
  }
}

/** How late card data are erased of tokens that expire evenly over a minute. */
async function erasing(
  { divisor, say }: ScenarioContext,
  environment: Environment,
  worker: Program,
): Promise<Metric[]> {
  const count = EXPIRING / divisor
  const span = MINUTE / divisor
  await environment.query(`create table bench_erasures (late double precision not null)`)
  await environment.query(`create function bench_erased() returns trigger language plpgsql as $$ begin
    insert into bench_erasures values (extract(epoch from clock_timestamp() - new.expiration_time) * 1000);
    return null; end $$`)
  await environment.query(`create trigger bench_erased after update on payment_tokens for each row
    when (old.card_cipher is not null and new.card_cipher is null) execute function bench_erased()`)
  const start = await makeTokens(environment, count, (now, ordinal) => now + LEAD + (span * ordinal) / count)
  await environment.untilNot('exists (select from wake_ups)', TIMEOUT)
  await environment.idle(worker, TIMEOUT)
  if (Date.now() > start + LEAD) throw new Error('the first token expired before the last was made')
  await environment.untilNot('exists (select from payment_tokens where card_cipher is not null)', TIMEOUT)
  await environment.query('drop trigger bench_erased on payment_tokens')
  const rows = await environment.query<{ late: number }>('select late from bench_erasures')
  const late = rows.map((row) => row.late)
  const [left] = await environment.query<{ held: boolean }>(`select ${HELD} as held`)
  say(
    `tokens: erased ${percentile(late, 0.5).toFixed(0)} ms late, p99 ${percentile(late, 0.99).toFixed(0)} ms`,
  )
  return [
    {
      what: `lateness of erasure, ${count} tokens expiring in ${span / 1000} s`,
      unit: 'ms',
      service: [percentile(late, 0.5)],
      baseline: [],
      aim: null,
      beside: {
        'p50 ms': percentile(late, 0.5),
        'p99 ms': percentile(late, 0.99),
        'max ms': Math.max(...late),
        erased: late.length,
        'not erased': count - late.length + (left?.held === true ? 1 : 0),
      },
      note: 'From the expiration time to the statement that erases. The tokens are made by the benchmark with a short lifetime; nothing of the service is configured otherwise.',
    },
  ]
}

/** Creates tokens as the API does, but with their own expiry; returns the instant from which it counts. */
async function makeTokens(
  { command, vault, installation }: Environment,
  count: number,
  expirationTime: (now: number, ordinal: number) => number,
): Promise<number> {
  const start = Date.now()
  // Each adds to the name of the statement that writes them, of which PostgreSQL takes 63 characters.
  const batch = 2
  for (let made = 0; made < count; made += batch) {
    await command(async (unit) => {
      for (let ordinal = made; ordinal < Math.min(count, made + batch); ordinal += 1) {
        const token = await createPaymentToken(
          unit,
          { vault, installation, environment: 'sandbox' },
          newId('tok'),
          {
            method: 'payment-card',
            card: { pan: TEST_CARDS.approves, cvv: null, expMonth: 12, expYear: 2090 },
            billingAddress: null,
            riskMetadata: null,
            leadSource: null,
          },
        )
        token.expirationTime = new Date(expirationTime(start, ordinal))
        // Its execution sleeps until then.
        unit.wake('token-expiry', token.id, { dueBy: token.expirationTime })
      }
    })
  }
  return start
}

import { setTimeout as delay } from 'node:timers/promises'
import { orderBody } from '../../test/support/catalogue.ts'
import type { Environment } from '../environment.ts'
import { type Metric, medianKnown, withCpu } from '../metric.ts'
import type { LoadJob, LoadResult } from '../processes/load.ts'
import { cpuSeconds, type Program, residentMegabytes } from '../program.ts'
import { median, percentile } from '../statistics.ts'
import { placeOrders } from './create.ts'
import type { ScenarioContext } from './scenario.ts'

const PLACING = 20_000
const ARMED = 10_000
const TRANSITIONS = 1_000
const MINUTE = 60_000
/** From placing the last order to the first start. Milliseconds. */
const LEAD = 5_000
const YEAR = 365 * 24 * 3_600_000
const ROUND = 5_000
const READERS = 10
const READ = 100
const AIM = 0.5
const TIMEOUT = 300_000
const NOT_FOLLOWED = 'exists (select from wake_ups)'
const NOT_STARTED = `exists (select from subscriptions where status = 'pending' and start_time <= now() + interval '1 hour')`

export async function orders(context: ScenarioContext): Promise<Metric[]> {
  const environment = await context.environment()
  const expanding = await expanded(context, environment)
  const worker = await environment.startWorker()
  const placed = await placedAndStarted(context, environment)
  const memory = await armed(context, environment, worker)
  const minute = await transitions(context, environment, worker, {
    what: 'spread over a minute',
    at: (ordinal, count) => (MINUTE / context.divisor) * (ordinal / count),
  })
  const moment = await transitions(context, environment, worker, { what: 'due at one moment', at: () => 0 })
  const killed = await transitions(context, environment, worker, {
    what: 'spread over a minute, worker and Temporal killed in it',
    at: (ordinal, count) => (MINUTE / context.divisor) * (ordinal / count),
    async during() {
      await delay(MINUTE / context.divisor / 4)
      await worker.kill()
      await environment.temporal.killAndStart()
      return await environment.startWorker()
    },
  })
  await killed.worker?.stop()
  return [placed, ...memory, minute.metric, moment.metric, killed.metric, expanding]
}

async function placedAndStarted(
  { divisor, say }: ScenarioContext,
  environment: Environment,
): Promise<Metric> {
  await placeOrders(environment, environment.port, environment.api.pid, 1_000)
  await environment.untilNot(NOT_STARTED, TIMEOUT)
  const began = performance.now()
  const { result } = await placeOrders(environment, environment.port, environment.api.pid, PLACING / divisor)
  await environment.untilNot(NOT_STARTED, TIMEOUT)
  const seconds = (performance.now() - began) / 1000
  await environment.drained(TIMEOUT)
  say(
    `orders: ${Math.round(result.rate)} placed/s, ${Math.round(result.requests / seconds)} active and issued/s`,
  )
  return {
    what: 'orders placed, 20 clients, worker running',
    unit: '/s',
    service: [result.rate],
    baseline: [],
    aim: null,
    beside: {
      orders: result.requests,
      'p50 ms': result.p50,
      'p99 ms': result.p99,
      'active and issued/s': result.requests / seconds,
    },
    note: 'Priced, invoiced, event and wake-up in the transaction. Active and issued: from the first request to the last start, everything on the same cores.',
  }
}

/** Memory of worker and Temporal for orders whose next deadline is a year ahead. */
async function armed(
  { divisor, say }: ScenarioContext,
  environment: Environment,
  worker: Program,
): Promise<Metric[]> {
  const count = ARMED / divisor
  const pids = { temporal: await environment.temporal.pid(), worker: worker.pid }
  const before = { temporal: residentMegabytes(pids.temporal), worker: residentMegabytes(pids.worker) }
  await placeAt(environment, count, () => Date.now() + YEAR)
  await environment.drained(TIMEOUT)
  await environment.idle(worker, TIMEOUT)
  return (['temporal', 'worker'] as const).map((name) => {
    const [was, is] = [before[name], residentMegabytes(pids[name])]
    const each = was === null || is === null ? Number.NaN : ((is - was) * 1000) / count
    say(`orders: ${each.toFixed(1)} MB of the ${name} per 1,000 armed orders`)
    return {
      what: `memory of the ${name} per 1,000 armed orders`,
      unit: 'MB',
      service: [each],
      baseline: [],
      aim: null,
      beside: { armed: count, 'before MB': was, 'after MB': is },
      note: 'Resident memory of the process before and after; its caches and its garbage are part of it.',
    } as const
  })
}

interface Schedule {
  readonly what: string
  /** Milliseconds from the first start to the start of the order with that ordinal. */
  readonly at: (ordinal: number, count: number) => number
  /** Runs meanwhile and returns the worker that runs afterwards. */
  readonly during?: () => Promise<Program>
}

async function transitions(
  { divisor, say }: ScenarioContext,
  environment: Environment,
  running: Program,
  { what, at, during }: Schedule,
): Promise<{ metric: Metric; worker: Program | null }> {
  const count = TRANSITIONS / divisor
  const { ids, first } = await placeAhead(environment, running, count, (ordinal) => at(ordinal, count))
  await delay(Math.max(0, first - Date.now()))
  const worker = (await during?.()) ?? null
  await environment.untilNot(NOT_STARTED, TIMEOUT)
  const rows = await environment.query<{ late: number }>(
    `select extract(epoch from created_time - event_time)::double precision * 1000 as late from events
      where type = 'subscription-activated' and entity_id in (${ids.map((id) => `'${id}'`).join(', ')})`,
  )
  await environment.drained(TIMEOUT)
  const late = rows.map((row) => row.late)
  const [p50, p99] = [percentile(late, 0.5), percentile(late, 0.99)]
  say(`orders ${what}: ${p50.toFixed(0)} ms late, p99 ${p99.toFixed(0)} ms, ${count - late.length} missed`)
  return {
    worker,
    metric: {
      what: `lateness of ${count} starts ${what}`,
      unit: 'ms',
      service: [p50],
      baseline: [],
      aim: null,
      beside: {
        'p50 ms': p50,
        'p99 ms': p99,
        'max ms': Math.max(...late),
        missed: Math.max(0, count - late.length),
        'started twice': Math.max(0, late.length - count),
      },
      note:
        during === undefined
          ? 'From the start time to the transaction that activates. API, worker, Temporal and database share the cores.'
          : 'SIGKILL of both a quarter into the minute, both started again at once; what was due meanwhile counts from its own start time.',
    },
  }
}

/** Places orders that all start after the last is placed and its workflow waits, however long that takes. */
async function placeAhead(
  environment: Environment,
  worker: Program,
  count: number,
  at: (ordinal: number) => number,
): Promise<{ ids: string[]; first: number }> {
  for (let lead = LEAD + count * 40; ; lead *= 2) {
    const first = Date.now() + lead
    const ids = await placeAt(environment, count, (ordinal) => first + at(ordinal))
    await environment.untilNot(NOT_FOLLOWED, TIMEOUT)
    await environment.idle(worker, TIMEOUT)
    if (Date.now() + LEAD / 5 < first) return { ids, first }
    await environment.untilNot(NOT_STARTED, TIMEOUT)
    await environment.drained(TIMEOUT)
  }
}

async function placeAt(
  { merchant }: Environment,
  count: number,
  at: (ordinal: number) => number,
): Promise<string[]> {
  const ids: string[] = []
  let ordinal = 0
  const client = async (): Promise<void> => {
    while (ordinal < count) {
      const startTime = new Date(at(ordinal++)).toISOString()
      const { status, body } = await merchant.api.post('subscriptions', orderBody(merchant, { startTime }))
      if (status !== 201) throw new Error(`an order was refused: ${JSON.stringify(body)}`)
      ids.push(String(body.id))
    }
  }
  await Promise.all(Array.from({ length: 20 }, client))
  return ids
}

/** GET with the most common `expand`, beside the same GET without. */
async function expanded(
  { divisor, rounds, say }: ScenarioContext,
  environment: Environment,
): Promise<Metric> {
  const { port, api, merchant, load, placeOrder, databaseCpu } = environment
  const paths: string[] = []
  for (let order = 0; order < READ; order += 1) {
    paths.push(`/organizations/${merchant.organizationId}/subscriptions/${await placeOrder()}`)
  }
  const run = async (query: string) => {
    const requests = paths.map(
      (path) =>
        `GET ${path}${query} HTTP/1.1\r\nHost: 127.0.0.1\r\nSVC-APIKEY: ${merchant.secretKey}\r\n\r\n`,
    )
    const duration = ROUND / divisor
    const job: LoadJob = { port, clients: READERS, duration, requests, status: 200 }
    const work = (): Promise<LoadResult> => load.call('run', job, duration + 30_000)
    return await withCpu(
      { server: () => cpuSeconds(api.pid), database: databaseCpu },
      work,
      (result) => result.requests,
    )
  }
  const expand = '?expand=customer,website,recentInvoice'
  const service: Awaited<ReturnType<typeof run>>[] = []
  const bare: typeof service = []
  await run(expand)
  await run('')
  for (let round = 1; round <= rounds; round += 1) {
    const one = await run(expand)
    const other = await run('')
    service.push(one)
    bare.push(other)
    say(
      `expand ${round}/${rounds}: ${Math.round(one.result.rate)}/s, without ${Math.round(other.result.rate)}/s`,
    )
  }
  return {
    what: `GET subscriptions/{id}${expand}, ${READERS} clients`,
    unit: '/s',
    service: service.map(({ result }) => result.rate),
    baseline: bare.map(({ result }) => result.rate),
    aim: AIM,
    beside: {
      'p50 ms': median(service.map(({ result }) => result.p50)),
      'p99 ms': median(service.map(({ result }) => result.p99)),
      'without, p50 ms': median(bare.map(({ result }) => result.p50)),
      'without, p99 ms': median(bare.map(({ result }) => result.p99)),
      'CPU s/1000': medianKnown(service.map(({ cpu }) => cpu.server)),
      'without, CPU s/1000': medianKnown(bare.map(({ cpu }) => cpu.server)),
    },
    note: 'Worker stopped. Baseline: the same service, the same orders, without expand.',
  }
}

/** From an event to its receipt at a moderate rate, alone and beside hanging receivers. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Environment } from '../environment.ts'
import { startHelper } from '../helper.ts'
import type { Metric } from '../metric.ts'
import type { DeliverBaselineCalls } from '../processes/deliver-baseline.ts'
import { median, percentile } from '../statistics.ts'
import type { ScenarioContext } from './scenario.ts'

const PER_SECOND = 20
const ROUND_SECONDS = 15
/** Receivers that hang, their organizations, and the deliveries that wait for each. */
const HANGING = { receivers: 64, organizations: 3, deliveries: 50 }
const TIMEOUT = 120_000

export async function latency({
  environment,
  teardown,
  divisor,
  rounds,
  say,
}: ScenarioContext): Promise<Metric[]> {
  const running = await environment()
  const worker = await running.startWorker()
  await running.drained(TIMEOUT)
  const count = Math.max(10, (PER_SECOND * ROUND_SECONDS) / divisor)
  await paced(running, count)
  const baseline = startHelper<DeliverBaselineCalls>('deliver-baseline.ts', teardown)
  const source = { organizationId: running.merchant.organizationId, eventType: 'customer-created' }
  await baseline.call('load', { databaseUrl: running.databaseUrl, ...source }, 30_000)
  const bare = () =>
    baseline.call('paced', { url: running.receiverUrl, count, interval: 1_000 / PER_SECOND }, TIMEOUT)
  await bare()
  const silent = await running.receiver.call('hanging', HANGING.receivers, 10_000)

  const alone: number[][] = []
  const beside: number[][] = []
  const bareTimes: number[][] = []
  for (let round = 1; round <= rounds; round += 1) {
    alone.push(await paced(running, count))
    bareTimes.push(await bare())
    await hang(running, silent, round)
    beside.push(await paced(running, count))
    await endHanging(running)
    say(
      `latency ${round}/${rounds}: p50 ${formatted(alone, 0.5)} ms, p99 ${formatted(alone, 0.99)} ms, beside hanging ones p99 ${formatted(beside, 0.99)} ms`,
    )
  }
  await worker.stop()
  const of = (times: number[][], p: number): number[] => times.map((round) => percentile(round, p))
  const middle = (times: number[][], p: number): number => median(of(times, p))
  return [
    {
      what: `event to receipt at ${PER_SECOND}/s, p50`,
      unit: 'ms',
      service: of(alone, 0.5),
      baseline: of(bareTimes, 0.5),
      aim: null,
      beside: {
        'p95 ms': middle(alone, 0.95),
        'p99 ms': middle(alone, 0.99),
        'baseline p95 ms': middle(bareTimes, 0.95),
        'baseline p99 ms': middle(bareTimes, 0.99),
      },
      note: 'From the beginning of the transaction that writes the event (POST customers) to the receiver having read it. Baseline: signing (RS256) and posting the same bytes at the same pace, until answered.',
    },
    {
      what: `the same beside ${HANGING.receivers} receivers of ${HANGING.organizations} organizations that hang, p99`,
      unit: 'ms',
      service: of(beside, 0.99),
      baseline: of(alone, 0.99),
      aim: null,
      beside: { 'p50 ms': middle(beside, 0.5), 'alone p50 ms': middle(alone, 0.5) },
      note: `Each of them has ${HANGING.deliveries} deliveries waiting, none of which it answers. Baseline: its own p99 alone, of the same round. Wanted: at most twice that.`,
    },
  ]
}

/** Creates customers at the rate, and returns the milliseconds from each one's event to its receipt. */
export async function paced(
  { merchant, receiver, query }: Environment,
  count: number,
  perSecond = PER_SECOND,
): Promise<number[]> {
  await receiver.call('reset', null, 5_000)
  const started = performance.now()
  const ids = await Promise.all(
    Array.from({ length: count }, async (_, ordinal) => {
      await delay(Math.max(0, started + (ordinal * 1_000) / perSecond - performance.now()))
      const { status, body } = await merchant.api.post('customers', { firstName: 'Ada' })
      if (status !== 201) throw new Error(`a customer was refused: ${JSON.stringify(body)}`)
      return String(body.id)
    }),
  )
  await receiver.call('until', count, TIMEOUT)
  const arrivals = await receiver.call('arrivals', null, 10_000)
  const events = await query<{ id: string; created_time: string }>(
    'select id, created_time from events where organization_id = $1 and entity_id = any($2)',
    [merchant.organizationId, ids],
  )
  return events.map(
    ({ id, created_time: time }) => (arrivals.get(id) ?? Number.NaN) - new Date(time).getTime(),
  )
}

async function hang({ query, merchant }: Environment, urls: readonly string[], round: number): Promise<void> {
  const organization = `'org_hanging_' || (number % ${HANGING.organizations})`
  await query(
    `insert into webhooks (organization_id, id, url, method, events_filter, status, revision, created_time, updated_time)
     select ${organization}, 'wh_${round}_' || number, url, 'POST', '[]', 'active', 1, now(), now()
       from unnest($1::text[]) with ordinality as given (url, number)`,
    [urls],
  )
  await query(
    `insert into events (organization_id, id, type, entity_id, event_time, payload, created_time, position)
     select ${organization}, 'evt_${round}', type, entity_id, event_time, payload, created_time, position
       from generate_series(0, ${HANGING.organizations - 1}) as number
      cross join (select * from events where organization_id = $1 limit 1) as event`,
    [merchant.organizationId],
  )
  await query(
    `insert into deliveries (organization_id, id, event_id, webhook_id, status, created_time)
     select organization_id, id || '_' || number, 'evt_${round}', id, 'waiting', now()
       from webhooks cross join generate_series(1, ${HANGING.deliveries}) as number
      where organization_id like 'org_hanging_%'`,
  )
  await query("select pg_notify('billing_delivery', '')")
  const isAttempted =
    "select 1 from deliveries where webhook_id like 'wh_%' and lease_owner is not null limit 1"
  while ((await query(isAttempted)).length === 0) await delay(20)
}

async function endHanging({ query }: Environment): Promise<void> {
  for (const table of ['deliveries', 'webhooks', 'events']) {
    await query(`delete from ${table} where organization_id like 'org_hanging_%'`)
  }
}

function formatted(times: readonly number[][], p: number): string {
  return percentile(times.at(-1) ?? [], p).toFixed(1)
}

/** Deliveries in the schedule of retries: what they cost while they wait, and how late they are retried. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Environment } from '../environment.ts'
import type { Metric } from '../metric.ts'
import { residentMegabytes } from '../program.ts'
import { percentile } from '../statistics.ts'
import type { ScenarioContext } from './scenario.ts'

const WAITING = 10_000
const DUE = 1_000
const MINUTE = 60_000
const TIMEOUT = 600_000

export async function waiting({ environment, divisor, say }: ScenarioContext): Promise<Metric[]> {
  const running = await environment()
  const worker = await running.startWorker()
  await running.drained(TIMEOUT)
  const temporalPid = await running.temporal.pid()
  const memory = () => ({
    temporal: residentMegabytes(temporalPid),
    worker: residentMegabytes(worker.pid),
  })
  const before = memory()
  const count = WAITING / divisor
  const due = DUE / divisor
  const webhookId = await failingWebhook(running)
  say(`waiting: ${count} deliveries get their timers`)
  const armedIn = await arm(running, webhookId, count)
  await running.idle(worker, TIMEOUT)
  const after = memory()
  say(`waiting: armed in ${Math.round(armedIn)} s; ${due} of them come due within a minute`)
  const lateness = await come(running, webhookId, due)
  await worker.stop()
  const perThousand = (name: 'temporal' | 'worker'): number | null =>
    before[name] === null || after[name] === null ? null : ((after[name] - before[name]) * 1_000) / count
  return [
    {
      what: `lateness of ${due} retries that come due within a minute, ${count} waiting`,
      unit: 'ms',
      service: [percentile(lateness, 0.5)],
      baseline: [],
      aim: null,
      beside: {
        'p95 ms': percentile(lateness, 0.95),
        'p99 ms': percentile(lateness, 0.99),
        'max ms': Math.max(...lateness),
        'temporal MB per 1,000 waiting': perThousand('temporal'),
        'worker MB per 1,000 waiting': perThousand('worker'),
        'timers armed/s': count / armedIn,
      },
      note: 'From the time a retry is due to the beginning of its attempt. Each waiting delivery is a workflow with a durable timer.',
    },
  ]
}

async function failingWebhook({ merchant, receiverUrl }: Environment): Promise<string> {
  const url = new URL('/fail', receiverUrl).href
  const made = await merchant.api.post('webhooks', { url, eventsFilter: ['kyc-request-failed'] })
  if (made.status !== 201) throw new Error(`a webhook was refused: ${JSON.stringify(made.body)}`)
  return String(made.body.id)
}

/** Schedules retries a day before they are due, and returns the seconds until each has its timer. */
async function arm(
  { query, drained: drain, merchant }: Environment,
  webhookId: string,
  count: number,
): Promise<number> {
  const { organizationId } = merchant
  await query(
    `with event as (
       insert into events (organization_id, id, type, entity_id, event_time, payload, created_time, position)
       select $1, 'evt_waiting_' || number, 'kyc-request-failed', 'waiting', now(), '{"eventType":"kyc-request-failed"}', now(), 0
         from generate_series(1, $3::int) as number
       returning id
     ), delivery as (
       insert into deliveries (organization_id, id, event_id, webhook_id, status, attempts, next_attempt_time, created_time)
       select $1, 'dlv_' || id, id, $2, 'retrying', 1, now() + interval '1 day', now() from event
       returning id, next_attempt_time
     )
     insert into wake_ups (workflow, organization_id, record_id, starts, due_by)
     select 'webhook-delivery', $1, id, true, next_attempt_time from delivery`,
    [organizationId, webhookId, count],
  )
  const started = performance.now()
  await drain(TIMEOUT)
  return (performance.now() - started) / 1_000
}

/** Makes some of them due within a minute, and returns by how many milliseconds each was late. */
async function come({ query, merchant }: Environment, webhookId: string, count: number): Promise<number[]> {
  const { organizationId } = merchant
  // Far enough ahead for every execution to learn of its new time before.
  const ahead = 20_000 + count * 30
  await query(
    `with chosen as (
       select id, row_number() over (order by id) as ordinal from deliveries
        where organization_id = $1 and webhook_id = $2 order by id limit $3
     ), moved as (
       update deliveries set next_attempt_time = now() + ($4 + chosen.ordinal * ${MINUTE} / $3) * interval '1 millisecond'
         from chosen where deliveries.organization_id = $1 and deliveries.id = chosen.id
       returning deliveries.id, deliveries.next_attempt_time
     ), remembered as (
       insert into events (organization_id, id, type, entity_id, event_time, payload, created_time, position)
       select $1, 'due_' || id, 'kyc-request-failed', id, next_attempt_time, '{}', now(), 0 from moved
     )
     insert into wake_ups (workflow, organization_id, record_id, due_by)
     select 'webhook-delivery', $1, id, next_attempt_time from moved`,
    [organizationId, webhookId, count, ahead],
  )
  const until = Date.now() + ahead + MINUTE + TIMEOUT
  for (;;) {
    const rows = await query<{ late: number }>(
      `select extract(epoch from attempt.initiated_time - due.event_time)::float8 * 1000 as late
         from delivery_attempts attempt join events due
           on due.organization_id = attempt.organization_id and due.id = 'due_' || attempt.delivery_id
        where attempt.organization_id = $1 and attempt.attempt = 2`,
      [organizationId],
    )
    if (rows.length === count) return rows.map(({ late }) => late)
    if (Date.now() > until) throw new Error(`only ${rows.length} of ${count} retries came`)
    await delay(500)
  }
}

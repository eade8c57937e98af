/** From an event to its receipt at an easy pace, alone and beside a receiver that hangs with a backlog of its own. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Figure } from '../figure.ts'
import { startHelper } from '../helper.ts'
import type { DeliverFloorCalls } from '../processes/deliver-floor.ts'
import { median, percentile } from '../statistics.ts'
import type { World } from '../world.ts'
import type { PartContext } from './part.ts'

const PER_SECOND = 20
const ROUND_SECONDS = 15
/** Deliveries that wait for the receiver that hangs. */
const HANGING = 1_000
const PATIENCE = 120_000

export async function latency({ world, teardown, divisor, rounds, say }: PartContext): Promise<Figure[]> {
  const running = await world()
  const worker = await running.startWorker()
  await running.quiet(PATIENCE)
  const count = Math.max(10, (PER_SECOND * ROUND_SECONDS) / divisor)
  await paced(running, count)
  const floor = startHelper<DeliverFloorCalls>('deliver-floor.ts', teardown)
  const source = { organizationId: running.merchant.organizationId, eventType: 'customer-created' }
  await floor.call('load', { databaseUrl: running.databaseUrl, ...source }, 30_000)
  const bare = () =>
    floor.call('paced', { url: running.receiverUrl, count, interval: 1_000 / PER_SECOND }, PATIENCE)
  await bare()

  const alone: number[][] = []
  const beside: number[][] = []
  const bareTimes: number[][] = []
  for (let round = 1; round <= rounds; round += 1) {
    alone.push(await paced(running, count))
    bareTimes.push(await bare())
    const hanging = await hangingReceiver(running, HANGING / divisor)
    beside.push(await paced(running, count))
    await hanging.end()
    say(
      `latency ${round}/${rounds}: p50 ${told(alone, 0.5)} ms, p99 ${told(alone, 0.99)} ms, beside a hanging one p99 ${told(beside, 0.99)} ms`,
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
      floor: of(bareTimes, 0.5),
      aim: null,
      beside: {
        'p95 ms': middle(alone, 0.95),
        'p99 ms': middle(alone, 0.99),
        'floor p95 ms': middle(bareTimes, 0.95),
        'floor p99 ms': middle(bareTimes, 0.99),
      },
      note: 'From the beginning of the transaction that writes the event (POST customers) to the receiver having read it. Floor: signing (RS256) and posting the same bytes at the same pace, until answered.',
    },
    {
      what: `the same beside a receiver that hangs with ${HANGING / divisor} deliveries waiting, p99`,
      unit: 'ms',
      service: of(beside, 0.99),
      floor: of(alone, 0.99),
      aim: null,
      beside: { 'p50 ms': middle(beside, 0.5), 'alone p50 ms': middle(alone, 0.5) },
      note: 'Floor: its own p99 alone, of the same round. Wanted: at most twice that.',
    },
  ]
}

/** Makes customers at the pace, and gives the milliseconds from each one's event to its receipt. */
async function paced({ merchant, receiver, query }: World, count: number): Promise<number[]> {
  await receiver.call('reset', null, 5_000)
  const started = performance.now()
  const ids = await Promise.all(
    Array.from({ length: count }, async (_, turn) => {
      await delay(Math.max(0, started + (turn * 1_000) / PER_SECOND - performance.now()))
      const { status, body } = await merchant.api.post('customers', { firstName: 'Ada' })
      if (status !== 201) throw new Error(`a customer was refused: ${JSON.stringify(body)}`)
      return String(body.id)
    }),
  )
  await receiver.call('until', count, PATIENCE)
  const arrivals = await receiver.call('arrivals', null, 10_000)
  const events = await query<{ id: string; created_time: string }>(
    'select id, created_time from events where organization_id = $1 and entity_id = any($2)',
    [merchant.organizationId, ids],
  )
  return events.map(
    ({ id, created_time: time }) => (arrivals.get(id) ?? Number.NaN) - new Date(time).getTime(),
  )
}

/** A second webhook whose receiver never answers, with events waiting for it that the first has received already. */
async function hangingReceiver(
  { merchant, receiverUrl, command, query }: World,
  events: number,
): Promise<{ end(): Promise<void> }> {
  const url = new URL('/hang', receiverUrl).href
  const made = await merchant.api.post('webhooks', { url, eventsFilter: ['dispute-created'] })
  if (made.status !== 201) throw new Error(`a webhook was refused: ${JSON.stringify(made.body)}`)
  await command(async (unit) => {
    for (let event = 0; event < events; event += 1) {
      unit.emit({
        type: 'dispute-created',
        time: unit.now,
        websiteId: null,
        ids: { disputeId: 'dp_bench', transactionId: 'txn_bench' },
        embedded: {},
        links: [],
      })
    }
  })
  const others = async (): Promise<boolean> =>
    (
      await query("select 1 from deliveries where status = 'waiting' and webhook_id <> $1 limit 1", [
        made.body.id,
      ])
    ).length > 0
  while (await others()) await delay(20)
  return {
    async end() {
      await merchant.api.send('DELETE', `webhooks/${made.body.id}`)
    },
  }
}

function told(times: readonly number[][], p: number): string {
  return percentile(times.at(-1) ?? [], p).toFixed(1)
}

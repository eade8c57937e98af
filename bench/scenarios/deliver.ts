/** Draining a backlog of events committed at once, beside a bare loop that signs and posts the same bytes. */
import { Subscription } from '../../db/entities/index.ts'
import { subscriptionEvent } from '../../events/order-events.ts'
import type { Environment } from '../environment.ts'
import { startHelper } from '../helper.ts'
import { type Metric, medianKnown, withCpu } from '../metric.ts'
import type { DeliverBaselineCalls } from '../processes/deliver-baseline.ts'
import { cpuSeconds } from '../program.ts'
import { median } from '../statistics.ts'
import type { ScenarioContext } from './scenario.ts'

const EVENTS = 5_000
const CONCURRENCY = 64
const AIM = 0.6
const TIMEOUT = 120_000

export async function deliver({
  environment,
  teardown,
  divisor,
  rounds,
  say,
}: ScenarioContext): Promise<Metric[]> {
  const running = await environment()
  const { databaseUrl, merchant, receiver, receiverUrl, drained: drain, databaseCpu } = running
  const events = EVENTS / divisor
  const worker = await running.startWorker()
  const orderId = await running.placeOrder()
  await drain(TIMEOUT)
  await drained(running, events, await commitEvents(running, orderId, events))
  const baseline = startHelper<DeliverBaselineCalls>('deliver-baseline.ts', teardown)
  await baseline.call(
    'load',
    { databaseUrl, organizationId: merchant.organizationId, eventType: 'subscription-activated' },
    30_000,
  )
  const bareLoop = (): Promise<number> =>
    baseline.call('run', { url: receiverUrl, count: events, concurrency: CONCURRENCY }, TIMEOUT)
  await bareLoop()

  const service: { result: Drained; cpu: Record<'worker' | 'receiver' | 'database', number | null> }[] = []
  const bare: { result: number; cpu: Record<'loop', number | null> }[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const committed = await commitEvents(running, orderId, events)
    const one = await withCpu(
      {
        worker: () => cpuSeconds(worker.pid),
        receiver: () => cpuSeconds(receiver.pid),
        database: databaseCpu,
      },
      () => drained(running, events, committed),
      () => events,
    )
    const other = await withCpu({ loop: () => cpuSeconds(baseline.pid) }, bareLoop, () => events)
    service.push(one)
    bare.push(other)
    say(
      `deliver ${round}/${rounds}: ${Math.round(events / one.result.recorded)}/s, baseline ${Math.round(events / other.result)}/s`,
    )
  }
  await worker.stop()
  return [
    {
      what: `deliveries of ${events} events`,
      unit: '/s',
      service: service.map(({ result }) => events / result.recorded),
      baseline: bare.map(({ result }) => events / result),
      aim: AIM,
      beside: {
        'received/s': median(service.map(({ result }) => events / result.received)),
        'worker CPU s/1000': medianKnown(service.map(({ cpu }) => cpu.worker)),
        'with database CPU s/1000': medianKnown(service.map(({ cpu }) => cpu.database)),
        'baseline CPU s/1000': medianKnown(bare.map(({ cpu }) => cpu.loop)),
        'receiver CPU s/1000': medianKnown(service.map(({ cpu }) => cpu.receiver)),
      },
      note: `One webhook, ${CONCURRENCY} attempts at once; from the commit of all events to the last outcome recorded. Baseline: sign RS256, post, same bytes, same receiver, ${CONCURRENCY} at once, nothing recorded.`,
    },
  ]
}

/** Seconds from the commit of the events. */
interface Drained {
  readonly received: number
  readonly recorded: number
}

/** Writes the events in one transaction, as a large command would, and returns the time of the commit. */
async function commitEvents(
  { command, receiver }: Environment,
  orderId: string,
  events: number,
): Promise<number> {
  await receiver.call('reset', null, 5_000)
  await command(async (unit) => {
    const { em, organizationId, now, baseUrl } = unit
    const order = await em.findOneOrFail(Subscription, { organizationId, id: orderId })
    for (let event = 0; event < events; event += 1) {
      unit.emit(subscriptionEvent(order, 'subscription-activated', now, baseUrl))
    }
  })
  return performance.now()
}

async function drained(
  { receiver, recorded }: Environment,
  events: number,
  committed: number,
): Promise<Drained> {
  await receiver.call('until', events, TIMEOUT)
  const received = performance.now()
  await recorded(TIMEOUT)
  return { received: (received - committed) / 1000, recorded: (performance.now() - committed) / 1000 }
}

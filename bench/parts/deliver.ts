/** Draining a backlog of events committed at once, beside a bare loop that signs and posts the same bytes. */
import { Subscription } from '../../db/entities/index.ts'
import { subscriptionEvent } from '../../events/order-events.ts'
import { type Figure, medianKnown, withCpu } from '../figure.ts'
import { startHelper } from '../helper.ts'
import type { DeliverFloorCalls } from '../processes/deliver-floor.ts'
import { cpuSeconds } from '../program.ts'
import { median } from '../statistics.ts'
import type { World } from '../world.ts'
import type { PartContext } from './part.ts'

const EVENTS = 5_000
/** What the dispatcher gives one webhook at once. */
const CONCURRENCY = 64
const AIM = 0.6
const PATIENCE = 120_000

export async function deliver({ world, teardown, divisor, rounds, say }: PartContext): Promise<Figure[]> {
  const running = await world()
  const { databaseUrl, merchant, receiver, receiverUrl, quiet, databaseCpu } = running
  const events = EVENTS / divisor
  const worker = await running.startWorker()
  const orderId = await running.placeOrder()
  await quiet(PATIENCE)
  await drained(running, events, await commitEvents(running, orderId, events))
  const floor = startHelper<DeliverFloorCalls>('deliver-floor.ts', teardown)
  await floor.call(
    'load',
    { databaseUrl, organizationId: merchant.organizationId, eventType: 'subscription-activated' },
    30_000,
  )
  const bareLoop = (): Promise<number> =>
    floor.call('run', { url: receiverUrl, count: events, concurrency: CONCURRENCY }, PATIENCE)
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
    const other = await withCpu({ loop: () => cpuSeconds(floor.pid) }, bareLoop, () => events)
    service.push(one)
    bare.push(other)
    say(
      `deliver ${round}/${rounds}: ${Math.round(events / one.result.recorded)}/s, floor ${Math.round(events / other.result)}/s`,
    )
  }
  await worker.stop()
  return [
    {
      what: `deliveries of ${events} events`,
      unit: '/s',
      service: service.map(({ result }) => events / result.recorded),
      floor: bare.map(({ result }) => events / result),
      aim: AIM,
      beside: {
        'received/s': median(service.map(({ result }) => events / result.received)),
        'worker CPU s/1000': medianKnown(service.map(({ cpu }) => cpu.worker)),
        'with database CPU s/1000': medianKnown(service.map(({ cpu }) => cpu.database)),
        'floor CPU s/1000': medianKnown(bare.map(({ cpu }) => cpu.loop)),
        'receiver CPU s/1000': medianKnown(service.map(({ cpu }) => cpu.receiver)),
      },
      note: `One webhook, ${CONCURRENCY} attempts at once; from the commit of all events to the last outcome recorded. Floor: sign RS256, post, same bytes, same receiver, ${CONCURRENCY} at once, nothing recorded.`,
    },
  ]
}

/** Seconds from the commit of events to the last one received and to the last outcome recorded. */
interface Drained {
  readonly received: number
  readonly recorded: number
}

/** Writes the events in one transaction, as one command that changes much would, and says when it was committed. */
async function commitEvents({ command, receiver }: World, orderId: string, events: number): Promise<number> {
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

/** Waits for what was committed. */
async function drained({ receiver, recorded }: World, events: number, committed: number): Promise<Drained> {
  await receiver.call('until', events, PATIENCE)
  const received = performance.now()
  await recorded(PATIENCE)
  return { received: (received - committed) / 1000, recorded: (performance.now() - committed) / 1000 }
}

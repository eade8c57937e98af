/** Draining a backlog of events committed at once, beside a bare loop that signs and posts the same bytes. */
import { Subscription } from '../../db/entities/index.ts'
import { subscriptionEvent } from '../../db/subscription-events.ts'
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
  const { databaseUrl, merchant, receiver, receiverUrl, quiet } = running
  const events = EVENTS / divisor
  const worker = await running.startWorker()
  const orderId = await running.placeOrder()
  await quiet(PATIENCE)
  await drain(running, orderId, events)
  const floor = startHelper<DeliverFloorCalls>('deliver-floor.ts', teardown)
  await floor.call(
    'load',
    { databaseUrl, organizationId: merchant.organizationId, eventType: 'subscription-activated' },
    30_000,
  )
  const bareLoop = (): Promise<number> =>
    floor.call('run', { url: receiverUrl, count: events, concurrency: CONCURRENCY }, PATIENCE)
  await bareLoop()

  const seconds: { service: number; toReceiver: number; bare: number }[] = []
  const cpu: { worker: number | null; bare: number | null; receiver: number | null }[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const receiverBefore = cpuSeconds(receiver.pid)
    const drained = await withCpu(
      worker.pid,
      () => drain(running, orderId, events),
      () => events,
    )
    const receiverAfter = cpuSeconds(receiver.pid)
    const bare = await withCpu(floor.pid, bareLoop, () => events)
    seconds.push({ ...drained.result, bare: bare.result })
    cpu.push({
      worker: drained.cpu,
      bare: bare.cpu,
      receiver:
        receiverBefore === null || receiverAfter === null
          ? null
          : ((receiverAfter - receiverBefore) * 1000) / events,
    })
    say(
      `deliver ${round}/${rounds}: ${Math.round(events / drained.result.service)}/s, floor ${Math.round(events / bare.result)}/s`,
    )
  }
  await worker.stop()
  return [
    {
      what: `deliveries of ${events} events`,
      unit: '/s',
      service: seconds.map(({ service }) => events / service),
      floor: seconds.map(({ bare }) => events / bare),
      aim: AIM,
      beside: {
        'received/s': median(seconds.map(({ toReceiver }) => events / toReceiver)),
        'worker CPU s/1000': medianKnown(cpu.map(({ worker }) => worker)),
        'floor CPU s/1000': medianKnown(cpu.map(({ bare }) => bare)),
        'receiver CPU s/1000': medianKnown(cpu.map(({ receiver }) => receiver)),
      },
      note: `One webhook, ${CONCURRENCY} attempts at once; from the commit of all events to the last outcome recorded. Floor: sign RS256, post, same bytes, same receiver, ${CONCURRENCY} at once, nothing recorded.`,
    },
  ]
}

/** Commits the events and gives the seconds from there until all were received and until all outcomes were recorded. */
async function drain(
  { command, receiver, recorded }: World,
  orderId: string,
  events: number,
): Promise<{ service: number; toReceiver: number }> {
  await receiver.call('reset', null, 5_000)
  await command(async (unit) => {
    const { em, organizationId, now, baseUrl } = unit
    const order = await em.findOneOrFail(Subscription, { organizationId, id: orderId })
    for (let event = 0; event < events; event += 1) {
      unit.emit(subscriptionEvent(order, 'subscription-activated', now, baseUrl))
    }
  })
  const committed = performance.now()
  await receiver.call('until', events, PATIENCE)
  const received = performance.now()
  await recorded(PATIENCE)
  return {
    service: (performance.now() - committed) / 1000,
    toReceiver: (received - committed) / 1000,
  }
}

/**
 * The dispatcher: makes first attempts as soon as their events are committed.
 *
 * It takes and sends a bounded number per webhook, few at first and more as answers come quickly, so that a receiver that
 * hangs holds up its own deliveries and nobody else's; outcomes go back in batches.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { nextAttemptTime } from '../billing/retry-schedule.ts'
import {
  type Attempt,
  type AttemptDependencies,
  attemptDelivery,
  type DueDelivery,
} from '../delivery/attempt.ts'
import { recordOutcomes, releaseDeliveries, takeDueDeliveries, takeResends } from '../delivery/queue.ts'
import { startLoop } from './loop.ts'

/** Attempts under way at once, over all webhooks. */
const MAX_IN_FLIGHT = 256
/** Attempts under way at once per webhook: where it begins, how far quick answers raise it, where slow ones leave it. */
const FIRST_SLOTS = 16
const MOST_SLOTS = 64
const FEWEST_SLOTS = 4
/** An answer that takes longer than this, in milliseconds, is slow. */
const SLOW = 2_000
/** Deliveries taken ahead of their slots, as a multiple of them: the next query runs while these are sent. */
const AHEAD = 6
/** Taking is worth a query when at least this many more can be held. */
const WORTH_TAKING = 32
/** Attempts that were asked for, taken at once. */
const MAX_RESENDS = 16
/**
 * A delivery that has waited this long for a slot, in milliseconds, is given back and read anew: what its webhook has
 * become meanwhile has to hold, and its attempt has to end before its lease does.
 */
const LONGEST_HOLD = 1_000
/** Outcomes are gathered this long, in milliseconds, or until there are this many, before they are recorded. */
const GATHER = 20
const GATHER_COUNT = 128
const POLL = 1_000

export interface DispatcherOptions {
  readonly em: () => EntityManager
  readonly attempts: AttemptDependencies
  readonly log: Logger
  /** Told of each attempt that was recorded. */
  readonly onAttempt?: (attempt: Attempt) => void
}

export interface Dispatcher {
  nudge(): void
  /** An attempt was asked for besides the schedule. */
  nudgeResends(): void
  /** Takes nothing more, waits for what is under way and records it. */
  stop(): Promise<void>
}

/** What is known of a webhook while it has deliveries here. */
interface Load {
  readonly organizationId: string
  readonly webhookId: string
  /** Taken and not yet started, oldest first. */
  readonly held: Held[]
  inFlight: number
  slots: number
}

interface Held {
  readonly delivery: DueDelivery
  /** Milliseconds, of the process's monotonic clock. */
  readonly since: number
}

export function startDispatcher({ em, attempts, log, onAttempt }: DispatcherOptions): Dispatcher {
  const loads = new Map<string, Load>()
  /** What was taken and is not recorded yet: not to be begun again, should its lease be lost or run out. */
  const inHand = new Set<string>()
  const underWay = new Set<Promise<void>>()
  const givings = new Set<Promise<void>>()
  let held = 0
  let made: Attempt[] = []
  let stopping = false

  const taking = startLoop({
    name: 'dispatcher',
    interval: POLL,
    log,
    async turn() {
      const room = MAX_IN_FLIGHT * AHEAD - held - underWay.size
      if (room < WORTH_TAKING) return false
      const taken = await takeDueDeliveries(em(), {
        limit: room,
        perWebhook: FIRST_SLOTS * AHEAD,
        restricted: [...loads.values()].map((load) => ({
          organizationId: load.organizationId,
          webhookId: load.webhookId,
          allowance: Math.max(0, load.slots * AHEAD - load.held.length - load.inFlight),
        })),
      })
      const since = performance.now()
      for (const delivery of taken) {
        if (inHand.has(identityOf(delivery))) continue
        inHand.add(identityOf(delivery))
        loadOf(delivery).held.push({ delivery, since })
        held += 1
      }
      for (const load of [...loads.values()]) fill(load)
      return false // what finishes nudges
    },
  })

  const resending = startLoop({
    name: 'delivery resender',
    interval: POLL,
    log,
    async turn() {
      const taken = await takeResends(em(), MAX_RESENDS)
      // Asked for by someone who waits for it: not behind what the webhook has waiting.
      for (const delivery of taken) start(loadOf(delivery), delivery)
      return taken.length === MAX_RESENDS
    },
  })

  const recording = startLoop({
    name: 'delivery recorder',
    interval: POLL,
    log,
    async turn() {
      if (made.length === 0) return false
      if (made.length < GATHER_COUNT && underWay.size > 0) await sleep(GATHER)
      const batch = made
      made = []
      try {
        await recordOutcomes(em(), batch.map(withNext))
      } catch (error) {
        // Kept, and tried again: an attempt that was made must not be forgotten. The lease covers a death meanwhile.
        made = [...batch, ...made]
        throw error
      }
      for (const attempt of batch) {
        letGo([attempt.delivery])
        onAttempt?.(attempt)
      }
      return made.length > 0
    },
  })

  /** Starts what the webhook has slots for; forgets the webhook when it has nothing left here. */
  const fill = (load: Load): void => {
    const stale: DueDelivery[] = []
    while (!stopping && load.inFlight < load.slots && underWay.size < MAX_IN_FLIGHT) {
      const next = load.held.shift()
      if (next === undefined) break
      held -= 1
      if (performance.now() - next.since < LONGEST_HOLD) start(load, next.delivery)
      else stale.push(next.delivery)
    }
    if (stale.length > 0) giveBack(stale)
    if (load.inFlight === 0 && load.held.length === 0 && load.slots >= FIRST_SLOTS) loads.delete(keyOf(load))
  }

  const letGo = (deliveries: readonly DueDelivery[]): void => {
    for (const delivery of deliveries) inHand.delete(identityOf(delivery))
  }

  const giveBack = (deliveries: readonly DueDelivery[]): void => {
    letGo(deliveries)
    const giving = releaseDeliveries(em(), deliveries)
      .catch((error: unknown) =>
        log.warn({ err: error }, 'deliveries could not be given back; their leases will run out'),
      )
      .finally(() => {
        givings.delete(giving)
        taking.nudge()
      })
    givings.add(giving)
  }

  const start = (load: Load, delivery: DueDelivery): void => {
    load.inFlight += 1
    const attempt = attemptDelivery(delivery, attempts)
      .then((result) => {
        load.slots =
          result.duration < SLOW
            ? Math.min(MOST_SLOTS, load.slots + 1)
            : Math.max(FEWEST_SLOTS, Math.floor(load.slots / 2))
        made.push(result)
        recording.nudge()
      })
      .catch((error: unknown) => {
        letGo([delivery])
        log.error(
          { err: error, deliveryId: delivery.id },
          'an attempt could not be made; its lease will run out',
        )
      })
      .finally(() => {
        const wasFull = underWay.size >= MAX_IN_FLIGHT
        load.inFlight -= 1
        underWay.delete(attempt)
        // Where all slots were taken, the one that is free now may be any webhook's.
        for (const other of wasFull ? [...loads.values()] : [load]) fill(other)
        if (load.held.length === load.slots || load.held.length === 0) taking.nudge()
      })
    underWay.add(attempt)
  }

  const loadOf = (delivery: DueDelivery): Load => {
    const key = keyOf(delivery)
    const known = loads.get(key)
    if (known !== undefined) return known
    const { organizationId, webhookId } = delivery
    const fresh: Load = { organizationId, webhookId, held: [], inFlight: 0, slots: FIRST_SLOTS }
    loads.set(key, fresh)
    return fresh
  }

  return {
    nudge: () => taking.nudge(),
    nudgeResends: () => resending.nudge(),
    async stop() {
      stopping = true
      await Promise.all([taking.stop(), resending.stop()])
      const unstarted = [...loads.values()].flatMap((load) => load.held.map(({ delivery }) => delivery))
      await releaseDeliveries(em(), unstarted)
      await Promise.all(givings)
      await Promise.all(underWay)
      await recording.stop()
      if (made.length > 0) await recordOutcomes(em(), made.map(withNext))
    },
  }
}

/** Retries count from the end of the first attempt, real time. */
function withNext(attempt: Attempt) {
  const endedAt = attempt.initiatedTime.getTime() + attempt.duration
  return {
    attempt,
    next: attempt.answer.failure === null ? null : nextAttemptTime(attempt.delivery.scheduled + 1, endedAt),
  }
}

function identityOf({ organizationId, id }: DueDelivery): string {
  return `${organizationId}/${id}`
}

function keyOf({ organizationId, webhookId }: Pick<DueDelivery, 'organizationId' | 'webhookId'>): string {
  return `${organizationId}/${webhookId}`
}

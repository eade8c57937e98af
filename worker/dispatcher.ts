/**
 * The dispatcher: makes first attempts as soon as their events are committed.
 *
 * It takes only what it can start at once, a bounded number per webhook, so that a receiver that hangs holds up its own
 * deliveries and nobody else's; outcomes go back in batches.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { nextAttemptTime } from '../billing/retry-schedule.ts'
import {
  type Attempt,
  type AttemptDependencies,
  attemptDelivery,
  type DueDelivery,
} from '../delivery/attempt.ts'
import { recordOutcomes, takeDueDeliveries, takeResends } from '../delivery/queue.ts'
import { startLoop } from './loop.ts'

/** Attempts under way at once, in all and per webhook. */
const MAX_IN_FLIGHT = 256
const MAX_PER_WEBHOOK = 64
/** A webhook whose attempts take longer than this on average gets fewer at once. */
const SLOW = 2_000
const MAX_PER_SLOW_WEBHOOK = 8
/** Taking is worth a query when at least this many more could start. */
const WORTH_TAKING = 32
/** Attempts that were asked for, taken at once. */
const MAX_RESENDS = 16
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

interface Load {
  organizationId: string
  webhookId: string
  inFlight: number
  /** Moving average of durations, in milliseconds. */
  pace: number
}

export function startDispatcher({ em, attempts, log, onAttempt }: DispatcherOptions): Dispatcher {
  const loads = new Map<string, Load>()
  const underWay = new Set<Promise<void>>()
  let made: Attempt[] = []

  const taking = startLoop({
    name: 'dispatcher',
    interval: POLL,
    log,
    async turn() {
      const room = MAX_IN_FLIGHT - underWay.size
      if (room < WORTH_TAKING) return false
      const taken = await takeDueDeliveries(em(), {
        limit: room,
        perWebhook: MAX_PER_WEBHOOK,
        restricted: [...loads.values()].map((load) => ({ ...load, allowance: allowance(load) })),
      })
      for (const delivery of taken) start(delivery)
      return false // what finishes nudges
    },
  })

  const resending = startLoop({
    name: 'delivery resender',
    interval: POLL,
    log,
    async turn() {
      const taken = await takeResends(em(), MAX_RESENDS)
      for (const delivery of taken) start(delivery)
      return taken.length === MAX_RESENDS
    },
  })

  const recording = startLoop({
    name: 'delivery recorder',
    interval: POLL,
    log,
    async turn() {
      const batch = made
      if (batch.length === 0) return false
      made = []
      try {
        await recordOutcomes(em(), batch.map(withNext))
      } catch (error) {
        // Kept, and tried again: an attempt that was made must not be forgotten. The lease covers a death meanwhile.
        made = [...batch, ...made]
        throw error
      }
      for (const attempt of batch) onAttempt?.(attempt)
      return made.length > 0
    },
  })

  const start = (delivery: DueDelivery): void => {
    const load = loadOf(delivery)
    load.inFlight += 1
    const attempt = attemptDelivery(delivery, attempts)
      .then((result) => {
        load.pace += (result.duration - load.pace) / 8
        made.push(result)
        recording.nudge()
      })
      .catch((error: unknown) => {
        log.error(
          { err: error, deliveryId: delivery.id },
          'an attempt could not be made; its lease will run out',
        )
      })
      .finally(() => {
        load.inFlight -= 1
        underWay.delete(attempt)
        if (load.inFlight === 0 && load.pace < SLOW) loads.delete(keyOf(delivery))
        if (underWay.size % WORTH_TAKING === 0) taking.nudge()
      })
    underWay.add(attempt)
  }

  const loadOf = (delivery: DueDelivery): Load => {
    const key = keyOf(delivery)
    const known = loads.get(key)
    if (known !== undefined) return known
    const { organizationId, webhookId } = delivery
    const fresh = { organizationId, webhookId, inFlight: 0, pace: 0 }
    loads.set(key, fresh)
    return fresh
  }

  return {
    nudge: () => taking.nudge(),
    nudgeResends: () => resending.nudge(),
    async stop() {
      await Promise.all([taking.stop(), resending.stop()])
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

function allowance({ inFlight, pace }: Load): number {
  return Math.max(0, (pace > SLOW ? MAX_PER_SLOW_WEBHOOK : MAX_PER_WEBHOOK) - inFlight)
}

function keyOf({ organizationId, webhookId }: DueDelivery): string {
  return `${organizationId}/${webhookId}`
}

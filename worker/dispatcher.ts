/** Makes first attempts and resends, as many as it has slots: hanging receivers delay only their own deliveries. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import type { AgreedClock } from '../db/clock-agreement.ts'
import {
  type Attempt,
  type AttemptDependencies,
  attemptDelivery,
  type DueDelivery,
} from '../delivery/attempt.ts'
import { OwnFaultError } from '../delivery/own-fault.ts'
import {
  findWaitingWebhooks,
  recordOutcomes,
  releaseDeliveries,
  takeDueDeliveries,
} from '../delivery/queue.ts'
import { nextAttemptTime } from '../delivery/retry-schedule.ts'
import { BOUNDS, type Destination, type Slot, type SlotResult, Slots } from '../delivery/slots.ts'
import { startLoop } from './loop.ts'
import { startPresence } from './presence.ts'
import type { Watchdog } from './watchdog.ts'

/** Taken at once of webhooks not known to wait: of all such webhooks, and of each. */
const MOST_OF_OTHERS = BOUNDS.perOrganization
const MOST_OF_ANOTHER = BOUNDS.perReceiver.first
/** Slots are filled when this many are free, or this many milliseconds after the first one. */
const WORTH_TAKING = 16
const FILL_AFTER = 10
/** Outcomes are recorded after so many milliseconds, or once so many are gathered. */
const GATHER = 20
const GATHER_COUNT = 128
const POLL = 1_000
/** How often a process that ends tries to record what it has attempted. */
const LAST_TRIES = 3
/** Milliseconds of pause after the process or the machine has run out of a resource. */
const REST = 1_000

export interface DispatcherOptions {
  readonly em: () => EntityManager
  readonly attempts: AttemptDependencies
  readonly clock: AgreedClock
  readonly log: Logger
  readonly watchdog?: Watchdog
  readonly onAttempt?: (attempt: Attempt) => void
}

export interface Dispatcher {
  nudge(): void
  /** Takes no more deliveries, waits for attempts in progress and records them. */
  stop(): Promise<void>
}

export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { em, attempts, clock, log, watchdog, onAttempt } = options
  const slots = new Slots()
  let waiting = new Map<string, Destination>()
  let checkedAt = Number.NEGATIVE_INFINITY
  /** Deliveries taken and not yet recorded. They must not begin again here if their lease is lost or expires. */
  const inHand = new Set<string>()
  /** Those of them whose lease was taken again: it ends with their record. */
  const takenAgain = new Map<string, DueDelivery>()
  const underWay = new Set<Promise<void>>()
  const releases = new Set<Promise<void>>()
  let made: Attempt[] = []
  let isRegistered = false
  let restingUntil = 0
  let freed = 0
  let filling: NodeJS.Timeout | null = null

  const presence = startPresence({
    em,
    log,
    watchdog,
    inFlight: () => slots.inFlight(),
    onOthers(elsewhere) {
      slots.heed(elsewhere)
      slots.forget(performance.now())
      isRegistered = true
      taking.nudge()
    },
    onFreed: () => taking.nudge(),
  })

  const taking = startLoop({
    name: 'dispatcher',
    interval: POLL,
    log,
    watchdog,
    clock,
    async iterate() {
      // Deliveries of an unregistered process that dies would be held until their leases expire.
      if (!isRegistered || performance.now() < restingUntil) return false
      freed = 0
      const room = BOUNDS.total - inHand.size
      const shares = slots.share(waiting.values(), room, performance.now())
      const shared = [...shares.values()].flat().length
      const others = Math.min(room - shared, MOST_OF_OTHERS)
      const isUnfinished = shared + others > 0 ? await take(shares, others) : false
      // If all free slots were shared out, webhooks not known to wait have not been checked.
      const mayMissSome = shared > 0 && others === 0
      const isOutdated = waiting.size > 0 && performance.now() - checkedAt >= POLL
      return mayMissSome || isOutdated ? (await findWaiting()) || isUnfinished : isUnfinished
    },
  })

  /** Takes and begins deliveries for the shared slots and for `others`. Returns true if more may be taken. */
  const take = async (shares: ReadonlyMap<Destination, Slot[]>, others: number): Promise<boolean> => {
    const open = new Map([...shares].map(([destination, share]) => [keyOf(destination), share]))
    const taken = await takeDueDeliveries(em(), {
      owner: presence.id,
      shares: [...waiting.values()].map((destination) => ({
        organizationId: destination.organizationId,
        webhookId: destination.webhookId,
        count: shares.get(destination)?.length ?? 0,
      })),
      others: { total: others, each: MOST_OF_ANOTHER },
    }).catch((error: unknown) => {
      for (const share of open.values()) leave(share)
      throw error
    })
    let ofOthers = 0
    let left = 0
    let found = 0
    for (const [key, deliveries] of Map.groupBy(taken, keyOf)) {
      const share = open.get(key)
      const asked = share?.length ?? MOST_OF_ANOTHER
      if (share === undefined) ofOthers += deliveries.length
      open.delete(key)
      const refused = deliveries.filter((delivery) => !begin(delivery, share))
      releaseTaken(refused)
      left += leave(share ?? [])
      const [first] = deliveries
      if (first === undefined || (deliveries.length < asked && refused.length === 0)) {
        waiting.delete(key)
        continue
      }
      if (!waiting.has(key)) found += 1
      waiting.set(key, destinationOf(first))
    }
    for (const [key, share] of open) {
      left += leave(share)
      waiting.delete(key)
    }
    return (others > 0 && ofOthers === others) || (waiting.size > 0 && left + found > 0)
  }

  const findWaiting = async (): Promise<boolean> => {
    const known = waiting
    const found = await findWaitingWebhooks(em())
    checkedAt = performance.now()
    waiting = new Map(found.map((webhook) => [keyOf(webhook), destinationOf(webhook)]))
    return [...waiting.keys()].some((key) => !known.has(key))
  }

  /** Begins an attempt in a slot of the share, or in a new one. Returns false if there is none. */
  const begin = (delivery: DueDelivery, share: Slot[] = []): boolean => {
    if (inHand.has(identityOf(delivery))) {
      takenAgain.set(identityOf(delivery), delivery)
      return true
    }
    const slot = share.pop() ?? slots.occupy(destinationOf(delivery), performance.now())
    if (slot === null) return false
    inHand.add(identityOf(delivery))
    const attempt = attemptDelivery(delivery, attempts)
      .then((result) => {
        slots.release(slot, resultOf(result), performance.now())
        made.push(result)
        recording.nudge()
      })
      .catch((error: unknown) => {
        letGo(delivery)
        failed(delivery, slot, error)
      })
      .finally(() => {
        underWay.delete(attempt)
        freed += 1
        fillSoon()
      })
    underWay.add(attempt)
    return true
  }

  const letGo = (delivery: DueDelivery): void => {
    const identity = identityOf(delivery)
    inHand.delete(identity)
    const again = takenAgain.get(identity)
    takenAgain.delete(identity)
    if (again !== undefined) releaseTaken([again])
  }

  /** A fault of our own: the attempt does not count. A webhook whose attempts cannot be made pauses. */
  const failed = (delivery: DueDelivery, slot: Slot, error: unknown): void => {
    const fault = error instanceof OwnFaultError ? error.fault : null
    const { organizationId, webhookId, id: deliveryId } = delivery
    if (fault === null) {
      if (!slots.release(slot, 'not-made', performance.now())) return
      log.error(
        { err: error, organizationId, webhookId, deliveryId },
        'attempts for a webhook could not be made; their leases will run out, and the webhook pauses',
      )
      return
    }
    slots.release(slot, fault === 'busy' ? 'no-response' : 'unused', performance.now())
    if (fault === 'exhausted') restingUntil = performance.now() + REST
    releaseTaken([delivery])
    log.error({ err: error, deliveryId }, 'an attempt failed by a fault of our own, and will be made again')
  }

  const fillSoon = (): void => {
    if (waiting.size === 0) return
    if (freed >= WORTH_TAKING) taking.nudge()
    else
      filling ??= setTimeout(() => {
        filling = null
        taking.nudge()
      }, FILL_AFTER)
  }

  const leave = (share: Slot[]): number => {
    for (const slot of share) slots.release(slot, 'unused', performance.now())
    return share.length
  }

  const releaseTaken = (deliveries: readonly DueDelivery[]): void => {
    if (deliveries.length === 0) return
    const release = releaseDeliveries(em(), deliveries, presence.id)
      .catch((error: unknown) =>
        log.warn({ err: error }, 'deliveries could not be released; their leases will expire'),
      )
      .finally(() => {
        releases.delete(release)
        taking.nudge()
      })
    releases.add(release)
  }

  const recording = startLoop({
    name: 'delivery recorder',
    interval: POLL,
    log,
    watchdog,
    // Also while the clocks differ: what was attempted while they agreed is not attempted again.
    clock: null,
    async iterate(progress) {
      if (made.length === 0) return false
      if (made.length < GATHER_COUNT && underWay.size > 0) await sleep(GATHER)
      await recordMade(progress)
      return made.length > 0
    },
  })

  const recordMade = async (progress: () => void): Promise<void> => {
    const batch = made
    made = []
    try {
      await record(batch)
    } catch (error) {
      if (isUnstorable(error)) return await recordEach(batch, progress)
      // Retried later: an attempt that was made must be recorded. The lease covers a crash meanwhile.
      made = [...batch, ...made]
      throw error
    }
  }

  const record = async (batch: readonly Attempt[]): Promise<void> => {
    await recordOutcomes(em(), batch.map(withNext), presence.id)
    for (const attempt of batch) {
      letGo(attempt.delivery)
      onAttempt?.(attempt)
    }
  }

  /** Before the process ends. What cannot be recorded is attempted again when its lease has run out. */
  const recordRest = async (): Promise<void> => {
    let failure: unknown = null
    for (let tries = 0; made.length > 0 && tries < LAST_TRIES; tries += 1) {
      await recordMade(() => {}).catch((error: unknown) => {
        failure = error
      })
    }
    if (made.length > 0) log.error({ err: failure, attempts: made.length }, 'outcomes could not be recorded')
  }

  /** Records outcomes one by one, so that one that the database always refuses blocks no other. */
  const recordEach = async (batch: readonly Attempt[], progress: () => void): Promise<void> => {
    for (const attempt of batch) {
      progress()
      try {
        await record([attempt])
      } catch (error) {
        if (!isUnstorable(error)) {
          made.push(attempt)
          continue
        }
        letGo(attempt.delivery)
        log.error(
          { err: error, deliveryId: attempt.delivery.id },
          'an outcome could not be recorded; its attempt will be made again when its lease has run out',
        )
      }
    }
  }

  return {
    nudge: () => taking.nudge(),
    async stop() {
      await taking.stop()
      await Promise.all([...underWay, ...releases])
      clearTimeout(filling ?? undefined)
      await recording.stop()
      await recordRest()
      await Promise.all(releases)
      await presence.stop()
    },
  }
}

/** True if the database refuses the data themselves (error classes 22 and 23). */
function isUnstorable(error: unknown): boolean {
  return Error.isError(error) && /^2[23]/.test(String((error as { code?: unknown }).code))
}

function resultOf({ response: { failure, status } }: Attempt): SlotResult {
  return status !== null && failure !== 'timeout' ? 'responded' : 'no-response'
}

/** Retries count from the end of the first attempt, in real time. */
function withNext(attempt: Attempt) {
  const endedAt = attempt.initiatedTime.getTime() + attempt.duration
  return {
    attempt,
    next: attempt.response.failure === null ? null : nextAttemptTime(attempt.delivery.scheduled + 1, endedAt),
  }
}

function destinationOf({
  organizationId,
  webhookId,
  url,
}: Pick<DueDelivery, 'organizationId' | 'webhookId' | 'url'>): Destination {
  return { organizationId, webhookId, origin: new URL(url).origin }
}

function keyOf({ organizationId, webhookId }: Pick<DueDelivery, 'organizationId' | 'webhookId'>): string {
  return `${organizationId}/${webhookId}`
}

function identityOf({ organizationId, id }: Pick<DueDelivery, 'organizationId' | 'id'>): string {
  return `${organizationId}/${id}`
}

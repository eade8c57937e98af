/**
 * The dispatcher: makes first attempts as soon as their events are committed, and those that were asked for.
 *
 * It takes what it has slots for (`delivery/slots.ts`) and begins it at once, so that nothing waits in memory: a receiver
 * that hangs holds up its own deliveries and nobody else's. Outcomes go back in batches.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
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

/** Deliveries taken at once of webhooks that were not known to wait: of all of them, and of each. */
const MOST_OF_OTHERS = BOUNDS.perOrganization
const MOST_OF_ANOTHER = BOUNDS.perReceiver.first
/** While more waits, slots are filled when this many have come free, or this many milliseconds after the first. */
const WORTH_TAKING = 16
const FILL_AFTER = 10
/** Outcomes are gathered this long, in milliseconds, or until there are this many, before they are recorded. */
const GATHER = 20
const GATHER_COUNT = 128
const POLL = 1_000
/** How long nothing is taken once the process or the machine has run out of something. Milliseconds. */
const REST = 1_000

export interface DispatcherOptions {
  readonly em: () => EntityManager
  readonly attempts: AttemptDependencies
  readonly log: Logger
  readonly watchdog?: Watchdog
  /** Told of each attempt that was recorded. */
  readonly onAttempt?: (attempt: Attempt) => void
}

export interface Dispatcher {
  nudge(): void
  /** Takes nothing more, waits for what is under way and records it. */
  stop(): Promise<void>
}

export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { em, attempts, log, watchdog, onAttempt } = options
  const slots = new Slots()
  /** Webhooks known to have deliveries to take, by their keys. */
  let waiting = new Map<string, Destination>()
  let lookedAt = Number.NEGATIVE_INFINITY
  /** What was taken and is not recorded yet: not to be begun again, should its lease be lost or run out. */
  const inHand = new Set<string>()
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
    async iterate() {
      // What an unregistered process had in hand at its death would be held until its leases run out.
      if (!isRegistered || performance.now() < restingUntil) return false
      freed = 0
      const room = BOUNDS.total - inHand.size
      const shares = slots.share(waiting.values(), room, performance.now())
      const shared = [...shares.values()].flat().length
      const others = Math.min(room - shared, MOST_OF_OTHERS)
      const isUnfinished = shared + others > 0 ? await take(shares, others) : false
      // Where all room was shared, nobody has looked for those who are not known to wait.
      const mayLackSome = shared > 0 && others === 0
      const isOutdated = waiting.size > 0 && performance.now() - lookedAt >= POLL
      return mayLackSome || isOutdated ? (await look()) || isUnfinished : isUnfinished
    },
  })

  /**
   * Takes for the slots that are shared out, and `others` besides, and begins what it gets.
   *
   * @returns whether more may be taken at once.
   */
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
      giveBack(refused)
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

  /** Finds out who waits; returns whether there are some that were not known. */
  const look = async (): Promise<boolean> => {
    const known = waiting
    const found = await findWaitingWebhooks(em())
    lookedAt = performance.now()
    waiting = new Map(found.map((webhook) => [keyOf(webhook), destinationOf(webhook)]))
    return [...waiting.keys()].some((key) => !known.has(key))
  }

  /** Begins an attempt in a slot of the share, or else in one of its own; false where there is none. */
  const begin = (delivery: DueDelivery, share: Slot[] = []): boolean => {
    if (inHand.has(identityOf(delivery))) return true
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
        inHand.delete(identityOf(delivery))
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

  /** A fault of our own: the attempt does not count. */
  const failed = (delivery: DueDelivery, slot: Slot, error: unknown): void => {
    const fault = error instanceof OwnFaultError ? error.fault : null
    slots.release(slot, fault === 'busy' ? 'unanswered' : 'unused', performance.now())
    if (fault === 'exhausted') restingUntil = performance.now() + REST
    if (fault !== null) giveBack([delivery])
    log.error(
      { err: error, deliveryId: delivery.id },
      fault === null
        ? 'an attempt could not be made; its lease will run out'
        : 'an attempt failed by a fault of our own, and will be made again',
    )
  }

  /** Has free slots filled while more waits, several at a time. */
  const fillSoon = (): void => {
    if (waiting.size === 0) return
    if (freed >= WORTH_TAKING) taking.nudge()
    else
      filling ??= setTimeout(() => {
        filling = null
        taking.nudge()
      }, FILL_AFTER)
  }

  /** Gives back slots that were not used; returns their number. */
  const leave = (share: Slot[]): number => {
    for (const slot of share) slots.release(slot, 'unused', performance.now())
    return share.length
  }

  const giveBack = (deliveries: readonly DueDelivery[]): void => {
    if (deliveries.length === 0) return
    const release = releaseDeliveries(em(), deliveries, presence.id)
      .catch((error: unknown) =>
        log.warn({ err: error }, 'deliveries could not be given back; their leases will run out'),
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
    async iterate(progress) {
      if (made.length === 0) return false
      if (made.length < GATHER_COUNT && underWay.size > 0) await sleep(GATHER)
      const batch = made
      made = []
      try {
        await record(batch)
      } catch (error) {
        if (isUnstorable(error)) await recordEach(batch, progress)
        else {
          // Kept, and tried again: an attempt that was made must not be forgotten. The lease covers a death meanwhile.
          made = [...batch, ...made]
          throw error
        }
      }
      return made.length > 0
    },
  })

  const record = async (batch: readonly Attempt[]): Promise<void> => {
    await recordOutcomes(em(), batch.map(withNext), presence.id)
    for (const attempt of batch) {
      inHand.delete(identityOf(attempt.delivery))
      onAttempt?.(attempt)
    }
  }

  /** One outcome that the database will never take holds up no other. */
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
        inHand.delete(identityOf(attempt.delivery))
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
      if (made.length > 0) await record(made)
      await presence.stop()
    },
  }
}

/** Whether the database refuses the data themselves (classes 22 and 23 of its errors). */
function isUnstorable(error: unknown): boolean {
  return Error.isError(error) && /^2[23]/.test(String((error as { code?: unknown }).code))
}

/** What an attempt tells of its receiver. */
function resultOf({ response: { failure, status } }: Attempt): SlotResult {
  return status !== null && failure !== 'timeout' ? 'answered' : 'unanswered'
}

/** Retries count from the end of the first attempt, real time. */
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

/** Movements return outcomes and throw nothing. */
import { setTimeout as pause } from 'node:timers/promises'
import {
  type Charge,
  type DeclineClass,
  type Gateway,
  type GatewayResult,
  type Movement,
  NotSentError,
} from './port.ts'

export interface PendingMovement {
  readonly movement: Movement
  /** When it got its request id. Milliseconds of real time. */
  readonly since: number
  /** It was requested before, and its outcome is not known. */
  readonly isUnknown: boolean
  /** False if its debt is no longer open: a charge that was not made before must not be made. */
  readonly isWanted: boolean
  /** Reads `isWanted` again. */
  readonly isStillWanted?: () => Promise<boolean>
  /** Its card has expired: it is declined and never sent. */
  readonly isRefused?: boolean
  /** True if its customer had time enough to approve it. */
  readonly isOverdue?: boolean
}

/** `canceled`: never received, and not sent again. `abandoned`: its customer can no longer approve it. */
export interface MovementOutcome {
  readonly result: GatewayResult['result'] | 'canceled' | 'abandoned'
  /** Holds no card data. */
  readonly raw: string
  readonly id?: string | null
  readonly decline?: DeclineClass | null
  readonly approvalUrl?: string | null
  readonly expiryTime?: number | null
  readonly heldBy?: GatewayResult['heldBy']
}

const NO_RESULT = outcome('unknown', 'no-answer')
/** It may be sent later. */
const NOT_REACHED = outcome('unknown', 'not-reached')
const NEVER_SENT = outcome('canceled', 'never-sent')

/** Waits before a request that was certainly not sent is repeated. Milliseconds. */
const AT_ONCE: readonly number[] = [100, 300, 900]

/** Milliseconds. A process that was paused must not charge for an invoice that ended after it was read. */
const FRESH = 10_000

/**
 * A repetition moves no money: the request id stays, and what may no longer be sent is only looked up.
 * `readAt` is when reading the movement began, by `now`: real time in milliseconds.
 */
export async function carryOut(
  gateway: Gateway,
  pending: PendingMovement,
  readAt: number,
  now: () => number,
): Promise<MovementOutcome> {
  const { movement, since, isUnknown, isWanted, isRefused = false, isOverdue = false } = pending
  if (isRefused) return { ...outcome('declined', 'expired-card'), decline: 'hard' }
  const maySend = () => isWanted && now() < since + gateway.idempotencyWindow
  const isFresh = () => now() < readAt + FRESH
  if (!isUnknown && maySend()) return await send(gateway, pending, isFresh)
  const found = await find(gateway, movement, since)
  if (found !== null && found.result !== 'unknown') return found
  if (found === NO_RESULT) return NO_RESULT
  if (found?.approvalUrl != null && 'charge' in movement) {
    return isOverdue || !isWanted ? await abandon(gateway, movement.charge, since) : found
  }
  if (maySend()) return await send(gateway, pending, isFresh)
  return found ?? NEVER_SENT
}

/**
 * Asks only. What the gateway does not know, once it cannot be sent any more, was never sent; null: it still can be.
 * @throws what the gateway throws.
 */
export async function lookUp(
  gateway: Gateway,
  movement: Movement,
  since: number,
  now: number,
): Promise<MovementOutcome | null> {
  const found = await gateway.find(movement, since)
  if (found !== null) return outcomeOf(found)
  return now < since + gateway.idempotencyWindow ? null : NEVER_SENT
}

/** Returns what a gateway tells of a movement, in whichever way, as it is recorded. */
export function outcomeOf(told: GatewayResult): MovementOutcome {
  return told.isAbandoned === true ? { ...told, result: 'abandoned' } : told
}

async function send(
  gateway: Gateway,
  pending: PendingMovement,
  isFresh: () => boolean,
): Promise<MovementOutcome> {
  for (let attempt = 0; isFresh(); attempt += 1) {
    try {
      return outcomeOf(await move(gateway, pending))
    } catch (error) {
      const wait = AT_ONCE[attempt]
      if (!(error instanceof NotSentError)) return NO_RESULT
      if (wait === undefined) return NOT_REACHED
      await pause(wait)
    }
  }
  return NOT_REACHED
}

async function move(gateway: Gateway, { movement, isStillWanted }: PendingMovement): Promise<GatewayResult> {
  switch (movement.kind) {
    case 'charge':
      return await gateway.charge(movement.charge, isStillWanted)
    case 'authorize':
      return await gateway.authorize(movement.charge, isStillWanted)
    case 'refund':
      return await gateway.refund(movement.refund)
    case 'capture':
      return await gateway.capture(movement.capture)
    case 'void':
      return await gateway.void(movement.release)
  }
}

async function find(gateway: Gateway, movement: Movement, since: number): Promise<MovementOutcome | null> {
  try {
    const found = await gateway.find(movement, since)
    return found === null ? null : outcomeOf(found)
  } catch {
    return NO_RESULT
  }
}

async function abandon(gateway: Gateway, charge: Charge, since: number): Promise<MovementOutcome> {
  try {
    const ended = await gateway.abandon(charge, since)
    return ended === null ? NO_RESULT : outcomeOf(ended)
  } catch {
    return NO_RESULT
  }
}

function outcome(result: MovementOutcome['result'], reason: string): MovementOutcome {
  return { result, raw: JSON.stringify({ result, reason }) }
}

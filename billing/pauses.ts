import { ConflictError, refuse } from './errors.ts'
import {
  type Change,
  changeInvoice,
  emit,
  moveBoundary,
  type Order,
  ongoingPause,
  type Pause,
  requireStatus,
  set,
  type Transition,
  transition,
} from './order.ts'

/** @throws InvalidFieldsError for past or unordered times; ConflictError unless active, and for an overlap. */
export function pauseOrder(
  order: Order,
  at: number,
  pause: {
    readonly id: string
    readonly effectiveTime: number | null
    readonly endTime: number | null
    readonly timeRemaining?: number | null
  },
): Transition {
  const { id, endTime, timeRemaining = null } = pause
  const effectiveTime = pause.effectiveTime ?? at
  if (effectiveTime < at) refuse('effectiveTime', 'in-the-past', 'must not be in the past')
  requireEndAfter(endTime, effectiveTime)
  requireStatus(order, ['active'], 'paused')
  requireNoOverlap(order, { id, effectiveTime, endTime })
  return transition(order, at, 'api', (change) => {
    const added = { id, status: 'pending' as const, effectiveTime, endTime, timeRemaining }
    set(change, { pauses: [...order.pauses, added] })
    if (effectiveTime > at) emit(change, 'subscription-pause-created', { pause: id })
    else beginPause(change, id)
  })
}

export type PauseTimes = Pick<Pause, 'effectiveTime' | 'endTime' | 'timeRemaining'>

/**
 * @throws InvalidFieldsError for times in the past or in the wrong order; ConflictError for a pause that has ended,
 * has begun already, or would overlap another.
 */
export function changePauseTimes(order: Order, at: number, id: string, times: PauseTimes): Transition {
  const pause = unendedPause(order, id)
  const { effectiveTime, endTime } = times
  const begins = effectiveTime !== pause.effectiveTime
  if (!begins && endTime === pause.endTime && times.timeRemaining === pause.timeRemaining)
    return transition(order, at, 'api', () => {})
  if (begins && pause.status === 'ongoing') throw new ConflictError('The pause has already begun.')
  if (begins && effectiveTime < at) refuse('effectiveTime', 'in-the-past', 'must not be in the past')
  if (begins || endTime !== pause.endTime) requireEndAfter(endTime, Math.max(effectiveTime, at))
  requireNoOverlap(order, { id, effectiveTime, endTime })
  return transition(order, at, 'api', (change) => {
    changePause(change, id, times)
    emit(change, 'subscription-pause-modified', { pause: id })
    if (pause.status === 'pending' && effectiveTime <= at) beginPause(change, id)
  })
}

/** Resumes from an ongoing pause, or revokes a scheduled one. @throws ConflictError for one that has ended. */
export function removePause(order: Order, at: number, id: string): Transition {
  const pause = unendedPause(order, id)
  return transition(order, at, 'api', (change) => {
    if (pause.status === 'ongoing') resume(change)
    else revokePause(change, pause)
  })
}

export function beginPause(change: Change, id: string): void {
  const { order, at } = change
  const chosen = order.pauses.find((pause) => pause.id === id)?.timeRemaining ?? null
  const timeRemaining = chosen ?? (order.periodEnd === null ? null : order.periodEnd - at)
  set(change, { status: 'paused' })
  changePause(change, id, { status: 'ongoing', timeRemaining })
  emit(change, 'subscription-paused', { pause: id })
}

export function resume(change: Change): void {
  const pause = ongoingPause(change.order)
  if (pause === null) return
  endPause(change, pause)
  set(change, { status: 'active' })
  emit(change, 'subscription-resumed', { pause: pause.id })
}

export function revokePauses(change: Change): void {
  for (const pause of change.order.pauses) if (pause.status === 'pending') revokePause(change, pause)
}

/** An ongoing pause ends without the event of a resume; a scheduled one is revoked. */
export function endPauses(change: Change): void {
  for (const pause of change.order.pauses) {
    if (pause.status === 'ongoing') endPause(change, pause)
    else if (pause.status === 'pending') revokePause(change, pause)
  }
}

/** The boundary and its anchor move by the time paused, or as the pause's own `timeRemaining` says. */
export function endPause(change: Change, pause: Pause): void {
  const { order, at } = change
  const { periodEnd } = order
  changePause(change, pause.id, { status: 'finished', endTime: at })
  const period = order.rebillNumber ?? 0
  const earlier = order.paused?.period === period ? order.paused.time : 0
  set(change, { paused: { period, time: earlier + at - pause.effectiveTime } })
  if (periodEnd !== null) {
    const remaining = pause.timeRemaining ?? periodEnd - pause.effectiveTime
    moveBoundary(change, at + remaining)
  }
  // Charges that were due during the pause are made once, now; those due before it are only late.
  for (const { sequence, chargeTime } of change.order.invoices) {
    const fellIntoPause = chargeTime !== null && chargeTime >= pause.effectiveTime && chargeTime < at
    if (fellIntoPause) changeInvoice(change, sequence, { chargeTime: at })
  }
}

export function revokePause(change: Change, pause: Pause): void {
  changePause(change, pause.id, { status: 'revoked' })
  emit(change, 'subscription-pause-revoked', { pause: pause.id })
}

export function changePause(change: Change, id: string, values: Partial<Pause>): void {
  set(change, {
    pauses: change.order.pauses.map((pause) => (pause.id === id ? { ...pause, ...values } : pause)),
  })
}

function unendedPause(order: Order, id: string): Pause {
  const pause = order.pauses.find((one) => one.id === id)
  if (pause?.status === 'ongoing' || pause?.status === 'pending') return pause
  throw new ConflictError('The pause has already ended.')
}

function requireEndAfter(endTime: number | null, instant: number): void {
  if (endTime !== null && endTime <= instant)
    refuse('endTime', 'out-of-range', 'must be in the future and after the effective time')
}

function requireNoOverlap(order: Order, given: Pick<Pause, 'id' | 'effectiveTime' | 'endTime'>): void {
  const overlaps = order.pauses.some(
    (pause) =>
      pause.id !== given.id &&
      (pause.status === 'pending' || pause.status === 'ongoing') &&
      pause.effectiveTime < (given.endTime ?? Number.POSITIVE_INFINITY) &&
      given.effectiveTime < (pause.endTime ?? Number.POSITIVE_INFINITY),
  )
  if (overlaps) throw new ConflictError('The pause overlaps another pause of the order.')
}

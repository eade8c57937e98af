/**
 * Pauses of an order: their commands, as pure functions that return the transition or throw, and what the beginning and
 * the end of a pause do to the order. At the end the boundary moves by the time paused.
 */
import { ConflictError, type FieldCode, InvalidFieldsError } from './errors.ts'
import { LATEST_INSTANT } from './instants.ts'
import {
  type Change,
  changeInvoice,
  emit,
  moveBoundary,
  type Order,
  type Pause,
  requireStatus,
  set,
  type Transition,
  transition,
} from './order.ts'

/**
 * Pauses an active order, at once or at a future instant.
 *
 * @throws InvalidFieldsError for times in the past or in the wrong order.
 * @throws ConflictError for an order that is not active, and for overlapping pauses.
 */
export function pauseOrder(
  order: Order,
  at: number,
  pause: { readonly id: string; readonly effectiveTime: number | null; readonly endTime: number | null },
): Transition {
  const { id, endTime } = pause
  const effectiveTime = pause.effectiveTime ?? at
  if (effectiveTime < at) refuse('effectiveTime', 'in-the-past', 'must not be in the past')
  requireEndAfter(endTime, effectiveTime)
  requireStatus(order, ['active'], 'paused')
  requireNoOverlap(order, { id, effectiveTime, endTime })
  return transition(order, at, 'api', (change) => {
    set(change, { pauses: [...order.pauses, { id, status: 'pending', effectiveTime, endTime }] })
    if (effectiveTime > at) emit(change, 'subscription-pause-created', { pause: id })
    else beginPause(change, id)
  })
}

/**
 * Moves the end of a pause that has not ended.
 *
 * @throws InvalidFieldsError for an end in the past.
 * @throws ConflictError when the pause has ended, or would overlap another.
 */
export function changePauseEnd(order: Order, at: number, id: string, endTime: number | null): Transition {
  const pause = unendedPause(order, id)
  if (endTime === pause.endTime) return transition(order, at, 'api', () => {})
  requireEndAfter(endTime, Math.max(pause.effectiveTime, at))
  requireNoOverlap(order, { id, effectiveTime: pause.effectiveTime, endTime })
  return transition(order, at, 'api', (change) => {
    changePause(change, id, { endTime })
    emit(change, 'subscription-pause-modified', { pause: id })
  })
}

/**
 * Resumes the order from an active pause, or revokes a scheduled one.
 *
 * @throws ConflictError when the pause has ended already.
 */
export function removePause(order: Order, at: number, id: string): Transition {
  const pause = unendedPause(order, id)
  return transition(order, at, 'api', (change) => {
    if (pause.status === 'active') resume(change)
    else revokePause(change, pause)
  })
}

export function beginPause(change: Change, id: string): void {
  set(change, { status: 'paused' })
  changePause(change, id, { status: 'active' })
  emit(change, 'subscription-paused', { pause: id })
}

export function resume(change: Change): void {
  const pause = change.order.pauses.find(({ status }) => status === 'active')
  if (pause === undefined) return
  endPause(change, pause)
  set(change, { status: 'active' })
  emit(change, 'subscription-resumed', { pause: pause.id })
}

/** Revokes every scheduled pause. */
export function revokePauses(change: Change): void {
  for (const pause of change.order.pauses) if (pause.status === 'pending') revokePause(change, pause)
}

/** Ends every pause: an active one without the event of a resume, a scheduled one by revoking it. */
export function endPauses(change: Change): void {
  for (const pause of change.order.pauses) {
    if (pause.status === 'active') endPause(change, pause)
    else if (pause.status === 'pending') revokePause(change, pause)
  }
}

/** Ends a pause: the current boundary and its anchor move by the time paused. */
export function endPause(change: Change, pause: Pause): void {
  const { order, at } = change
  const paused = at - pause.effectiveTime
  changePause(change, pause.id, { status: 'ended', endTime: at })
  if (order.periodEnd !== null) moveBoundary(change, Math.min(order.periodEnd + paused, LATEST_INSTANT))
  // Charges that were due during the pause are made once, now.
  for (const { sequence, chargeTime } of change.order.invoices) {
    if (chargeTime !== null && chargeTime < at) changeInvoice(change, sequence, { chargeTime: at })
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
  if (pause?.status === 'active' || pause?.status === 'pending') return pause
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
      (pause.status === 'pending' || pause.status === 'active') &&
      pause.effectiveTime < (given.endTime ?? Number.POSITIVE_INFINITY) &&
      given.effectiveTime < (pause.endTime ?? Number.POSITIVE_INFINITY),
  )
  if (overlaps) throw new ConflictError('The pause overlaps another pause of the order.')
}

function refuse(field: string, code: FieldCode, message: string): never {
  throw new InvalidFieldsError([{ field, code, message }])
}

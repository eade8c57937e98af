import { ConflictError } from '../../billing/errors.ts'
import type { Transition } from '../../billing/order.ts'
import {
  type Cancellation,
  cancelOrder,
  changeCancellation,
  reactivateOrder,
} from '../../billing/order-commands.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { type Subscription, SubscriptionCancellation } from '../../db/entities/index.ts'
import type { CancellationStatus } from '../../db/entities/subscription-cancellation.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { actOnOrder, requiredOrder } from './act-on-order.ts'
import { churnCreditColumns } from './apply-transitions.ts'

/** Absent members have the defaults of api/schemas/subscription-actions.ts. */
export interface CancellationChange extends Cancellation {
  readonly subscriptionId: string
  /** null: confirmed where it is new, otherwise as it is. A draft cancels nothing until it is confirmed. */
  readonly status: CancellationStatus | null
}

/** Creates a cancellation, and cancels its order unless it is a draft. Throws InvalidFieldsError, ConflictError. */
export async function createCancellation(
  unit: UnitOfWork,
  id: string,
  given: CancellationChange,
): Promise<SubscriptionCancellation> {
  const order = await requiredOrder(unit, given.subscriptionId)
  const cancellation = { id, subscriptionId: order.id, status: 'draft' as const, ...valuesOf(given) }
  if (given.status === 'draft') return unit.create(SubscriptionCancellation, cancellation)
  const confirmed = await confirm(unit, order, given)
  order.cancellationId = id
  return unit.create(SubscriptionCancellation, { ...cancellation, ...confirmed })
}

/**
 * Changes a draft as a whole, a confirmed one until its churn time, and who canceled and why at any time.
 * Throws InvalidFieldsError, ConflictError.
 */
export async function updateCancellation(
  unit: UnitOfWork,
  row: SubscriptionCancellation,
  given: CancellationChange,
): Promise<void> {
  if (given.subscriptionId !== row.subscriptionId) {
    throw new ConflictError('The order of a cancellation cannot be changed.')
  }
  const order = await requiredOrder(unit, row.subscriptionId)
  if (row.status === 'draft') {
    Object.assign(row, valuesOf(given))
    if (given.status !== 'confirmed') return
    Object.assign(row, await confirm(unit, order, given))
    order.cancellationId = row.id
    return
  }
  const isStatusKept = given.status !== 'draft' && (given.status !== 'confirmed' || row.status !== 'revoked')
  if (!isStatusKept) {
    throw new ConflictError(`A cancellation that is ${row.status} cannot become ${given.status}.`)
  }
  const isEndNew = isAnotherEnd(row, given)
  const isReasonNew =
    given.canceledBy !== row.canceledBy ||
    given.reason !== (row.reason ?? null) ||
    given.description !== (row.description ?? null)
  if (!isEndNew && !isReasonNew) return
  if (order.cancellationId !== row.id) {
    if (isEndNew) throw notChangeable(row)
  } else {
    await actOnOrder(unit, order, (record, instant) => {
      if (isEndNew && record.order.status !== 'canceled') throw notChangeable(row)
      return changeCancellation(record.order, instant, given, isEndNew ? given : null)
    })
    if (isEndNew) {
      row.churnTime = order.churnTime ?? null
      row.churnTimePolicy = given.churnTimePolicy
      row.prorated = given.prorated ?? false
    }
  }
  const { canceledBy, reason, description } = given
  Object.assign(row, { canceledBy, reason, description })
}

/** Throws ConflictError if service has ended, it is revoked already, or an invoice of the order is delinquent. */
export async function revokeCancellation(unit: UnitOfWork, row: SubscriptionCancellation): Promise<void> {
  const order = await requiredOrder(unit, row.subscriptionId)
  if (row.status === 'draft') {
    row.status = 'revoked'
    raiseRevision(row, unit)
    return
  }
  await actOnOrder(unit, order, (record, instant) => {
    if (order.cancellationId !== row.id || record.order.status !== 'canceled') throw notChangeable(row)
    return reactivateOrder(record.order, instant)
  })
}

async function confirm(unit: UnitOfWork, order: Subscription, given: Cancellation) {
  let canceled: Transition | null = null
  const record = await actOnOrder(unit, order, (found, instant) => {
    canceled = cancelOrder(found.order, instant, given)
    return canceled
  })
  return {
    ...(canceled === null ? {} : churnCreditColumns(record, canceled)),
    status: order.status === 'churned' ? ('completed' as const) : ('confirmed' as const),
    canceledTime: order.canceledTime ?? null,
    churnTime: order.churnTime ?? null,
  }
}

function valuesOf({
  churnTime,
  churnTimePolicy,
  canceledBy,
  reason,
  description,
  prorated = false,
}: Cancellation) {
  return {
    prorated,
    creditLines: [],
    churnTime: churnTime === null ? null : new Date(churnTime),
    churnTimePolicy,
    canceledTime: null,
    canceledBy,
    reason,
    description,
  }
}

/** True if service is to end at another time. What has ended at once stays so under a null. */
function isAnotherEnd(row: SubscriptionCancellation, given: Cancellation): boolean {
  const { churnTime, churnTimePolicy, prorated = false } = given
  if (prorated !== row.prorated) return true
  const isOver = row.status === 'completed' || row.status === 'revoked'
  if (isOver && churnTime === null && churnTimePolicy === null) return false
  if (churnTimePolicy !== (row.churnTimePolicy ?? null)) return true
  return churnTimePolicy === null && churnTime !== (row.churnTime?.getTime() ?? null)
}

function notChangeable({ status }: SubscriptionCancellation): ConflictError {
  return new ConflictError(
    status === 'revoked'
      ? 'The cancellation has been revoked.'
      : 'The service of the order has ended, so its cancellation can no longer be changed.',
  )
}

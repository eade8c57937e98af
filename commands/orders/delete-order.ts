import { ConflictError } from '../../billing/errors.ts'
import {
  CouponRedemption,
  FastForward,
  Invoice,
  type Subscription,
  SubscriptionCancellation,
  TimelineEntry,
} from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { cancelRedemptions } from '../coupons/redeem-coupon.ts'
import { advanceForCommand, wakeOrder } from './advance-order.ts'
import { orderInstant } from './order-instant.ts'

/**
 * Deletes a locked order that never owed anything: it is pending, and its invoice is still a draft. The draft,
 * the timeline and drafts of cancellations go with it; its coupons are canceled, and events that were emitted stay.
 *
 * @throws ConflictError for any other order; it can be voided or canceled, and keeps its records.
 */
export async function deleteSubscription(unit: UnitOfWork, row: Subscription): Promise<void> {
  const { em, organizationId } = unit
  const { order } = await advanceForCommand(unit, row, orderInstant(unit, row))
  if (order.status !== 'pending') {
    throw new ConflictError(`A subscription that is ${order.status} cannot be deleted. Cancel it instead.`)
  }
  if (order.invoices.some(({ status }) => status !== 'draft')) {
    throw new ConflictError('A subscription with an issued invoice cannot be deleted. Void it instead.')
  }
  const ofOrder = { organizationId, subscriptionId: row.id }
  await cancelRedemptions(
    unit,
    await em.find(CouponRedemption, { ...ofOrder, canceledTime: null }),
    row.websiteId,
  )
  await em.flush()
  await em.nativeDelete(Invoice, ofOrder)
  await em.nativeDelete(TimelineEntry, ofOrder)
  await em.nativeDelete(FastForward, ofOrder)
  await em.nativeDelete(SubscriptionCancellation, ofOrder)
  em.remove(row)
  // Its execution finds nothing and ends.
  wakeOrder(unit, row)
}

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
 * Deletes a locked pending order whose invoice is a draft, with its timeline and drafts of cancellations; its
 * coupons are canceled, and emitted events stay. Throws ConflictError for any other order: it keeps its
 * records.
 */
export async function deleteSubscription(unit: UnitOfWork, row: Subscription): Promise<void> {
  const { em, organizationId } = unit
  const { order } = await advanceForCommand(unit, row, orderInstant(unit, row))
  if (order.status !== 'pending') {
    throw new ConflictError(`Only a pending order can be deleted. This one is ${order.status}.`)
  }
  if (order.invoices.some(({ status }) => status !== 'draft')) {
    throw new ConflictError(
      'An order whose invoice has been issued cannot be deleted. Void the order instead.',
    )
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

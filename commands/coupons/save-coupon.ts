import { canonicalJson } from '../../billing/canonical-json.ts'
import {
  COUPON_STATUSES,
  type CouponDiscount,
  type CouponRestriction,
  couponStatus,
} from '../../billing/coupons.ts'
import { ConflictError, InvalidFieldsError } from '../../billing/errors.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { Coupon, CouponRedemption } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { couponEvent } from '../../events/coupon-events.ts'

export interface CouponValues {
  readonly discount: CouponDiscount
  readonly restrictions: CouponRestriction[]
  readonly description: string
  /** null: now, or what a known coupon has. */
  readonly issuedTime: Date | null
  readonly expiredTime: Date | null
}

/** Emits `coupon-issued` if it is issued at once. Throws InvalidFieldsError if it expires before it is issued. */
export function createCoupon(unit: UnitOfWork, id: string, given: CouponValues): Coupon {
  const issuedTime = given.issuedTime ?? unit.now
  requireOrder(issuedTime, given.expiredTime)
  const coupon = unit.create(Coupon, {
    id,
    ...given,
    issuedTime,
    status: couponStatus(timesOf({ ...given, issuedTime }), unit.now.getTime()),
    redemptionsCount: 0,
  })
  if (coupon.status === 'issued') unit.emit(couponEvent(coupon, 'coupon-issued', unit))
  const dueBy = couponDeadline(coupon)
  if (dueBy !== null) unit.startWorkflow('coupon', id, { dueBy, attributes: { status: coupon.status } })
  return coupon
}

/** Changes a locked coupon. Throws InvalidFieldsError, or ConflictError for what its redemptions do not permit. */
export async function updateCoupon(unit: UnitOfWork, coupon: Coupon, given: CouponValues): Promise<void> {
  const issuedTime = given.issuedTime ?? coupon.issuedTime
  requireOrder(issuedTime, given.expiredTime)
  if (coupon.redemptionsCount > 0 && canonicalJson(coupon.discount) !== canonicalJson(given.discount)) {
    throw new ConflictError('The discount of a coupon that was redeemed cannot be changed.')
  }
  if (limitsDiscounts(given) && !limitsDiscounts(coupon)) await requireNoneForCustomers(unit, coupon)
  Object.assign(coupon, { ...given, issuedTime })
  withdrawStatus(unit, coupon)
}

function limitsDiscounts({ restrictions }: Pick<CouponValues, 'restrictions'>): boolean {
  return restrictions.some(({ type }) => type === 'discounts-per-redemption')
}

/** Discounts are counted by the invoices of one order (ADR 61). */
async function requireNoneForCustomers({ em, organizationId }: UnitOfWork, { id }: Coupon): Promise<void> {
  const forAll = { organizationId, couponId: id, subscriptionId: null, canceledTime: null }
  if ((await em.count(CouponRedemption, forAll)) === 0) return
  throw new ConflictError(
    'The coupon is redeemed for all orders of a customer. Cancel that redemption before you limit its discounts.',
  )
}

/** Redemptions stay, and discount no invoice made after the expiry. Throws InvalidFieldsError. */
export function expireCoupon(unit: UnitOfWork, coupon: Coupon, expiredTime: Date): void {
  requireOrder(coupon.issuedTime, expiredTime)
  coupon.expiredTime = expiredTime
  withdrawStatus(unit, coupon)
}

/** Emits `coupon-modified`, and what is due on the coupon since. */
export function emitCouponChange(unit: UnitOfWork, coupon: Coupon): void {
  unit.emit(couponEvent(coupon, 'coupon-modified', unit))
  advanceCoupon(unit, coupon, unit.now.getTime())
  unit.wake('coupon', coupon.id, { dueBy: couponDeadline(coupon) })
}

/** Undoes an issue or expiry whose new time is ahead. */
function withdrawStatus(unit: UnitOfWork, coupon: Coupon): void {
  const status = couponStatus(timesOf(coupon), unit.now.getTime())
  if (COUPON_STATUSES.indexOf(status) < COUPON_STATUSES.indexOf(coupon.status)) coupon.status = status
}

function requireOrder(issuedTime: Date, expiredTime: Date | null): void {
  if (expiredTime === null || expiredTime > issuedTime) return
  throw new InvalidFieldsError([
    { field: 'expiredTime', code: 'mismatch', message: 'must be after issuedTime' },
  ])
}

function timesOf({ issuedTime, expiredTime }: Pick<Coupon, 'issuedTime' | 'expiredTime'>) {
  return { issuedTime: issuedTime.getTime(), expiredTime: expiredTime?.getTime() ?? null }
}

export function couponDeadline({ status, issuedTime, expiredTime }: Coupon): Date | null {
  if (status === 'draft') return issuedTime
  return status === 'issued' ? (expiredTime ?? null) : null
}

/** Applies what is due on a locked coupon. Returns its next deadline in milliseconds; null: none. */
export function advanceCoupon(unit: UnitOfWork, coupon: Coupon, instant: number): number | null {
  for (;;) {
    const due = couponDeadline(coupon)
    if (due === null || due.getTime() > instant) return due?.getTime() ?? null
    coupon.status = coupon.status === 'draft' ? 'issued' : 'expired'
    raiseRevision(coupon, unit)
    unit.emit(couponEvent(coupon, coupon.status === 'issued' ? 'coupon-issued' : 'coupon-expired', unit))
  }
}

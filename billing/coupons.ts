import { type Discount, discountable, type PriceableLine } from './discounts.ts'
import type { FieldProblem } from './errors.ts'
import { Money } from './money.ts'

export type CouponDiscount =
  | { readonly type: 'percent'; readonly value: string }
  | { readonly type: 'fixed'; readonly amount: string; readonly currency: string }

interface Counted {
  readonly type: 'total-redemptions' | 'redemptions-per-customer' | 'discounts-per-redemption'
  readonly quantity: number
}
interface OrderAmount {
  readonly type: 'minimum-order-amount' | 'maximum-order-amount'
  readonly amount: string
  readonly currency: string
}
interface OfPlans {
  readonly type: 'restrict-to-plans'
  readonly planIds: readonly string[]
  /** Units of them that an order must have; left out: one. */
  readonly minimumQuantity?: number
}
interface OfProducts {
  readonly type: 'restrict-to-products'
  readonly productIds: readonly string[]
  readonly minimumQuantity?: number
}
interface OfOrders {
  readonly type: 'restrict-to-subscriptions'
  readonly subscriptionIds: readonly string[]
}
interface OfCustomers {
  readonly type: 'restrict-to-customers'
  readonly customerIds: readonly string[]
}
interface OfTags {
  readonly type: 'restrict-to-customer-tags'
  readonly tags: readonly string[]
  readonly requireAllTags: boolean
}
interface OfCountries {
  readonly type: 'restrict-to-countries'
  readonly countries: readonly string[]
}
interface OfInvoices {
  readonly type: 'restrict-to-invoices'
  readonly invoiceIds: readonly string[]
}
export interface UnitsOfPlan {
  readonly planId: string
  readonly quantity: number
}
/** Who buys all of the ones gets the discount on units of the others. */
interface BuyAndGet {
  readonly type: 'restrict-to-bxgy'
  readonly buy: readonly UnitsOfPlan[]
  readonly get: readonly UnitsOfPlan[]
}
/** The discount ends with this time for an invoice that is not paid by then. */
interface PaidBy {
  readonly type: 'paid-by-time'
  readonly time: string
}
interface Exclusive {
  readonly type: 'restrict-to-exclusive-application'
}

export type CouponRestriction =
  | Counted
  | OrderAmount
  | OfPlans
  | OfProducts
  | OfOrders
  | OfCustomers
  | OfTags
  | OfCountries
  | OfInvoices
  | BuyAndGet
  | PaidBy
  | Exclusive

export const COUPON_STATUSES = ['draft', 'issued', 'expired'] as const
export type CouponStatus = (typeof COUPON_STATUSES)[number]

/** Instants are milliseconds. */
export interface Coupon {
  readonly discount: CouponDiscount
  readonly restrictions: readonly CouponRestriction[]
  readonly issuedTime: number
  readonly expiredTime: number | null
  /** Includes canceled ones. */
  readonly redemptionsCount: number
}

export interface RedeemedCoupon {
  readonly couponId: string
  readonly redemptionId: string
  readonly description: string
  readonly discount: CouponDiscount
  /** The coupon's own and those of the redemption. */
  readonly restrictions: readonly CouponRestriction[]
  readonly expiredTime: number | null
  /** Sequences of the order's invoices that it is restricted to; left out: it is not. */
  readonly invoices?: readonly number[]
  /** Live invoices with a discount of the redemption, other than those of the order in memory. */
  readonly discountsBefore: number
}

export interface Redeemer {
  readonly customerId: string
  readonly tags: readonly string[]
  /** Of the order's billing address, otherwise of the customer's; null: unknown. */
  readonly country: string | null
  /** Redemptions of the coupon by the customer, canceled ones included. */
  readonly redemptions: number
  readonly order: OrderToDiscount | null
}

export interface OrderToDiscount {
  readonly id: string
  readonly currency: string
  readonly items: readonly QuantityOfPlan[]
  /** Those that are not issued yet; left out: none is known. */
  readonly draftIds?: readonly string[]
  /** The lines of the initial invoice, and those of a renewal. */
  readonly invoices: readonly (readonly PriceableLine[])[]
}

export interface QuantityOfPlan {
  readonly quantity: number
  readonly plan: { readonly id: string | null; readonly productId?: string | null }
}

export function discountText(discount: CouponDiscount): string {
  return discount.type === 'percent'
    ? `${discount.value}% off`
    : `${discount.amount} ${discount.currency} off`
}

export function couponStatus(
  { issuedTime, expiredTime }: Pick<Coupon, 'issuedTime' | 'expiredTime'>,
  at: number,
): CouponStatus {
  if (isExpired({ expiredTime }, at)) return 'expired'
  return issuedTime <= at ? 'issued' : 'draft'
}

export function redemptionProblem(coupon: Coupon, by: Redeemer, at: number): FieldProblem | null {
  const status = couponStatus(coupon, at)
  if (status === 'expired') return { code: 'expired', message: 'must be a coupon that has not expired' }
  if (status === 'draft') return { code: 'inactive', message: 'must be a coupon that is issued already' }
  const { discount } = coupon
  if (by.order !== null && discount.type === 'fixed' && discount.currency !== by.order.currency) {
    return {
      code: 'mismatch',
      message: `must be a coupon in the currency of the order: ${by.order.currency}`,
    }
  }
  for (const restriction of coupon.restrictions) {
    const message = refusal(restriction, coupon, by, at)
    if (message !== null) return { code: 'not-allowed', message }
  }
  return null
}

export function combinationProblem(
  coupons: readonly { readonly restrictions: readonly CouponRestriction[] }[],
): FieldProblem | null {
  return coupons.length > 1 && coupons.some(isExclusive)
    ? { code: 'not-allowed', message: 'must contain no other coupon beside one with exclusive application' }
    : null
}

/** Returns the discounts of unexpired coupons whose restrictions the invoice meets, each coupon once. */
export function discountsAt(
  coupons: readonly RedeemedCoupon[],
  order: { readonly currency: string; readonly items: readonly QuantityOfPlan[] },
  lines: readonly PriceableLine[],
  { at, sequence }: { readonly at: number; readonly sequence: number },
  discountsOf: (redemptionId: string) => number,
): Discount[] {
  const fitting = coupons.filter((coupon, index) => {
    if (coupons.findIndex(({ couponId }) => couponId === coupon.couponId) !== index) return false
    const { discount, discountsBefore, redemptionId, invoices } = coupon
    if (isExpired(coupon, at)) return false
    if (discount.type === 'fixed' && discount.currency !== order.currency) return false
    if (invoices !== undefined && !invoices.includes(sequence)) return false
    const made = discountsBefore + discountsOf(redemptionId)
    return coupon.restrictions.every((restriction) => permits(restriction, order, lines, { made, at }))
  })
  const combined = fitting.filter((coupon) => !isExclusive(coupon))
  return (combined.length > 0 ? combined : fitting.slice(0, 1)).map((one) => discountOf(one, order.items))
}

/**
 * Returns the coupon of a discount that an invoice has, for lines that are billed in place of its own: what the invoice had to
 * meet as a whole is not checked again, and a fixed amount is what it took off those.
 */
export function continued(coupon: RedeemedCoupon, amount: Money): RedeemedCoupon {
  const { discount } = coupon
  return {
    ...coupon,
    discount: discount.type === 'fixed' ? { ...discount, amount: amount.toFixed() } : discount,
    restrictions: coupon.restrictions.filter(({ type }) => !OF_WHOLE_INVOICES.has(type)),
  }
}

const OF_WHOLE_INVOICES: ReadonlySet<CouponRestriction['type']> = new Set([
  'discounts-per-redemption',
  'minimum-order-amount',
  'maximum-order-amount',
])

/** True if what it takes off a line is a share of that, whatever else is billed. */
export function isShareOfLine({ discount, restrictions }: RedeemedCoupon): boolean {
  return discount.type === 'percent' && !restrictions.some(asksForUnits)
}

function asksForUnits(restriction: CouponRestriction): boolean {
  if (restriction.type === 'restrict-to-bxgy') return true
  const isOfUnits = restriction.type === 'restrict-to-plans' || restriction.type === 'restrict-to-products'
  return isOfUnits && (restriction.minimumQuantity ?? 1) > 1
}

function isExpired({ expiredTime }: { readonly expiredTime: number | null }, at: number): boolean {
  return expiredTime !== null && expiredTime <= at
}

function isExclusive({ restrictions }: { readonly restrictions: readonly CouponRestriction[] }): boolean {
  return restrictions.some(({ type }) => type === 'restrict-to-exclusive-application')
}

export function discountOf(
  { couponId, redemptionId, description, discount, restrictions }: RedeemedCoupon,
  items: readonly QuantityOfPlan[],
): Discount {
  const deal = restrictions.find((one) => one.type === 'restrict-to-bxgy')
  const times = restrictions.flatMap((one) => (one.type === 'paid-by-time' ? [Date.parse(one.time)] : []))
  return {
    ...(deal === undefined ? {} : { units: unitsToGet(deal, items) }),
    ...(times.length === 0 ? {} : { paidBy: Math.min(...times) }),
    couponId,
    redemptionId,
    description,
    value:
      discount.type === 'percent'
        ? { type: 'percent', percent: discount.value }
        : { type: 'fixed', amount: discount.amount },
    planIds: common(restrictions.flatMap((one) => (one.type === 'restrict-to-plans' ? [one.planIds] : []))),
    productIds: common(
      restrictions.flatMap((one) => (one.type === 'restrict-to-products' ? [one.productIds] : [])),
    ),
  }
}

function common([first, ...others]: readonly (readonly string[])[]): readonly string[] | null {
  return first === undefined ? null : first.filter((id) => others.every((ids) => ids.includes(id)))
}

function permits(
  restriction: CouponRestriction,
  order: { readonly currency: string; readonly items: readonly QuantityOfPlan[] },
  lines: readonly PriceableLine[],
  { made, at }: { readonly made: number; readonly at: number },
): boolean {
  switch (restriction.type) {
    case 'discounts-per-redemption':
      return made < restriction.quantity
    case 'minimum-order-amount':
    case 'maximum-order-amount':
      return isWithin(restriction, order.currency, lines)
    case 'restrict-to-plans':
    case 'restrict-to-products':
      return hasQuantity(restriction, order.items)
    case 'restrict-to-bxgy':
      return unitsToGet(restriction, order.items).length > 0
    case 'paid-by-time':
      return at < Date.parse(restriction.time)
    case 'restrict-to-invoices':
    case 'total-redemptions':
    case 'redemptions-per-customer':
    case 'restrict-to-subscriptions':
    case 'restrict-to-customers':
    case 'restrict-to-customer-tags':
    case 'restrict-to-countries':
    case 'restrict-to-exclusive-application':
      // Decided when the coupon is redeemed, or by what else the order has.
      return true
  }
}

function refusal(restriction: CouponRestriction, coupon: Coupon, by: Redeemer, at: number): string | null {
  const { order } = by
  switch (restriction.type) {
    case 'total-redemptions':
      return coupon.redemptionsCount < restriction.quantity ? null : 'must be a coupon with redemptions left'
    case 'redemptions-per-customer':
      return by.redemptions < restriction.quantity
        ? null
        : 'must be a coupon that the customer can redeem again'
    case 'restrict-to-customers':
      return restriction.customerIds.includes(by.customerId) ? null : 'must be a coupon for the customer'
    case 'restrict-to-customer-tags':
      return hasTags(restriction, by.tags) ? null : 'must be a coupon for the tags of the customer'
    case 'restrict-to-countries':
      return restriction.countries.includes(by.country ?? '')
        ? null
        : 'must be a coupon for the country of the billing address'
    case 'restrict-to-subscriptions':
      return order === null || restriction.subscriptionIds.includes(order.id)
        ? null
        : 'must be a coupon for the order'
    case 'discounts-per-redemption':
      return order === null ? 'must be redeemed for one order, because its discounts are limited' : null
    case 'minimum-order-amount':
    case 'maximum-order-amount': {
      const fits = order?.invoices.some((lines) => isWithin(restriction, order.currency, lines)) ?? true
      const bound = restriction.type === 'minimum-order-amount' ? 'from' : 'up to'
      return fits
        ? null
        : `must be a coupon for the amount of the order: it is for orders ${bound} ${restriction.amount} ${restriction.currency}`
    }
    case 'restrict-to-plans':
      return order === null || hasQuantity(restriction, order.items)
        ? null
        : 'must be a coupon for the plans of the order'
    case 'restrict-to-products':
      return order === null || hasQuantity(restriction, order.items)
        ? null
        : 'must be a coupon for the products of the order'
    case 'restrict-to-invoices':
      return order === null || (order.draftIds ?? []).some((id) => restriction.invoiceIds.includes(id))
        ? null
        : 'must be a coupon for an invoice of the order that is not issued yet'
    case 'restrict-to-bxgy':
      return order === null || unitsToGet(restriction, order.items).length > 0
        ? null
        : 'must be a coupon for the plans and quantities of the order'
    case 'paid-by-time':
      return at < Date.parse(restriction.time) ? null : 'must be a coupon whose time of payment is ahead'
    case 'restrict-to-exclusive-application':
      return null
  }
}

/** Returns how many units of each plan are discounted: of those beyond what has to be bought, as many as may be got. */
function unitsToGet(
  { buy, get }: BuyAndGet,
  items: readonly QuantityOfPlan[],
): NonNullable<Discount['units']> {
  const sum = (units: readonly UnitsOfPlan[], planId: string) =>
    units.filter((one) => one.planId === planId).reduce((total, { quantity }) => total + quantity, 0)
  const ordered = items.map(({ quantity, plan }) => ({ planId: plan.id ?? '', quantity }))
  if (buy.some(({ planId }) => sum(ordered, planId) < sum(buy, planId))) return []
  return [...new Set(get.map(({ planId }) => planId))].flatMap((planId) => {
    const quantity = Math.min(sum(get, planId), sum(ordered, planId) - sum(buy, planId))
    return quantity > 0 ? [{ planId, quantity, of: sum(ordered, planId) }] : []
  })
}

function isWithin(
  { type, amount, currency }: OrderAmount,
  ofOrder: string,
  lines: readonly PriceableLine[],
): boolean {
  if (currency !== ofOrder) return false
  const sum = new Money(discountable(lines))
  return type === 'minimum-order-amount' ? sum.greaterThanOrEqualTo(amount) : sum.lessThanOrEqualTo(amount)
}

function hasQuantity(restriction: OfPlans | OfProducts, items: readonly QuantityOfPlan[]): boolean {
  const counted = items.filter(({ plan }) =>
    restriction.type === 'restrict-to-plans'
      ? restriction.planIds.includes(plan.id ?? '')
      : restriction.productIds.includes(plan.productId ?? ''),
  )
  const quantity = counted.reduce((sum, item) => sum + item.quantity, 0)
  return quantity >= (restriction.minimumQuantity ?? 1)
}

function hasTags({ tags, requireAllTags }: OfTags, known: readonly string[]): boolean {
  const names = new Set(known.map((name) => name.toLowerCase()))
  const has = (name: string) => names.has(name.toLowerCase())
  return requireAllTags ? tags.every(has) : tags.some(has)
}

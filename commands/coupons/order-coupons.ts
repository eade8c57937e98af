import type { Contact } from '../../billing/contacts.ts'
import {
  type CouponRestriction,
  combinationProblem,
  discountText,
  type OrderToDiscount,
  type RedeemedCoupon,
  type Redeemer,
  redemptionProblem,
} from '../../billing/coupons.ts'
import { Coupon, CouponRedemption, type Subscription } from '../../db/entities/index.ts'
import { newId } from '../../db/ids.ts'
import { plainRowReader } from '../../db/plain-rows.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { References } from '../references.ts'
import { cancelRedemptions, countRedemptions, lockCoupons, redeem } from './redeem-coupon.ts'

export interface OrderCoupons {
  /** In the order of application: those of the order, then those of its customer. */
  readonly redeemed: readonly RedeemedCoupon[]
  readonly coupons: readonly Coupon[]
}

export const NO_COUPONS: OrderCoupons = { redeemed: [], coupons: [] }

type OrderRow = Pick<Subscription, 'id' | 'customerId' | 'couponIds'>

/**
 * Returns the coupons that are redeemed for orders, by order. `invoiceIds` are the invoices that the rules
 * see themselves; discounts of others are counted.
 */
export async function readCoupons(
  tenant: Pick<UnitOfWork, 'em' | 'organizationId'>,
  orders: readonly OrderRow[],
  invoiceIds: readonly string[],
): Promise<ReadonlyMap<string, OrderCoupons>> {
  const { em, organizationId } = tenant
  const found = await statement<
    Record<string, unknown> & { for_order: string; coupon: Record<string, unknown> }
  >(
    em,
    'read-coupons-of-orders',
    `select given.id as for_order, redemption.*, to_jsonb(coupon) as coupon
       from jsonb_to_recordset(?::jsonb) as given (id text, "customerId" text)
       join coupon_redemptions redemption
         on redemption.organization_id = ? and redemption.customer_id = given."customerId"
        and redemption.canceled_time is null
        and (redemption.subscription_id is null or redemption.subscription_id = given.id)
       join coupons coupon on coupon.organization_id = redemption.organization_id and coupon.id = redemption.coupon_id
      order by redemption.created_time, redemption.id`,
    [JSON.stringify(orders.map(({ id, customerId }) => ({ id, customerId }))), organizationId],
  )
  if (found.length === 0) return new Map()
  const readRedemption = plainRowReader(em, CouponRedemption)
  const readCoupon = plainRowReader(em, Coupon)
  const rows = found.map((raw) => ({
    orderId: raw.for_order,
    redemption: readRedemption(raw),
    coupon: readCoupon(raw.coupon),
  }))
  const counts = await countDiscounts(tenant, rows, invoiceIds)
  const sequences = await readSequences(tenant, rows)
  const byOrder = Map.groupBy(rows, ({ orderId }) => orderId)
  return new Map(
    orders.map((order) => {
      const its = (byOrder.get(order.id) ?? [])
        .filter((one) => isFor(restrictionsOf(one), order.id))
        .sort((one, other) => placeOf(order, one.redemption) - placeOf(order, other.redemption))
      return [
        order.id,
        {
          redeemed: its.map((one) => ({
            ...redeemedCoupon(one.coupon, {
              redemptionId: one.redemption.id,
              restrictions: restrictionsOf(one),
              discountsBefore: counts.get(one.redemption.id) ?? 0,
            }),
            ...restrictedTo(one, order.id, sequences),
          })),
          coupons: its.map(({ coupon }) => coupon),
        },
      ]
    }),
  )
}

interface RedemptionRow {
  readonly redemption: CouponRedemption
  readonly coupon: Coupon
}

function restrictionsOf({ coupon, redemption }: RedemptionRow): CouponRestriction[] {
  return [...coupon.restrictions, ...redemption.additionalRestrictions]
}

function isFor(restrictions: readonly CouponRestriction[], orderId: string): boolean {
  return restrictions.every(
    (one) => one.type !== 'restrict-to-subscriptions' || one.subscriptionIds.includes(orderId),
  )
}

interface SequenceOfOrder {
  readonly id: string
  readonly order_id: string
  readonly sequence: number
}

/** Finds the invoices that redemptions are restricted to. */
async function readSequences(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  rows: readonly RedemptionRow[],
): Promise<readonly SequenceOfOrder[]> {
  const ids = rows.flatMap(restrictionsOf).flatMap(invoiceIdsOf)
  if (ids.length === 0) return []
  return await statement<SequenceOfOrder>(
    em,
    'read-sequences-of-invoices',
    `select id, subscription_id as order_id, sequence from invoices
      where organization_id = ? and id in (select jsonb_array_elements_text(?::jsonb))`,
    [organizationId, JSON.stringify(ids)],
  )
}

function restrictedTo(
  row: RedemptionRow,
  orderId: string,
  sequences: readonly SequenceOfOrder[],
): Pick<RedeemedCoupon, 'invoices'> {
  const lists = restrictionsOf(row).filter(({ type }) => type === 'restrict-to-invoices')
  if (lists.length === 0) return {}
  const isIn = (id: string) => lists.every((one) => invoiceIdsOf(one).includes(id))
  const its = sequences.filter(({ id, order_id }) => order_id === orderId && isIn(id))
  return { invoices: its.map(({ sequence }) => sequence) }
}

function invoiceIdsOf(restriction: CouponRestriction): readonly string[] {
  return restriction.type === 'restrict-to-invoices' ? restriction.invoiceIds : []
}

function placeOf({ couponIds }: OrderRow, { couponId, subscriptionId }: CouponRedemption): number {
  return subscriptionId == null ? couponIds.length : couponIds.indexOf(couponId)
}

/** Returns a coupon as the rules of orders read it. */
export function redeemedCoupon(
  { id, description, discount, expiredTime }: Coupon,
  redemption: Pick<RedeemedCoupon, 'redemptionId' | 'restrictions' | 'discountsBefore'>,
): RedeemedCoupon {
  return {
    couponId: id,
    description: description === '' ? discountText(discount) : description,
    discount,
    expiredTime: expiredTime?.getTime() ?? null,
    ...redemption,
  }
}

async function countDiscounts(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  rows: readonly (RedemptionRow & { readonly orderId: string })[],
  invoiceIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const limited = rows.filter((row) =>
    restrictionsOf(row).some(({ type }) => type === 'discounts-per-redemption'),
  )
  if (limited.length === 0) return new Map()
  const counted = await statement<{ id: string; count: number }>(
    em,
    'count-discounts-of-redemptions',
    `select discount ->> 'redemptionId' as id, count(*)::int as count
       from invoices, jsonb_array_elements(discounts) discount
      where organization_id = ? and subscription_id in (select jsonb_array_elements_text(?::jsonb))
        and status not in ('voided', 'abandoned') and not id in (select jsonb_array_elements_text(?::jsonb))
      group by 1`,
    [organizationId, JSON.stringify(limited.map(({ orderId }) => orderId)), JSON.stringify(invoiceIds)],
  )
  return new Map(counted.map(({ id, count }) => [id, count]))
}

/** A checked change: coupons to redeem, which are locked, and ids of coupons to cancel. */
export interface CouponChange {
  readonly redeemed: readonly Coupon[]
  readonly canceled: readonly string[]
}

export interface OrderForCoupons {
  readonly customerId: string
  readonly billingAddress: Contact | null
  readonly currency: string
  /** null: its items are invalid, so that its amounts are unknown. */
  readonly order: OrderToDiscount | null
}

export interface CheckOptions {
  /** Names the place of a coupon, or with null of all. */
  readonly fields?: (index: number | null) => string
  readonly additionalRestrictions?: readonly CouponRestriction[]
}

const FIELDS = (index: number | null) => (index === null ? 'couponIds' : `couponIds.${index}`)

/** Records why an order cannot have these coupons. Those that it has already stay, even if they have expired. */
export async function checkCoupons(
  unit: UnitOfWork,
  found: References,
  given: OrderForCoupons,
  couponIds: readonly string[],
  known: { readonly couponIds: readonly string[]; readonly coupons: readonly Coupon[] },
  at: number,
  { fields = FIELDS, additionalRestrictions = [] }: CheckOptions = {},
): Promise<CouponChange> {
  const added = couponIds.filter((id) => !known.couponIds.includes(id))
  const locked = added.length === 0 ? new Map<string, Coupon>() : await lockCoupons(unit, added)
  const redeemer = locked.size === 0 ? null : await readRedeemer(unit, given, [...locked.keys()])
  const coupons: Coupon[] = []
  for (const [index, id] of couponIds.entries()) {
    const field = fields(index)
    const kept = known.coupons.find((coupon) => coupon.id === id)
    const coupon = locked.get(id) ?? kept
    if (coupons.some((one) => one.id === id)) found.fail(field, 'not-unique', 'must occur only once')
    else if (coupon === undefined) {
      if (added.includes(id)) found.missing(Coupon, field)
    } else {
      coupons.push(coupon)
      const problem =
        coupon === kept || redeemer === null
          ? currencyProblem(coupon, given)
          : redemptionProblem(rulesOf(coupon, additionalRestrictions), redeemer(id), at)
      if (problem !== null) found.fail(field, problem.code, problem.message)
    }
  }
  const combination = combinationProblem(coupons)
  if (combination !== null) found.fail(fields(null), combination.code, combination.message)
  return {
    redeemed: couponIds.flatMap((id) => locked.get(id) ?? []),
    canceled: known.couponIds.filter((id) => !couponIds.includes(id)),
  }
}

function currencyProblem({ discount }: Coupon, { currency }: OrderForCoupons) {
  return discount.type === 'percent' || discount.currency === currency
    ? null
    : ({ code: 'mismatch', message: `must be a coupon in the currency of the order: ${currency}` } as const)
}

/** Applies what `checkCoupons` returned to an order whose row is locked or new. */
export async function changeCoupons(
  unit: UnitOfWork,
  order: Pick<Subscription, 'id' | 'customerId' | 'websiteId'>,
  { redeemed, canceled }: CouponChange,
  additionalRestrictions: readonly CouponRestriction[] = [],
  redemptionId: () => string = () => newId('red'),
): Promise<CouponRedemption[]> {
  const { em, organizationId } = unit
  const { id, customerId, websiteId } = order
  if (canceled.length > 0) {
    const ended = await em.find(
      CouponRedemption,
      { organizationId, subscriptionId: id, couponId: { $in: [...canceled] }, canceledTime: null },
      { refresh: true },
    )
    await cancelRedemptions(unit, ended, websiteId)
  }
  const ofOrder: CouponRestriction = { type: 'restrict-to-subscriptions', subscriptionIds: [id] }
  const made = redeemed.map((coupon) =>
    redeem(unit, redemptionId(), coupon, { customerId, order: { id, websiteId } }, [
      ...additionalRestrictions,
      ofOrder,
    ]),
  )
  // The coupons of the order are read anew, and its row is not written yet.
  await em.flush()
  return made
}

export async function readRedeemer(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  { customerId, billingAddress, order }: Omit<OrderForCoupons, 'currency'>,
  couponIds: readonly string[],
): Promise<(couponId: string) => Redeemer> {
  const [customer] = await statement<{ tags: { name: string }[]; country: string | null }>(
    em,
    'read-redeemer',
    `select tags, primary_address ->> 'country' as country from customers where organization_id = ? and id = ?`,
    [organizationId, customerId],
  )
  const redemptions = await countRedemptions({ em, organizationId }, couponIds, customerId)
  return (couponId) => ({
    customerId,
    tags: customer?.tags.map(({ name }) => name) ?? [],
    country: billingAddress?.country ?? customer?.country ?? null,
    redemptions: redemptions.get(couponId) ?? 0,
    order,
  })
}

export function rulesOf(
  { discount, restrictions, issuedTime, expiredTime, redemptionsCount }: Coupon,
  additionalRestrictions: readonly CouponRestriction[] = [],
) {
  return {
    discount,
    restrictions: [...restrictions, ...additionalRestrictions],
    issuedTime: issuedTime.getTime(),
    expiredTime: expiredTime?.getTime() ?? null,
    redemptionsCount,
  }
}

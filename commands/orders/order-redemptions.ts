import { type CouponRestriction, redemptionProblem } from '../../billing/coupons.ts'
import { ConflictError } from '../../billing/errors.ts'
import { immutableMembers } from '../../billing/immutable-members.ts'
import { initialLines, renewalLines } from '../../billing/invoices.ts'
import { changeTerms } from '../../billing/order-commands.ts'
import { raiseRevisionOnce } from '../../db/change-row.ts'
import { Coupon, CouponRedemption, Customer, Invoice, Subscription } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { subscriptionEvent } from '../../events/order-events.ts'
import { type CheckOptions, checkCoupons, readRedeemer, rulesOf } from '../coupons/order-coupons.ts'
import { cancelRedemptions, lockCoupons, redeem } from '../coupons/redeem-coupon.ts'
import { refundUndelivered } from '../payments/refund-sales.ts'
import { references } from '../references.ts'
import {
  advanceBeforeRefunds,
  advanceForCommand,
  lockSubscription,
  scheduleAfter,
  wakeOrder,
} from './advance-order.ts'
import { applyTransitions } from './apply-transitions.ts'
import { lockCreditOfAll } from './credit.ts'
import { eventTime } from './event-time.ts'
import type { Loading } from './load-order.ts'
import { orderInstant } from './order-instant.ts'
import { draftIds, type OrderRecord } from './order-record.ts'
import { orderTerms } from './rows-to-order.ts'
import { applyTerms, redeemCoupons } from './update-order.ts'

export interface NewRedemption {
  readonly couponId: string
  readonly customerId: string
  readonly additionalRestrictions: CouponRestriction[]
}

/**
 * Redeems a coupon for one order, as its `couponIds` would, or for all orders of the customer, whose drafts
 * are priced anew. Throws InvalidFieldsError, ConflictError.
 */
export async function createRedemption(
  unit: UnitOfWork,
  id: string,
  given: NewRedemption,
): Promise<CouponRedemption> {
  const named = given.additionalRestrictions.flatMap((one, index) =>
    one.type === 'restrict-to-subscriptions'
      ? one.subscriptionIds.map((orderId, at) => ({
          orderId,
          field: `additionalRestrictions.${index}.subscriptionIds.${at}`,
        }))
      : [],
  )
  const [only, ...others] = named
  await requireDrafts(unit, given)
  return only !== undefined && others.length === 0
    ? await redeemForOrder(unit, id, given, only)
    : await redeemForCustomer(unit, id, given, named)
}

/** @throws InvalidFieldsError naming each invoice of a restriction that the redemption cannot discount. */
async function requireDrafts(
  unit: UnitOfWork,
  { customerId, additionalRestrictions }: NewRedemption,
): Promise<void> {
  const named = additionalRestrictions.flatMap((one, index) =>
    one.type === 'restrict-to-invoices'
      ? one.invoiceIds.map((id, at) => ({ id, field: `additionalRestrictions.${index}.invoiceIds.${at}` }))
      : [],
  )
  if (named.length === 0) return
  const { em, organizationId } = unit
  const rows = await em.find(Invoice, { organizationId, id: { $in: named.map(({ id }) => id) } })
  const found = references(unit)
  for (const { id, field } of named) {
    const row = rows.find((one) => one.id === id)
    if (row === undefined) found.missing(Invoice, field)
    else if (row.customerId !== customerId)
      found.fail(field, 'mismatch', 'must be an invoice of the customer')
    else if (row.status !== 'draft')
      found.fail(field, 'inactive', 'must be an invoice that is not issued yet')
    else if (row.subscriptionId == null) found.fail(field, 'mismatch', 'must be an invoice of an order')
  }
  found.check()
}

interface NamedOrder {
  readonly orderId: string
  readonly field: string
}

async function redeemForOrder(
  unit: UnitOfWork,
  id: string,
  { couponId, customerId, additionalRestrictions }: NewRedemption,
  { orderId, field }: NamedOrder,
): Promise<CouponRedemption> {
  const found = references(unit)
  const row = await lockSubscription(unit, orderId)
  await found.required(Customer, 'customerId', customerId)
  if (row === null) return found.refuseMissing(Subscription, field)
  if (row.customerId !== customerId) found.fail(field, 'mismatch', 'must be an order of the customer')
  found.check()
  if (row.couponIds.includes(couponId)) {
    throw new ConflictError('The coupon is redeemed for the order already.')
  }
  const ofCaller = additionalRestrictions.filter(({ type }) => type !== 'restrict-to-subscriptions')
  const [made] = await updateCoupons(unit, row, [...row.couponIds, couponId], {
    fields: () => 'couponId',
    additionalRestrictions: ofCaller,
    redemptionId: () => id,
  })
  if (made === undefined) throw new Error('a coupon that was accepted left no redemption')
  return made
}

async function redeemForCustomer(
  unit: UnitOfWork,
  id: string,
  { couponId, customerId, additionalRestrictions }: NewRedemption,
  named: readonly NamedOrder[],
): Promise<CouponRedemption> {
  const found = references(unit)
  const orderIds = named.map(({ orderId }) => orderId)
  const { customer, pending } = await holdWithPendingOrders(unit, customerId, orderIds)
  if (customer === null) found.missing(Customer, 'customerId')
  for (const { orderId, field } of named) {
    const order = await found.required(Subscription, field, orderId)
    if (order !== null && order.customerId !== customerId)
      found.fail(field, 'mismatch', 'must be an order of the customer')
  }
  const coupon = (await lockCoupons(unit, [couponId])).get(couponId)
  if (coupon === undefined) return found.refuseMissing(Coupon, 'couponId')
  found.check()
  const redeemer = await readRedeemer(unit, { customerId, billingAddress: null, order: null }, [couponId])
  const rules = rulesOf(coupon, additionalRestrictions)
  const problem = redemptionProblem(rules, redeemer(couponId), unit.now.getTime())
  if (problem !== null) found.fail('couponId', problem.code, problem.message)
  found.check()
  const made = redeem(unit, id, coupon, { customerId, order: null }, additionalRestrictions)
  await repriceDrafts(unit, pending)
  return made
}

/** A pending order is priced anew. Returns null if it does not exist. Throws ConflictError. */
export async function cancelRedemption(unit: UnitOfWork, id: string): Promise<CouponRedemption | null> {
  const { em, organizationId } = unit
  const known = await em.findOne(CouponRedemption, { organizationId, id })
  if (known === null) return null
  const order = known.subscriptionId == null ? null : await lockSubscription(unit, known.subscriptionId)
  const pending = order === null ? await lockPendingOrdersOf(unit, known) : []
  const redemption = await lockRow(unit, CouponRedemption, id)
  if (redemption === null) return null
  if (redemption.canceledTime != null) throw new ConflictError('The redemption is canceled already.')
  if (order !== null) {
    const left = order.couponIds.filter((couponId) => couponId !== redemption.couponId)
    if (!immutableMembers(order.status).includes('couponIds')) {
      await updateCoupons(unit, order, left)
      return redemption
    }
    await setCoupons(unit, order, left)
  }
  await cancelRedemptions(unit, [redemption], order?.websiteId ?? null)
  await repriceDrafts(unit, pending)
  return redemption
}

/** Sets what is left to a locked order that takes no new terms, and may redeem others once it is back in service. */
async function setCoupons(unit: UnitOfWork, row: Subscription, couponIds: string[]): Promise<void> {
  if (couponIds.length === row.couponIds.length) return
  const instant = orderInstant(unit, row)
  const record = await advanceForCommand(unit, row, instant)
  row.couponIds = couponIds
  scheduleAfter(record, instant)
  raiseRevisionOnce(row, unit, record)
  unit.emit(subscriptionEvent(row, 'subscription-modified', eventTime(row, instant), unit.baseUrl))
  wakeOrder(unit, row)
}

interface CouponOptions extends CheckOptions {
  readonly redemptionId?: () => string
}

/** Changes the coupons of a locked order alone, as `updateSubscription` does. */
async function updateCoupons(
  unit: UnitOfWork,
  row: Subscription,
  couponIds: string[],
  { redemptionId, ...options }: CouponOptions = {},
): Promise<CouponRedemption[]> {
  const instant = orderInstant(unit, row)
  const record = await advanceForCommand(unit, row, instant)
  if (immutableMembers(row.status).includes('couponIds')) {
    throw new ConflictError(`The status of the order (${row.status}) does not permit changes of couponIds.`)
  }
  const { terms } = record.order
  const { customerId, currency, billingAddress = null } = row
  const invoices = [initialLines(terms), renewalLines(terms)]
  const found = references(unit)
  const change = await checkCoupons(
    unit,
    found,
    {
      customerId,
      currency,
      billingAddress,
      order: { id: row.id, currency, items: terms.items, invoices, draftIds: draftIds(record) },
    },
    couponIds,
    { couponIds: row.couponIds, coupons: [...record.coupons.values()] },
    instant,
    options,
  )
  found.check()
  row.couponIds = couponIds
  const made = await redeemCoupons(unit, record, change, options.additionalRestrictions, redemptionId)
  applyTerms(unit, record, instant, true)
  scheduleAfter(record, instant)
  raiseRevisionOnce(row, unit, record)
  unit.emit(subscriptionEvent(row, 'subscription-modified', eventTime(row, instant), unit.baseUrl))
  wakeOrder(unit, row)
  return made
}

/** Locks the orders whose drafts a redemption for all orders may discount, also where a merge gives it to another customer. */
async function lockPendingOrdersOf(unit: UnitOfWork, known: CouponRedemption): Promise<readonly string[]> {
  const { em, organizationId } = unit
  for (let owner: string | undefined = known.customerId; owner !== undefined; ) {
    const { customer, pending } = await holdWithPendingOrders(unit, owner)
    if (customer !== null) return pending
    const gone: string = owner
    const redemption = await em.findOne(CouponRedemption, { organizationId, id: known.id }, { refresh: true })
    owner = redemption?.customerId === gone ? undefined : redemption?.customerId
  }
  return []
}

/**
 * Locks a customer's pending orders and the named ones, as orders come before their customer, and holds the customer: from then on
 * no merge brings or takes any. Those that one brought meanwhile are locked last. Then come the credit memos that the pending ones
 * may use, as memos come before coupons.
 */
async function holdWithPendingOrders(
  unit: UnitOfWork,
  customerId: string,
  named: readonly string[] = [],
): Promise<{ readonly customer: Customer | null; readonly pending: readonly string[] }> {
  await lockNamedAndPendingOrders(unit, customerId, named)
  const customer = await references(unit).optional(Customer, 'customerId', customerId)
  const pending = await lockPendingOrders(unit, customerId)
  if (pending.length > 0)
    await lockCreditOfAll(
      unit,
      pending.map((id) => ({ id, customerId })),
      [],
    )
  return { customer, pending }
}

/** In one order of ids. */
async function lockNamedAndPendingOrders(
  { em, organizationId }: UnitOfWork,
  customerId: string,
  named: readonly string[],
): Promise<void> {
  await statement(
    em,
    'lock-named-and-pending-orders',
    `select id from subscriptions
      where organization_id = ?
        and id in (select jsonb_array_elements_text(?::jsonb)
                   union all
                   select id from subscriptions where organization_id = ? and customer_id = ? and status = 'pending')
      order by id for update`,
    [organizationId, JSON.stringify(named), organizationId, customerId],
  )
}

/** Locks the pending orders of a held customer, if redemptions for all of its orders discount them. */
export async function lockDiscounted(unit: UnitOfWork, customerId: string): Promise<readonly string[]> {
  const { em, organizationId } = unit
  const forAll = { organizationId, customerId, subscriptionId: null, canceledTime: null }
  return (await em.count(CouponRedemption, forAll)) === 0 ? [] : await lockPendingOrders(unit, customerId)
}

/** Orders are locked before coupons. */
async function lockPendingOrders(
  { em, organizationId }: UnitOfWork,
  customerId: string,
): Promise<readonly string[]> {
  const locked = await statement<{ id: string }>(
    em,
    'lock-pending-orders-of-customer',
    `select id from subscriptions where organization_id = ? and customer_id = ? and status = 'pending'
      order by id for update`,
    [organizationId, customerId],
  )
  return locked.map(({ id }) => id)
}

/** Prices the drafts of locked orders anew; issued invoices stay. */
export async function repriceDrafts(
  unit: UnitOfWork,
  orderIds: readonly string[],
  loading: Pick<Loading, 'changedRows'> = {},
): Promise<void> {
  await unit.em.flush()
  const records: OrderRecord[] = []
  for (const orderId of orderIds) {
    const row = await lockSubscription(unit, orderId)
    if (row === null) continue
    const instant = orderInstant(unit, row)
    const record = await advanceBeforeRefunds(unit, row, instant, loading)
    records.push(record)
    const { order } = record
    if (!order.invoices.some(({ type, status }) => type === 'initial' && status === 'draft')) continue
    const terms = orderTerms(row, record.charging, record.redeemed)
    const made = changeTerms(order, instant, terms)
    if (made.events.length === 0) continue
    applyTransitions(unit, record, [made])
    scheduleAfter(record, instant)
    wakeOrder(unit, row)
  }
  await refundUndelivered(unit, records)
}

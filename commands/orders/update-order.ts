import { canonicalJson } from '../../billing/canonical-json.ts'
import type { CouponRestriction } from '../../billing/coupons.ts'
import { ConflictError } from '../../billing/errors.ts'
import { immutableMembers } from '../../billing/immutable-members.ts'
import { changeItems, type RenewalPolicy } from '../../billing/item-changes.ts'
import { set, transition } from '../../billing/order.ts'
import { changeTerms, moveRenewal, takeTerms } from '../../billing/order-commands.ts'
import { changeAutopay } from '../../billing/order-payments.ts'
import { agreedTerms } from '../../billing/order-terms.ts'
import { planField } from '../../billing/order-validation.ts'
import { raiseRevisionOnce } from '../../db/change-row.ts'
import type { CouponRedemption, Subscription } from '../../db/entities/index.ts'
import type { OrderItem } from '../../db/entities/subscription.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { subscriptionEvent } from '../../events/order-events.ts'
import {
  type CouponChange,
  changeCoupons,
  checkCoupons,
  NO_COUPONS,
  readCoupons,
} from '../coupons/order-coupons.ts'
import { checkCustomFields } from '../custom-fields.ts'
import { ownInstrument } from '../payments/own-instrument.ts'
import { references } from '../references.ts'
import { advanceForCommand, scheduleAfter, wakeOrder } from './advance-order.ts'
import { annotateDrafts, applyTransitions } from './apply-transitions.ts'
import { readChargeTerms, UNCHARGED } from './choose-instrument.ts'
import { changedItem, exclusion, type NewSubscription, pricedItems } from './create-order.ts'
import { eventTime } from './event-time.ts'
import { orderInstant } from './order-instant.ts'
import { draftIds, type OrderRecord } from './order-record.ts'
import { readForOrder } from './order-references.ts'
import { orderRisk, readCaptured } from './order-risk.ts'
import { readTaxes } from './order-taxes.ts'
import { recordOrderProblems, requireTaxedAmounts } from './record-order-problems.ts'
import { orderChoices, orderTerms, termsItem } from './rows-to-order.ts'

export interface SubscriptionChange
  extends Omit<NewSubscription, 'startTime' | 'trial' | 'isTrialOnly' | 'recurringInterval'> {
  /** undefined leaves it; null: now, while the order is pending. */
  readonly startTime: Date | null | undefined
  /** undefined leaves it; null: that of the plans. */
  readonly trial: NewSubscription['trial'] | undefined
  /** null leaves it unchanged. */
  readonly isTrialOnly: boolean | null
  /** undefined leaves it; null: that of the plans. */
  readonly recurringInterval: NewSubscription['recurringInterval'] | undefined
  /** Next boundary and anchor of an order in service; null, or one that has passed, leaves them unchanged. */
  readonly renewalTime: Date | null
}

/** Changes a locked order as far as its state permits (decisions 6.1). Throws ConflictError, InvalidFieldsError. */
export async function updateSubscription(
  unit: UnitOfWork,
  row: Subscription,
  given: SubscriptionChange,
): Promise<void> {
  const instant = orderInstant(unit, row)
  // It holds the customer, which comes before the credit memos of the record.
  const named = sameItems(row, given) ? null : await readForOrder(unit, given)
  const record = await advanceForCommand(unit, row, instant)
  const before = changeableFields(row)
  const found = references(unit)
  const { autopay, customerId, paymentInstrumentId } = given
  if (paymentInstrumentId !== (row.paymentInstrumentId ?? null)) {
    await ownInstrument(found, 'paymentInstrumentId', paymentInstrumentId, customerId)
  }
  const items = named === null ? row.items : await pricedItems(named.plans, found, given.items, row.items)
  const values = {
    items,
    currency: items[0]?.priced.currency ?? row.currency,
    startTime: startOf(row, given, instant),
    abandonTime: given.abandonTime ?? row.abandonTime ?? null,
    trial: given.trial === undefined ? (row.trial ?? null) : given.trial,
    isTrialOnly: given.isTrialOnly ?? row.isTrialOnly,
    recurringInterval:
      given.recurringInterval === undefined ? (row.recurringInterval ?? null) : given.recurringInterval,
    invoiceTimeShift: given.invoiceTimeShift,
    delinquencyPeriod: given.delinquencyPeriod,
    shipping: given.shipping,
    couponIds: [...(given.couponIds ?? row.couponIds)],
  }
  const isStartNew = values.startTime.getTime() !== row.startTime.getTime()
  const areTermsNew = !unchanged(row, values, Object.keys(values) as (keyof typeof values)[])
  let coupons: CouponChange = { redeemed: [], canceled: [] }
  if (areTermsNew) {
    const soonest = new Date(Math.max(values.startTime.getTime(), instant))
    const start = isStartNew ? values.startTime : soonest
    // A trial that is not changed may have ended by now.
    const trialAfter = unchanged(row, values, ['trial']) ? values.startTime : soonest
    const { orderType } = row
    const times = { start, trialAfter, now: instant }
    const invoices = recordOrderProblems(found, items, { ...values, orderType, items: given.items }, times)
    checkKept(found, record, items)
    const { id, customerId } = row
    const { billingAddress, currency } = { ...values, billingAddress: given.billingAddress }
    const order = invoices && {
      id,
      currency,
      items: items.map(termsItem),
      invoices,
      draftIds: draftIds(record),
    }
    const known = { couponIds: row.couponIds, coupons: [...record.coupons.values()] }
    const ordered = { customerId, billingAddress, currency, order }
    coupons = await checkCoupons(unit, found, ordered, values.couponIds, known, instant)
  }
  const isAbandonNew = values.abandonTime?.getTime() !== row.abandonTime?.getTime()
  if (isAbandonNew && values.abandonTime !== null && values.abandonTime.getTime() <= instant) {
    found.fail('abandonTime', 'in-the-past', 'must be in the future')
  }
  const customFields = await checkCustomFields(
    unit,
    'subscriptions',
    given.customFields ?? {},
    row.customFields ?? {},
  )
  for (const { field, code, message } of customFields.problems) found.fail(field, code, message)
  found.check()
  requireKept(row, given, values)

  const areItemsNew = !unchanged(row, values, ['items', 'shipping', 'couponIds'])
  const areCouponsNew = !unchanged(row, values, ['couponIds'])
  const isChargedAnew = !unchanged(row, { autopay, paymentInstrumentId }, ['autopay', 'paymentInstrumentId'])
  const isInstrumentNew = !unchanged(row, { paymentInstrumentId }, ['paymentInstrumentId'])
  const { deliveryAddress, billingAddress, notes, poNumber } = given
  const areNotesNew = !unchanged(row, { notes, poNumber, billingAddress, deliveryAddress }, [
    'notes',
    'poNumber',
    'billingAddress',
    'deliveryAddress',
  ])
  const arePlacesNew = !unchanged(row, { billingAddress, deliveryAddress }, [
    'billingAddress',
    'deliveryAddress',
  ])
  const stored = row.riskMetadata ?? null
  const changes = {
    ...values,
    autopay,
    paymentInstrumentId,
    deliveryAddress,
    billingAddress,
    riskMetadata: await orderRisk(unit, given.riskMetadata, billingAddress, stored, () =>
      readCaptured(unit, given),
    ),
    notes,
    poNumber,
    customFields: customFields.values,
  } satisfies Changes
  if (!unchanged(row, values, ['trial'])) row.trialGivenTime = new Date(instant)
  Object.assign(row, changes)
  if (areCouponsNew) await redeemCoupons(unit, record, coupons)
  if (areNotesNew) annotateDrafts(unit, record, instant)
  const isTaxedAnew = (areItemsNew || arePlacesNew) && (await taxAnew(unit, record))
  const charging = isChargedAnew
    ? ((await readChargeTerms(unit, [row], instant)).get(row.id) ?? UNCHARGED)
    : record.charging
  const takeCharging = () => {
    if (!isChargedAnew) return
    const { order } = record
    const terms = { ...order.terms, ...charging }
    // An order's own instrument may be the one that it was charged by all along, as the customer's default.
    const isGiven =
      isInstrumentNew && row.paymentInstrumentId != null && charging.instrumentId !== order.terms.instrumentId
    applyTransitions(unit, record, [changeAutopay(order, instant, terms, row.autopay, isGiven)])
    record.charging = charging
  }
  // A pending order may begin by it, and then takes no terms. Elsewhere what new items make due is charged as it is issued.
  const isPending = row.status === 'pending'
  if (!isPending) takeCharging()
  if (areTermsNew || isTaxedAnew) applyTerms(unit, record, instant, areItemsNew)
  if (isPending) takeCharging()
  moveBoundary(unit, record, instant, given.renewalTime)
  if (changeableFields(row) === before) return
  scheduleAfter(record, instant)
  raiseRevisionOnce(row, unit, record)
  unit.emit(subscriptionEvent(row, 'subscription-modified', eventTime(row, instant), unit.baseUrl))
  wakeOrder(unit, row)
}

export interface ItemChange {
  /** undefined leaves it. */
  readonly quantityFilled: number | undefined
  readonly excludeFromMrr: boolean | undefined
}

/** Changes what does not affect the price, in any state of the order. Returns null if it does not have the item. */
export async function updateItem(
  unit: UnitOfWork,
  row: Subscription,
  itemId: string,
  { quantityFilled, excludeFromMrr }: ItemChange,
): Promise<OrderItem | null> {
  const instant = orderInstant(unit, row)
  const record = await advanceForCommand(unit, row, instant)
  const item = row.items.find(({ id }) => id === itemId)
  if (item === undefined) return null
  const { plan, quantity, usageLimits } = item
  const changed = changedItem(item, { plan, quantity, quantityFilled, usageLimits, excludeFromMrr })
  if (changed === item) return item
  row.items = row.items.map((one) => (one === item ? changed : one))
  const terms = orderTerms(row, record.charging, record.redeemed)
  applyTransitions(unit, record, [
    transition(record.order, instant, 'api', (change) => set(change, { terms })),
  ])
  scheduleAfter(record, instant)
  raiseRevisionOnce(row, unit, record)
  unit.emit(subscriptionEvent(row, 'subscription-modified', eventTime(row, instant), unit.baseUrl))
  wakeOrder(unit, row)
  return changed
}

/** Applies checked coupons to an order whose row has its new list, and reads what is redeemed now. */
export async function redeemCoupons(
  unit: UnitOfWork,
  record: OrderRecord,
  change: CouponChange,
  additionalRestrictions: readonly CouponRestriction[] = [],
  redemptionId?: () => string,
): Promise<CouponRedemption[]> {
  const { row } = record
  const made = await changeCoupons(unit, row, change, additionalRestrictions, redemptionId)
  const invoiceIds = [...record.invoices.values()].map(({ id }) => id)
  const { redeemed, coupons } = (await readCoupons(unit, [row], invoiceIds)).get(row.id) ?? NO_COUPONS
  record.redeemed = redeemed
  for (const coupon of coupons) record.coupons.set(coupon.id, coupon)
  return made
}

/** Every member that a change can set: one that is forgotten does not compile. */
type Changes = Readonly<
  Record<Exclude<keyof NewSubscription, 'orderType' | 'customerId' | 'websiteId'>, unknown>
> & {
  readonly currency: string
}

/** A null asks for now, which has passed once the order is in service. */
function startOf(
  { status, startTime }: Subscription,
  given: Pick<SubscriptionChange, 'startTime'>,
  instant: number,
): Date {
  if (given.startTime !== null) return given.startTime ?? startTime
  return status === 'pending' ? new Date(instant) : startTime
}

/** The first invoice of a pending order is reissued; other orders take the terms from the next invoice on. */
export function applyTerms(
  unit: UnitOfWork,
  record: OrderRecord,
  instant: number,
  areItemsNew: boolean,
): void {
  const terms = orderTerms(record.row, record.charging, record.redeemed)
  if (record.row.status === 'pending')
    applyTransitions(unit, record, [changeTerms(record.order, instant, terms)])
  else if (areItemsNew) {
    const change = { terms, prorated: false, renewalPolicy: 'retain' as const }
    applyTransitions(unit, record, [changeItems(record.order, instant, change)])
  } else applyTransitions(unit, record, [takeTerms(record.order, instant, terms)])
}

/** Reads the taxes of a row that has other items or addresses. False: nothing is taxed. */
export async function taxAnew(unit: UnitOfWork, record: OrderRecord): Promise<boolean> {
  const { row, charging, redeemed } = record
  if (charging.taxes === null) return false
  record.charging = { ...charging, taxes: (await readTaxes(unit, [row])).get(row.id) ?? null }
  requireTaxedAmounts(orderTerms(row, record.charging, redeemed))
  return true
}

function moveBoundary(
  unit: UnitOfWork,
  record: OrderRecord,
  instant: number,
  renewalTime: Date | null,
): void {
  const moved = renewalTime === null ? null : moveRenewal(record.order, instant, renewalTime.getTime())
  if (moved !== null) applyTransitions(unit, record, [moved])
}

/**
 * Records what new items may not change: in service the kind, the period and its limit; the currency once an
 * invoice is issued. A reset begins a period of the new items, which may have another length.
 */
export function checkKept(
  found: ReturnType<typeof references>,
  { row, order }: OrderRecord,
  items: readonly OrderItem[],
  renewalPolicy: RenewalPolicy = 'retain',
): void {
  const [first] = items
  if (first === undefined) return
  const { status } = row
  const isIssued = order.invoices.some((invoice) => invoice.type === 'initial' && invoice.status !== 'draft')
  if (first.priced.currency !== row.currency && isIssued) {
    const field = planField(first.priced, 0, 'currency')
    found.fail(field, 'mismatch', `must have the currency of the order: ${row.currency}`)
  }
  if (status !== 'active' && status !== 'paused') return
  if (renewalPolicy === 'reset') {
    if (kindOf(row, items).interval !== null) return
    found.fail(planField(first.priced, 0, 'recurringInterval'), 'mismatch', 'must recur, to begin a period')
    return
  }
  if (canonicalJson(kindOf(row, row.items)) !== canonicalJson(kindOf(row, items))) {
    found.fail(
      planField(first.priced, 0, 'recurringInterval'),
      'mismatch',
      'must not change the kind of the order or its service period and limit',
    )
  }
}

function kindOf(row: Subscription, items: readonly OrderItem[]) {
  const plans = items.map(({ priced }) => priced)
  const { interval, trial } = agreedTerms(plans, orderChoices(row))
  return { interval, isOneTime: interval === null && trial === null }
}

/** @throws ConflictError naming the fixed members that would change. */
function requireKept(
  row: Subscription,
  { orderType, customerId, websiteId }: Pick<SubscriptionChange, 'orderType' | 'customerId' | 'websiteId'>,
  values: Partial<Subscription>,
): void {
  const { status } = row
  const fixed = { orderType, customerId, websiteId }
  const changed = immutableMembers(status).filter(
    (member) => !unchanged(row, { ...fixed, ...values }, [member]),
  )
  if (changed.length === 0) return
  throw new ConflictError(
    `The status of the order (${status}) does not permit changes of ${changed.join(', ')}.`,
  )
}

function unchanged<T extends Partial<Subscription>>(
  row: Subscription,
  values: T,
  members: readonly (keyof T & keyof Subscription)[],
): boolean {
  return members.every(
    (member) => canonicalJson(row[member] ?? null) === canonicalJson(values[member] ?? null),
  )
}

/** The same items keep their prices. */
function sameItems(row: Subscription, given: Pick<NewSubscription, 'items'>): boolean {
  const known = row.items.map(({ id: _, revision: __, priced: ___, ...written }) => written)
  const written = given.items.map(({ ownTerms: _, excludeFromMrr, ...item }) => ({
    ...item,
    ...exclusion(excludeFromMrr),
  }))
  return canonicalJson(known) === canonicalJson(written)
}

function changeableFields(row: Subscription): string {
  const {
    revision: _,
    updatedTime: __,
    advancedTo: ___,
    notBefore: ____,
    lastEventTime: _____,
    ...rest
  } = row as Subscription & Record<string, unknown>
  return canonicalJson(Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, value ?? null])))
}

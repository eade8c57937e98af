import { defaultAbandonTime } from '../../billing/abandonment.ts'
import { reminderTerms } from '../../billing/billing-settings.ts'
import { canonicalJson } from '../../billing/canonical-json.ts'
import type { Contact } from '../../billing/contacts.ts'
import { checkedCustomFields } from '../../billing/custom-fields.ts'
import { placeOrder } from '../../billing/order.ts'
import type { InvoiceTimeShift, OrderInterval, PricedPlan } from '../../billing/order-terms.ts'
import type { RiskInput } from '../../billing/risk.ts'
import { Customer, type Organization, Plan, Product, Subscription, Website } from '../../db/entities/index.ts'
import {
  type InlinePlan,
  isInlinePlan,
  type OrderItem,
  type OrderType,
} from '../../db/entities/subscription.ts'
import { newId } from '../../db/new-id.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { changeCoupons, checkCoupons, NO_COUPONS, readCoupons } from '../coupons/order-coupons.ts'
import { ownInstrument } from '../payments/own-instrument.ts'
import { type References, references } from '../references.ts'
import { orderDeadline, scheduleNext } from './advance-order.ts'
import { applyTransitions } from './apply-transitions.ts'
import { UNCHARGED } from './choose-instrument.ts'
import { newRecord } from './order-record.ts'
import { readForOrder } from './order-references.ts'
import { orderRisk } from './order-risk.ts'
import { readTaxes } from './order-taxes.ts'
import { recordOrderProblems, requireTaxedAmounts } from './record-order-problems.ts'
import { orderTerms, termsItem } from './rows-to-order.ts'

export type SubscriptionItem = Readonly<Pick<OrderItem, 'plan' | 'quantity' | 'usageLimits'>> & {
  /** undefined leaves it, or is zero. */
  readonly quantityFilled: number | undefined
  /** undefined leaves it, or is false. */
  readonly excludeFromMrr?: boolean | undefined
  /** null: the plan is a reference. */
  readonly ownTerms: OwnTerms | null
}

export type OwnTerms = Pick<
  PricedPlan,
  'pricing' | 'recurringInterval' | 'trial' | 'isTrialOnly' | 'setup' | 'invoiceTimeShift'
>

export interface NewSubscription {
  readonly orderType: OrderType
  readonly customerId: string
  readonly websiteId: string
  readonly items: readonly SubscriptionItem[]
  /** null: now. */
  readonly startTime: Date | null
  /** null: the organization's `pendingOrderTtl` decides. */
  readonly abandonTime: Date | null
  readonly trial: { enabled: boolean; endTime: string | null } | null
  readonly isTrialOnly: boolean
  readonly recurringInterval: OrderInterval | null
  readonly invoiceTimeShift: InvoiceTimeShift | null
  readonly delinquencyPeriod: string | null
  readonly shipping: { amount: string; calculator: 'manual' } | null
  /** In the order of application; null: none, or those that it has. */
  readonly couponIds: readonly string[] | null
  readonly autopay: boolean
  /** null: the customer's default one. */
  readonly paymentInstrumentId: string | null
  readonly deliveryAddress: Contact | null
  readonly billingAddress: Contact | null
  /** null: what was captured with the instrument's token. */
  readonly riskMetadata: RiskInput | null
  readonly notes: string | null
  readonly poNumber: string | null
  readonly customFields: Record<string, unknown> | null
}

/** Places a pending order with a draft of its invoice (specification 2.6 and 3). Throws InvalidFieldsError. */
export async function createSubscription(
  unit: UnitOfWork,
  id: string,
  given: NewSubscription,
): Promise<Subscription> {
  const { now } = unit
  const found = references(unit)
  const known = await readForOrder(unit, given)
  if (!known.hasCustomer) found.missing(Customer, 'customerId')
  if (!known.hasWebsite) found.missing(Website, 'websiteId')
  await ownInstrument(found, 'paymentInstrumentId', given.paymentInstrumentId, given.customerId)
  const items = await pricedItems(known.plans, found, given.items)
  const startTime = given.startTime ?? now
  const invoices = recordOrderProblems(found, items, given, {
    start: startTime,
    trialAfter: laterOf(startTime, now),
    now: now.getTime(),
  })
  if (given.abandonTime !== null && given.abandonTime.getTime() <= now.getTime()) {
    found.fail('abandonTime', 'in-the-past', 'must be in the future')
  }
  const currency = items[0]?.priced.currency ?? ''
  const couponIds = [...(given.couponIds ?? [])]
  const coupons = await checkCoupons(
    unit,
    found,
    { ...given, currency, order: invoices && { id, currency, items: items.map(termsItem), invoices } },
    couponIds,
    { couponIds: [], coupons: [] },
    now.getTime(),
  )
  const customFields = checkedCustomFields(known.definitions, given.customFields ?? {}, null)
  for (const { field, code, message } of customFields.problems) found.fail(field, code, message)
  found.check()
  const { billingAddress } = given
  const riskMetadata = await orderRisk(unit, given.riskMetadata, billingAddress, null, () => known.captured)

  const row = unit.insert(Subscription, {
    id,
    ...given,
    items,
    couponIds,
    riskMetadata,
    customFields: customFields.values,
    status: 'pending',
    currency,
    startTime,
    abandonTime: given.abandonTime ?? abandonTimeOf(known.settings, now, startTime),
    inTrial: false,
    isTrialConverted: false,
    mrr: '0',
    billingStatus: 'draft',
    anchorNumber: 1,
    invoicedThrough: 0,
    nextInvoice: 1,
    queuedLines: [],
    proratesChurn: false,
    clockOffset: 0,
  })
  if (couponIds.length > 0) await changeCoupons(unit, row, coupons)
  const redeemed =
    couponIds.length > 0 || known.hasCoupons
      ? ((await readCoupons(unit, [row], [])).get(id) ?? NO_COUPONS)
      : NO_COUPONS
  const reminders = reminderTerms(known.settings.billing)
  const taxes = known.isTaxed ? ((await readTaxes(unit, [row])).get(id) ?? null) : null
  const terms = orderTerms(row, { ...UNCHARGED, reminders, taxes }, redeemed.redeemed)
  requireTaxedAmounts(terms)
  const placed = placeOrder(terms)
  const record = newRecord(row, { ...placed.order, invoices: [] }, redeemed)
  applyTransitions(unit, record, [placed])
  // With its first deadline stored, the sweep finds the order even if every wake-up is lost.
  scheduleNext(record)
  const isCharged = given.autopay && (given.paymentInstrumentId !== null || known.hasDefaultInstrument)
  const { dueBy } = orderDeadline(row, now)
  unit.startWorkflow('subscription', id, {
    dueBy,
    gatewayCall: isCharged && dueBy !== null && dueBy <= now,
    attributes: { status: row.status, customerId: row.customerId },
  })
  return row
}

/** An item of the same plan as before keeps its price; one with an equal plan of its own stays the same item. */
export async function pricedItems(
  plans: readonly Plan[],
  found: References,
  items: readonly SubscriptionItem[],
  known: readonly OrderItem[] = [],
): Promise<OrderItem[]> {
  const byId = new Map(plans.map((plan) => [plan.id, plan]))
  const kept = keptItems(items, known)
  for (const [index, { plan }] of items.entries()) {
    if (isInlinePlan(plan))
      await found.optional(Product, `items.${index}.plan.productId`, plan.productId ?? null)
  }
  return items.flatMap(({ ownTerms, ...given }, index) => {
    const item = kept[index]
    if (item != null) return [changedItem(item, given)]
    const { id } = given.plan
    const plan = byId.get(id ?? '')
    if (ownTerms !== null && isInlinePlan(given.plan)) {
      if (id !== undefined && plan === undefined) found.missing(Plan, `items.${index}.plan.id`)
      return [newItem(given, pricedInline(given.plan, ownTerms))]
    }
    if (plan === undefined) {
      found.missing(Plan, `items.${index}.plan.id`)
      return []
    }
    if (!plan.isActive) found.fail(`items.${index}.plan.id`, 'inactive', 'must be an active plan')
    return [newItem(given, priced(plan))]
  })
}

/** Of several items of one plan, those with an equal quantity stay the same ones, wherever they stand. */
function keptItems(
  items: readonly Pick<SubscriptionItem, 'plan' | 'quantity'>[],
  known: readonly OrderItem[],
): readonly (OrderItem | null)[] {
  const left = known.map((item) => ({ item, plan: canonicalJson(item.plan) }))
  const wanted = items.map(({ plan, quantity }) => ({ plan: canonicalJson(plan), quantity }))
  const take = (isWanted: (one: (typeof left)[number]) => boolean): OrderItem | null => {
    const at = left.findIndex(isWanted)
    return at < 0 ? null : (left.splice(at, 1)[0]?.item ?? null)
  }
  const equal = wanted.map(({ plan, quantity }) =>
    take((one) => one.plan === plan && one.item.quantity === quantity),
  )
  return wanted.map(({ plan }, index) => equal[index] ?? take((one) => one.plan === plan))
}

function newItem(given: Omit<SubscriptionItem, 'ownTerms'>, priced: OrderItem['priced']): OrderItem {
  const { quantityFilled = 0, excludeFromMrr = false, ...written } = given
  return { ...written, quantityFilled, ...exclusion(excludeFromMrr), id: newId('item'), revision: 1, priced }
}

export function changedItem(
  item: OrderItem,
  { plan: _, ...given }: Omit<SubscriptionItem, 'ownTerms'>,
): OrderItem {
  const { excludeFromMrr: wasExcluded = false, ...kept } = item
  const { quantityFilled = kept.quantityFilled, excludeFromMrr = wasExcluded, ...written } = given
  const changed = { ...kept, ...written, quantityFilled, ...exclusion(excludeFromMrr) }
  return canonicalJson(changed) === canonicalJson(item) ? item : { ...changed, revision: item.revision + 1 }
}

/** It is stored only if it is true. */
export function exclusion(isExcluded: boolean | undefined): Pick<OrderItem, 'excludeFromMrr'> {
  return isExcluded === true ? { excludeFromMrr: true } : {}
}

function laterOf(a: Date, b: Date): Date {
  return a.getTime() > b.getTime() ? a : b
}

function priced(plan: Plan): OrderItem['priced'] {
  return {
    id: plan.id,
    revision: plan.revision,
    name: plan.name,
    productId: plan.productId ?? null,
    currency: plan.currency,
    pricing: plan.pricing,
    recurringInterval: plan.recurringInterval ?? null,
    trial: plan.trial ?? null,
    isTrialOnly: plan.isTrialOnly,
    setup: plan.setup ?? null,
    invoiceTimeShift: plan.invoiceTimeShift ?? null,
  }
}

function pricedInline(plan: InlinePlan, terms: OwnTerms): OrderItem['priced'] {
  const { id = null, name, productId = null, currency } = plan
  return { id, revision: 1, isInline: true, name, productId, currency, ...terms }
}

function abandonTimeOf(settings: Organization['settings'], created: Date, start: Date): Date | null {
  const abandonTime = defaultAbandonTime(settings.billing, created.getTime(), start.getTime())
  return abandonTime === null ? null : new Date(abandonTime)
}

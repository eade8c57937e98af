import type { Contact } from '../../billing/contacts.ts'
import {
  combinationProblem,
  type OrderToDiscount,
  type RedeemedCoupon,
  redemptionProblem,
} from '../../billing/coupons.ts'
import type { Priced } from '../../billing/discounts.ts'
import {
  draftInvoice,
  type InvoiceLine,
  initialLines,
  pricedAt,
  renewalLines,
} from '../../billing/invoices.ts'
import { agreedTerms, isPostpaid, newOrderTerms } from '../../billing/order-terms.ts'
import { Coupon, Website } from '../../db/entities/index.ts'
import type { OrderItem } from '../../db/entities/subscription.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { redeemedCoupon, rulesOf } from '../coupons/order-coupons.ts'
import { type References, references } from '../references.ts'
import { pricedItems, type SubscriptionItem } from './create-order.ts'
import { readForOrder } from './order-references.ts'
import { readTaxes } from './order-taxes.ts'
import { recordOrderProblems, requireTaxedAmounts } from './record-order-problems.ts'
import { orderChoices, termsItem } from './rows-to-order.ts'

export interface OrderToPreview {
  readonly websiteId: string
  readonly items: readonly SubscriptionItem[]
  readonly shipping: { readonly amount: string } | null
  readonly couponIds: readonly string[]
  readonly billingAddress: Contact | null
  readonly deliveryAddress: Contact | null
}

export interface PreviewedOrder {
  readonly items: readonly OrderItem[]
  readonly currency: string
  readonly initial: Priced<InvoiceLine>
  /** null: the order does not renew. */
  readonly recurring: Priced<InvoiceLine> | null
}

/** Returns what an order that begins now would be invoiced, and writes nothing. Throws InvalidFieldsError. */
export async function previewOrder(unit: UnitOfWork, given: OrderToPreview): Promise<PreviewedOrder> {
  const { websiteId, shipping } = given
  const found = references(unit)
  const known = await readForOrder(unit, {
    customerId: '',
    websiteId,
    paymentInstrumentId: null,
    items: given.items,
  })
  if (!known.hasWebsite) found.missing(Website, 'websiteId')
  const items = await pricedItems(known.plans, found, given.items)
  const own = { trial: null, isTrialOnly: false, recurringInterval: null, invoiceTimeShift: null }
  const invoices = recordOrderProblems(
    found,
    items,
    { ...own, orderType: 'subscription-order', items: given.items, shipping },
    { start: unit.now, trialAfter: unit.now, now: unit.now.getTime() },
  )
  const currency = items[0]?.priced.currency ?? ''
  const now = unit.now.getTime()
  const order = invoices && { id: '', currency, items: items.map(termsItem), invoices }
  const coupons = await redeemable(unit, found, given, order)
  found.check()
  const agreed = agreedTerms(
    items.map(({ priced }) => priced),
    orderChoices(own),
  )
  const { billingAddress, deliveryAddress } = given
  const taxed = { id: '', customerId: '', currency, items, billingAddress, deliveryAddress }
  const taxes = known.isTaxed ? ((await readTaxes(unit, [taxed])).get('') ?? null) : null
  const priced = { now, shipping: shipping?.amount ?? null, coupons, taxes }
  const terms = newOrderTerms(items.map(termsItem), agreed, priced)
  requireTaxedAmounts(terms)
  const initial = pricedAt({ terms, invoices: [] }, initialLines(terms), now, 1)
  const first = draftInvoice(1, 'initial', initial, { periodNumber: 1, periodStart: null, periodEnd: null })
  // The only period of a trial's order, or of one that pays afterwards, is billed by a renewal.
  const isRenewed =
    terms.interval !== null && (terms.interval.limit !== 1 || terms.trial !== null || isPostpaid(terms))
  return {
    items,
    currency,
    initial,
    recurring: isRenewed ? pricedAt({ terms, invoices: [first] }, renewalLines(terms), now, 2) : null,
  }
}

/** As if a new customer redeemed them; records those that cannot be. */
async function redeemable(
  { em, organizationId, now }: UnitOfWork,
  found: References,
  { couponIds, billingAddress }: Pick<OrderToPreview, 'couponIds' | 'billingAddress'>,
  order: OrderToDiscount | null,
): Promise<RedeemedCoupon[]> {
  if (couponIds.length === 0) return []
  const rows = await em.find(Coupon, { organizationId, id: { $in: [...couponIds] } })
  const customer = {
    customerId: '',
    tags: [],
    country: billingAddress?.country ?? null,
    redemptions: 0,
    order,
  }
  const combination = combinationProblem(rows)
  if (combination !== null) found.fail('couponIds', combination.code, combination.message)
  return couponIds.flatMap((couponId, index) => {
    const field = `couponIds.${index}`
    const coupon = rows.find(({ id }) => id === couponId)
    if (coupon === undefined) {
      found.missing(Coupon, field)
      return []
    }
    const { restrictions } = coupon
    const problem = redemptionProblem(rulesOf(coupon), customer, now.getTime())
    if (problem !== null) found.fail(field, problem.code, problem.message)
    return [redeemedCoupon(coupon, { redemptionId: couponId, restrictions, discountsBefore: 0 })]
  })
}

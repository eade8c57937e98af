import { amountDue, autopayScheduledTime, type Invoice as InvoiceState } from '../billing/invoices.ts'
import { jsonAmount, Money, sumOf } from '../billing/money.ts'
import { isCredit, subtotal } from '../billing/proration.ts'
import type { Invoice, Subscription, Transaction } from '../db/entities/index.ts'
import { derivedId } from '../db/new-id.ts'
import { presentContact } from './contact.ts'
import { type Link, resourceUrl } from './links.ts'
import { presentLineTax, presentTaxes } from './taxes.ts'

const DAY = 86_400_000

export function invoiceLinks(invoice: Invoice, baseUrl: string): Link[] {
  const url = (...segments: string[]) => resourceUrl(baseUrl, invoice.organizationId, ...segments)
  return [{ rel: 'self', href: url('invoices', invoice.id) }, ...partyLinks(invoice, baseUrl)]
}

export function presentInvoice(invoice: Invoice, baseUrl: string) {
  return {
    id: invoice.id,
    organizationId: invoice.organizationId,
    subscriptionId: invoice.subscriptionId ?? null,
    orderId: invoice.subscriptionId ?? null,
    customerId: invoice.customerId,
    websiteId: invoice.websiteId,
    type: invoice.type,
    status: invoice.status,
    currency: invoice.currency,
    ...amountsOf(invoice),
    amountDue: jsonAmount(invoice.amountDue),
    creditMemoAllocations: creditsOf(invoice),
    isNewOrder: invoice.type === 'initial',
    items: presentInvoiceItems(invoice, baseUrl),
    periodNumber: invoice.periodNumber ?? null,
    periodStart: time(invoice.periodStart),
    periodEnd: time(invoice.periodEnd),
    issuedTime: time(invoice.issuedTime),
    dueTime: time(invoice.dueTime),
    delinquencyTime: time(invoice.delinquencyTime),
    paidTime: time(invoice.paidTime),
    voidedTime: time(invoice.voidedTime),
    abandonedTime: time(invoice.abandonedTime),
    collectionPeriod: daysBetween(invoice.issuedTime, invoice.paidTime),
    delinquentCollectionPeriod: daysBetween(invoice.dueTime, invoice.paidTime),
    autopayScheduledTime: time(scheduledTime(invoice)),
    autopayRetryNumber: invoice.autopayRetryNumber,
    poNumber: invoice.poNumber ?? null,
    notes: invoice.notes ?? null,
    deliveryAddress: presentContact(invoice.deliveryAddress),
    ...presentIssue(invoice),
    revision: invoice.revision,
    createdTime: invoice.createdTime.toISOString(),
    updatedTime: invoice.updatedTime.toISOString(),
    _links: invoiceLinks(invoice, baseUrl),
  }
}

function creditsOf({ id, currency, credits }: Invoice) {
  return credits.map(({ amount }) => ({ invoiceId: id, amount: jsonAmount(amount), currency }))
}

/** Returns the members that an invoice has from its issue on. */
export function presentIssue(invoice: Invoice) {
  return {
    invoiceNumber: invoice.invoiceNumber ?? null,
    organizationTaxIdNumber: invoice.organizationTaxIdNumber ?? null,
    customerTaxIdNumber: invoice.customerTaxIdNumber ?? null,
    billingAddress: presentContact(invoice.billingAddress),
  }
}

export function presentInvoiceItems(invoice: Invoice, baseUrl: string) {
  const url = (...segments: string[]) => resourceUrl(baseUrl, invoice.organizationId, ...segments)
  // An own invoice has the items that were sent, and its shipping beside them.
  const hasShipping = invoice.subscriptionId != null
  const lines = invoice.lines.filter(({ type }) => hasShipping || type !== 'shipping')
  return lines.map((line, index) => {
    const id = line.id ?? String(index + 1)
    const item = presentLine(line, invoice, url)
    return {
      id,
      ...item,
      createdTime: invoice.createdTime.toISOString(),
      updatedTime: invoice.updatedTime.toISOString(),
      _links: [{ rel: 'self', href: url('invoices', invoice.id, 'items', id) }, ...item._links],
    }
  })
}

/** Returns the id that the upcoming invoice has once it is issued by a call. */
export function upcomingInvoiceId({ organizationId, id, nextInvoice }: UpcomingOf): string {
  return derivedId('in', organizationId, id, String(nextInvoice))
}

type UpcomingOf = Pick<Subscription, 'organizationId' | 'id' | 'nextInvoice'>

/** `row`: that of the invoice once it is issued. */
export function presentUpcomingInvoice(
  order: Subscription,
  invoice: InvoiceState,
  baseUrl: string,
  row: Invoice | null = null,
) {
  const url = (...segments: string[]) => resourceUrl(baseUrl, order.organizationId, ...segments)
  const instant = (at: number | null) => (at === null ? null : new Date(at).toISOString())
  const period = {
    subscriptionId: order.id,
    periodNumber: invoice.periodNumber,
    periodStart: invoice.periodStart === null ? null : new Date(invoice.periodStart),
    periodEnd: invoice.periodEnd === null ? null : new Date(invoice.periodEnd),
  }
  return {
    id: upcomingInvoiceId({ ...order, nextInvoice: invoice.sequence }),
    organizationId: order.organizationId,
    subscriptionId: order.id,
    customerId: order.customerId,
    websiteId: order.websiteId,
    revision: order.revision,
    type: invoice.type,
    status: invoice.status,
    currency: order.currency,
    ...amountsOf(invoice),
    amountDue: jsonAmount(amountDue(invoice)),
    isNewOrder: invoice.type === 'initial',
    items: invoice.lines.map((line) => ({ ...presentLine(line, period, url), isInterim: false })),
    periodNumber: invoice.periodNumber,
    periodStart: instant(invoice.periodStart),
    periodEnd: instant(invoice.periodEnd),
    issuedTime: instant(invoice.issuedTime),
    dueTime: instant(invoice.dueTime),
    poNumber: order.poNumber ?? null,
    notes: order.notes ?? null,
    billingAddress: presentContact((row ?? order).billingAddress),
    deliveryAddress: presentContact(order.deliveryAddress),
    _links: partyLinks({ ...order, subscriptionId: order.id }, baseUrl),
  }
}

export function presentAllocation(
  invoice: Invoice,
  transaction: Transaction,
  amount: string,
  baseUrl: string,
) {
  const url = (...segments: string[]) => resourceUrl(baseUrl, invoice.organizationId, ...segments)
  return {
    invoiceId: invoice.id,
    transactionId: transaction.id,
    amount: jsonAmount(amount),
    currency: transaction.currency,
    _links: [
      { rel: 'invoice', href: url('invoices', invoice.id) },
      { rel: 'transaction', href: url('transactions', transaction.id) },
    ],
  }
}

function presentLine(
  line: InvoiceState['lines'][number],
  period: Pick<Invoice, 'subscriptionId' | 'periodNumber' | 'periodStart' | 'periodEnd'>,
  url: (...segments: string[]) => string,
) {
  const { planId, productId = null, unitPrice } = line
  const { subscriptionId = null } = period
  const isForPeriod = line.type === 'plan' || line.type === 'trial'
  const ofCredit = isCredit(line.amount)
  const [periodStart, periodEnd] =
    line.periodStart === undefined && line.periodEnd === undefined
      ? [period.periodStart, period.periodEnd]
      : [instant(line.periodStart), instant(line.periodEnd)]
  const hasTimes = isForPeriod || line.type === 'proration' || line.type === 'item'
  // The type says what is credited: prices are not negative.
  const shown = (amount: string) => jsonAmount(new Money(amount).abs().toFixed())
  const links: [string, string | null, string][] = [
    ['product', productId, 'products'],
    ['plan', planId, 'plans'],
    ['subscription', subscriptionId, 'subscriptions'],
  ]
  return {
    type: ofCredit ? ('credit' as const) : ('debit' as const),
    description: line.description,
    // A line without a unit price is of an earlier release: its amount stands for all of its units.
    unitPrice: shown(unitPrice ?? line.amount),
    quantity: unitPrice === undefined ? 1 : line.quantity,
    price: shown(line.amount),
    tax: presentLineTax(line),
    productId,
    planId,
    subscriptionId,
    periodStartTime: hasTimes ? time(periodStart) : null,
    periodEndTime: hasTimes ? time(periodEnd) : null,
    periodNumber: isForPeriod ? (period.periodNumber ?? null) : null,
    _links: links.flatMap(([rel, id, path]) => (id === null ? [] : [{ rel, href: url(path, id) }])),
  }
}

/** Shipping is shown beside the subtotal of the other lines before discounts. */
function amountsOf({ amount, lines, discounts }: Pick<InvoiceState, 'amount' | 'lines' | 'discounts'>) {
  const shipping = lines.filter(({ type }) => type === 'shipping').map((line) => line.amount)
  const shippingAmount = sumOf(shipping)
  return {
    amount: jsonAmount(amount),
    subtotalAmount: jsonAmount(subtotal(lines.filter(({ type }) => type !== 'shipping'))),
    discountAmount: jsonAmount(sumOf(discounts.map((discount) => discount.amount))),
    tax: presentTaxes(lines),
    discounts: discounts.map((discount) => ({
      couponId: discount.couponId,
      redemptionId: discount.redemptionId,
      amount: jsonAmount(discount.amount),
      description: discount.description,
      context: 'items' as const,
    })),
    shipping:
      shipping.length === 0 ? null : { amount: jsonAmount(shippingAmount), calculator: 'manual' as const },
  }
}

function scheduledTime({ chargeTime, charge }: Invoice): Date | null {
  const at = autopayScheduledTime({ chargeTime: chargeTime?.getTime() ?? null, charge: charge ?? null })
  return at === null ? null : new Date(at)
}

function partyLinks(
  {
    organizationId,
    subscriptionId,
    customerId,
    websiteId,
  }: Pick<Invoice, 'organizationId' | 'subscriptionId' | 'customerId' | 'websiteId'>,
  baseUrl: string,
): Link[] {
  const url = (...segments: string[]) => resourceUrl(baseUrl, organizationId, ...segments)
  return [
    ...(subscriptionId == null ? [] : [{ rel: 'subscription', href: url('subscriptions', subscriptionId) }]),
    { rel: 'customer', href: url('customers', customerId) },
    { rel: 'website', href: url('websites', websiteId) },
    { rel: 'organization', href: url() },
  ]
}

/** Whole days, at least 0. */
function daysBetween(from: Date | null | undefined, to: Date | null | undefined): number | null {
  if (from == null || to == null) return null
  return Math.max(0, Math.floor((to.getTime() - from.getTime()) / DAY))
}

function time(value: Date | null | undefined): string | null {
  return value?.toISOString() ?? null
}

function instant(value: number | undefined): Date | null {
  return value === undefined ? null : new Date(value)
}

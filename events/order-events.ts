import type { EventType } from '../billing/event-types.ts'
import type { Invoice, Subscription, Transaction } from '../db/entities/index.ts'
import type { NewEvent } from '../db/outbox.ts'
import { invoiceLinks, presentInvoice, presentIssue } from '../representations/invoice.ts'
import type { Link } from '../representations/links.ts'
import { presentSubscription, subscriptionLinks } from '../representations/subscription.ts'
import { presentTransaction } from '../representations/transaction.ts'

export function subscriptionEvent(
  order: Subscription,
  type: EventType,
  time: Date,
  baseUrl: string,
  { subscriptionPauseId, invoice }: { subscriptionPauseId?: string; invoice?: Invoice } = {},
): NewEvent {
  return {
    type,
    time,
    websiteId: order.websiteId,
    ids: {
      subscriptionId: order.id,
      ...(subscriptionPauseId === undefined ? {} : { subscriptionPauseId }),
      ...(invoice === undefined ? {} : { invoiceId: invoice.id }),
    },
    embedded: {
      subscription: presentSubscription(order, baseUrl),
      ...(invoice === undefined ? {} : { invoice: withItsNumber(invoice, baseUrl) }),
    },
    links: named(subscriptionLinks(order, baseUrl), 'subscription'),
  }
}

export function invoiceEvent(invoice: Invoice, type: EventType, time: Date, baseUrl: string): NewEvent {
  return {
    type,
    time,
    websiteId: invoice.websiteId,
    ids: { invoiceId: invoice.id },
    embedded: { invoice: withItsNumber(invoice, baseUrl) },
    links: named(invoiceLinks(invoice, baseUrl), 'invoice'),
  }
}

export function invoicePaymentEvent(
  transaction: Transaction,
  invoice: Invoice,
  type: EventType,
  time: Date,
  baseUrl: string,
): NewEvent {
  const representation = presentTransaction(transaction, baseUrl)
  return {
    type,
    time,
    websiteId: invoice.websiteId,
    ids: { transactionId: transaction.id, invoiceId: invoice.id },
    embedded: { transaction: representation, invoice: withItsNumber(invoice, baseUrl) },
    links: [
      ...named(representation._links, 'transaction'),
      ...named(invoiceLinks(invoice, baseUrl), 'invoice').slice(0, 1),
    ],
  }
}

/** The invoice gets its number only at the end of the transaction. */
function withItsNumber(invoice: Invoice, baseUrl: string): () => object {
  const shown = presentInvoice(invoice, baseUrl)
  return () => (shown.issuedTime === null ? shown : { ...shown, ...presentIssue(invoice) })
}

function named(links: readonly Link[], self: string): Link[] {
  return links.map((link) => (link.rel === 'self' ? { ...link, rel: self } : link))
}

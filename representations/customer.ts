import { jsonAmount, lineAmount, Money } from '../billing/money.ts'
import type { CustomerFigures } from '../db/entities/customer.ts'
import type { Customer } from '../db/entities/index.ts'
import { presentContact } from './contact.ts'
import { type Link, resourceUrl } from './links.ts'

export function presentCustomer(customer: Customer, baseUrl: string) {
  const { organizationId, id, figures } = customer
  const self: Link = { rel: 'self', href: resourceUrl(baseUrl, organizationId, 'customers', id) }
  return {
    id,
    organizationId,
    email: customer.email ?? null,
    firstName: customer.firstName ?? null,
    lastName: customer.lastName ?? null,
    websiteId: customer.websiteId ?? null,
    defaultPaymentInstrument:
      customer.defaultPaymentInstrumentId == null
        ? null
        : { method: 'payment-card' as const, paymentInstrumentId: customer.defaultPaymentInstrumentId },
    defaultPaymentInstrumentId: customer.defaultPaymentInstrumentId ?? null,
    primaryAddress: presentContact(customer.primaryAddress),
    locale: customer.locale ?? null,
    taxNumbers: customer.taxNumbers?.map((number) => ({ ...number, isValid: null })) ?? null,
    leadSource: customer.leadSource ?? null,
    tags: customer.tags,
    customFields: customer.customFields ?? {},
    ...(figures == null ? {} : presentFigures(figures)),
    revision: customer.revision,
    createdTime: customer.createdTime.toISOString(),
    updatedTime: customer.updatedTime.toISOString(),
    _links: [self],
  }
}

function presentFigures(figures: CustomerFigures) {
  const { paymentCount, lastPaymentTime, invoiceCount, sales, refunds } = figures
  return {
    paymentCount,
    lastPaymentTime: lastPaymentTime === null ? null : new Date(lastPaymentTime).toISOString(),
    lifetimeRevenue: value(figures, new Money(sales).minus(refunds)),
    averageValue: value(figures, new Money(sales).dividedBy(Math.max(paymentCount, 1))),
    invoiceCount,
  }
}

/** Amounts of several currencies are not summed, and none is converted. */
function value({ currency, currencies }: CustomerFigures, exact: Money) {
  const isKnown = currencies <= 1
  const amount = isKnown ? jsonAmount(lineAmount(exact, currency ?? '')) : null
  return { currency, amount, amountUsd: currency === 'USD' || currencies === 0 ? amount : null }
}

export function presentLeadSource(customer: Customer, baseUrl: string) {
  const { leadSource, originalLeadSource, leadSourceCreatedTime, leadSourceUpdatedTime } = customer
  if (leadSource == null || leadSourceCreatedTime == null || leadSourceUpdatedTime == null) return null
  const url = (...below: string[]) =>
    resourceUrl(baseUrl, customer.organizationId, 'customers', customer.id, ...below)
  const links: Link[] = [
    { rel: 'self', href: url('lead-source') },
    { rel: 'customer', href: url() },
  ]
  return {
    ...leadSource,
    ...(originalLeadSource == null ? {} : { original: originalLeadSource }),
    createdTime: leadSourceCreatedTime.toISOString(),
    updatedTime: leadSourceUpdatedTime.toISOString(),
    _links: links,
  }
}

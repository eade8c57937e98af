import type { Customer } from '../db/entities/index.ts'
import { presentContact } from './contact.ts'
import { type Link, resourceUrl } from './links.ts'

export function presentCustomer(customer: Customer, baseUrl: string) {
  const self: Link = {
    rel: 'self',
    href: resourceUrl(baseUrl, customer.organizationId, 'customers', customer.id),
  }
  return {
    id: customer.id,
    email: customer.email ?? null,
    firstName: customer.firstName ?? null,
    lastName: customer.lastName ?? null,
    websiteId: customer.websiteId ?? null,
    defaultPaymentInstrument:
      customer.defaultPaymentInstrumentId == null
        ? null
        : { method: 'payment-card' as const, paymentInstrumentId: customer.defaultPaymentInstrumentId },
    primaryAddress: presentContact(customer.primaryAddress),
    leadSource: customer.leadSource ?? null,
    customFields: customer.customFields ?? {},
    revision: customer.revision,
    createdTime: customer.createdTime.toISOString(),
    updatedTime: customer.updatedTime.toISOString(),
    _links: [self],
  }
}

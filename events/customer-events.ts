import type { EventType } from '../billing/event-types.ts'
import type { Customer } from '../db/entities/index.ts'
import type { NewEvent } from '../db/outbox.ts'
import type { UnitOfWork } from '../db/unit-of-work.ts'
import { presentCustomer } from '../representations/customer.ts'

export function customerEvent(customer: Customer, type: EventType, { baseUrl }: UnitOfWork): NewEvent {
  const representation = presentCustomer(customer, baseUrl)
  return {
    type,
    time: customer.updatedTime,
    websiteId: customer.websiteId ?? null,
    ids: { customerId: customer.id },
    embedded: { customer: representation },
    links: representation._links.map((link) => ({ ...link, rel: 'customer' })),
  }
}

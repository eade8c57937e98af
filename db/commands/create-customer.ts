import { Customer, Website } from '../entities/index.ts'
import { newId } from '../ids.ts'
import { references } from '../references.ts'
import { presentCustomer } from '../representations/customer.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

export interface NewCustomer {
  readonly email: string | null
  readonly firstName: string | null
  readonly lastName: string | null
  readonly websiteId: string | null
  readonly customFields: Record<string, unknown> | null
}

/**
 * Adds a customer and emits `customer-created`.
 *
 * @throws InvalidFieldsError naming `websiteId` when the organization has no such website.
 */
export async function createCustomer(unit: UnitOfWork, given: NewCustomer): Promise<Customer> {
  const found = references(unit)
  await found.optional(Website, 'websiteId', given.websiteId)
  found.check()
  const customer = unit.em.create(Customer, {
    organizationId: unit.organizationId,
    id: newId('cus'),
    ...given,
    revision: 1,
    createdTime: unit.now,
    updatedTime: unit.now,
  })
  unit.em.persist(customer)
  const shown = presentCustomer(customer, unit.baseUrl)
  unit.emit({
    type: 'customer-created',
    time: unit.now,
    websiteId: customer.websiteId ?? null,
    ids: { customerId: customer.id },
    embedded: { customer: shown },
    links: shown._links.map((link) => ({ ...link, rel: 'customer' })),
  })
  return customer
}

import { customerEvent } from '../customer-events.ts'
import { Customer, Website } from '../entities/index.ts'
import { references } from '../references.ts'
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
export async function createCustomer(unit: UnitOfWork, id: string, given: NewCustomer): Promise<Customer> {
  const found = references(unit)
  await found.optional(Website, 'websiteId', given.websiteId)
  found.check()
  const customer = unit.em.create(Customer, {
    organizationId: unit.organizationId,
    id,
    ...given,
    revision: 1,
    createdTime: unit.now,
    updatedTime: unit.now,
  })
  unit.em.persist(customer)
  unit.emit(customerEvent(customer, 'customer-created', unit))
  return customer
}

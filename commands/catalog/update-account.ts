import type { Contact } from '../../billing/contacts.ts'
import type { Customer } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { references } from '../references.ts'
import { requireOwnInstrument } from './create-customer.ts'
import { changeMembers } from './update-customer.ts'

export interface Account {
  readonly email: string | null
  readonly firstName: string | null
  readonly lastName: string | null
  readonly primaryAddress: Contact | null
  readonly defaultPaymentInstrumentId: string | null
}

/** Changes a locked customer at the customer's own request. Throws InvalidFieldsError. */
export async function updateAccount(unit: UnitOfWork, row: Customer, given: Account): Promise<void> {
  const found = references(unit)
  await requireOwnInstrument(found, row.id, given.defaultPaymentInstrumentId)
  found.check()
  await changeMembers(unit, row, given)
}

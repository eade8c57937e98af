import type { Contact } from '../../billing/contacts.ts'
import { NO_FIGURES, type TaxNumber } from '../../db/entities/customer.ts'
import { Customer, Website } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { customerEvent } from '../../events/customer-events.ts'
import { customerEntry } from '../../events/timeline.ts'
import { instrumentOfToken } from '../payments/create-payment-instrument.ts'
import { ownInstrument } from '../payments/own-instrument.ts'
import type { RequestCards } from '../payments/request-cards.ts'
import { type References, references } from '../references.ts'

export interface NewCustomer {
  readonly email: string | null
  readonly firstName: string | null
  readonly lastName: string | null
  readonly websiteId: string | null
  readonly defaultPaymentInstrumentId: string | null
  readonly primaryAddress: Contact | null
  readonly locale: string | null
  readonly taxNumbers: TaxNumber[] | null
  readonly leadSource: Record<string, string | null> | null
  readonly customFields: Record<string, unknown> | null
}

export interface TokenPayment {
  readonly token: string
  readonly cards: RequestCards
}

/** Emits `customer-created`; a payment token creates the default instrument. Throws InvalidFieldsError. */
export async function createCustomer(
  unit: UnitOfWork,
  id: string,
  values: NewCustomer,
  payment: TokenPayment | null = null,
  instrumentField?: string,
): Promise<Customer> {
  const given = await checkedCustomer(unit, id, values, payment, instrumentField)
  const leadSourceTime = given.leadSource === null ? null : unit.now
  const customer = unit.insert(Customer, {
    id,
    ...given,
    originalLeadSource: given.leadSource,
    leadSourceCreatedTime: leadSourceTime,
    leadSourceUpdatedTime: leadSourceTime,
    tags: [],
    figures: NO_FIGURES,
  })
  unit.emit(customerEvent(customer, 'customer-created', unit))
  unit.addTimelineEntry(customerEntry(id, 'customer-created', `Customer ${id}: created.`, unit.now))
  return customer
}

/** A payment token is consumed last, and sets the default instrument. Throws InvalidFieldsError. */
export async function checkedCustomer(
  unit: UnitOfWork,
  id: string,
  values: NewCustomer,
  payment: TokenPayment | null,
  instrumentField = 'defaultPaymentInstrument.paymentInstrumentId',
): Promise<NewCustomer> {
  const found = references(unit)
  await found.optional(Website, 'websiteId', values.websiteId)
  await requireOwnInstrument(found, id, values.defaultPaymentInstrumentId, instrumentField)
  found.check()
  if (payment === null) return values
  const made = await instrumentOfToken(unit, payment.cards, {
    customerId: id,
    websiteId: values.websiteId,
    token: payment.token,
    field: 'paymentToken',
  })
  return { ...values, defaultPaymentInstrumentId: made.id }
}

export async function requireOwnInstrument(
  found: References,
  customerId: string,
  instrumentId: string | null,
  field = 'defaultPaymentInstrument.paymentInstrumentId',
): Promise<void> {
  await ownInstrument(found, field, instrumentId, customerId)
}

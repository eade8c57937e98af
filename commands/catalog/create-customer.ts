import type { Contact } from '../../billing/contacts.ts'
import { Customer, PaymentInstrument, Website } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { customerEvent } from '../../events/customer-events.ts'
import { type CardPath, instrumentOfToken } from '../payments/create-payment-instrument.ts'
import { references } from '../references.ts'

export interface NewCustomer {
  readonly email: string | null
  readonly firstName: string | null
  readonly lastName: string | null
  readonly websiteId: string | null
  readonly defaultPaymentInstrumentId: string | null
  readonly primaryAddress: Contact | null
  readonly leadSource: Record<string, string | null> | null
  readonly customFields: Record<string, unknown> | null
}

export interface TokenPayment {
  readonly token: string
  readonly path: CardPath
}

/**
 * Adds a customer and emits `customer-created`. A payment token creates the default instrument.
 *
 * @throws InvalidFieldsError naming `websiteId`, `defaultPaymentInstrument` or `paymentToken`.
 */
export async function createCustomer(
  unit: UnitOfWork,
  id: string,
  values: NewCustomer,
  payment: TokenPayment | null = null,
): Promise<Customer> {
  const given = await checkedCustomer(unit, id, values, payment)
  const customer = unit.insert(Customer, {
    id,
    ...given,
  })
  unit.emit(customerEvent(customer, 'customer-created', unit))
  return customer
}

/**
 * Returns the validated values of a customer. A payment token is consumed last and sets the default instrument.
 *
 * @throws InvalidFieldsError
 */
export async function checkedCustomer(
  unit: UnitOfWork,
  id: string,
  values: NewCustomer,
  payment: TokenPayment | null,
): Promise<NewCustomer> {
  const found = references(unit)
  await found.optional(Website, 'websiteId', values.websiteId)
  const field = 'defaultPaymentInstrument.paymentInstrumentId'
  const instrument = await found.optional(PaymentInstrument, field, values.defaultPaymentInstrumentId)
  if (instrument !== null && instrument.customerId !== id) {
    found.fail(field, 'mismatch', 'must be a payment instrument of the customer')
  }
  found.check()
  if (payment === null) return values
  const made = await instrumentOfToken(unit, payment.path, {
    customerId: id,
    websiteId: values.websiteId,
    token: payment.token,
    field: 'paymentToken',
  })
  return { ...values, defaultPaymentInstrumentId: made.id }
}

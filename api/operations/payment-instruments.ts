import { createPaymentInstrument } from '../../commands/payments/create-payment-instrument.ts'
import { customerColumns } from '../../db/entities/customer.ts'
import { Customer, PaymentInstrument as PaymentInstrumentRow } from '../../db/entities/index.ts'
import { paymentInstrumentSearch } from '../../db/entities/payment-instrument.ts'
import { presentCustomer } from '../../representations/customer.ts'
import { presentPaymentInstrument } from '../../representations/payment-instrument.ts'
import { fieldsOf, reference } from '../query/fields.ts'
import { embedding } from '../resources/embedding.ts'
import type { Resource, Writer } from '../resources/resource.ts'
import { PaymentInstrument } from '../schemas/payment-instrument.ts'

export const paymentInstruments: Resource<PaymentInstrumentRow> = {
  name: 'PaymentInstrument',
  label: 'payment instrument',
  path: 'payment-instruments',
  schema: PaymentInstrument,
  entity: PaymentInstrumentRow,
  table: 'payment_instruments',
  search: paymentInstrumentSearch,
  fields: fieldsOf(PaymentInstrument, {
    customerId: reference('customer_id', 'customers'),
    'billingAddress.hash': null,
  }),
  present: (row, { baseUrl }) => presentPaymentInstrument(row, baseUrl),
  expanders: { customer: embedding(Customer, (row) => row.customerId, presentCustomer, customerColumns) },
}

export const paymentInstrumentWriter: Pick<Writer<PaymentInstrumentRow, PaymentInstrument>, 'create'> = {
  create: (unit, id, { customerId, token }, { keys, gateway }) =>
    createPaymentInstrument(unit, { vault: keys.vault, gateway }, id, { customerId, token }),
}

import { EXPIRY_NOTICE } from '../../billing/cards.ts'
import { InvalidFieldsError } from '../../billing/errors.ts'
import {
  createPaymentInstrument,
  type StoredElsewhere,
} from '../../commands/payments/create-payment-instrument.ts'
import { deactivatePaymentInstrument } from '../../commands/payments/deactivate-payment-instrument.ts'
import {
  emitInstrumentModified,
  lockPaymentInstrument,
  updatePaymentInstrument,
} from '../../commands/payments/update-payment-instrument.ts'
import { Customer, PaymentInstrument as PaymentInstrumentRow } from '../../db/entities/index.ts'
import { lastPaymentTime, paymentInstrumentSearch } from '../../db/entities/payment-instrument.ts'
import { presentCustomer } from '../../representations/customer.ts'
import { presentPaymentInstrument } from '../../representations/payment-instrument.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf, reference } from '../query/fields.ts'
import { embedding } from '../resources/embedding.ts'
import { patch } from '../resources/patch.ts'
import { notFound, type Resource, type Writer } from '../resources/resource.ts'
import { respondIn } from '../resources/respond.ts'
import { contactOf } from '../schemas/contact.ts'
import { PaymentInstrument, type PaymentInstrumentPatch } from '../schemas/payment-instrument.ts'
import { riskOf } from '../schemas/risk-metadata.ts'

const LAST_PAYMENT = lastPaymentTime('row.organization_id', 'row.customer_id', 'row.id')
const REMINDER_TIME = `case when row.status = 'active' and row.expiration_reminder_number = 0 then
  (make_date(row.exp_year, row.exp_month, 1) + interval '1 month' - interval '${EXPIRY_NOTICE} milliseconds') at time zone 'UTC' end`

export const paymentInstruments: Resource<PaymentInstrumentRow> = {
  name: 'PaymentInstrument',
  label: 'payment instrument',
  path: 'payment-instruments',
  schema: PaymentInstrument,
  entity: PaymentInstrumentRow,
  table: 'payment_instruments',
  computed: `${LAST_PAYMENT} as last_payment_time`,
  search: paymentInstrumentSearch,
  fields: fieldsOf(PaymentInstrument, {
    customerId: reference('customer_id', 'customers'),
    lastPaymentTime: { sql: LAST_PAYMENT, type: 'time' },
    'referenceData.paymentMethod': { sql: `(row.reference_data ->> 'paymentMethod')`, type: 'text' },
    expirationReminderTime: { sql: REMINDER_TIME, type: 'time' },
    'billingAddress.hash': null,
  }),
  // A payment with it changes its last payment time, and not the instrument.
  isVolatile: () => true,
  present: (row, { baseUrl }) => presentPaymentInstrument(row, baseUrl),
  expanders: { customer: embedding(Customer, (row) => row.customerId, presentCustomer) },
}

export const paymentInstrumentWriter: Pick<Writer<PaymentInstrumentRow, PaymentInstrument>, 'create'> = {
  create: (unit, id, body, { cards }) =>
    createPaymentInstrument(unit, cards, id, {
      customerId: body.customerId,
      source: sourceOf(body),
      billingAddress: contactOf(body.billingAddress),
      riskMetadata: riskOf(body.riskMetadata),
      useAsBackup: body.useAsBackup ?? false,
      customFields: body.customFields ?? {},
    }),
}

/** Throws InvalidFieldsError unless the body has either a token or the provider's id of a card. */
function sourceOf({ token, referenceData }: PaymentInstrument): { readonly token: string } | StoredElsewhere {
  const paymentMethod = referenceData?.paymentMethod
  const fail = (field: string, code: 'required' | 'not-supported', message: string): never => {
    throw new InvalidFieldsError([{ field, code, message }])
  }
  if (token === undefined) {
    return paymentMethod === undefined ? fail('token', 'required', 'is required') : { paymentMethod }
  }
  if (paymentMethod === undefined) return { token }
  return fail('referenceData.paymentMethod', 'not-supported', 'is not supported with a payment token')
}

export async function patchPaymentInstrument(context: OperationContext): Promise<OperationResponse> {
  return await patch<PaymentInstrumentRow, PaymentInstrumentPatch>(context, paymentInstruments, {
    changeable: ['expMonth', 'expYear', 'billingAddress', 'useAsBackup', 'customFields'],
    lock: lockPaymentInstrument,
    update(unit, row, body, { cards }) {
      return updatePaymentInstrument(unit, cards, row, {
        expMonth: body.expMonth,
        expYear: body.expYear,
        billingAddress: contactOf(body.billingAddress),
        useAsBackup: body.useAsBackup ?? false,
        customFields: body.customFields ?? {},
      })
    },
    changed: emitInstrumentModified,
  })
}

/** Responds with 409 if it is deactivated already. */
export async function deactivateInstrument(context: OperationContext): Promise<OperationResponse> {
  return await deactivate(context, paymentInstruments, () => true)
}

/** Responds with 404 for an instrument that the caller does not reach. */
export async function deactivate(
  context: OperationContext,
  resource: Resource<PaymentInstrumentRow>,
  isReachable: (instrument: PaymentInstrumentRow) => boolean,
): Promise<OperationResponse> {
  const id = context.params.id ?? ''
  return await context.commit(async (unit) => {
    const row = await deactivatePaymentInstrument(unit, id, (instrument) => {
      if (!isReachable(instrument)) throw notFound(resource, id)
      requirePreconditions(context.preconditions, instrument.revision)
    })
    if (row === null) throw notFound(resource, id)
    return await respondIn(unit, context, resource, row)
  })
}

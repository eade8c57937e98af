import { createPaymentToken } from '../../commands/payments/create-payment-token.ts'
import { PaymentToken as PaymentTokenRow } from '../../db/entities/index.ts'
import { paymentTokenSearch } from '../../db/entities/payment-token.ts'
import { NoGatewayError } from '../../gateways/port.ts'
import { presentPaymentToken } from '../../representations/payment-token.ts'
import type { OperationContext, OperationHandler } from '../operation.ts'
import { readOne } from '../resources/read.ts'
import type { Resource, Writer } from '../resources/resource.ts'
import { contactOf } from '../schemas/contact.ts'
import { leadSourceOf } from '../schemas/lead-source.ts'
import { PaymentToken } from '../schemas/payment-token.ts'
import { riskOf } from '../schemas/risk-metadata.ts'

export const paymentTokens: Resource<PaymentTokenRow> = {
  name: 'Token',
  label: 'payment token',
  path: 'tokens',
  schema: PaymentToken,
  entity: PaymentTokenRow,
  table: 'payment_tokens',
  search: paymentTokenSearch,
  fields: {},
  present: presentToCaller,
}

export const paymentTokenWriter: Pick<Writer<PaymentTokenRow, PaymentToken>, 'before' | 'create'> = {
  // A card that nobody can charge is not stored.
  async before({ gateway, organizationId }) {
    if (!(await gateway.takesCards(organizationId)))
      throw new NoGatewayError('No payment gateway that takes cards is connected.')
  },
  create: (unit, id, body, { keys }) =>
    createPaymentToken(unit, keys, id, {
      method: 'payment-card',
      card: {
        pan: body.paymentInstrument.pan ?? null,
        cvv: body.paymentInstrument.cvv ?? null,
        expMonth: body.paymentInstrument.expMonth,
        expYear: body.paymentInstrument.expYear,
      },
      billingAddress: contactOf(body.billingAddress),
      riskMetadata: riskOf(body.riskMetadata),
      leadSource: leadSourceOf(body.leadSource),
    }),
}

/** Anyone can have a browser's key: it shows no derived risk and, on a read, no personal data (D 3). */
function presentToCaller(row: PaymentTokenRow, { baseUrl, credential, params }: OperationContext) {
  const token = presentPaymentToken(row, baseUrl)
  if (credential.form === 'secret') return token
  const isRead = params.token !== undefined
  return { ...token, riskMetadata: null, ...(isRead ? { billingAddress: null } : {}) }
}

export const readPaymentToken: OperationHandler = (context) =>
  readOne({ ...context, params: { ...context.params, id: context.params.token ?? '' } }, paymentTokens)

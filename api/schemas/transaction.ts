import Type, { type Static } from 'typebox'
import { DISPUTE_STATUSES } from '../../billing/disputes.ts'
import {
  MOST_INVOICES,
  SUPPORTED_TRANSACTION_TYPES,
  TRANSACTION_RESULTS,
  TRANSACTION_STATUSES,
  TRANSACTION_TYPES,
} from '../../billing/transactions.ts'
import { Contact } from './contact.ts'
import {
  Amount,
  AsShown,
  CustomFields,
  Id,
  Instant,
  Nullable,
  OrNull,
  PartlySupported,
  ReadOnly,
  resourceMembers,
} from './conventions.ts'
import { notSupportedYet, readOnlyNotSupportedYet } from './not-supported.ts'
import { RiskMetadata } from './risk-metadata.ts'
import { variants } from './variants.ts'

const Ids = (description: string) => ReadOnly(Type.Array(Type.String(), { description }))
const ReadOnlyText = (description: string) => ReadOnly(OrNull(Type.String({ description })))
const Description = Nullable(Type.String({ maxLength: 1000, description: 'Description of the transaction.' }))
const Status = Type.Enum([...TRANSACTION_STATUSES], {
  description:
    'Status of the transaction: pending until its outcome is known, waiting-approval while the customer is asked to approve it, never-sent if the request never reached the gateway. An approved authorization is waiting-capture until it is captured (completed), or voided, also by its end. A sale or capture is refunded, partially-refunded or disputed after its completion.',
})
const Result = Type.Enum([...TRANSACTION_RESULTS], {
  description:
    'Outcome of the transaction. canceled: the request never reached the gateway, and no money moved. abandoned: the customer did not approve it within an hour.',
})

const codeMembers = {
  code: OrNull(Type.String({ description: 'Kind of the result, in words of this service.' })),
  message: OrNull(Type.String({ description: 'Message of the result.' })),
  originalCode: OrNull(Type.String({ description: 'Code as the gateway sent it.' })),
  originalMessage: OrNull(Type.String({ description: 'Message as the gateway sent it.' })),
}
const GatewayCode = (description: string) => OrNull(Type.Object(codeMembers, { description }))

const GatewayResponse = Type.Object(
  {
    response: Type.Object(
      {
        ...codeMembers,
        type: OrNull(Type.String({ description: 'Type of the result.' })),
      },
      { description: 'The result.' },
    ),
    avsResponse: GatewayCode('Result of the address verification. null if the gateway reports none.'),
    cvvResponse: GatewayCode('Result of the security code check. null if the gateway reports none.'),
  },
  { description: 'What the gateway responded. null if no gateway was involved.' },
)

export const Transaction = Type.Object(
  {
    ...resourceMembers,
    type: PartlySupported(SUPPORTED_TRANSACTION_TYPES, Type.Enum([...TRANSACTION_TYPES])),
    websiteId: Nullable(
      Id('Website of the transaction. By default, that of its first invoice, else of its customer.'),
    ),
    customerId: Nullable(Id('Customer who pays. Required for a sale and an authorization.')),
    currency: Nullable(
      Type.String({
        format: 'currency',
        description: 'ISO 4217 currency code. Required for a sale and an authorization.',
      }),
    ),
    amount: Nullable(
      Amount(
        'Amount. Required for a sale and an authorization; a refund or capture without it is for all that can be refunded or captured.',
        {
          exclusiveMinimum: 0,
        },
      ),
    ),
    paymentInstruction: Nullable(
      Type.Object(
        {
          method: Type.Optional(Type.Enum(['external'])),
          token: Type.Optional(Id('A payment token, which the sale consumes.')),
          paymentInstrumentId: Type.Optional(Id('A payment instrument of the customer.')),
        },
        {
          ...variants({
            TokenInstruction: { has: ['token'] },
            InstrumentInstruction: { has: ['paymentInstrumentId'] },
            ExternalInstruction: { has: ['method'] },
          }),
          title: 'PaymentInstruction',
          additionalProperties: false,
          minProperties: 1,
          maxProperties: 1,
          description:
            'How the sale is paid: by payment token, by payment instrument, or outside of this service. Required for a sale and an authorization, which cannot be external.',
        },
      ),
    ),
    parentTransactionId: Nullable(
      Id(
        'Sale or capture that is refunded, or authorization that is captured or voided. Required for these.',
      ),
    ),
    invoiceIds: Type.Optional(
      Type.Array(Id('An unpaid invoice of the customer.'), {
        maxItems: MOST_INVOICES,
        uniqueItems: true,
        default: [],
        description:
          'Invoices that the sale or capture pays, in this order. Its amount must not exceed their amount due.',
      }),
    ),
    billingAddress: Type.Optional(
      OrNull(Contact, {
        default: null,
        description: 'Billing address. By default, that of the card, or of the parent transaction.',
      }),
    ),
    description: Description,
    isProcessedOutside: Type.Optional(
      OrNull(
        Type.Boolean({
          description:
            'Whether the money moved outside of this service. In a refund, true records money that was returned elsewhere.',
        }),
        { default: null },
      ),
    ),
    isMerchantInitiated: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether the card is charged without the customer being present. If false, the bank may ask the customer to approve the charge: the transaction is waiting-approval until then, with the link approvalUrl. If true, such a charge is declined. Always true for automatic charges.',
      }),
    ),
    redirectUrl: Nullable(
      Type.String({
        format: 'uri',
        pattern: '^https?://',
        maxLength: 2083,
        description:
          'Where the customer returns after approving the charge. By default, a page of this service that says so.',
      }),
    ),
    riskMetadata: Type.Optional(OrNull(RiskMetadata, { default: null })),
    customFields: CustomFields,
    status: ReadOnly(Status),
    result: ReadOnly(OrNull(Result)),
    organizationId: ReadOnly(Id('Organization of the transaction.')),
    childTransactions: Ids(
      'Ids of the refunds of a sale or capture, or of the captures and voids of an authorization, oldest first.',
    ),
    subscriptionIds: Ids('Ids of the orders whose invoices are paid.'),
    planIds: Ids('Ids of the plans on these invoices.'),
    orderId: ReadOnly(OrNull(Id('First of the orders.'))),
    isRebill: ReadOnly(Type.Boolean({ description: 'Whether the first invoice renews an order.' })),
    rebillNumber: ReadOnly(
      OrNull(
        Type.Integer({
          description: 'Number of the invoiced period; 0 is the trial. null before the service begins.',
        }),
      ),
    ),
    retryNumber: ReadOnly(
      Type.Integer({ description: 'Number of automatic charges of the invoice before this one.' }),
    ),
    isRetry: ReadOnly(Type.Boolean({ description: 'Whether an earlier charge of the invoice failed.' })),
    purchaseAmount: ReadOnly(Amount('Amount of the purchase.')),
    purchaseCurrency: ReadOnly(Type.String({ description: 'Currency of the purchase.' })),
    requestAmount: ReadOnly(Amount('Requested amount.')),
    requestCurrency: ReadOnly(Type.String({ description: 'Requested currency.' })),
    method: ReadOnly(Type.Enum(['payment-card', 'external'])),
    paymentInstrument: ReadOnly(
      OrNull(
        Type.Object(
          { method: Type.Enum(['payment-card']), paymentInstrumentId: Type.String() },
          { description: 'Payment instrument that is charged.' },
        ),
      ),
    ),
    bin: ReadOnlyText('First six digits of the card number.'),
    gatewayName: ReadOnlyText('Gateway that processed the transaction.'),
    gatewayAccountId: AsShown(OrNull(Type.String({ description: 'Gateway account that holds the card.' }))),
    gatewayTransactionId: ReadOnlyText('Id of the transaction at the gateway.'),
    gateway: ReadOnly(OrNull(GatewayResponse)),
    requestId: ReadOnlyText('Id of the request at the gateway.'),
    rawResponse: ReadOnlyText('Raw response of the gateway.'),
    authorizationExpiryTime: ReadOnly(
      OrNull(Instant('When an approved authorization ends by itself. null if the gateway names no time.')),
    ),
    processedTime: ReadOnly(OrNull(Instant('When the outcome became known.'))),
    nextInquiryTime: ReadOnly(OrNull(Instant('When the service next asks the gateway for the outcome.'))),
    isDisputed: ReadOnly(Type.Boolean({ description: 'Whether a dispute of the transaction is not won.' })),
    disputeTime: ReadOnly(OrNull(Instant('When the latest dispute was posted.'))),
    disputeStatus: ReadOnly(
      OrNull(Type.Enum([...DISPUTE_STATUSES], { description: 'Status of the latest dispute.' })),
    ),
    has3ds: ReadOnly(
      Type.Boolean({ description: 'Whether the bank asked the customer to approve the charge.' }),
    ),
    ...notSupportedYet({ notificationUrl: null, billingDescriptor: null, referenceData: null }),
    ...readOnlyNotSupportedYet({
      '3ds': null,
      hasAmountAdjustment: false,
      acquirerName: null,
      velocity: null,
      hasDcc: false,
      dcc: null,
      riskScore: null,
      isReconciled: false,
      hadDiscrepancy: false,
      discrepancyTime: null,
      arn: null,
      reportAmount: null,
      reportCurrency: null,
      settlementTime: null,
      limits: null,
      depositRequestId: null,
      transferId: null,
      payoutRequestId: null,
    }),
  },
  {
    $id: 'Transaction',
    additionalProperties: false,
    description: 'A sale, a refund, an authorization, or the capture or void of one.',
  },
)
export type Transaction = Static<typeof Transaction>

export const TransactionRefund = Type.Object(
  {
    amount: Nullable(
      Amount('Amount to refund. By default, the whole refundable amount.', { exclusiveMinimum: 0 }),
    ),
    description: Description,
    isProcessedOutside: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether the money was returned outside of this service, and is only recorded.',
      }),
    ),
  },
  { $id: 'TransactionRefund', additionalProperties: false, description: 'A refund of a sale or capture.' },
)
export type TransactionRefund = Static<typeof TransactionRefund>

export const TransactionQuery = Type.Object(
  {
    transactionId: Type.String({ description: 'Transaction whose outcome was asked for.' }),
    result: Result,
    status: Status,
    amount: Amount('Amount of the transaction.'),
    currency: Type.String({ description: 'Currency of the transaction.' }),
  },
  {
    $id: 'TransactionQuery',
    additionalProperties: false,
    description: 'The outcome of a transaction, as its gateway reports it now.',
  },
)

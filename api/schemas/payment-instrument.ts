import Type, { type Static } from 'typebox'
import { CARD_BRANDS } from '../../billing/cards.ts'
import { PAYMENT_INSTRUMENT_STATUSES } from '../../billing/payment-instruments.ts'
import { Contact } from './contact.ts'
import {
  AsShown,
  CustomFields,
  Id,
  Instant,
  OmittedWhenUnknown,
  OrNull,
  PartlySupported,
  ReadOnly,
  resourceMembers,
  WriteOnly,
} from './conventions.ts'
import { NotSupportedYet, notSupportedYet } from './not-supported.ts'
import { RiskMetadata } from './risk-metadata.ts'

const ExpMonth = Type.Integer({ minimum: 1, maximum: 12, description: 'Month in which the card expires.' })
const ExpYear = Type.Integer({
  minimum: 2000,
  maximum: 2100,
  description: 'Year in which the card expires, with four digits.',
})
const BillingAddress = (description: string) => Type.Optional(OrNull(Contact, { default: null, description }))

const members = {
  ...resourceMembers,
  customerId: Id('Customer who owns the payment instrument.'),
  method: Type.Optional(
    PartlySupported(
      ['payment-card'],
      Type.String({ maxLength: 50, default: 'payment-card', description: 'Payment method.' }),
    ),
  ),
  status: ReadOnly(
    Type.Enum([...PAYMENT_INSTRUMENT_STATUSES], {
      description: 'Status of the payment instrument. Only an active one is charged.',
    }),
  ),
  fingerprint: ReadOnly(
    Type.String({
      description: 'Digest of the card number. Equal cards of one organization have equal fingerprints.',
    }),
  ),
  bin: ReadOnly(
    OrNull(
      Type.String({
        description: "First six digits of the card number. null for a card from the provider's own form.",
      }),
    ),
  ),
  last4: ReadOnly(Type.String({ description: 'Last four digits of the card number.' })),
  brand: ReadOnly(Type.Enum([...CARD_BRANDS])),
  useAsBackup: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Whether the payment instrument is charged where the preferred one is declined for good, has expired or is deactivated.',
    }),
  ),
  customFields: CustomFields,
  expirationReminderTime: ReadOnly(
    OrNull(
      Instant('When the event about the expiration of the card is sent: 30 days ahead. Null if it was sent.'),
    ),
  ),
  expirationReminderNumber: ReadOnly(
    Type.Integer({ description: 'Number of events about the coming expiration of the card.' }),
  ),
  lastPaymentTime: ReadOnly(OrNull(Instant('When a sale with the payment instrument was last approved.'))),
  // The number reaches the service in payment tokens only.
  pan: WriteOnly(NotSupportedYet(Type.String(), null)),
  cvv: WriteOnly(NotSupportedYet(Type.String(), null)),
  ...notSupportedYet({
    fpanLast4: null,
    bankCountry: null,
    bankName: null,
    isPayoutable: false,
    billingPortalUrl: null,
    stickyGatewayAccountId: null,
    digitalWallet: null,
  }),
}

const ReferenceData = Type.Object(
  {
    paymentMethod: OmittedWhenUnknown(
      Type.String({
        pattern: '^[A-Za-z0-9_]+$',
        maxLength: 255,
        description: 'Id of a payment method at the provider.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      "What identifies the card at the payment provider. Given in place of a token, it makes a payment instrument of a card that the customer entered in the provider's own form.",
  },
)
export const Token = Id('Payment token, which is consumed to create the payment instrument.', {
  writeOnly: true,
})

export const PaymentInstrument = Type.Object(
  {
    ...members,
    token: Type.Optional(Token),
    referenceData: Type.Optional({ ...ReferenceData, default: {} } as typeof ReferenceData),
    expMonth: ReadOnly(ExpMonth),
    expYear: ReadOnly(ExpYear),
    billingAddress: BillingAddress('Billing address. If null, that of the payment token.'),
    riskMetadata: Type.Optional(
      OrNull(RiskMetadata, {
        default: null,
        description: 'Risk metadata. If null, that of the payment token.',
      }),
    ),
  },
  { $id: 'PaymentInstrument', additionalProperties: false, description: 'A payment card of a customer.' },
)
export type PaymentInstrument = Static<typeof PaymentInstrument>

export const PaymentInstrumentPatch = Type.Object(
  {
    ...members,
    referenceData: ReadOnly(ReferenceData),
    expMonth: ExpMonth,
    expYear: ExpYear,
    billingAddress: BillingAddress('Billing address.'),
    riskMetadata: AsShown(OrNull(RiskMetadata)),
  },
  {
    $id: 'PaymentInstrumentPatch',
    additionalProperties: false,
    description: 'Changes of a payment instrument.',
  },
)
export type PaymentInstrumentPatch = Static<typeof PaymentInstrumentPatch>

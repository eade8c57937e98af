import Type, { type Static } from 'typebox'
import { CARD_BRANDS } from '../../billing/cards.ts'
import { Contact } from './contact.ts'
import {
  Instant,
  Nullable,
  OmittedWhenUnknown,
  OrNull,
  PartlySupported,
  ReadOnly,
  resourceMembers,
  WriteOnly,
} from './conventions.ts'
import { TokenLeadSource } from './lead-source.ts'
import { NotSupportedYet } from './not-supported.ts'
import { RiskMetadata } from './risk-metadata.ts'

export const PaymentToken = Type.Object(
  {
    ...resourceMembers,
    method: PartlySupported(['payment-card'], Type.String({ maxLength: 50, description: 'Payment method.' })),
    paymentInstrument: Type.Object(
      {
        pan: Type.Optional(
          OrNull(Type.String({ maxLength: 40, description: 'Card number. A payment requires it.' }), {
            writeOnly: true,
          }),
        ),
        cvv: Type.Optional(
          OrNull(Type.String({ maxLength: 4, description: 'Security code of three or four digits.' }), {
            writeOnly: true,
          }),
        ),
        encryptedCvv: WriteOnly(NotSupportedYet(Type.String(), null)),
        expMonth: Type.Integer({ minimum: 1, maximum: 12, description: 'Month in which the card expires.' }),
        expYear: Type.Integer({
          minimum: 2000,
          maximum: 2100,
          description: 'Year in which the card expires, with four digits.',
        }),
        bin: ReadOnly(OrNull(Type.String({ description: 'First six digits of the card number.' }))),
        last4: ReadOnly(OrNull(Type.String({ description: 'Last four digits of the card number.' }))),
        brand: OmittedWhenUnknown(ReadOnly(Type.Enum([...CARD_BRANDS]))),
      },
      { additionalProperties: false, description: 'Payment card.' },
    ),
    billingAddress: Nullable(Contact),
    riskMetadata: Nullable(RiskMetadata),
    leadSource: Type.Optional(OrNull(TokenLeadSource, { writeOnly: true, default: null })),
    isUsed: ReadOnly(Type.Boolean({ description: 'Whether the token was used. A token can be used once.' })),
    usageTime: ReadOnly(OrNull(Instant('When the token was used.'))),
    expirationTime: ReadOnly(OrNull(Instant('When the token expires.'))),
  },
  {
    $id: 'PaymentToken',
    additionalProperties: false,
    description: 'Card data for a single use within 30 minutes.',
  },
)
export type PaymentToken = Static<typeof PaymentToken>

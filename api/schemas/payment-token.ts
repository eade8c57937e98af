import Type, { type Static } from 'typebox'
import { CARD_BRANDS } from '../../billing/cards.ts'
import { Contact } from './contact.ts'
import { AbsentWhenUnknown, Instant, Nullable, OrNull, ReadOnly, resourceMembers } from './conventions.ts'
import { LeadSource } from './lead-source.ts'
import { RiskMetadata } from './risk-metadata.ts'

export const PaymentToken = Type.Object(
  {
    ...resourceMembers,
    method: Type.Enum(['payment-card']),
    paymentInstrument: Type.Object(
      {
        pan: Type.Optional(
          OrNull(
            Type.String({ maxLength: 40, description: 'Card number; without it no payment is possible.' }),
            {
              writeOnly: true,
            },
          ),
        ),
        cvv: Type.Optional(
          OrNull(Type.String({ maxLength: 4, description: 'Security code of three or four digits.' }), {
            writeOnly: true,
          }),
        ),
        expMonth: Type.Integer({ minimum: 1, maximum: 12, description: 'Month of expiry.' }),
        expYear: Type.Integer({ minimum: 2000, maximum: 2100, description: 'Year of expiry, in full.' }),
        bin: ReadOnly(OrNull(Type.String({ description: 'The first six digits.' }))),
        last4: ReadOnly(OrNull(Type.String({ description: 'The last four digits.' }))),
        brand: AbsentWhenUnknown(ReadOnly(Type.Enum([...CARD_BRANDS]))),
      },
      { additionalProperties: false, description: 'The card.' },
    ),
    billingAddress: Nullable(Contact),
    riskMetadata: Nullable(RiskMetadata),
    leadSource: Type.Optional(OrNull(LeadSource, { writeOnly: true, default: null })),
    isUsed: ReadOnly(Type.Boolean({ description: 'Whether it was used; it can be once.' })),
    usageTime: ReadOnly(OrNull(Instant('When it was used.'))),
    expirationTime: ReadOnly(OrNull(Instant('From when it cannot be used any more.'))),
  },
  {
    $id: 'PaymentToken',
    additionalProperties: false,
    description: 'Card data for one use within thirty minutes.',
  },
)
export type PaymentToken = Static<typeof PaymentToken>

import Type, { type Static } from 'typebox'
import { Contact } from './contact.ts'
import { CustomFields, Id, Nullable, OrNull, resourceMembers, Text } from './conventions.ts'
import { LeadSource } from './lead-source.ts'

export const Customer = Type.Object(
  {
    ...resourceMembers,
    email: Nullable(Type.String({ format: 'email', maxLength: 255, description: 'E-mail address.' })),
    firstName: Nullable(Text('Given name.')),
    lastName: Nullable(Text('Family name.')),
    websiteId: Nullable(Id('Website through which the customer was acquired.')),
    defaultPaymentInstrument: Nullable(
      Type.Object(
        {
          method: Type.Enum(['payment-card']),
          paymentInstrumentId: Id('A payment instrument of the customer.'),
        },
        { additionalProperties: false, description: 'Payment instrument that is charged by default.' },
      ),
    ),
    paymentToken: Type.Optional(
      OrNull(
        Id(
          "A payment token. It is consumed to create a payment instrument, which becomes the customer's default.",
        ),
        {
          writeOnly: true,
        },
      ),
    ),
    primaryAddress: Nullable(Contact),
    leadSource: Nullable(LeadSource),
    customFields: CustomFields,
  },
  { $id: 'Customer', additionalProperties: false, description: 'A customer of the organization.' },
)
export type Customer = Static<typeof Customer>

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
    websiteId: Nullable(Id('Website the customer came from.')),
    defaultPaymentInstrument: Nullable(
      Type.Object(
        {
          method: Type.Enum(['payment-card']),
          paymentInstrumentId: Id('An instrument of the customer.'),
        },
        { additionalProperties: false, description: 'What is charged where nothing else is named.' },
      ),
    ),
    paymentToken: Type.Optional(
      OrNull(Id('A payment token: makes an instrument, used up by this, and sets it as the default.'), {
        writeOnly: true,
      }),
    ),
    primaryAddress: Nullable(Contact),
    leadSource: Nullable(LeadSource),
    customFields: CustomFields,
  },
  { $id: 'Customer', additionalProperties: false, description: 'Whom the organization bills.' },
)
export type Customer = Static<typeof Customer>

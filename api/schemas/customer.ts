import Type, { type Static } from 'typebox'
import { CustomFields, Id, Nullable, resourceMembers, Text } from './conventions.ts'

export const Customer = Type.Object(
  {
    ...resourceMembers,
    email: Nullable(Type.String({ format: 'email', maxLength: 255, description: 'E-mail address.' })),
    firstName: Nullable(Text('Given name.')),
    lastName: Nullable(Text('Family name.')),
    websiteId: Nullable(Id('Website the customer came from.')),
    customFields: CustomFields,
  },
  { $id: 'Customer', additionalProperties: false, description: 'Whom the organization bills.' },
)
export type Customer = Static<typeof Customer>

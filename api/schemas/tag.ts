import Type, { type Static } from 'typebox'
import { Id, resourceMembers, Text } from './conventions.ts'

const name = Text('Name, unique among the tags of its type in any case.', { minLength: 1 })
const type = Type.Enum(['customer', 'kyc-document', 'aml-check'], {
  description: 'What the tag is for. Only customer is supported yet.',
})

export const Tag = Type.Object(
  { ...resourceMembers, name, type },
  { $id: 'Tag', additionalProperties: false, description: 'A label that you give to customers.' },
)
export type Tag = Static<typeof Tag>

export const TagChange = Type.Object(
  { ...resourceMembers, name: Type.Optional(name), type: Type.Optional(type) },
  { $id: 'TagChange', additionalProperties: false, description: 'Another name of a tag.' },
)
export type TagChange = Static<typeof TagChange>

export const TaggedCustomers = Type.Object(
  {
    customerIds: Type.Array(Id('Id of a customer.'), {
      minItems: 1,
      maxItems: 1000,
      description: 'Customers to tag or untag.',
    }),
  },
  { $id: 'TaggedCustomers', additionalProperties: false, description: 'The customers of a change of a tag.' },
)
export type TaggedCustomers = Static<typeof TaggedCustomers>

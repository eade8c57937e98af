import Type, { type Static } from 'typebox'
import { CustomFields, Nullable, resourceMembers, Text } from './conventions.ts'

export const Product = Type.Object(
  {
    ...resourceMembers,
    name: Text('What people call it.', { minLength: 1 }),
    unitLabel: Nullable(Text('What one unit of it is called.')),
    description: Nullable(Type.String({ maxLength: 1000, description: 'What it is.' })),
    customFields: CustomFields,
  },
  { $id: 'Product', additionalProperties: false, description: 'What is sold; plans give it prices.' },
)
export type Product = Static<typeof Product>

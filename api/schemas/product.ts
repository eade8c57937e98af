import Type, { type Static } from 'typebox'
import { CustomFields, Nullable, resourceMembers, Text } from './conventions.ts'
import { notSupportedYet } from './not-supported.ts'

export const Product = Type.Object(
  {
    ...resourceMembers,
    name: Text('Display name.', { minLength: 1 }),
    unitLabel: Nullable(Text('Name of one unit of the product.')),
    description: Nullable(Type.String({ maxLength: 1000, description: 'Description of the product.' })),
    taxCategoryId: Nullable(
      Type.String({
        maxLength: 50,
        description:
          'Category that decides the tax rate, one of `settings.taxLocations` of the organization.',
      }),
    ),
    customFields: CustomFields,
    ...notSupportedYet({
      requiresShipping: false,
      options: [],
      accountingCode: null,
      recognition: null,
    }),
  },
  { $id: 'Product', additionalProperties: false, description: 'A product, which plans sell.' },
)
export type Product = Static<typeof Product>

import Type, { type Static } from 'typebox'
import { CustomFields, Id, Nullable, ReadOnly, resourceMembers, Text } from './conventions.ts'
import { notSupportedYet, readOnlyNotSupportedYet } from './not-supported.ts'

export const Website = Type.Object(
  {
    ...resourceMembers,
    name: Text('Display name.', { minLength: 1 }),
    url: Nullable(Type.String({ format: 'uri', maxLength: 2048, description: 'URL of the website.' })),
    servicePhone: Nullable(Text('Telephone number of customer service.')),
    serviceEmail: Nullable(
      Type.String({
        format: 'email',
        maxLength: 255,
        description: 'E-mail address of customer service.',
      }),
    ),
    organizationId: ReadOnly(Id('Organization that the website belongs to.')),
    customFields: CustomFields,
    ...notSupportedYet({ settings: {}, logoId: null }),
    ...readOnlyNotSupportedYet({ logoUrl: null }),
  },
  { $id: 'Website', additionalProperties: false, description: 'A website on which the organization sells.' },
)
export type Website = Static<typeof Website>

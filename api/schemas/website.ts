import Type, { type Static } from 'typebox'
import { CustomFields, Nullable, resourceMembers, Text } from './conventions.ts'

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
    customFields: CustomFields,
  },
  { $id: 'Website', additionalProperties: false, description: 'A website on which the organization sells.' },
)
export type Website = Static<typeof Website>

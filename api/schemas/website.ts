import Type, { type Static } from 'typebox'
import { CustomFields, Nullable, resourceMembers, Text } from './conventions.ts'

export const Website = Type.Object(
  {
    ...resourceMembers,
    name: Text('What people call it.', { minLength: 1 }),
    url: Nullable(Type.String({ format: 'uri', maxLength: 2048, description: 'Where it is.' })),
    servicePhone: Nullable(Text('Phone number of its customer service.')),
    serviceEmail: Nullable(
      Type.String({
        format: 'email',
        maxLength: 255,
        description: 'E-mail address of its customer service.',
      }),
    ),
    customFields: CustomFields,
  },
  { $id: 'Website', additionalProperties: false, description: 'A place where the organization sells.' },
)
export type Website = Static<typeof Website>

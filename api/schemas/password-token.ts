import Type, { type Static } from 'typebox'
import { AsShown, Id, Instant, OmittedWhenUnknown, ReadOnly, resourceMembers, Text } from './conventions.ts'

const { id: _, ...membersWithoutId } = resourceMembers

export const PasswordToken = Type.Object(
  {
    ...membersWithoutId,
    token: OmittedWhenUnknown(
      ReadOnly(
        Type.String({
          description:
            'Value of the token, which names it in paths. A list contains it only for keys that may also create password tokens.',
        }),
      ),
    ),
    username: Text('Username of the credential.', { minLength: 1 }),
    credentialId: Type.Optional(Id('The credential with this username.')),
    expiredTime: AsShown(Instant('When the token expires.')),
  },
  {
    $id: 'ResetPasswordToken',
    additionalProperties: false,
    description: 'A token that a merchant sends to a customer who has forgotten the password.',
  },
)
export type PasswordToken = Static<typeof PasswordToken>

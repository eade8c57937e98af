import Type, { type Static } from 'typebox'
import { Id, Instant, OrNull, resourceMembers, Text } from './conventions.ts'

export const CustomerCredential = Type.Object(
  {
    ...resourceMembers,
    username: Text('Name to sign in with. It is unique in the organization, whatever its case.', {
      minLength: 1,
    }),
    password: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        writeOnly: true,
        description:
          "Password, which is never returned. Required for a new credential. Setting it ends the credential's password tokens and the customer's authentication tokens and JWTs; a PUT without it leaves the password unchanged.",
      }),
    ),
    customerId: Id('Customer who signs in. It cannot be changed.'),
    expiredTime: Type.Optional(
      OrNull(
        Instant(
          "When the credential expires. If null, it does not expire. A new credential without this member has the organization's credentialTtl; a PUT without it leaves the time unchanged.",
        ),
      ),
    ),
  },
  {
    $id: 'CustomerCredential',
    additionalProperties: false,
    description: 'The username and password of a customer.',
  },
)
export type CustomerCredential = Static<typeof CustomerCredential>

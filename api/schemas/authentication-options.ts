import Type, { type Static } from 'typebox'
import { Nullable, resourceMembers } from './conventions.ts'
import { notSupportedYet } from './not-supported.ts'

const { id: _, ...membersWithoutId } = resourceMembers

const seconds = (description: string, minimum: number, maximum: number, initial: number) =>
  Type.Optional(Type.Integer({ minimum, maximum, default: initial, description }))

export const AuthenticationOptions = Type.Object(
  {
    ...membersWithoutId,
    passwordPattern: Nullable(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description:
          'Regular expression of JavaScript that every new password must match. If null, every password is accepted. Existing passwords remain valid.',
      }),
    ),
    credentialTtl: seconds(
      'Lifetime of a credential that is created without expiredTime, in seconds. If 0, it does not expire.',
      0,
      315_360_000,
      0,
    ),
    authTokenTtl: seconds('Lifetime of authentication tokens, in seconds.', 60, 86_400, 3_600),
    resetTokenTtl: seconds('Lifetime of password tokens, in seconds.', 60, 604_800, 3_600),
    ...notSupportedYet({ otpRequired: false }),
  },
  {
    $id: 'AuthenticationOptions',
    additionalProperties: false,
    description: "How the organization's customers sign in.",
  },
)
export type AuthenticationOptions = Static<typeof AuthenticationOptions>

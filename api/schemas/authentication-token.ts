import Type, { type Static } from 'typebox'
import { AccessRules } from './api-key.ts'
import { Id, Instant, Nullable, OmittedWhenUnknown, ReadOnly, resourceMembers, Text } from './conventions.ts'
import { NotSupportedYet, notSupportedYet } from './not-supported.ts'

const { id: _, ...membersWithoutId } = resourceMembers
const { createdTime, updatedTime, _links } = resourceMembers

export const AuthenticationToken = Type.Object(
  {
    ...membersWithoutId,
    mode: Type.Optional(
      Type.Enum(['password', 'passwordless'], {
        writeOnly: true,
        description:
          'password: the customer signs in with username and password. passwordless: the merchant has authenticated the customer, which requires a secret key. By default it is passwordless if only customerId is given.',
      }),
    ),
    username: OmittedWhenUnknown(
      Type.Optional(Text('Username of the credential, required in the mode password.', { minLength: 1 })),
    ),
    password: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        writeOnly: true,
        description: 'Password of the credential, required in the mode password.',
      }),
    ),
    token: OmittedWhenUnknown(
      ReadOnly(
        Type.String({
          description:
            'Value of the token, to be exchanged for a customer JWT. A list contains it only for keys that may also create authentication tokens.',
        }),
      ),
    ),
    customerId: Type.Optional(
      Id(
        'Customer that the token authenticates. Required in the mode passwordless, ignored in the mode password.',
      ),
    ),
    credentialId: OmittedWhenUnknown(ReadOnly(Id('Credential with which the customer signed in.'))),
    expiredTime: ReadOnly(Instant('When the token expires.')),
    ...notSupportedYet({ otpRequired: false }),
  },
  {
    $id: 'AuthenticationToken',
    additionalProperties: false,
    description: 'A short-lived token that authenticates a customer.',
  },
)
export type AuthenticationToken = Static<typeof AuthenticationToken>

export const CustomerToken = Type.Object(
  {
    id: ReadOnly(Id('Unique id of the token.')),
    type: ReadOnly(Type.Enum(['customer'])),
    token: ReadOnly(Type.String({ description: 'The JWT. Send it as Authorization: Bearer.' })),
    customerId: ReadOnly(Id('Customer that the token authenticates.')),
    acl: AccessRules,
    expiredTime: Nullable(
      Instant('When the JWT expires, at most 24 hours ahead. If null, it expires after one hour.'),
    ),
    invalidate: Type.Optional(
      Type.Boolean({
        default: true,
        writeOnly: true,
        description: 'Whether the exchange invalidates the authentication token.',
      }),
    ),
    oneTimePassword: NotSupportedYet(Type.String({ writeOnly: true }), null),
    ...notSupportedYet({ customClaims: {} }),
    createdTime,
    updatedTime,
    _links,
  },
  {
    $id: 'CustomerToken',
    additionalProperties: false,
    description: 'A JWT with which a browser acts for a customer.',
  },
)
export type CustomerToken = Static<typeof CustomerToken>

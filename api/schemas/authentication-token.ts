import Type, { type Static } from 'typebox'
import { AccessRules } from './api-key.ts'
import { Id, Instant, Nullable, ReadOnly } from './conventions.ts'

export const AuthenticationToken = Type.Object(
  {
    mode: Type.Enum(['passwordless'], {
      writeOnly: true,
      description: 'passwordless: the merchant has authenticated the customer.',
    }),
    token: ReadOnly(Type.String({ description: 'Value of the token, to be exchanged for a customer JWT.' })),
    customerId: Id('Customer that the token authenticates.'),
    expiredTime: ReadOnly(Instant('When the token expires.')),
  },
  {
    $id: 'AuthenticationToken',
    additionalProperties: false,
    description: 'A short-lived token with which a merchant authenticates a customer.',
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
  },
  {
    $id: 'CustomerToken',
    additionalProperties: false,
    description: 'A JWT with which a browser acts for a customer.',
  },
)
export type CustomerToken = Static<typeof CustomerToken>

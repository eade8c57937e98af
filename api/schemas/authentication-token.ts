import Type, { type Static } from 'typebox'
import { AccessRules } from './api-key.ts'
import { Id, Instant, Nullable, ReadOnly } from './conventions.ts'

export const AuthenticationToken = Type.Object(
  {
    mode: Type.Enum(['passwordless'], {
      writeOnly: true,
      description: 'passwordless: the merchant vouches for the customer.',
    }),
    token: ReadOnly(Type.String({ description: 'Its value, to be exchanged.' })),
    customerId: Id('Whom it stands for.'),
    expiredTime: ReadOnly(Instant('When it can no longer be exchanged.')),
  },
  {
    $id: 'AuthenticationToken',
    additionalProperties: false,
    description: "A merchant's word that a browser is a customer's.",
  },
)
export type AuthenticationToken = Static<typeof AuthenticationToken>

export const CustomerToken = Type.Object(
  {
    id: ReadOnly(Id('Names it.')),
    type: ReadOnly(Type.Enum(['customer'])),
    token: ReadOnly(Type.String({ description: 'The JWT, sent as Authorization: Bearer.' })),
    customerId: ReadOnly(Id('Whom it stands for.')),
    acl: AccessRules,
    expiredTime: Nullable(Instant('When it expires, at most 24 hours ahead; null: in an hour.')),
    invalidate: Type.Optional(
      Type.Boolean({
        default: true,
        writeOnly: true,
        description: 'Whether the authentication token is good for no other exchange.',
      }),
    ),
  },
  {
    $id: 'CustomerToken',
    additionalProperties: false,
    description: 'What a browser holds to act for a customer.',
  },
)
export type CustomerToken = Static<typeof CustomerToken>

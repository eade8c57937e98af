import Type, { type Static } from 'typebox'
import { ReadOnly, resourceMembers } from './conventions.ts'

const Status = Type.Enum(['active', 'inactive'], {
  default: 'active',
  description: 'An inactive one is not sent, and no webhook can take it up.',
})

export const ServiceCredential = Type.Object(
  {
    ...resourceMembers,
    hash: ReadOnly(Type.String({ description: 'What a webhook names as its credentialHash.' })),
    type: ReadOnly(Type.Enum(['webhook'])),
    host: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'The only host it is sent to: a name without scheme, port or path.',
    }),
    auth: Type.Object(
      {
        type: Type.Enum(['none', 'basic'], { description: 'basic: HTTP Basic authentication.' }),
        username: Type.Optional(
          Type.String({ minLength: 1, maxLength: 255, description: 'Required for basic; without a colon.' }),
        ),
        password: Type.Optional(
          Type.String({
            maxLength: 255,
            writeOnly: true,
            description: 'Required for basic; never answered.',
          }),
        ),
      },
      { additionalProperties: false, description: 'How to be let in.' },
    ),
    status: Type.Optional(Status),
  },
  {
    $id: 'ServiceCredential',
    additionalProperties: false,
    description: 'What webhooks show to a receiver to be let in.',
  },
)
export type ServiceCredential = Static<typeof ServiceCredential>

export const ServiceCredentialStatus = Type.Object(
  { status: Status },
  { $id: 'ServiceCredentialStatus', additionalProperties: false, description: 'What of it can change.' },
)
export type ServiceCredentialStatus = Static<typeof ServiceCredentialStatus>

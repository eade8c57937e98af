import Type, { type Static } from 'typebox'
import { ReadOnly, resourceMembers } from './conventions.ts'

const Status = Type.Enum(['active', 'inactive'], {
  default: 'active',
  description:
    'Status of the credential. An inactive credential is not sent, and webhooks cannot refer to it.',
})

export const ServiceCredential = Type.Object(
  {
    ...resourceMembers,
    hash: ReadOnly(Type.String({ description: 'Hash to which webhooks refer as credentialHash.' })),
    type: ReadOnly(Type.Enum(['webhook'])),
    host: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'Only host that the credential is sent to, without scheme, port or path.',
    }),
    auth: Type.Object(
      {
        type: Type.Enum(['none', 'basic'], { description: 'basic: HTTP Basic authentication.' }),
        username: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 255,
            description: 'User name, without a colon. Required for basic.',
          }),
        ),
        password: Type.Optional(
          Type.String({
            maxLength: 255,
            writeOnly: true,
            description: 'Password. Required for basic, and never returned.',
          }),
        ),
      },
      { additionalProperties: false, description: 'Authentication of the service at the host.' },
    ),
    status: Type.Optional(Status),
  },
  {
    $id: 'ServiceCredential',
    additionalProperties: false,
    description: 'A credential that webhooks send to a receiver.',
  },
)
export type ServiceCredential = Static<typeof ServiceCredential>

export const ServiceCredentialStatus = Type.Object(
  { status: Status },
  {
    $id: 'ServiceCredentialStatus',
    additionalProperties: false,
    description: 'The status of a service credential.',
  },
)
export type ServiceCredentialStatus = Static<typeof ServiceCredentialStatus>

import Type, { type Static } from 'typebox'
import { Instant, OrNull, PartlySupported, ReadOnly, resourceMembers, WriteOnly } from './conventions.ts'
import { variantsBy } from './variants.ts'

export const ServiceCredential = Type.Object(
  {
    ...resourceMembers,
    hash: ReadOnly(Type.String({ description: 'Hash to which webhooks refer as credentialHash.' })),
    type: ReadOnly(Type.Enum(['webhook'])),
    host: Type.String({
      minLength: 1,
      maxLength: 2048,
      description:
        'Only host that the credential is sent to: a host name, or a URL, of which the host name is kept.',
    }),
    auth: Type.Optional(
      Type.Object(
        {
          type: PartlySupported(
            ['none', 'basic'],
            Type.Enum(['none', 'basic', 'digest'], { description: 'basic: HTTP Basic authentication.' }),
          ),
          username: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 255,
              description: 'User name, without a colon. Required for basic.',
            }),
          ),
          password: WriteOnly(
            Type.String({ maxLength: 255, description: 'Password. Required for basic, and never returned.' }),
          ),
        },
        {
          ...variantsBy('type', { none: {}, basic: { has: ['username', 'password'] } }),
          title: 'WebhookAuth',
          additionalProperties: false,
          default: { type: 'none' },
          description: 'Authentication of the service at the host.',
        },
      ),
    ),
    status: Type.Optional(
      Type.Enum(['active', 'inactive', 'deactivated'], {
        default: 'active',
        description:
          'Status of the credential. Only an active one is sent, and can be referred to by webhooks.',
      }),
    ),
    deactivationTime: ReadOnly(OrNull(Instant('When the credential was deactivated.'))),
  },
  {
    $id: 'ServiceCredential',
    additionalProperties: false,
    description: 'A credential that webhooks send to a receiver.',
  },
)
export type ServiceCredential = Static<typeof ServiceCredential>

import Type, { type Static } from 'typebox'
import { PERMISSION_PATTERN } from '../../access/permissions.ts'
import { Id, OrNull, ReadOnly, resourceMembers } from './conventions.ts'

const Rule = Type.Object(
  {
    scope: Type.Optional(
      Type.Object(
        {
          organizationId: Type.Optional(
            Type.Array(Id('An organization the rule holds in.'), { maxItems: 1000 }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    permissions: Type.Array(Type.String({ pattern: PERMISSION_PATTERN, maxLength: 255 }), {
      maxItems: 1000,
      description: 'Operation ids, or * for all. A name that this release does not know grants nothing.',
    }),
  },
  { additionalProperties: false },
)

/** What may be called, by rules of which each grants. */
export const AccessRules = Type.Array(Rule, { maxItems: 100 })

export const ApiKey = Type.Object(
  {
    ...resourceMembers,
    description: Type.String({ minLength: 1, maxLength: 1000, description: 'What it is for.' }),
    type: Type.Optional(
      Type.Enum(['secret', 'publishable'], {
        description: 'secret, the default, or publishable. It never changes.',
      }),
    ),
    acl: Type.Optional(
      OrNull(AccessRules, {
        description:
          'What it may call; null: everything its type may. In PUT, absent leaves it and null removes it.',
      }),
    ),
    allowedIps: Type.Optional(
      OrNull(Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 1000 }), {
        description:
          'Where it may be used from; null: anywhere. In PUT, absent leaves it and null removes it.',
      }),
    ),
    apiUser: ReadOnly(Type.String({ description: 'Its name as a user.' })),
    secretKey: ReadOnly(
      Type.String({ description: 'Its value; masked for a reader who may do less than it.' }),
    ),
  },
  { $id: 'ApiKey', additionalProperties: false, description: 'A credential of the organization.' },
)
export type ApiKey = Static<typeof ApiKey>

import Type, { type Static } from 'typebox'
import { MOST_NAMES, PERMISSION_PATTERN } from '../../access/access-lists.ts'
import { Id, OmittedWhenUnknown, OrNull, ReadOnly, resourceMembers } from './conventions.ts'
import { notSupportedYet } from './not-supported.ts'

const Rule = Type.Object(
  {
    scope: OmittedWhenUnknown(
      Type.Object(
        {
          organizationId: OmittedWhenUnknown(
            Type.Array(Id('Id of an organization in which the rule grants its permissions.'), {
              maxItems: 1000,
            }),
          ),
          ...notSupportedYet({ productId: [], planId: [], customFieldName: [] }),
        },
        { additionalProperties: false, description: 'Where the rule grants its permissions.' },
      ),
    ),
    permissions: Type.Array(Type.String({ pattern: PERMISSION_PATTERN, maxLength: 255 }), {
      maxItems: 1000,
      description: 'Operation ids, or * for all operations. Unknown names grant nothing.',
    }),
  },
  { title: 'AccessRule', additionalProperties: false, description: 'Operations that may be called.' },
)

/** A call needs one rule that grants it. */
export const AccessRules = Type.Array(Rule, {
  maxItems: 100,
  description: `Access list: at most ${MOST_NAMES} permissions, and ids of organizations, in all rules.`,
})

export const ApiKey = Type.Object(
  {
    ...resourceMembers,
    description: Type.String({ minLength: 1, maxLength: 1000, description: 'What the key is used for.' }),
    type: Type.Optional(
      Type.Enum(['secret', 'publishable'], {
        description: 'Type of the key. It cannot be changed.',
      }),
    ),
    acl: Type.Optional(
      OrNull(AccessRules, {
        description: `Access list of the key: at most ${MOST_NAMES} permissions, and ids of organizations, in all rules. If null, the key may call every operation that its type permits. A rule permits operations, with all that their responses contain: also records that \`expand\` embeds. A PUT without this member leaves the list unchanged; null removes it.`,
      }),
    ),
    allowedIps: Type.Optional(
      OrNull(Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 1000 }), {
        description:
          'IP addresses from which the key may be used. If null, every address is allowed. A PUT without this member leaves the list unchanged; null removes it.',
      }),
    ),
    apiUser: ReadOnly(Type.String({ description: 'User name of the key.' })),
    secretKey: ReadOnly(
      Type.String({
        description: 'Value of the key. It is masked for credentials with fewer permissions than the key.',
      }),
    ),
  },
  { $id: 'ApiKey', additionalProperties: false, description: 'A credential of the organization.' },
)
export type ApiKey = Static<typeof ApiKey>

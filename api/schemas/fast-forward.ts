import Type, { type Static } from 'typebox'
import { Id, Instant, OrNull, ReadOnly, resourceMembers } from './conventions.ts'

export const FastForward = Type.Object(
  {
    ...resourceMembers,
    subscriptionId: ReadOnly(Id('Order whose clock is moved.')),
    to: Instant(
      "New time of the order's clock: after its current time and at most five years ahead of real time.",
    ),
    status: ReadOnly(Type.Enum(['running', 'completed', 'failed'])),
    detail: ReadOnly(
      OrNull(Type.String({ description: 'Why the fast-forward failed and how to continue.' })),
    ),
  },
  {
    $id: 'FastForward',
    additionalProperties: false,
    description: "A fast-forward of one order's clock (sandbox only).",
  },
)
export type FastForward = Static<typeof FastForward>

import Type, { type Static } from 'typebox'
import { Id, Instant, OrNull, ReadOnly, resourceMembers } from './conventions.ts'

export const FastForward = Type.Object(
  {
    ...resourceMembers,
    subscriptionId: ReadOnly(Id('The order.')),
    to: Instant('Where its clock is moved to: ahead of it, and at most five years ahead of real time.'),
    status: ReadOnly(Type.Enum(['running', 'completed', 'failed'])),
    detail: ReadOnly(OrNull(Type.String({ description: 'Why it failed, and what helps.' }))),
  },
  {
    $id: 'FastForward',
    additionalProperties: false,
    description: "A move of one order's clock, in the sandbox.",
  },
)
export type FastForward = Static<typeof FastForward>

import Type, { type Static } from 'typebox'
import { Instant, ReadOnly, resourceMembers } from './conventions.ts'
import { NotSupportedYet } from './not-supported.ts'

const Link = Type.Object(
  {
    resourceType: Type.String({ description: 'Kind of the record: subscription, invoice or transaction.' }),
    resourceId: Type.String({ description: 'Id of the record.' }),
  },
  { description: 'A record that the entry concerns.' },
)

const members = {
  ...resourceMembers,
  triggeredBy: ReadOnly(
    Type.Enum(['rebilly-side', 'direct-api'], {
      description: 'What triggered the entry: the service itself, or a request.',
    }),
  ),
  cause: ReadOnly(
    Type.Enum(['api', 'timer', 'payment', 'deadline'], { description: 'Cause of the entry in detail.' }),
  ),
  message: Type.String({ minLength: 1, maxLength: 1000, description: 'Text of the entry.' }),
  extraData: ReadOnly(
    Type.Object(
      {
        actions: Type.Array(Type.Unknown(), { description: 'Always empty.' }),
        tables: Type.Array(Type.Unknown(), { description: 'Always empty.' }),
        mentions: Type.Object({}, { description: 'Always empty.' }),
        links: Type.Array(Link, { description: 'Records that the entry concerns.' }),
      },
      { description: 'What the entry refers to.' },
    ),
  ),
  occurredTime: ReadOnly(Instant("When it occurred, on the record's clock.")),
}

export const TimelineEntry = Type.Object(
  {
    ...members,
    type: ReadOnly(
      Type.String({ description: 'Type of the entry; timeline-comment-created for a comment.' }),
    ),
  },
  {
    $id: 'TimelineEntry',
    additionalProperties: false,
    description:
      'An entry in the timeline of an order, an invoice, a transaction, a credit memo or a gateway account. A request can create comments.',
  },
)

const customerMembers = {
  ...members,
  customEventType: NotSupportedYet(
    Type.Unsafe<null>({ type: ['string', 'null'], description: 'Type of a custom event.' }),
    null,
  ),
  customData: NotSupportedYet(
    Type.Object({}, { additionalProperties: true, description: 'Data of a custom event.' }),
    {},
  ),
}

export const CustomerTimelineEntry = Type.Object(
  {
    ...customerMembers,
    type: ReadOnly(
      Type.String({ description: 'Type of the entry; customer-comment-created for a comment.' }),
    ),
  },
  {
    $id: 'CustomerTimelineEntry',
    additionalProperties: false,
    description: 'An entry in the timeline of a customer. A request can create comments.',
  },
)

/** Another type would be more than a comment, a custom event for example. */
export const CustomerTimelineComment = Type.Object(
  {
    ...customerMembers,
    type: Type.Optional(
      Type.Enum(['customer-comment-created'], { description: 'Only comments can be created.' }),
    ),
  },
  { $id: 'CustomerTimelineComment', additionalProperties: false, description: 'A comment about a customer.' },
)

export type TimelineComment = Static<typeof TimelineEntry>

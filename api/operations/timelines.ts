import type { TSchema } from 'typebox'
import { ConflictError } from '../../billing/errors.ts'
import { TimelineEntry as TimelineRow } from '../../db/entities/index.ts'
import { timelineSearch } from '../../db/entities/timeline-entry.ts'
import { lockRow } from '../../db/lock-row.ts'
import { newId } from '../../db/new-id.ts'
import { statement } from '../../db/statement.ts'
import { resourceUrl } from '../../representations/links.ts'
import { presentTimelineEntry } from '../../representations/timeline.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf } from '../query/fields.ts'
import { respondCreated } from '../resources/created.ts'
import { list } from '../resources/list.ts'
import { readOne } from '../resources/read.ts'
import { notFound, type Resource } from '../resources/resource.ts'
import {
  CustomerTimelineComment,
  CustomerTimelineEntry,
  type TimelineComment,
  TimelineEntry,
} from '../schemas/timeline.ts'

export interface Timeline {
  /** The path is that of the record's timeline. */
  readonly resource: Resource<TimelineRow>
  readonly label: string
  readonly comment: TSchema
  readonly commentType: string
  /** Names the record in an entry. */
  readonly member:
    | 'customerId'
    | 'subscriptionId'
    | 'invoiceId'
    | 'transactionId'
    | 'creditMemoId'
    | 'gatewayAccountId'
  readonly column: string
  /** Finds the record by organization and id, with how far its clock is ahead, in milliseconds. */
  readonly record: string
}

const clockOfOrder = `coalesce((select clock_offset from subscriptions subscription
  where subscription.organization_id = record.organization_id and subscription.id = record.subscription_id), 0)`

export const customerTimeline = timeline('Customer', 'customer', {
  schema: CustomerTimelineEntry,
  comment: CustomerTimelineComment,
  commentType: 'customer-comment-created',
  member: 'customerId',
  record: 'select 0 as clock from customers record where organization_id = ? and id = ?',
})
export const subscriptionTimeline = timeline('Subscription', 'subscription', {
  member: 'subscriptionId',
  record: 'select clock_offset as clock from subscriptions record where organization_id = ? and id = ?',
})
export const invoiceTimeline = timeline('Invoice', 'invoice', {
  member: 'invoiceId',
  record: `select ${clockOfOrder} as clock from invoices record where organization_id = ? and id = ?`,
})
export const transactionTimeline = timeline('Transaction', 'transaction', {
  member: 'transactionId',
  record: `select ${clockOfOrder} as clock from transactions record where organization_id = ? and id = ?`,
})

export const creditMemoTimeline = timeline('CreditMemo', 'credit memo', {
  member: 'creditMemoId',
  record: 'select 0 as clock from credit_memos record where organization_id = ? and id = ?',
})

export const gatewayAccountTimeline = timeline('GatewayAccount', 'gateway account', {
  member: 'gatewayAccountId',
  record: 'select 0 as clock from gateway_accounts record where organization_id = ? and id = ?',
})

export async function listTimeline(
  context: OperationContext,
  timeline: Timeline,
): Promise<OperationResponse> {
  await clockOf(context, timeline, context.em)
  const query = { sort: '-occurredTime,-id', ...context.query }
  return await list({ ...context, query }, at(context, timeline), within(context, timeline))
}

/** The comment is at the present of the record's clock. */
export async function postComment(context: OperationContext, timeline: Timeline): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const clock = await clockOf(context, timeline, unit.em, isDeletable(timeline))
    const { message } = context.body<TimelineComment>()
    const row = unit.insert(TimelineRow, {
      id: newId('tl'),
      [timeline.member]: recordId(context),
      type: timeline.commentType,
      occurredTime: new Date(unit.now.getTime() + clock),
      cause: 'api',
      message,
    })
    return await respondCreated(unit, context, at(context, timeline), row)
  })
}

export async function getEntry(context: OperationContext, timeline: Timeline): Promise<OperationResponse> {
  const id = context.params.messageId ?? ''
  return await readOne(context, at(context, timeline), { id, within: within(context, timeline) })
}

export async function deleteComment(
  context: OperationContext,
  timeline: Timeline,
): Promise<OperationResponse> {
  const id = context.params.messageId ?? ''
  return await context.commit(async (unit) => {
    const row = await lockRow(unit, TimelineRow, id)
    if (row === null || row[timeline.member] !== recordId(context)) throw notFound(timeline.resource, id)
    requirePreconditions(context.preconditions, row.revision)
    if (row.type !== timeline.commentType)
      throw new ConflictError('Only comments can be deleted: the service has written this entry.')
    unit.em.remove(row)
    return {}
  })
}

function timeline(
  name: string,
  label: string,
  {
    schema = TimelineEntry,
    comment = schema,
    commentType = 'timeline-comment-created',
    member,
    record,
  }: Pick<Timeline, 'member' | 'record'> &
    Partial<Pick<Timeline, 'comment' | 'commentType'>> & { schema?: TSchema },
): Timeline {
  return {
    resource: {
      name: `${name}Timeline`,
      label: 'timeline entry',
      path: `${collectionOf(label)}/{id}/timeline`,
      schema,
      entity: TimelineRow,
      table: 'timeline_entries',
      search: timelineSearch,
      fields: fieldsOf(schema, {
        triggeredBy: {
          sql: "(case when row.cause = 'api' then 'direct-api' else 'rebilly-side' end)",
          type: 'text',
          folded: 'lower',
          always: true,
        },
      }),
      present: (row, context) => presentTimelineEntry(row, urlOf(context, collectionOf(label))),
    },
    label,
    comment,
    commentType,
    member,
    column: `${label.replaceAll(' ', '_')}_id`,
    record,
  }
}

function collectionOf(label: string): string {
  return `${label.replaceAll(' ', '-')}s`
}

function urlOf(context: OperationContext, collection: string): string {
  return resourceUrl(context.baseUrl, context.organizationId, collection, recordId(context), 'timeline')
}

function recordId({ params }: OperationContext): string {
  return params.id ?? ''
}

function at(context: OperationContext, { resource, label }: Timeline): Resource<TimelineRow> {
  return { ...resource, path: `${collectionOf(label)}/${recordId(context)}/timeline` }
}

function within(context: OperationContext, { column }: Timeline) {
  return { text: `row.${column} = ?`, values: [recordId(context)] }
}

/** True if the records can be deleted, so that a comment has to hold its own. */
function isDeletable({ member }: Timeline): boolean {
  return member === 'customerId' || member === 'gatewayAccountId'
}

/** Returns how far the record's clock is ahead, in milliseconds. `isHeld` locks the record. Throws `not-found`. */
async function clockOf(
  context: OperationContext,
  { label, record }: Timeline,
  em: OperationContext['em'],
  isHeld = false,
): Promise<number> {
  const id = recordId(context)
  const values = [context.organizationId, id]
  const [found] = await (isHeld
    ? statement<{ clock: string | number }>(
        em,
        `hold-commented-${label.replaceAll(' ', '-')}`,
        `${record} for key share`,
        values,
      )
    : statement<{ clock: string | number }>(
        em,
        `find-commented-${label.replaceAll(' ', '-')}`,
        record,
        values,
      ))
  if (found === undefined) throw notFound({ label }, id)
  return Number(found.clock)
}

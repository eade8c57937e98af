import type { EntityManager } from '@mikro-orm/postgresql'
import type { EventType } from '../billing/event-types.ts'
import type { Cause } from '../billing/order.ts'
import type { WorkflowName } from '../workflows/contract.ts'
import { lockArguments } from './advisory-locks.ts'
import { DELIVERY_CHANNEL, WAKE_UP_CHANNEL } from './channels.ts'
import { type EventContent, eventPayload } from './event-payload.ts'
import { NEW_POSITION } from './event-positions.ts'
import { type Insertion, insertion, type NewRow } from './insert-row.ts'
import { newId } from './new-id.ts'
import { lastStatement, statement } from './statement.ts'
import { RECEIVES } from './webhooks-of-event.ts'

export interface NewEvent extends EventContent {
  readonly type: EventType
  /** null: only webhooks of all websites receive it. */
  readonly websiteId: string | null
  readonly exceptWebhookId?: string
}

export interface NewTimelineEntry {
  /** In whose timelines it is. */
  readonly records: {
    readonly customerId?: string | null
    readonly subscriptionId?: string | null
    readonly invoiceId?: string | null
    readonly transactionId?: string | null
    readonly creditMemoId?: string | null
    readonly gatewayAccountId?: string | null
  }
  readonly type: string
  /** The clock of the record. */
  readonly occurredTime: Date
  readonly cause: Cause
  readonly message: string
}

export interface Deadline {
  /** Real time; null: unknown, the record only changed. */
  readonly dueBy: Date | null
  readonly gatewayCall?: boolean
}

/** Search attributes of a new record's execution, for operators. */
export interface Attributes {
  readonly status: string
  readonly customerId?: string | null
  readonly webhookId?: string | null
}

export interface WakeUp extends Deadline {
  readonly workflow: WorkflowName
  readonly recordId: string
  readonly starts: boolean
  readonly attributes: Attributes | null
}

/** Milliseconds: a wake-up without a deadline is relayed as if it were due then, after nearer deadlines. */
const WITHOUT_DEADLINE = 600_000
/** Milliseconds: the execution of a new record that sleeps longer needs no notification. */
const LEAD = 60_000

export interface Consequences {
  /** New records, besides those that the ORM writes. */
  readonly rows: readonly NewRow[]
  readonly events: readonly NewEvent[]
  readonly timeline: readonly NewTimelineEntry[]
  readonly wakeUps: readonly WakeUp[]
}

interface Tenant {
  readonly organizationId: string
  readonly now: Date
}

/**
 * Writes new records and all consequences of a change in one statement, and commits with it if `commits`. It notifies the
 * listeners unless another transaction is about to, because PostgreSQL commits transactions with a NOTIFY one
 * at a time. Returns the channels to nudge after the commit.
 */
export async function writeConsequences(
  em: EntityManager,
  tenant: Tenant,
  { rows, events, timeline, wakeUps }: Consequences,
  commits: boolean,
): Promise<string[]> {
  const parts = [
    ...rows.map((row, ordinal) => recordPart(insertion(em, row), ordinal)),
    ...(events.length === 0 ? [] : [eventPart(events, tenant)]),
    ...(timeline.length === 0 ? [] : [timelinePart(timeline, tenant)]),
    ...(wakeUps.length === 0 ? [] : [wakeUpPart(wakeUps, tenant)]),
  ]
  if (parts.length === 0) return []
  const run = commits ? lastStatement : statement
  const work = await run<{ channel: string; notified: boolean }>(
    em,
    `write-${parts.map(({ name }) => name).join('-')}`,
    textOf(parts),
    [...parts.flatMap(({ values }) => values), ...parts.flatMap(({ work }) => work?.values ?? [])],
  )
  return work.filter(({ notified }) => !notified).map(({ channel }) => channel)
}

/** What a change has none of is left out, since PostgreSQL prepares every part at each execution. */
interface Part {
  /** Short, because PostgreSQL takes 63 characters of a statement's name. */
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
  /** The channel to notify, if the condition holds; null: none. */
  readonly work: {
    readonly channel: string
    readonly condition: string
    readonly values: readonly unknown[]
  } | null
}

function textOf(parts: readonly Part[]): string {
  const work = parts.flatMap((part) =>
    part.work === null ? [] : [`('${part.work.channel}', ${part.work.condition})`],
  )
  const notifications =
    work.length === 0
      ? `select '' as channel, true as notified where false`
      : `select channel,
            case when pg_try_advisory_xact_lock(${lockArguments('notification')}) then pg_notify(channel, '') is not null else false end as notified
       from (values ${work.join(', ')}) as work (channel, is_left) where is_left`
  return `with ${parts.map(({ text }) => text).join(', ')} ${notifications}`
}

function recordPart({ table, text, values }: Insertion, ordinal: number): Part {
  return { name: table, text: `record_${ordinal} as (${text})`, values, work: null }
}

function eventPart(events: readonly NewEvent[], { organizationId, now }: Tenant): Part {
  const rows = events.map((event, ordinal) => {
    const id = newId('evt')
    return {
      ordinal,
      id,
      type: event.type,
      website_id: event.websiteId,
      entity_id: Object.values(event.ids).find((value) => value !== null) ?? id,
      event_time: event.time.toISOString(),
      except_webhook_id: event.exceptWebhookId ?? null,
      payload: eventPayload(id, event),
    }
  })
  return {
    name: 'e',
    text: `given as (
       select * from jsonb_to_recordset(?::jsonb) as given
         (ordinal int, id text, type text, website_id text, entity_id text, event_time timestamptz, payload text,
          except_webhook_id text)
     ), new_events as (
       insert into events
         (organization_id, id, type, website_id, entity_id, event_time, payload, created_time, position)
       select ?, id, type, website_id, entity_id, event_time, payload, ?,
              ${NEW_POSITION} + ordinal
         from given order by ordinal
     ), new_deliveries as (
       -- A ULID made here: the event's time, then hexadecimal digits, which are digits of its alphabet too.
       insert into deliveries (organization_id, id, event_id, webhook_id, status, created_time)
       select webhook.organization_id,
              'dlv_' || substr(given.id, 5, 10) || upper(right(replace(gen_random_uuid()::text, '-', ''), 16)),
              given.id, webhook.id, 'waiting', ?
         from given
         join webhooks webhook on webhook.organization_id = ? and ${RECEIVES}
        order by given.ordinal
       returning 1
     )`,
    values: [JSON.stringify(rows), organizationId, now, now, organizationId],
    work: { channel: DELIVERY_CHANNEL, condition: 'exists (select from new_deliveries)', values: [] },
  }
}

function timelinePart(timeline: readonly NewTimelineEntry[], { organizationId, now }: Tenant): Part {
  const rows = timeline.map(({ records, ...entry }) => ({
    id: newId('tl'),
    customer_id: records.customerId,
    subscription_id: records.subscriptionId,
    invoice_id: records.invoiceId,
    transaction_id: records.transactionId,
    credit_memo_id: records.creditMemoId,
    gateway_account_id: records.gatewayAccountId,
    type: entry.type,
    occurred_time: entry.occurredTime.toISOString(),
    cause: entry.cause,
    message: entry.message,
  }))
  return {
    name: 't',
    text: `new_timeline as (
       insert into timeline_entries
         (organization_id, id, customer_id, subscription_id, invoice_id, transaction_id, credit_memo_id, gateway_account_id,
          type, occurred_time, cause, message, revision, created_time, updated_time)
       select ?, id, customer_id, subscription_id, invoice_id, transaction_id, credit_memo_id, gateway_account_id, type,
              occurred_time, cause, message, 1, ?, ?
         from jsonb_to_recordset(?::jsonb) as given
           (id text, customer_id text, subscription_id text, invoice_id text, transaction_id text, credit_memo_id text,
            gateway_account_id text, type text, occurred_time timestamptz, cause text, message text)
     )`,
    values: [organizationId, now, now, JSON.stringify(rows)],
    work: null,
  }
}

function wakeUpPart(wakeUps: readonly WakeUp[], { organizationId, now }: Tenant): Part {
  return {
    name: 'w',
    text: `woken as (
       insert into wake_ups (workflow, organization_id, record_id, starts, gateway_call, due_by, attributes)
       select workflow, ?, record_id, starts, gateway_call, due_by, attributes
         from jsonb_to_recordset(?::jsonb) as given
           (workflow text, record_id text, starts boolean, gateway_call boolean, due_by timestamptz, attributes jsonb)
     )`,
    values: [organizationId, JSON.stringify(wakeUps.map((wakeUp) => wakeUpRow(wakeUp, now)))],
    work: {
      channel: WAKE_UP_CHANNEL,
      condition: '?::boolean',
      values: [wakeUps.some((wakeUp) => !isForLater(wakeUp, now))],
    },
  }
}

/** True if the relay's next poll, within a second, is early enough. */
function isForLater({ starts, dueBy }: WakeUp, now: Date): boolean {
  return starts && dueBy !== null && dueBy.getTime() - now.getTime() > LEAD
}

function wakeUpRow({ workflow, recordId, starts, gatewayCall, dueBy, attributes }: WakeUp, now: Date) {
  return {
    workflow,
    record_id: recordId,
    starts,
    gateway_call: gatewayCall ?? false,
    due_by: dueBy ?? new Date(now.getTime() + WITHOUT_DEADLINE),
    attributes,
  }
}

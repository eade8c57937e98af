/**
 * Deliveries whose first attempt is due: taken under a lease, given back as recorded outcomes.
 *
 * A lease says who answers for a delivery; when its holder dies it runs out and another takes over. Taking one does not
 * wait for the disk: what a database that crashes forgets of leases, their holder still has in hand. Outcomes of many
 * attempts are written by one statement. A failed first attempt, the time of the second and the wake-up of the
 * webhook-delivery workflow are one commit: from there the workflow owns the schedule. Nobody is nudged for it: the relay
 * looks every second, and a retry is half an hour away.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { DeliveryStatus } from '../db/entities/delivery.ts'
import { newId } from '../db/ids.ts'
import { statement } from '../db/statement.ts'
import type { Attempt, DueDelivery } from './attempt.ts'

/** How long a dispatcher answers for what it took: longer than an attempt can last, so that none is made twice in life. */
const LEASE_SECONDS = 45

export interface WebhookAllowance {
  readonly organizationId: string
  readonly webhookId: string
  /** How many more deliveries of this webhook may be taken now. */
  readonly allowance: number
}

export interface TakeOptions {
  /** How many to take at most. */
  readonly limit: number
  /** How many per webhook at most. */
  readonly perWebhook: number
  /** Webhooks that get less than the others now. */
  readonly restricted: readonly WebhookAllowance[]
}

/**
 * Takes due first attempts, fairly over the webhooks that have any, each webhook's in event order.
 *
 * Their rows are found by place and their events one by one: of how many there are the planner has no idea, and it would
 * read whole tables.
 */
export async function takeDueDeliveries(em: EntityManager, options: TakeOptions): Promise<DueDelivery[]> {
  const rows = await statement<DueDeliveryRow>(
    em,
    'take-first-attempts',
    `with recursive subscriber as (
       (select organization_id, webhook_id from deliveries where status = 'waiting'
         order by organization_id, webhook_id limit 1)
       union all
       select following.* from subscriber, lateral (
         select organization_id, webhook_id from deliveries
          where status = 'waiting' and (organization_id, webhook_id) > (subscriber.organization_id, subscriber.webhook_id)
          order by organization_id, webhook_id limit 1) following
     ), restricted as (
       select * from jsonb_to_recordset(?::jsonb) as given ("organizationId" text, "webhookId" text, allowance int)
     ), due as (
       select candidate.place
         from subscriber
         left join restricted on restricted."organizationId" = subscriber.organization_id
                             and restricted."webhookId" = subscriber.webhook_id,
         lateral (
           select place, row_number() over (order by position) as turn from (
             select ctid as place, position from deliveries
              where status = 'waiting' and organization_id = subscriber.organization_id
                and webhook_id = subscriber.webhook_id and (lease_until is null or lease_until < now())
              order by position
              limit coalesce(restricted.allowance, ?)
                for update skip locked) free) candidate
        order by candidate.turn
        limit ?
     ), taken as (
       update deliveries delivery set lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
        where delivery.ctid = any (array(select place from due))
       returning delivery.*
     )
     ${DUE_DELIVERY_COLUMNS}, set_config('synchronous_commit', 'off', true)
       from taken delivery ${DUE_DELIVERY_JOINS} order by delivery.position`,
    [JSON.stringify(options.restricted), options.perWebhook, options.limit],
  )
  // Written by a transaction that began before the webhook was made inactive or deleted, and ended after.
  const orphans = rows.filter(({ webhook_status }) => webhook_status !== 'active')
  if (orphans.length > 0) await cancel(em, orphans)
  return rows.filter(({ webhook_status }) => webhook_status === 'active').map(dueDelivery)
}

/** Gives back what was taken and not attempted: another dispatcher may take it at once. */
export async function releaseDeliveries(
  em: EntityManager,
  deliveries: readonly DueDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return
  await statement(
    em,
    'release-deliveries',
    `update deliveries delivery set lease_until = null
       from jsonb_to_recordset(?::jsonb) as given ("organizationId" text, id text)
      where delivery.organization_id = given."organizationId" and delivery.id = given.id and delivery.status = 'waiting'`,
    [JSON.stringify(deliveries.map(({ organizationId, id }) => ({ organizationId, id })))],
  )
}

/** Ends deliveries that have nowhere to go. */
async function cancel(
  em: EntityManager,
  deliveries: readonly { readonly organization_id: string; readonly id: string }[],
): Promise<void> {
  await statement(
    em,
    'cancel-taken-deliveries',
    `update deliveries delivery set status = 'canceled', next_attempt_time = null, lease_until = null, ended_time = now()
       from jsonb_to_recordset(?::jsonb) as given (organization_id text, id text)
      where delivery.organization_id = given.organization_id and delivery.id = given.id
        and delivery.status in ('waiting', 'retrying')`,
    [JSON.stringify(deliveries.map(({ organization_id, id }) => ({ organization_id, id })))],
  )
}

/** Takes attempts that were asked for besides the schedule. */
export async function takeResends(em: EntityManager, limit: number): Promise<DueDelivery[]> {
  const rows = await statement<DueDeliveryRow>(
    em,
    'take-resends',
    `with due as (
       select ctid as place from deliveries
        where resend_due and (lease_until is null or lease_until < now())
        order by position limit ? for update skip locked
     ), taken as (
       update deliveries delivery
          set lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
              -- Made inactive or deleted since it was asked for: there is nowhere to send it.
              resend_due = exists (select from webhooks where webhooks.organization_id = delivery.organization_id
                                    and webhooks.id = delivery.webhook_id and webhooks.status = 'active')
        where delivery.ctid = any (array(select place from due))
       returning delivery.*
     )
     ${DUE_DELIVERY_COLUMNS} from taken delivery ${DUE_DELIVERY_JOINS} order by delivery.position`,
    [limit],
  )
  return rows
    .filter(({ webhook_status }) => webhook_status === 'active')
    .map((row) => ({ ...dueDelivery(row), resend: true }))
}

/**
 * The retry as an attempt needs it, read now, and when it is due; null when none is. One whose webhook is inactive or
 * gone ends here.
 */
export async function readRetry(
  em: EntityManager,
  organizationId: string,
  id: string,
): Promise<(DueDelivery & { readonly nextAttemptTime: number }) | null> {
  const [row] = await statement<DueDeliveryRow & { status: string; next_attempt_time: Date | null }>(
    em,
    'read-retry',
    `${DUE_DELIVERY_COLUMNS}, delivery.status, delivery.next_attempt_time
       from deliveries delivery ${DUE_DELIVERY_JOINS} where delivery.organization_id = ? and delivery.id = ?`,
    [organizationId, id],
  )
  if (row === undefined || row.status !== 'retrying' || row.next_attempt_time === null) return null
  if (row.webhook_status !== 'active') {
    await cancel(em, [row])
    return null
  }
  return { ...dueDelivery(row), nextAttemptTime: new Date(row.next_attempt_time).getTime() }
}

/** An attempt that was made, and when the one after it is due: null where there is none. */
export interface Outcome {
  readonly attempt: Attempt
  readonly next: number | null
}

/**
 * Records outcomes in one statement: attempts into the log, deliveries into their next state, and a wake-up for each
 * whose first attempt failed. An outcome whose attempt was recorded already changes nothing. What failed for a webhook
 * that is no longer active ends as canceled.
 *
 * The rows of webhooks that have failures are locked before deliveries are touched: deactivating one holds its row too,
 * and so either finds the delivery as it is left here, or is found here.
 *
 * @returns the deliveries that moved, with their new states.
 */
export async function recordOutcomes(
  em: EntityManager,
  outcomes: readonly Outcome[],
): Promise<MovedDelivery[]> {
  const rows = outcomes.map(({ attempt, next }, turn) => ({
    ...attemptRow(attempt),
    turn,
    resend: attempt.delivery.resend,
    next_status: attempt.answer.failure === null ? 'delivered' : next === null ? 'exhausted' : 'retrying',
    next_attempt_time: next === null ? null : new Date(next).toISOString(),
  }))
  return await statement<MovedDelivery>(
    em,
    'record-outcomes',
    `with given as (
       select * from jsonb_to_recordset(?::jsonb) as given
         (${ATTEMPT_COLUMN_TYPES}, next_status text, next_attempt_time timestamptz, turn int, resend boolean)
     ), failing as materialized (
       select organization_id, id, status from webhooks webhook
        where exists (select from given where given.organization_id = webhook.organization_id
                       and given.webhook_id = webhook.id
                       and (given.failure is not null or webhook.consecutive_failures > 0))
        order by organization_id, id for update
     ), moved as (
       update deliveries delivery
          set status = case when given.failure is null then 'delivered'
                            when given.resend then delivery.status
                            when delivery.status = 'canceled' or failing.status is distinct from 'active' then 'canceled'
                            else given.next_status end,
              next_attempt_time = case when given.failure is null then null
                                       when given.resend then delivery.next_attempt_time
                                       when delivery.status <> 'canceled' and failing.status = 'active'
                                       then given.next_attempt_time end,
              ended_time = case when given.resend and given.failure is not null then delivery.ended_time
                                when given.next_status = 'retrying' and failing.status = 'active' then null
                                else now() end,
              attempts = delivery.attempts + case when given.resend then 0 else 1 end,
              resends = delivery.resends + case when given.resend then 1 else 0 end,
              resend_due = delivery.resend_due and not given.resend, lease_until = null
         from given left join failing on failing.organization_id = given.organization_id
                                     and failing.id = given.webhook_id
        where delivery.organization_id = given.organization_id and delivery.id = given.delivery_id
          and (given.resend or delivery.status in ('waiting', 'retrying', 'canceled'))
          and delivery.attempts + delivery.resends = given.attempt - 1
          and (select count(*) from failing) >= 0 -- reads the locks to their end before the first row changes
       returning delivery.organization_id, delivery.id, delivery.status, delivery.attempts, given.webhook_id,
                 given.turn, given.failure, given.initiated_time, given.resend
     ), tally as (
       select organization_id, webhook_id, max(turn) filter (where failure is null) as last_success
         from moved group by organization_id, webhook_id
     ), counted as (
       select organization_id, webhook_id, tally.last_success is not null as succeeded, count(moved.id)::int as failures,
              min(moved.initiated_time) as first_failure
         from tally left join moved using (organization_id, webhook_id)
        where moved.failure is not null and moved.turn > coalesce(tally.last_success, -1)
        group by organization_id, webhook_id, tally.last_success
        union all
       select organization_id, webhook_id, true, 0, null from tally
        where not exists (select from moved where moved.organization_id = tally.organization_id
                           and moved.webhook_id = tally.webhook_id and moved.failure is not null
                           and moved.turn > coalesce(tally.last_success, -1))
     ), remembered as (
       update webhooks webhook
          set consecutive_failures = counted.failures
                + case when counted.succeeded then 0 else webhook.consecutive_failures end,
              first_failure_time = case when counted.succeeded then counted.first_failure
                                        else coalesce(webhook.first_failure_time, counted.first_failure) end,
              revision = webhook.revision + 1, updated_time = now()
         from counted
        where webhook.organization_id = counted.organization_id and webhook.id = counted.webhook_id
          and (counted.failures > 0 or webhook.consecutive_failures > 0)
     ), logged as (
       insert into delivery_attempts (${ATTEMPT_COLUMNS})
       select ${ATTEMPT_COLUMNS.split(', ')
         .map((column) => `given.${column}`)
         .join(', ')}
         from given join moved on moved.organization_id = given.organization_id and moved.id = given.delivery_id
     ), woken as (
       insert into wake_ups (workflow, organization_id, record_id, starts, can_wait, due_time)
       select 'webhook-delivery', organization_id, id, status = 'retrying', status = 'retrying', now() from moved
        where case when resend then status = 'delivered' else status = 'retrying' and attempts = 1 end
     )
     select organization_id as "organizationId", id, status from moved`,
    [JSON.stringify(rows)],
  )
}

export interface MovedDelivery {
  readonly organizationId: string
  readonly id: string
  readonly status: DeliveryStatus
}

/** One attempt as a row of the log. */
function attemptRow({
  delivery,
  number,
  initiatedTime,
  sentTime,
  duration,
  requestHeaders,
  answer,
}: Attempt) {
  return {
    organization_id: delivery.organizationId,
    id: newId('att'),
    delivery_id: delivery.id,
    webhook_id: delivery.webhookId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    entity_id: delivery.entityId,
    attempt: number,
    initiated_time: initiatedTime.toISOString(),
    sent_time: sentTime?.toISOString() ?? null,
    duration,
    url: delivery.url,
    method: delivery.method,
    request_headers: requestHeaders,
    status: answer.status,
    response_headers: answer.headers,
    response: answer.body === null ? null : storable(answer.body),
    failure: answer.failure,
  }
}

const ATTEMPT_COLUMNS =
  'organization_id, id, delivery_id, webhook_id, event_id, event_type, entity_id, attempt, initiated_time, sent_time, duration, url, method, request_headers, status, response_headers, response, failure'
const ATTEMPT_COLUMN_TYPES =
  'organization_id text, id text, delivery_id text, webhook_id text, event_id text, event_type text, entity_id text, attempt int, initiated_time timestamptz, sent_time timestamptz, duration int, url text, method text, request_headers jsonb, status int, response_headers jsonb, response text, failure text'

interface DueDeliveryRow {
  organization_id: string
  id: string
  webhook_id: string
  event_id: string
  event_type: string
  payload: string
  url: string
  method: DueDelivery['method']
  headers: DueDelivery['headers']
  auth_cipher: string | null
  webhook_status: string | null
  entity_id: string
  attempts: number
  resends: number
}

const DUE_DELIVERY_COLUMNS = `select delivery.organization_id, delivery.id, delivery.webhook_id, delivery.event_id,
  delivery.attempts, delivery.resends, event.type as event_type, event.entity_id, event.payload,
  webhook.url, webhook.method, webhook.headers, webhook.status as webhook_status, credential.auth_cipher`
const DUE_DELIVERY_JOINS = `cross join lateral (select type, entity_id, payload from events
    where events.organization_id = delivery.organization_id and events.id = delivery.event_id limit 1) event
  left join webhooks webhook on webhook.organization_id = delivery.organization_id and webhook.id = delivery.webhook_id
  left join service_credentials credential on credential.organization_id = webhook.organization_id
        and credential.id = webhook.credential_hash and credential.status = 'active'`

function dueDelivery(row: DueDeliveryRow): DueDelivery {
  return {
    organizationId: row.organization_id,
    id: row.id,
    webhookId: row.webhook_id,
    eventId: row.event_id,
    eventType: row.event_type,
    payload: row.payload,
    url: row.url,
    method: row.method,
    headers: row.headers,
    authCipher: row.auth_cipher,
    entityId: row.entity_id,
    attempts: row.attempts + row.resends,
    scheduled: row.attempts,
    resend: false,
  }
}

/** PostgreSQL keeps no NUL character, and a receiver may answer with anything. */
function storable(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD')
}

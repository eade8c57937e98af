/**
 * First attempts and resends, taken under a lease without waiting for the disk: if a crash of the database loses a
 * lease, its owner still records the outcome, unless another process has taken the delivery. A failed first attempt
 * and the wake-up of its workflow are one commit; no nudge, because a retry is half an hour away.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { DeliveryStatus } from '../db/entities/delivery.ts'
import { newId } from '../db/new-id.ts'
import { statement } from '../db/statement.ts'
import type { Attempt, DueDelivery } from './attempt.ts'

/** Longer than an attempt with its look-up can last, so that none is made twice while its owner lives. */
const LEASE_SECONDS = 60

/** The text must match the index's condition. */
export const DUE = `(status = 'waiting' or resend_due)`
/** Every webhook with such deliveries, found one after the other, so that no backlog hides another webhook. */
export const DUE_WEBHOOKS = `due_webhook as (
       (select organization_id, webhook_id from deliveries where ${DUE} order by organization_id, webhook_id limit 1)
       union all
       select following.* from due_webhook, lateral (
         select organization_id, webhook_id from deliveries
          where ${DUE} and (organization_id, webhook_id) > (due_webhook.organization_id, due_webhook.webhook_id)
          order by organization_id, webhook_id limit 1) following
     )`
/** What may be taken of an active webhook: no first attempts from before it was last inactive. */
const FREE = `(lease_until is null or lease_until < now())
                and (resend_due or position > coalesce(webhook.canceled_through, 0))`

export interface WebhookShare {
  readonly organizationId: string
  readonly webhookId: string
  readonly count: number
}

export interface TakeOptions {
  readonly owner: string
  readonly shares: readonly WebhookShare[]
  readonly others: { readonly total: number; readonly each: number }
}

/**
 * Takes deliveries, each webhook's in event order with resends first. Rows are found by key: the planner cannot
 * estimate their number and would read whole tables.
 */
export async function takeDueDeliveries(em: EntityManager, options: TakeOptions): Promise<DueDelivery[]> {
  const { owner, shares, others } = options
  const rows = await statement<DueDeliveryRow>(
    em,
    'take-due-deliveries',
    `with recursive ${DUE_WEBHOOKS}, given as (
       select * from jsonb_to_recordset(?::jsonb) as given ("organizationId" text, "webhookId" text, count int)
     ), webhook as (
       select webhook.organization_id, webhook.id, webhook.canceled_through, given.count
         from due_webhook
         join webhooks webhook on webhook.organization_id = due_webhook.organization_id
                              and webhook.id = due_webhook.webhook_id and webhook.status = 'active'
         left join given on given."organizationId" = webhook.organization_id and given."webhookId" = webhook.id
     ), due as (
       (select place from webhook, lateral (
          select ctid as place from deliveries
           where ${DUE} and organization_id = webhook.organization_id and webhook_id = webhook.id and ${FREE}
           order by resend_due desc, position limit webhook.count for update skip locked) free
         where count > 0)
       union all
       (select place from webhook, lateral (
          select ctid as place from deliveries
           where ${DUE} and organization_id = webhook.organization_id and webhook_id = webhook.id and ${FREE}
           order by resend_due desc, position limit ? for update skip locked) free
         where count is null limit ?)
     ), taken as (
       update deliveries delivery set lease_owner = ?, lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
              resend_again = false -- what was requested until now is this one
        where delivery.ctid = any (array(select place from due))
       returning delivery.*
     )
     ${DUE_DELIVERY_COLUMNS}, set_config('synchronous_commit', 'off', true)
       from taken delivery ${DUE_DELIVERY_JOINS} order by delivery.position`,
    [JSON.stringify(shares), others.each, others.total, owner],
  )
  // The webhook was deleted at this moment: its deliveries are canceled before this lease expires.
  return rows.filter(({ url }) => url !== null).map(dueDelivery)
}

export interface WaitingWebhook {
  readonly organizationId: string
  readonly webhookId: string
  readonly url: string
}

export async function findWaitingWebhooks(em: EntityManager): Promise<WaitingWebhook[]> {
  return await statement<WaitingWebhook>(
    em,
    'find-waiting-webhooks',
    `with recursive ${DUE_WEBHOOKS}
     select webhook.organization_id as "organizationId", webhook.id as "webhookId", webhook.url
       from due_webhook
       join webhooks webhook on webhook.organization_id = due_webhook.organization_id
                            and webhook.id = due_webhook.webhook_id and webhook.status = 'active',
       lateral (select from deliveries
                 where ${DUE} and organization_id = webhook.organization_id and webhook_id = webhook.id and ${FREE}
                 order by resend_due desc, position limit 1) free`,
  )
}

/** Releases deliveries that were taken and not attempted, so that any process may take them at once. */
export async function releaseDeliveries(
  em: EntityManager,
  deliveries: readonly DueDelivery[],
  owner: string,
): Promise<void> {
  if (deliveries.length === 0) return
  await statement(
    em,
    'release-deliveries',
    `update deliveries delivery set lease_owner = null, lease_until = null
       from jsonb_to_recordset(?::jsonb) as given ("organizationId" text, id text)
      where delivery.organization_id = given."organizationId" and delivery.id = given.id and delivery.lease_owner = ?`,
    [JSON.stringify(deliveries.map(({ organizationId, id }) => ({ organizationId, id }))), owner],
  )
}

/** Returns the retry and its time, or null. A retry of an inactive or deleted webhook ends here. */
export async function readRetry(
  em: EntityManager,
  organizationId: string,
  id: string,
): Promise<(DueDelivery & { readonly nextAttemptTime: number }) | null> {
  const [row] = await statement<
    DueDeliveryRow & { status: string; next_attempt_time: Date | null; is_sent: boolean }
  >(
    em,
    'read-retry',
    `${DUE_DELIVERY_COLUMNS}, delivery.status, delivery.next_attempt_time,
       webhook.status = 'active' and delivery.position > coalesce(webhook.canceled_through, 0) as is_sent
       from deliveries delivery ${DUE_DELIVERY_JOINS} where delivery.organization_id = ? and delivery.id = ?`,
    [organizationId, id],
  )
  if (row === undefined || row.status !== 'retrying' || row.next_attempt_time === null) return null
  if (!row.is_sent) {
    await cancelRetry(em, organizationId, id)
    return null
  }
  return { ...dueDelivery(row), resend: false, nextAttemptTime: new Date(row.next_attempt_time).getTime() }
}

async function cancelRetry(em: EntityManager, organizationId: string, id: string): Promise<void> {
  await statement(
    em,
    'cancel-retry',
    `update deliveries set status = 'canceled', next_attempt_time = null, ended_time = now()
      where organization_id = ? and id = ? and status = 'retrying'`,
    [organizationId, id],
  )
}

export interface Outcome {
  readonly attempt: Attempt
  readonly next: number | null
}

/**
 * Records attempts, next states and wake-ups in one statement. An outcome that was recorded before, or whose
 * delivery another process has taken, changes nothing; a failure of an inactive webhook ends as canceled. Any other
 * attempt that was made is logged, also if a resend has delivered the event meanwhile or its webhook went away. Webhooks
 * with failures are locked before their deliveries: a deactivation locks the same row, so one of the two sees the
 * other. `owner` is null for retries, which have no lease. Returns the changed deliveries.
 */
export async function recordOutcomes(
  em: EntityManager,
  outcomes: readonly Outcome[],
  owner: string | null,
): Promise<MovedDelivery[]> {
  const rows = outcomes.map(({ attempt, next }, ordinal) => ({
    ...attemptRow(attempt),
    ordinal,
    owner,
    scheduled: attempt.delivery.scheduled,
    resend: attempt.delivery.resend,
    resends: attempt.delivery.resends,
    next_status: attempt.response.failure === null ? 'delivered' : next === null ? 'exhausted' : 'retrying',
    next_attempt_time: next === null ? null : new Date(next).toISOString(),
  }))
  return await statement<MovedDelivery>(
    em,
    'record-outcomes',
    `with given as (
       select * from jsonb_to_recordset(?::jsonb) as given
         (${ATTEMPT_COLUMN_TYPES}, next_status text, next_attempt_time timestamptz, ordinal int, owner text,
          scheduled int, resend boolean, resends int)
     ), failing as materialized (
       select organization_id, id, status, canceled_through from webhooks webhook
        where exists (select from given where given.organization_id = webhook.organization_id
                       and given.webhook_id = webhook.id
                       and (given.failure is not null or webhook.consecutive_failures > 0))
        order by organization_id, id for update
     ), outcome as (
       select given.*, coalesce(failing.status = 'active', false) as is_active,
              coalesce(failing.canceled_through, 0) as canceled_through
         from given left join failing on failing.organization_id = given.organization_id
                                     and failing.id = given.webhook_id
        where (select count(*) from failing) >= 0 -- reads the locks to their end before the first row changes
     ), moved as (
       update deliveries delivery
          set status = case when outcome.failure is null or delivery.status = 'delivered' then 'delivered'
                            when outcome.resend then delivery.status
                            when ${GOES_ON} then outcome.next_status else 'canceled' end,
              next_attempt_time = case when outcome.failure is null or delivery.status = 'delivered' then null
                                       when outcome.resend then delivery.next_attempt_time
                                       when ${GOES_ON} then outcome.next_attempt_time end,
              ended_time = case when outcome.resend and outcome.failure is not null then delivery.ended_time
                                when not outcome.resend and delivery.status = 'delivered' then delivery.ended_time
                                when outcome.next_status = 'retrying' and ${GOES_ON} then null
                                else now() end,
              attempts = delivery.attempts + case when outcome.resend then 0 else 1 end,
              resends = delivery.resends + case when outcome.resend then 1 else 0 end,
              resend_due = case when outcome.resend then delivery.resend_again else delivery.resend_due end,
              resend_again = delivery.resend_again and not outcome.resend,
              lease_owner = case when outcome.owner is null then delivery.lease_owner end,
              lease_until = case when outcome.owner is null then delivery.lease_until end
         from outcome
        where delivery.organization_id = outcome.organization_id and delivery.id = outcome.delivery_id
          and case when outcome.resend then delivery.resends = outcome.resends
                   else delivery.attempts = outcome.scheduled end
          and (outcome.owner is null or coalesce(delivery.lease_owner, outcome.owner) = outcome.owner)
       returning delivery.organization_id, delivery.id, delivery.status, delivery.attempts,
                 delivery.attempts + delivery.resends as number, delivery.next_attempt_time, outcome.webhook_id, outcome.ordinal, outcome.failure,
                 outcome.initiated_time, outcome.resend
     ), tally as (
       select organization_id, webhook_id, max(ordinal) filter (where failure is null) as last_success
         from moved group by organization_id, webhook_id
     ), counted as (
       select organization_id, webhook_id, tally.last_success is not null as succeeded, count(moved.id)::int as failures,
              min(moved.initiated_time) as first_failure
         from tally left join moved using (organization_id, webhook_id)
        where moved.failure is not null and moved.ordinal > coalesce(tally.last_success, -1)
        group by organization_id, webhook_id, tally.last_success
        union all
       select organization_id, webhook_id, true, 0, null from tally
        where not exists (select from moved where moved.organization_id = tally.organization_id
                           and moved.webhook_id = tally.webhook_id and moved.failure is not null
                           and moved.ordinal > coalesce(tally.last_success, -1))
     ), remembered as (
       update webhooks webhook
          set consecutive_failures = counted.failures
                + case when counted.succeeded then 0 else webhook.consecutive_failures end,
              first_failure_time = case when counted.succeeded then counted.first_failure
                                        else coalesce(webhook.first_failure_time, counted.first_failure) end,
              revision = webhook.revision + 1, updated_time = greatest(webhook.updated_time, now())
         from counted
        where webhook.organization_id = counted.organization_id and webhook.id = counted.webhook_id
          and (counted.failures > 0 or webhook.consecutive_failures > 0)
     ), logged as (
       insert into delivery_attempts (attempt, ${ATTEMPT_COLUMNS})
       select moved.number, ${ATTEMPT_COLUMNS.split(', ')
         .map((column) => `given.${column}`)
         .join(', ')}
         from given join moved on moved.organization_id = given.organization_id and moved.id = given.delivery_id
     ), woken as (
       insert into wake_ups (workflow, organization_id, record_id, starts, due_by, attributes)
       select 'webhook-delivery', organization_id, id, true, next_attempt_time,
              jsonb_build_object('status', status, 'webhookId', webhook_id)
         from moved where status = 'retrying' and attempts = 1 and not resend
     )
     select organization_id as "organizationId", id, status from moved`,
    [JSON.stringify(rows)],
  )
}

/** True if a delivery whose attempt failed is retried under the schedule. */
const GOES_ON = `(delivery.status <> 'canceled' and outcome.is_active and delivery.position > outcome.canceled_through)`

export interface MovedDelivery {
  readonly organizationId: string
  readonly id: string
  readonly status: DeliveryStatus
}

function attemptRow({ delivery, initiatedTime, sentTime, duration, requestHeaders, response }: Attempt) {
  return {
    organization_id: delivery.organizationId,
    id: newId('att'),
    delivery_id: delivery.id,
    webhook_id: delivery.webhookId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    entity_id: delivery.entityId,
    initiated_time: initiatedTime.toISOString(),
    sent_time: sentTime?.toISOString() ?? null,
    duration,
    url: delivery.url,
    method: delivery.method,
    request_headers: requestHeaders,
    status: response.status,
    response_headers: response.headers,
    response: response.body === null ? null : storable(response.body),
    failure: response.failure,
  }
}

const ATTEMPT_COLUMNS =
  'organization_id, id, delivery_id, webhook_id, event_id, event_type, entity_id, initiated_time, sent_time, duration, url, method, request_headers, status, response_headers, response, failure'
const ATTEMPT_COLUMN_TYPES =
  'organization_id text, id text, delivery_id text, webhook_id text, event_id text, event_type text, entity_id text, initiated_time timestamptz, sent_time timestamptz, duration int, url text, method text, request_headers jsonb, status int, response_headers jsonb, response text, failure text'

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
  header_values_cipher: string | null
  auth_cipher: string | null
  is_first: boolean
  entity_id: string
  attempts: number
  resends: number
}

const DUE_DELIVERY_COLUMNS = `select delivery.organization_id, delivery.id, delivery.webhook_id, delivery.event_id,
  delivery.attempts, delivery.resends, delivery.status = 'waiting' as is_first, event.type as event_type, event.entity_id, event.payload,
  webhook.url, webhook.method, webhook.headers, webhook.header_values_cipher,
  credential.auth_cipher`
// The plan is cached, and was made while the tables were almost empty: so the event is found in the order of its
// key, for which only one index will do.
const DUE_DELIVERY_JOINS = `join lateral (select organization_id, id, type, entity_id, payload from events
    where (organization_id, id) >= (delivery.organization_id, delivery.event_id)
    order by organization_id, id limit 1) event
    on event.organization_id = delivery.organization_id and event.id = delivery.event_id
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
    headerValuesCipher: row.header_values_cipher,
    authCipher: row.auth_cipher,
    entityId: row.entity_id,
    scheduled: row.attempts,
    resends: row.resends,
    resend: !row.is_first,
  }
}

/** PostgreSQL cannot store NUL characters, and a response may contain them. */
function storable(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD')
}

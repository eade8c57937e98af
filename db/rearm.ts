/** A restored backup, or a new namespace of Temporal, has no executions; the sweep would only find records late. */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { WorkflowName } from '../workflows/contract.ts'
import { statement } from './statement.ts'

/** Records that wait for a deadline: `organization_id, id, due_by, gateway_call, attributes`. */
const WAITING: Readonly<Record<WorkflowName, string>> = {
  subscription: `
    select organization_id, id, next_deadline - clock_offset * interval '1 millisecond' as due_by,
           next_due_kind is not distinct from 'charge' and next_deadline - clock_offset * interval '1 millisecond' <= now() as gateway_call,
           jsonb_build_object('status', status, 'customerId', customer_id) as attributes
      from subscriptions where next_deadline is not null`,
  transaction: `
    select organization_id, id, next_inquiry_time as due_by, next_inquiry_time <= now() as gateway_call,
           jsonb_build_object('status', 'unknown', 'customerId', customer_id) as attributes
      from transactions where status = 'pending' and subscription_id is null and next_inquiry_time is not null
    union all
    select organization_id, id, next_refund_time, false, jsonb_build_object('status', 'refund-owed', 'customerId', customer_id)
      from transactions where next_refund_time is not null`,
  'webhook-delivery': `
    select organization_id, id, next_attempt_time as due_by, false as gateway_call,
           jsonb_build_object('status', status, 'webhookId', webhook_id) as attributes
      from deliveries where status = 'retrying'`,
  'dispute-deadline': `
    select organization_id, id, deadline_time as due_by, false as gateway_call,
           jsonb_build_object('status', status, 'customerId', customer_id) as attributes
      from disputes where status = 'response-needed' and deadline_time is not null`,
  coupon: `
    select organization_id, id, case status when 'draft' then issued_time else expired_time end as due_by,
           false as gateway_call, jsonb_build_object('status', status) as attributes
      from coupons where status = 'draft' or (status = 'issued' and expired_time is not null)`,
  invoice: `
    select organization_id, id, next_deadline as due_by, false as gateway_call,
           jsonb_build_object('status', status, 'customerId', customer_id) as attributes
      from invoices where next_deadline is not null`,
  'token-expiry': `
    select organization_id, id, expiration_time as due_by, false as gateway_call,
           jsonb_build_object('status', 'unused') as attributes
      from payment_tokens where card_cipher is not null`,
}

/**
 * Writes missing wake-ups in batches with their own commits, and returns how many. An execution that exists
 * checks its record again, without effect.
 */
export async function rearm(em: EntityManager, workflow: WorkflowName, batch = 1_000): Promise<number> {
  let written = 0
  for (let after = ['', '']; ; ) {
    const [row] = await statement<{ written: number; organization_id: string | null; id: string | null }>(
      em,
      `rearm-${workflow}`,
      `with records as (
         select * from (${WAITING[workflow]}) waiting
          where (organization_id, id) > (?, ?) order by organization_id, id limit ?
       ), woken as (
         insert into wake_ups (workflow, organization_id, record_id, starts, gateway_call, due_by, attributes)
         select ?, organization_id, id, true, gateway_call, due_by, attributes from records
          where not exists (select from wake_ups other where other.organization_id = records.organization_id
                               and other.record_id = records.id and other.workflow = ?)
         returning 1
       )
       select (select count(*) from woken)::int as written, last.organization_id, last.id
         from (select 1) one left join lateral (
           select organization_id, id from records order by organization_id desc, id desc limit 1) last on true`,
      [...after, batch, workflow, workflow],
    )
    written += row?.written ?? 0
    if (row?.organization_id == null || row.id === null) return written
    after = [row.organization_id, row.id]
  }
}

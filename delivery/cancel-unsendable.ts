/**
 * Ends deliveries whose webhook is inactive or deleted, or was inactive since. A deactivation changes only the
 * webhook's row, and the API shows waiting deliveries as canceled at once. Workflows of retries are not woken: they
 * find their delivery canceled at its deadline.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import { statement } from '../db/statement.ts'
import { DUE, DUE_WEBHOOKS } from './queue.ts'

const BATCH = 500

export interface CancellationRun {
  /** Called after each batch. */
  readonly progress?: () => void
  /** Once it is aborted, no other batch begins. */
  readonly stopping?: AbortSignal
}

/** Ends all such deliveries that are not locked and returns their number. */
export async function cancelUnsendable(
  em: EntityManager,
  { progress, stopping }: CancellationRun = {},
): Promise<number> {
  let canceled = 0
  for (const webhook of await findCanceled(em)) {
    let last = BATCH
    while (last === BATCH && stopping?.aborted !== true) {
      last = await cancelBatch(em, webhook)
      canceled += last
      progress?.()
    }
  }
  return canceled
}

interface CanceledWebhook {
  readonly organization_id: string
  readonly webhook_id: string
}

async function findCanceled(em: EntityManager): Promise<CanceledWebhook[]> {
  return await statement<CanceledWebhook>(
    em,
    'find-canceled-webhooks',
    `with recursive ${DUE_WEBHOOKS}, retrying_webhook as (
       (select organization_id, webhook_id from deliveries where status = 'retrying'
         order by organization_id, webhook_id limit 1)
       union all
       select following.* from retrying_webhook, lateral (
         select organization_id, webhook_id from deliveries
          where status = 'retrying'
            and (organization_id, webhook_id) > (retrying_webhook.organization_id, retrying_webhook.webhook_id)
          order by organization_id, webhook_id limit 1) following
     )
     select candidate.organization_id, candidate.webhook_id
       from (select * from due_webhook union select * from retrying_webhook) candidate
       left join webhooks webhook on webhook.organization_id = candidate.organization_id
                                 and webhook.id = candidate.webhook_id
      where webhook.status is distinct from 'active'
         or (webhook.canceled_through is not null
             and (exists (select from deliveries
                           where ${DUE} and organization_id = webhook.organization_id and webhook_id = webhook.id
                             and status = 'waiting' and position <= webhook.canceled_through)
                  or exists (select from deliveries
                              where organization_id = webhook.organization_id and webhook_id = webhook.id
                                and status = 'retrying' and position <= webhook.canceled_through)))`,
  )
}

/**
 * What ends is read with each batch, because a webhook may become active meanwhile: all of an inactive or deleted
 * one, with its resends; of an active one what was made before it was last inactive. The lock lets it become active
 * only between batches. Leases stay, so that what is requested meanwhile waits for the outcome of what is under way.
 */
async function cancelBatch(em: EntityManager, webhook: CanceledWebhook): Promise<number> {
  const { organization_id: organizationId, webhook_id: webhookId } = webhook
  const [row] = await statement<{ canceled: number }>(
    em,
    'cancel-deliveries',
    `with webhook as materialized (
       select status, canceled_through from webhooks where organization_id = ? and id = ? for share
     ), bound as materialized (
       select (select case when status = 'active' then coalesce(canceled_through, 0) end from webhook) as through
     ), due as (
       select ctid as place from deliveries
        where ${DUE} and organization_id = ? and webhook_id = ?
          and ((select through from bound) is null
               or (status = 'waiting' and position <= (select through from bound)))
        limit ${BATCH} for update skip locked
     ), retrying as (
       select ctid as place from deliveries
        where status = 'retrying' and organization_id = ? and webhook_id = ?
          and ((select through from bound) is null or position <= (select through from bound))
        limit ${BATCH} for update skip locked
     ), ended as (
       select place from due union select place from retrying limit ${BATCH}
     ), canceled as (
       update deliveries
          set status = case when status in ('waiting', 'retrying') then 'canceled' else status end,
              ended_time = coalesce(ended_time, now()), next_attempt_time = null,
              resend_due = resend_due and (select through from bound) is not null,
              resend_again = resend_again and (select through from bound) is not null
        where ctid = any (array(select place from ended))
       returning 1
     )
     select count(*)::int as canceled from canceled`,
    [1, 2, 3].flatMap(() => [organizationId, webhookId]),
  )
  return row?.canceled ?? 0
}

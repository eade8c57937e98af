import { MAX_ATTEMPTS, nextAttemptTime } from '../billing/retry-schedule.ts'
import { Webhook } from '../db/entities/index.ts'
import { inUnitOfWork, type UnitOfWork } from '../db/unit-of-work.ts'
import { emitWebhookEvent } from '../db/webhook-events.ts'
import { type Attempt, type DueDelivery, attemptDelivery as makeAttempt } from '../delivery/attempt.ts'
import { readRetry, recordOutcomes } from '../delivery/queue.ts'
import type { Labels, SettleInput, SettleResult } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'

/**
 * Makes the retry that is due at the workflow's instant, records it, and says when the next one is.
 *
 * The next wait counts from the end of the attempt: the instant passed plus the measured duration, because the
 * process's own clock knows nothing of skipped time.
 */
export async function attemptDelivery(
  dependencies: ActivityDependencies,
  { organizationId, recordId, clock, base }: SettleInput,
): Promise<SettleResult> {
  const ahead = base ?? 0
  const instant = clock + ahead
  const delivery = await readRetry(dependencies.em(), organizationId, recordId)
  if (delivery === null) return { next: null, base: ahead, labels: null }
  let next: number | null = delivery.nextAttemptTime
  let attempts = delivery.scheduled
  if (next <= instant) {
    const attempt = await makeAttempt(delivery, dependencies.attempts)
    attempts = delivery.scheduled + 1
    next = attempt.answer.failure === null ? null : nextAttemptTime(attempts, instant + attempt.duration)
    const tenant = { organizationId, baseUrl: dependencies.baseUrl, now: new Date(dependencies.now()) }
    await inUnitOfWork(dependencies.em(), tenant, (unit) => recordRetry(unit, attempt, next))
    // What became of it is the row's to say: the webhook may have been made inactive meanwhile.
    next = (await readRetry(dependencies.em(), organizationId, recordId))?.nextAttemptTime ?? null
  }
  return {
    next,
    base: ahead,
    labels: dependencies.labels && next !== null ? deliveryLabels(delivery, attempts, next) : null,
  }
}

/** When the next attempt is due, by reading alone; null where it may be now, or where it will not be made. */
export async function lookAtDelivery(
  { em, labels }: Pick<ActivityDependencies, 'em' | 'labels'>,
  { organizationId, recordId, clock, base }: SettleInput,
): Promise<SettleResult | null> {
  const ahead = base ?? 0
  const retry = await readRetry(em(), organizationId, recordId)
  if (retry === null || retry.nextAttemptTime <= clock + ahead) return null
  const { nextAttemptTime: next, scheduled } = retry
  return { next, base: ahead, labels: labels ? deliveryLabels(retry, scheduled, next) : null }
}

/** Writes the outcome, and the event of a schedule that ended without success. */
async function recordRetry(unit: UnitOfWork, attempt: Attempt, next: number | null): Promise<void> {
  const [moved] = await recordOutcomes(unit.em, [{ attempt, next }], null)
  if (moved?.status !== 'exhausted') return
  const { webhookId, id } = attempt.delivery
  const webhook = await unit.em.findOneOrFail(Webhook, { organizationId: unit.organizationId, id: webhookId })
  emitWebhookEvent(unit, webhook, 'webhook-delivery-exhausted', { deliveryId: id })
}

function deliveryLabels(delivery: DueDelivery, attempts: number, next: number): Labels {
  const time = new Date(next).toISOString()
  return {
    details: `Event ${delivery.eventId} (${delivery.eventType}) to webhook ${delivery.webhookId}: ${attempts} of ${MAX_ATTEMPTS} attempts failed.`,
    timer: `attempt ${attempts + 1} at ${time}`,
    attributes: {
      BillingOrganization: delivery.organizationId,
      BillingCustomer: null,
      BillingWebhook: delivery.webhookId,
      BillingStatus: 'retrying',
      BillingNextDeadline: time,
    },
  }
}

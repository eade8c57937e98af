import { Webhook } from '../db/entities/index.ts'
import { inUnitOfWork, type UnitOfWork } from '../db/unit-of-work.ts'
import { type Attempt, type DueDelivery, attemptDelivery as makeAttempt } from '../delivery/attempt.ts'
import { OwnFaultError } from '../delivery/own-fault.ts'
import { readRetry, recordOutcomes } from '../delivery/queue.ts'
import { MAX_ATTEMPTS, nextAttemptTime } from '../delivery/retry-schedule.ts'
import { emitWebhookEvent } from '../events/webhook-events.ts'
import {
  type AdvanceInput,
  type AdvanceResult,
  searchAttributesOf,
  type Visibility,
} from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { executionTimeOf, instantOf, wakingTime } from './instant.ts'
import { NotYetError } from './not-yet.ts'

/**
 * The next wait counts from the end of the attempt: now, or the workflow's instant plus the measured duration where
 * that is later, because the process's own clock does not include skipped time.
 * @throws NotYetError if the organization has no place for it, or after a fault of our own.
 */
export async function attemptDelivery(
  dependencies: ActivityDependencies,
  input: AdvanceInput,
): Promise<AdvanceResult> {
  const { organizationId, recordId } = input
  const base = input.base ?? 0
  const instant = instantOf(dependencies, input)
  const delivery = await readRetry(dependencies.em(), organizationId, recordId)
  if (delivery === null) return { next: null, base, visibility: null }
  let next: number | null = delivery.nextAttemptTime
  let attempts = delivery.scheduled
  if (next <= instant) {
    const attempt = await attemptInPlace(dependencies, delivery)
    attempts = delivery.scheduled + 1
    const endedAt = Math.max(instant + attempt.duration, dependencies.now())
    next = attempt.response.failure === null ? null : nextAttemptTime(attempts, endedAt)
    const tenant = { organizationId, baseUrl: dependencies.baseUrl, now: new Date(dependencies.now()) }
    await inUnitOfWork(dependencies.em(), tenant, (unit) => recordRetry(unit, attempt, next))
    dependencies.onAttempt?.(attempt)
    // The row decides: the webhook may have been deactivated meanwhile.
    next = (await readRetry(dependencies.em(), organizationId, recordId))?.nextAttemptTime ?? null
  }
  return {
    next: wakingTime(next, { time: executionTimeOf(input), instant }),
    base,
    visibility: next === null ? null : deliveryVisibility(delivery, attempts, next),
  }
}

async function attemptInPlace(
  { attempts, places, log }: Pick<ActivityDependencies, 'attempts' | 'places' | 'log'>,
  delivery: DueDelivery,
): Promise<Attempt> {
  const { organizationId, id } = delivery
  const wait = () => places.timeToReturn(organizationId, performance.now())
  if (!places.take(organizationId)) throw new NotYetError('too many retries are under way', wait())
  try {
    return await makeAttempt(delivery, attempts)
  } catch (error) {
    if (!(error instanceof OwnFaultError)) throw error
    log.error(
      { err: error, deliveryId: id },
      'an attempt failed by a fault of our own, and will be made again',
    )
    throw new NotYetError(error.message, wait(), { cause: error })
  } finally {
    places.leave(organizationId)
  }
}

/** A delivery that reports an exhausted one is not reported itself: webhooks that all fail would report each other for ever. */
async function recordRetry(unit: UnitOfWork, attempt: Attempt, next: number | null): Promise<void> {
  const [moved] = await recordOutcomes(unit.em, [{ attempt, next }], null)
  const { webhookId, id, eventType } = attempt.delivery
  if (moved?.status !== 'exhausted' || eventType === EXHAUSTED) return
  const webhook = await unit.em.findOneOrFail(Webhook, { organizationId: unit.organizationId, id: webhookId })
  emitWebhookEvent(unit, webhook, EXHAUSTED, { deliveryId: id })
}

const EXHAUSTED = 'webhook-delivery-exhausted'

function deliveryVisibility(delivery: DueDelivery, attempts: number, next: number): Visibility {
  const time = new Date(next).toISOString()
  return {
    details: `Event ${delivery.eventId} (${delivery.eventType}) to webhook ${delivery.webhookId}: ${attempts} of ${MAX_ATTEMPTS} attempts failed.`,
    timer: `attempt ${attempts + 1} at ${time}`,
    attributes: searchAttributesOf({
      organizationId: delivery.organizationId,
      webhookId: delivery.webhookId,
      status: 'retrying',
      nextDeadline: time,
    }),
  }
}

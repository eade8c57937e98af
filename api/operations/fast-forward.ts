import { setTimeout as sleep } from 'node:timers/promises'
import { lockSubscription } from '../../commands/orders/advance-order.ts'
import { beginFastForward, failFastForward } from '../../commands/orders/fast-forward.ts'
import { orderInstant } from '../../commands/orders/order-instant.ts'
import { FastForward as FastForwardRow, Subscription } from '../../db/entities/index.ts'
import { newId } from '../../db/new-id.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import { presentFastForward } from '../../representations/fast-forward.ts'
import { fastForwardUrl } from '../../representations/links.ts'
import { workflowId } from '../../workflows/contract.ts'
import { Problem } from '../http/problems.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { notFound } from '../resources/resource.ts'
import { respondIn, respondWith } from '../resources/respond.ts'
import type { FastForward } from '../schemas/fast-forward.ts'
import type { TemporalService } from '../temporal.ts'
import { subscriptions } from './orders.ts'

/** After this time, in milliseconds, a move responds with 202 and continues. */
const TIMEOUT = 10_000
/** Milliseconds. */
const POLL_INTERVAL = 25

/** Returns the order, or 202 with where to poll. A repetition under an `Idempotency-Key` continues the move. */
export async function postFastForward(context: OperationContext): Promise<OperationResponse> {
  const until = performance.now() + TIMEOUT
  const id = context.params.id ?? ''
  const temporal = context.temporal
  if ((await context.em.count(Subscription, { organizationId: context.organizationId, id })) === 0)
    throw notFound(subscriptions, id)
  // Checked before the order is locked, because a lock must not wait for Temporal; thrown only for a move.
  const unavailable = await unavailability(temporal)
  const begun = await context.commit(async (unit) => {
    const row = await lockSubscription(unit, id)
    if (row === null) throw notFound(subscriptions, id)
    const { to } = context.body<FastForward>()
    const move = await beginFastForward(unit, row, newId('ff'), new Date(to))
    if (move === null) return await respondIn(unit, context, subscriptions, row)
    if (unavailable !== null) throw unavailable
    return accepted(context, move)
  })
  if (begun.status !== 202 || temporal === null) return begun
  const { id: moveId } = begun.body as { readonly id: string }
  await skipTime(context, temporal, id, moveId, until)
  for (;;) {
    const move = await readMove(context, id, moveId)
    if (move.status === 'completed')
      return await respondWith(context, subscriptions, await readOrder(context, id))
    if (move.status === 'failed' || performance.now() >= until) return accepted(context, move)
    await sleep(POLL_INTERVAL)
  }
}

async function unavailability(temporal: TemporalService | null): Promise<Problem | null> {
  if (temporal === null) {
    return new Problem('unavailable', 'This API is not connected to Temporal, which moves the clocks.', {
      headers: { 'Retry-After': '60' },
    })
  }
  try {
    await temporal.requireTimeSkipping()
    return null
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

export async function getFastForward(context: OperationContext): Promise<OperationResponse> {
  const { id = '', fastForwardId = '' } = context.params
  const { em, organizationId, baseUrl } = context
  const order = await em.count(Subscription, { organizationId, id })
  if (order === 0) throw notFound(subscriptions, id)
  return { body: presentFastForward(await readMove(context, id, fastForwardId), baseUrl, context.now()) }
}

/** Waits for an execution, and makes it skip the time from the order's clock to the target. */
async function skipTime(
  context: OperationContext,
  temporal: TemporalService,
  id: string,
  moveId: string,
  until: number,
): Promise<void> {
  const { organizationId } = context
  const execution = workflowId('subscription', organizationId, id)
  try {
    do {
      const row = await readOrder(context, id)
      if (row.movingTo == null) return
      const ahead = row.movingTo.getTime() - orderInstant({ now: context.now() }, row)
      if (ahead <= 0 || (await temporal.skipTime(execution, moveId, ahead))) return
      await sleep(POLL_INTERVAL)
    } while (performance.now() < until)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    await giveUp(context, id, error.message)
    throw error
  }
}

async function giveUp(context: OperationContext, id: string, reason: string): Promise<void> {
  const { em, organizationId, baseUrl } = context
  await inUnitOfWork(em.fork(), { organizationId, baseUrl, now: context.now() }, async (unit) => {
    const row = await lockSubscription(unit, id)
    if (row?.movingTo != null) await failFastForward(unit, row, reason)
  })
}

function accepted({ baseUrl, now }: OperationContext, move: FastForwardRow): OperationResponse {
  return {
    status: 202,
    location: fastForwardUrl(move, baseUrl),
    body: presentFastForward(move, baseUrl, now()),
  }
}

async function readOrder({ em, organizationId }: OperationContext, id: string): Promise<Subscription> {
  return await em.fork().findOneOrFail(Subscription, { organizationId, id })
}

async function readMove(
  { em, organizationId }: OperationContext,
  subscriptionId: string,
  id: string,
): Promise<FastForwardRow> {
  const move = await em.fork().findOne(FastForwardRow, { organizationId, id, subscriptionId })
  if (move === null) throw notFound({ label: 'fast-forward of this subscription' }, id)
  return move
}

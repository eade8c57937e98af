/** Actions on orders beside PUT (void, cancellation, pause, reactivation) and reads beside GET. */
import { upcomingInvoice } from '../../billing/order-lifecycle.ts'
import {
  cancelSubscription,
  changePause,
  endPause,
  pauseSubscription,
  reactivateSubscription,
  voidInvoiceOf,
  voidSubscription,
} from '../../commands/orders/act-on-order.ts'
import { lockSubscription } from '../../commands/orders/advance-order.ts'
import { orderOf } from '../../commands/orders/rows-to-order.ts'
import {
  SubscriptionCancellation as CancellationRow,
  Invoice,
  SubscriptionPause as PauseRow,
  SubscriptionReactivation as ReactivationRow,
  Subscription,
} from '../../db/entities/index.ts'
import { cancellationSearch } from '../../db/entities/subscription-cancellation.ts'
import { pauseSearch } from '../../db/entities/subscription-pause.ts'
import { reactivationSearch } from '../../db/entities/subscription-reactivation.ts'
import {
  presentCancellation,
  presentPause,
  presentReactivation,
  presentUpcomingInvoice,
} from '../../representations/subscription-actions.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf, reference } from '../query/fields.ts'
import { notFound, type Resource, type Writer } from '../resources/resource.ts'
import { respondWith } from '../resources/respond.ts'
import {
  SubscriptionCancellation,
  SubscriptionPause,
  SubscriptionReactivation,
} from '../schemas/subscription-actions.ts'
import { invoices } from './invoices.ts'
import { subscriptions } from './orders.ts'

export const cancellations: Resource<CancellationRow> = {
  name: 'SubscriptionCancellation',
  label: 'subscription cancellation',
  path: 'subscription-cancellations',
  schema: SubscriptionCancellation,
  entity: CancellationRow,
  table: 'subscription_cancellations',
  search: cancellationSearch,
  fields: fieldsOf(SubscriptionCancellation, { prorated: null }),
  present: (row, { baseUrl }) => presentCancellation(row, baseUrl),
}

export const cancellationWriter: Pick<Writer<CancellationRow, SubscriptionCancellation>, 'create'> = {
  create: (unit, id, body) =>
    cancelSubscription(unit, id, body.subscriptionId, {
      churnTime: body.churnTime == null ? null : Date.parse(body.churnTime),
      canceledBy: body.canceledBy === 'customer' ? 'customer' : 'merchant',
      reason: body.reason ?? null,
      description: body.description ?? null,
    }),
}

export const pauses: Resource<PauseRow> = {
  name: 'SubscriptionPause',
  label: 'subscription pause',
  path: 'subscription-pauses',
  schema: SubscriptionPause,
  entity: PauseRow,
  table: 'subscription_pauses',
  search: pauseSearch,
  fields: fieldsOf(SubscriptionPause, { subscriptionId: reference('subscription_id', 'subscriptions') }),
  present: (row, { baseUrl }) => presentPause(row, baseUrl),
}

export const pauseWriter: Pick<Writer<PauseRow, SubscriptionPause>, 'create'> = {
  create: (unit, id, body) =>
    pauseSubscription(unit, id, {
      subscriptionId: body.subscriptionId,
      effectiveTime: body.effectiveTime == null ? null : new Date(body.effectiveTime),
      endTime: body.endTime == null ? null : new Date(body.endTime),
      description: body.description ?? null,
    }),
}

export const reactivations: Resource<ReactivationRow> = {
  name: 'SubscriptionReactivation',
  label: 'subscription reactivation',
  path: 'subscription-reactivations',
  schema: SubscriptionReactivation,
  entity: ReactivationRow,
  table: 'subscription_reactivations',
  search: reactivationSearch,
  fields: fieldsOf(SubscriptionReactivation),
  present: (row, { baseUrl }) => presentReactivation(row, baseUrl),
}

export const reactivationWriter: Pick<Writer<ReactivationRow, SubscriptionReactivation>, 'create'> = {
  create: (unit, id, body) => reactivateSubscription(unit, id, body.subscriptionId),
}

export async function putPause(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const pause = await lockedPause(context, unit)
    const body = context.body<SubscriptionPause>()
    await changePause(unit, pause, body.endTime == null ? null : new Date(body.endTime))
    return await respondWith(context, pauses, pause)
  })
}

/** DELETE of a pause: resumes the order, or revokes a pause that has not begun. */
export async function deletePause(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    await endPause(unit, await lockedPause(context, unit))
    return {}
  })
}

export async function postVoid(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const id = context.params.id ?? ''
    const row = await lockSubscription(unit, id)
    if (row === null) throw notFound(subscriptions, id)
    await voidSubscription(unit, row)
    return await respondWith(context, subscriptions, row)
  })
}

export async function postInvoiceVoid(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const { organizationId, em } = unit
    const id = context.params.id ?? ''
    const found = await em.findOne(Invoice, { organizationId, id })
    const row = found === null ? null : await lockSubscription(unit, found.subscriptionId)
    if (found === null || row === null) throw notFound(invoices, id)
    await voidInvoiceOf(unit, row, found)
    return await respondWith(context, invoices, found)
  })
}

/** GET subscriptions/{id}/upcoming-invoice: 404 if there will be none. */
export async function getUpcomingInvoice(context: OperationContext): Promise<OperationResponse> {
  const row = await readOrder(context)
  const invoice = upcomingInvoice(orderOf(row))
  if (invoice === null) throw notFound({ label: 'upcoming invoice of the subscription' }, row.id)
  return { body: presentUpcomingInvoice(row, invoice) }
}

async function readOrder({ em, organizationId, params }: OperationContext): Promise<Subscription> {
  const row = await em.findOne(Subscription, { organizationId, id: params.id ?? '' })
  if (row === null) throw notFound(subscriptions, params.id ?? '')
  return row
}

/** Returns the pause of the path. The order's row is always locked before the pause's. */
async function lockedPause(
  context: OperationContext,
  unit: Parameters<typeof lockSubscription>[0],
): Promise<PauseRow> {
  const { organizationId, em } = unit
  const id = context.params.id ?? ''
  const found = await em.findOne(PauseRow, { organizationId, id })
  if (found === null) throw notFound(pauses, id)
  await lockSubscription(unit, found.subscriptionId)
  await em.refresh(found)
  requirePreconditions(context.preconditions, found.revision)
  return found
}

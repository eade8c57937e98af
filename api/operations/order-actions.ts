import type { EntityClass } from '@mikro-orm/core'
import { canonicalJson } from '../../billing/canonical-json.ts'
import { parseDuration } from '../../billing/durations.ts'
import { InvalidFieldsError, refuse } from '../../billing/errors.ts'
import { invoiceQueue, issueUpcoming } from '../../billing/invoice-commands.ts'
import type { Transition } from '../../billing/order.ts'
import {
  actOnOrder,
  endOrRevokePause,
  type PauseChange,
  POSITIVE_DURATION,
  pauseSubscription,
  reactivateSubscription,
  updatePause,
  voidSubscription,
} from '../../commands/orders/act-on-order.ts'
import { lockSubscription } from '../../commands/orders/advance-order.ts'
import {
  type CancellationChange,
  createCancellation,
  revokeCancellation,
  updateCancellation,
} from '../../commands/orders/cancel-order.ts'
import type { OrderRecord } from '../../commands/orders/order-record.ts'
import { changeRow } from '../../db/change-row.ts'
import {
  SubscriptionCancellation as CancellationRow,
  type Invoice,
  SubscriptionPause as PauseRow,
  SubscriptionReactivation as ReactivationRow,
  Subscription,
} from '../../db/entities/index.ts'
import { cancellationSearch } from '../../db/entities/subscription-cancellation.ts'
import { pauseSearch } from '../../db/entities/subscription-pause.ts'
import { reactivationSearch } from '../../db/entities/subscription-reactivation.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { presentUpcomingInvoice, upcomingInvoiceId } from '../../representations/invoice.ts'
import {
  presentCancellation,
  presentPause,
  presentReactivation,
  presentTimeRemaining,
} from '../../representations/subscription-actions.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf, reference } from '../query/fields.ts'
import { pageOf, type Range } from '../query/paging.ts'
import { createdAt, respondCreated } from '../resources/created.ts'
import {
  notFound,
  type Presentable,
  type Resource,
  type ResourceRow,
  type Writer,
} from '../resources/resource.ts'
import { presentAll, respondIn } from '../resources/respond.ts'
import type { UpcomingInvoiceIssue } from '../schemas/invoice.ts'
import {
  SubscriptionCancellation,
  SubscriptionPause,
  SubscriptionReactivation,
} from '../schemas/subscription-actions.ts'
import { upcomingInvoiceExpanders, upcomingOf } from './expand-order.ts'
import { instantOf, instantTextOf } from './instants.ts'
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
  fields: fieldsOf(SubscriptionCancellation, {
    'lineItemSubtotal.currency': { sql: 'row.currency', type: 'text', folded: 'upper' },
    'lineItemSubtotal.amount': {
      sql: `(case when row.currency is not null then (select coalesce(sum((line ->> 'amount')::numeric), 0)
        from jsonb_array_elements(row.credit_lines) line) end)`,
      type: 'number',
    },
  }),
  present: (row, { baseUrl }) => presentCancellation(row, baseUrl),
}

export const cancellationWriter: Writer<CancellationRow, SubscriptionCancellation> = {
  lock: (unit, id) => lockOfOrder(unit, CancellationRow, id),
  lockOwner: (unit, { subscriptionId }) => lockSubscription(unit, subscriptionId),
  create: (unit, id, body) => createCancellation(unit, id, cancellationOf(body, null)),
  update: (unit, row, body) => updateCancellation(unit, row, cancellationOf(body, row)),
}

function cancellationOf(body: SubscriptionCancellation, row: CancellationRow | null): CancellationChange {
  const stored = row === null ? [] : presentCancellation(row, '').lineItems
  const lineItems = (body.lineItems ?? []).map((line, index) => withStoredPeriod(line, stored[index]))
  if (lineItems.length > 0 && canonicalJson(lineItems) !== canonicalJson(stored)) {
    const message = 'is not supported yet: leave it out or send []'
    throw new InvalidFieldsError([{ field: 'lineItems', code: 'not-supported', message }])
  }
  return {
    subscriptionId: body.subscriptionId,
    status: body.status ?? null,
    churnTime: instantOf(body.churnTime, row?.churnTime)?.getTime() ?? null,
    churnTimePolicy: (body.churnTimePolicy ?? null) as CancellationChange['churnTimePolicy'],
    canceledBy: body.canceledBy === 'customer' ? 'customer' : 'merchant',
    reason: body.reason ?? null,
    description: body.description ?? null,
    prorated: body.prorated ?? false,
  }
}

type Line = NonNullable<SubscriptionCancellation['lineItems']>[number]

function withStoredPeriod(line: Line, stored: Line | undefined): Line {
  const { periodStartTime: start, periodEndTime: end } = line
  return {
    ...line,
    ...(start == null ? {} : { periodStartTime: instantTextOf(start, stored?.periodStartTime) }),
    ...(end == null ? {} : { periodEndTime: instantTextOf(end, stored?.periodEndTime) }),
  }
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

export const pauseWriter: Writer<PauseRow, SubscriptionPause> = {
  lock: (unit, id) => lockOfOrder(unit, PauseRow, id),
  lockOwner: (unit, { subscriptionId }) => lockSubscription(unit, subscriptionId),
  create: (unit, id, body) => pauseSubscription(unit, id, pauseOf(body, null)),
  update: (unit, row, body) => updatePause(unit, row, pauseOf(body, row)),
}

function pauseOf(body: SubscriptionPause, row: PauseRow | null): PauseChange {
  return {
    subscriptionId: body.subscriptionId,
    pausedBy: body.pausedBy === 'customer' ? 'customer' : 'merchant',
    effectiveTime: instantOf(body.effectiveTime, row?.effectiveTime),
    endTime: instantOf(body.endTime, row?.endTime),
    timeRemaining: timeRemainingOf(body.timeRemaining ?? null, row),
    description: body.description ?? null,
  }
}

function timeRemainingOf(text: string | null, row: PauseRow | null): PauseChange['timeRemaining'] {
  if (text === null) return null
  if (row !== null && text === presentTimeRemaining(row)) return row.timeRemaining ?? null
  return parseDuration(text) ?? refuse('timeRemaining', 'wrong-format', POSITIVE_DURATION)
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
  create: (unit, id, body) =>
    reactivateSubscription(unit, id, {
      subscriptionId: body.subscriptionId,
      description: body.description ?? null,
      effectiveTime: body.effectiveTime == null ? null : Date.parse(body.effectiveTime),
      renewalTime: body.renewalTime == null ? null : Date.parse(body.renewalTime),
      paymentInstrumentId: body.paymentInstrumentId ?? null,
    }),
}

export async function patchCancellation(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const row = await lockedAction(context, unit, cancellations)
    requirePreconditions(context.preconditions, row.revision)
    const stored: SubscriptionCancellation = {
      subscriptionId: row.subscriptionId,
      churnTime: row.churnTime?.toISOString() ?? null,
      churnTimePolicy: row.churnTimePolicy ?? null,
      canceledBy: row.canceledBy === 'customer' ? 'customer' : 'merchant',
      reason: row.reason ?? null,
      description: row.description ?? null,
      prorated: row.prorated,
    }
    const given = Object.entries(context.body<Partial<SubscriptionCancellation>>(row)).filter(([name]) =>
      context.has(name),
    )
    const merged = { ...stored, ...Object.fromEntries(given) }
    // A time of its own takes the place of the policy that set the one before.
    if (isOtherTime(merged, row) && !context.has('churnTimePolicy')) merged.churnTimePolicy = null
    await changeRow(unit, row, () => updateCancellation(unit, row, cancellationOf(merged, row)))
    return await respondIn(unit, context, cancellations, row)
  })
}

function isOtherTime({ churnTime }: SubscriptionCancellation, row: CancellationRow): boolean {
  return churnTime != null && instantOf(churnTime, row.churnTime)?.getTime() !== row.churnTime?.getTime()
}

/** A cancellation can be deleted before its churn time: the order goes on. */
export async function deleteCancellation(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const row = await lockedAction(context, unit, cancellations)
    requirePreconditions(context.preconditions, row.revision)
    await revokeCancellation(unit, row)
    return {}
  })
}

/** Resumes the order, or revokes a pause that has not begun. */
export async function deletePause(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const row = await lockedAction(context, unit, pauses)
    requirePreconditions(context.preconditions, row.revision)
    await endOrRevokePause(unit, row)
    return {}
  })
}

export async function postVoid(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const id = context.params.id ?? ''
    const row = await lockSubscription(unit, id)
    if (row === null) throw notFound(subscriptions, id)
    await voidSubscription(unit, row)
    return await respondIn(unit, context, subscriptions, row)
  })
}

export const upcomingInvoices: Presentable<Subscription> = {
  async present(row, { baseUrl, ...context }) {
    const invoice = (await upcomingOf([row], context)).get(row.id) ?? null
    if (invoice === null) throw notFound({ label: 'upcoming invoice of the subscription' }, row.id)
    return presentUpcomingInvoice(row, invoice, baseUrl)
  },
  expanders: upcomingInvoiceExpanders,
}

/** Responds with 404 if there will be no next invoice. */
export async function getUpcomingInvoice(context: OperationContext): Promise<OperationResponse> {
  const [body] = await presentAll(context, upcomingInvoices, [await readOrder(context)])
  return { body }
}

export async function getUpcomingInvoices(context: OperationContext): Promise<OperationResponse> {
  const row = await readOrder(context)
  const rows = (await upcomingOf([row], context)).get(row.id) == null ? [] : [row]
  const { items, page } = pageOf(rows, context.query as unknown as Range)
  return { body: await presentAll(context, upcomingInvoices, items), page }
}

async function readOrder({ em, organizationId, params }: OperationContext): Promise<Subscription> {
  const row = await em.findOne(Subscription, { organizationId, id: params.id ?? '' })
  if (row === null) throw notFound(subscriptions, params.id ?? '')
  return row
}

async function lockedAction<Row extends OrderAction>(
  context: OperationContext,
  unit: UnitOfWork,
  resource: Resource<Row>,
): Promise<Row> {
  const id = context.params.id ?? ''
  const row = await lockOfOrder(unit, resource.entity, id)
  if (row === null) throw notFound(resource, id)
  return row
}

type OrderAction = ResourceRow & { subscriptionId: string }

/** The order's row is always locked before the action's. */
async function lockOfOrder<Row extends OrderAction>(
  unit: UnitOfWork,
  entity: EntityClass<Row>,
  id: string,
): Promise<Row | null> {
  const { organizationId, em } = unit
  const found = await em.findOne(entity as EntityClass<OrderAction>, { organizationId, id })
  if (found === null) return null
  await lockSubscription(unit, found.subscriptionId)
  return (await em.refresh(found)) as Row | null
}

/** POST subscriptions/{id}/interim-invoice. */
export async function postInterimInvoice(context: OperationContext): Promise<OperationResponse> {
  const command = ({ order }: OrderRecord, at: number) => {
    context.body()
    return invoiceQueue(order, at)
  }
  return await issueInvoice(context, command, (row, { unit }) => respondCreated(unit, context, invoices, row))
}

/** POST subscriptions/{id}/upcoming-invoice/issue, and …/upcoming-invoices/{invoiceId}/issue, which names the invoice. */
export async function postUpcomingInvoiceIssue(context: OperationContext): Promise<OperationResponse> {
  const { invoiceId } = context.params
  const command = (record: OrderRecord, at: number) => {
    const upcomingId = upcomingInvoiceId(record.row)
    if (invoiceId !== undefined && invoiceId !== upcomingId)
      throw notFound({ label: 'upcoming invoice' }, invoiceId)
    record.upcomingId = upcomingId
    const { issuedTime, dueTime } = context.body<UpcomingInvoiceIssue>()
    return issueUpcoming(record.order, at, {
      issuedTime: issuedTime == null ? null : Date.parse(issuedTime),
      dueTime: dueTime == null ? null : Date.parse(dueTime),
    })
  }
  return await issueInvoice(context, command, async (row, { record: { order, row: ofOrder } }) => {
    const state = order.invoices.find(({ sequence }) => sequence === row.sequence)
    if (state === undefined) throw new Error('an invoice that was issued is not in the record of its order')
    const body = presentUpcomingInvoice(ofOrder, state, context.baseUrl, row)
    return { body, ...createdAt(context, 'invoices', row.id) }
  })
}

/** Issues an invoice of the order of the path by a command, which makes it. */
async function issueInvoice(
  context: OperationContext,
  command: (record: OrderRecord, at: number) => Transition,
  respond: (
    row: Invoice,
    command: { readonly unit: UnitOfWork; readonly record: OrderRecord },
  ) => Promise<OperationResponse>,
): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const id = context.params.id ?? ''
    const row = await lockSubscription(unit, id)
    if (row === null) throw notFound(subscriptions, id)
    let made = 0
    const record = await actOnOrder(unit, row, (record, at) => {
      made = record.order.nextInvoice
      return command(record, at)
    })
    const invoice = record.invoices.get(made)
    if (invoice === undefined) throw new Error('an invoice that was issued left no row')
    return await respond(invoice, { unit, record })
  })
}

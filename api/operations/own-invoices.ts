/** A merchant's own invoices: drafts and their items, their issue, and sales applied to invoices. */
import { canonicalJson } from '../../billing/canonical-json.ts'
import { milliseconds } from '../../billing/instants.ts'
import { amountOf } from '../../billing/money.ts'
import { issueInvoice, type OwnItem } from '../../billing/own-invoices.ts'
import { actOnInvoice, lockInvoice } from '../../commands/invoices/act-on-invoice.ts'
import { applyTransaction } from '../../commands/invoices/apply-transaction.ts'
import {
  addItem,
  changeItem,
  createOwnInvoice,
  emitDraft,
  type OwnInvoiceValues,
  recalculateInvoice,
  updateOwnInvoice,
} from '../../commands/invoices/save-own-invoice.ts'
import { changeRow } from '../../db/change-row.ts'
import { Invoice as InvoiceRow } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { presentInvoice, presentInvoiceItems } from '../../representations/invoice.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { createdAt } from '../resources/created.ts'
import { notFound, type Writer } from '../resources/resource.ts'
import { respondIn } from '../resources/respond.ts'
import { contactOf } from '../schemas/contact.ts'
import type { Invoice, InvoiceIssue, InvoiceItem, InvoiceTransaction } from '../schemas/invoice.ts'
import { millisecondsOf } from './instants.ts'
import { invoices } from './invoices.ts'

export const invoiceWriter: Writer<InvoiceRow, Invoice> = {
  lock: lockedRow,
  create: (unit, id, body) => createOwnInvoice(unit, id, valuesOf(body, null)),
  async update(unit, row, body) {
    const shown = valuesOf(presentInvoice(row, unit.baseUrl), null)
    const given = valuesOf(body, shown)
    const isOfOrder = row.subscriptionId != null
    const isFixed = isOfOrder || row.status !== 'draft'
    const values = isFixed ? withComputed(given, shown, isOfOrder) : given
    // What any invoice shows can be sent back.
    if (canonicalJson(values) !== canonicalJson(shown)) await updateOwnInvoice(unit, row, values)
  },
  changed: (unit, row) => emitDraft(unit, row, 'invoice-modified'),
}

export async function postInvoiceItem(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const invoice = await requiredInvoice(context, unit)
    const item = itemOf(context.body<InvoiceItem>(), null)
    let id = ''
    await changeDraft(unit, invoice, async () => {
      id = await addItem(unit, invoice, item)
    })
    return {
      body: shownItem(context, invoice, id),
      ...createdAt(context, 'invoices', invoice.id, 'items', id),
    }
  })
}

export async function putInvoiceItem(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const invoice = await requiredInvoice(context, unit)
    const { itemId = '' } = context.params
    const before = shownItem(context, invoice, itemId)
    const shown = itemOf(before, null)
    const item = itemOf(context.body<InvoiceItem>(before), shown)
    if (canonicalJson(item) !== canonicalJson(shown))
      await changeDraft(unit, invoice, () => changeItem(unit, invoice, itemId, item))
    return { body: shownItem(context, invoice, itemId) }
  })
}

export async function deleteInvoiceItem(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const invoice = await requiredInvoice(context, unit)
    const { itemId = '' } = context.params
    shownItem(context, invoice, itemId)
    await changeDraft(unit, invoice, () => changeItem(unit, invoice, itemId, null))
    return {}
  })
}

export async function postInvoiceRecalculation(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const invoice = await requiredInvoice(context, unit)
    await changeDraft(unit, invoice, () => recalculateInvoice(unit, invoice))
    return await respondIn(unit, context, invoices, invoice)
  })
}

export async function postInvoiceIssue(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const id = context.params.id ?? ''
    const owned = await lockInvoice(unit, id)
    if (owned === null) throw notFound(invoices, id)
    const { issuedTime, dueTime } = context.body<InvoiceIssue>()
    const times = { issuedTime: milliseconds(issuedTime), dueTime: milliseconds(dueTime) }
    await actOnInvoice(unit, owned, (record, at) => issueInvoice(record.order, at, times))
    return await respondIn(unit, context, invoices, owned.invoice)
  })
}

export async function postInvoiceTransaction(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const id = context.params.id ?? ''
    if ((await unit.em.count(InvoiceRow, { organizationId: unit.organizationId, id })) === 0)
      throw notFound(invoices, id)
    const { transactionId, amount } = context.body<InvoiceTransaction>()
    const invoice = await applyTransaction(unit, id, {
      transactionId,
      amount: amount === undefined ? null : amountOf(amount),
    })
    return await respondIn(unit, context, invoices, invoice)
  })
}

async function lockedRow(unit: UnitOfWork, id: string): Promise<InvoiceRow | null> {
  const owned = await lockInvoice(unit, id)
  if (owned === null) return null
  // That of an order may have changed before its order was locked.
  if (owned.order !== null) await unit.em.refresh(owned.invoice)
  return owned.invoice
}

async function requiredInvoice(context: OperationContext, unit: UnitOfWork): Promise<InvoiceRow> {
  const id = context.params.id ?? ''
  const row = await lockedRow(unit, id)
  if (row === null) throw notFound(invoices, id)
  return row
}

async function changeDraft(
  unit: UnitOfWork,
  invoice: InvoiceRow,
  change: () => void | Promise<void>,
): Promise<void> {
  if (await changeRow(unit, invoice, change)) emitDraft(unit, invoice, 'invoice-modified')
}

function shownItem({ baseUrl }: OperationContext, invoice: InvoiceRow, id: string) {
  const item = presentInvoiceItems(invoice, baseUrl).find((one) => one.id === id)
  if (item === undefined) throw notFound({ label: 'item of the invoice' }, id)
  return item
}

/**
 * Returns an invoice that is not to be changed any more as it was sent, but for what the service itself moves: an earlier
 * copy may have another due time or charge, no address yet, and other periods if it is of an order.
 */
function withComputed(
  given: OwnInvoiceValues,
  shown: OwnInvoiceValues,
  isOfOrder: boolean,
): OwnInvoiceValues {
  const { dueTime, autopayScheduledTime } = shown
  const items = given.items.map((item, index) => {
    const { periodStart, periodEnd } = shown.items[index] ?? item
    return { ...item, periodStart, periodEnd }
  })
  return {
    ...given,
    ...(isOfOrder ? { items } : {}),
    dueTime,
    autopayScheduledTime,
    billingAddress: given.billingAddress ?? shown.billingAddress,
  }
}

type InvoiceMembers = Pick<
  Invoice,
  | 'customerId'
  | 'websiteId'
  | 'currency'
  | 'billingAddress'
  | 'deliveryAddress'
  | 'poNumber'
  | 'notes'
  | 'dueTime'
  | 'autopayScheduledTime'
> & {
  readonly items?: readonly ItemMembers[]
  readonly shipping?: { readonly amount: number } | null
}
type ItemMembers = Pick<
  InvoiceItem,
  | 'type'
  | 'description'
  | 'unitPrice'
  | 'quantity'
  | 'productId'
  | 'planId'
  | 'periodStartTime'
  | 'periodEndTime'
>

/** `shown`: what the invoice has. */
function valuesOf(body: InvoiceMembers, shown: OwnInvoiceValues | null): OwnInvoiceValues {
  return {
    customerId: body.customerId,
    websiteId: body.websiteId,
    currency: body.currency,
    items: (body.items ?? []).map((item, index) => itemOf(item, shown?.items[index])),
    shipping: body.shipping == null ? null : amountOf(body.shipping.amount),
    billingAddress: contactOf(body.billingAddress),
    deliveryAddress: contactOf(body.deliveryAddress),
    poNumber: body.poNumber ?? null,
    notes: body.notes ?? null,
    dueTime: millisecondsOf(body.dueTime, shown?.dueTime),
    autopayScheduledTime: millisecondsOf(body.autopayScheduledTime, shown?.autopayScheduledTime),
  }
}

function itemOf(body: ItemMembers, shown: OwnItem | null | undefined): OwnItem {
  return {
    type: body.type,
    description: body.description ?? '',
    unitPrice: amountOf(body.unitPrice),
    quantity: body.quantity ?? 1,
    productId: body.productId ?? null,
    planId: body.planId ?? null,
    periodStart: millisecondsOf(body.periodStartTime, shown?.periodStart),
    periodEnd: millisecondsOf(body.periodEndTime, shown?.periodEnd),
  }
}

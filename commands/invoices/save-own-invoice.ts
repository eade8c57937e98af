/** Drafts of a merchant's own invoices: callers write them, under the lock of the row (decisions 6.3). */
import type { Contact } from '../../billing/contacts.ts'
import { ConflictError, type InvalidField } from '../../billing/errors.ts'
import { amountProblem } from '../../billing/money.ts'
import {
  itemProblems,
  MOST_ITEMS,
  OWN_SEQUENCE,
  type OwnItem,
  ownLine,
  pricedDraft,
  shippingOf,
} from '../../billing/own-invoices.ts'
import { Customer, Invoice, Plan, Product, Website } from '../../db/entities/index.ts'
import { newId } from '../../db/new-id.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { eventTime } from '../orders/event-time.ts'
import { readTaxes } from '../orders/order-taxes.ts'
import { type References, references } from '../references.ts'
import { taxedInvoice } from './own-invoice-record.ts'
import { emitInvoiceEvent, linesWithIds } from './write-invoice.ts'

export interface OwnInvoiceValues {
  readonly customerId: string
  readonly websiteId: string
  readonly currency: string
  readonly items: readonly OwnItem[]
  /** A decimal string; null: none. */
  readonly shipping: string | null
  readonly billingAddress: Contact | null
  readonly deliveryAddress: Contact | null
  readonly poNumber: string | null
  readonly notes: string | null
  /** null: decided when it is issued. */
  readonly dueTime: number | null
  /** When the customer's default instrument is charged, at the earliest at the issue; null: it is not. */
  readonly autopayScheduledTime: number | null
}

/** Emits `invoice-created`. Throws InvalidFieldsError. */
export async function createOwnInvoice(
  unit: UnitOfWork,
  id: string,
  given: OwnInvoiceValues,
): Promise<Invoice> {
  await checkValues(unit, given)
  const invoice = unit.create(Invoice, {
    id,
    subscriptionId: null,
    sequence: OWN_SEQUENCE,
    type: 'one-time',
    status: 'draft',
    discounts: [],
    discountAmount: '0',
    credits: [],
    autopayRetryNumber: 0,
    ...(await columnsOf(unit, id, given, [])),
  })
  emitDraft(unit, invoice, 'invoice-created')
  return invoice
}

/** Throws InvalidFieldsError, or ConflictError for an invoice of an order and one that is issued. */
export async function updateOwnInvoice(
  unit: UnitOfWork,
  invoice: Invoice,
  given: OwnInvoiceValues,
): Promise<void> {
  requireOwnDraft(invoice)
  await checkValues(unit, given)
  Object.assign(invoice, await columnsOf(unit, invoice.id, given, invoice.lines))
}

/** Returns the id of the item. Throws as `updateOwnInvoice`. */
export async function addItem(unit: UnitOfWork, invoice: Invoice, item: OwnItem): Promise<string> {
  requireOwnDraft(invoice)
  await checkItem(unit, item, invoice.currency)
  const id = newId('item')
  const shipping = invoice.lines.filter(isShipping)
  const items = invoice.lines.filter((line) => !isShipping(line))
  if (items.length >= MOST_ITEMS) throw new ConflictError(`An invoice has at most ${MOST_ITEMS} items.`)
  await setLines(unit, invoice, [...items, { ...ownLine(item, invoice.currency), id }, ...shipping])
  return id
}

/** Removes an item for null. Throws as `updateOwnInvoice`. */
export async function changeItem(
  unit: UnitOfWork,
  invoice: Invoice,
  id: string,
  item: OwnItem | null,
): Promise<void> {
  requireOwnDraft(invoice)
  const { currency, lines } = invoice
  if (item !== null) await checkItem(unit, item, currency)
  const changed = item === null ? [] : [{ ...ownLine(item, currency), id }]
  await setLines(
    unit,
    invoice,
    lines.flatMap((line) => (line.id === id ? changed : [line])),
  )
}

/** Throws as `updateOwnInvoice`. */
export async function recalculateInvoice(unit: UnitOfWork, invoice: Invoice): Promise<void> {
  requireOwnDraft(invoice)
  await setLines(unit, invoice, invoice.lines)
}

export function emitDraft(
  unit: UnitOfWork,
  invoice: Invoice,
  type: 'invoice-created' | 'invoice-modified',
): void {
  const time = eventTime(invoice, unit.now.getTime())
  const before = type === 'invoice-created' ? null : invoice.status
  emitInvoiceEvent(unit, invoice, { type }, { time, cause: 'api', before, transaction: null })
}

function requireOwnDraft({ subscriptionId, status }: Invoice): void {
  if (subscriptionId != null)
    throw new ConflictError('The invoice belongs to an order. Only an invoice of your own can be changed.')
  if (status !== 'draft') throw new ConflictError('The invoice has been issued. Only a draft can be changed.')
}

async function checkValues(unit: UnitOfWork, given: OwnInvoiceValues): Promise<void> {
  const { customerId, websiteId, currency, items, shipping } = given
  const found = references(unit)
  await found.required(Customer, 'customerId', customerId)
  await found.required(Website, 'websiteId', websiteId)
  for (const [index, item] of items.entries()) await checkReferences(found, item, `items.${index}.`)
  const problem = shipping === null ? null : amountProblem(shipping, currency)
  check(found, [
    ...items.flatMap((item, index) => itemProblems(item, currency, `items.${index}.`)),
    ...(problem === null ? [] : [{ field: 'shipping.amount', ...problem }]),
  ])
}

async function checkItem(unit: UnitOfWork, item: OwnItem, currency: string): Promise<void> {
  const found = references(unit)
  await checkReferences(found, item, '')
  check(found, itemProblems(item, currency, ''))
}

async function checkReferences(
  found: References,
  { productId, planId }: OwnItem,
  path: string,
): Promise<void> {
  await found.optional(Product, `${path}productId`, productId)
  await found.optional(Plan, `${path}planId`, planId)
}

function check(found: References, problems: readonly InvalidField[]): void {
  for (const { field, code, message } of problems) found.fail(field, code, message)
  found.check()
}

async function columnsOf(unit: UnitOfWork, id: string, given: OwnInvoiceValues, known: Invoice['lines']) {
  const { items, shipping, dueTime, autopayScheduledTime, ...members } = given
  const { currency } = given
  const lines = [...items.map((item) => ownLine(item, currency)), ...shippingOf(shipping, currency)]
  return {
    ...members,
    dueTime: date(dueTime),
    chargeTime: date(autopayScheduledTime),
    ...(await priced(unit, { ...members, id, lines: linesWithIds(lines, known) })),
  }
}

async function setLines(unit: UnitOfWork, invoice: Invoice, lines: Invoice['lines']): Promise<void> {
  Object.assign(invoice, await priced(unit, { ...taxedInvoice(invoice), lines }))
}

/** The columns that follow from the lines. */
async function priced(unit: UnitOfWork, invoice: Parameters<typeof taxedInvoice>[0]) {
  const taxes = (await readTaxes(unit, [taxedInvoice(invoice)])).get(invoice.id) ?? null
  const { lines, currency } = invoice
  const { amount, ...price } = pricedDraft(lines, currency, unit.now.getTime(), taxes)
  return { lines: [...price.lines], amount, amountDue: amount }
}

function isShipping({ type }: Invoice['lines'][number]): boolean {
  return type === 'shipping'
}

function date(instant: number | null): Date | null {
  return instant === null ? null : new Date(instant)
}

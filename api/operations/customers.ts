import { InvalidFieldsError } from '../../billing/errors.ts'
import { endAccessOf } from '../../commands/access/end-access.ts'
import {
  createCustomer,
  type NewCustomer,
  type TokenPayment,
} from '../../commands/catalog/create-customer.ts'
import { lockToMerge, mergeCustomers } from '../../commands/catalog/merge-customers.ts'
import { setLeadSource, updateCustomer } from '../../commands/catalog/update-customer.ts'
import { lockChargeable } from '../../commands/orders/charge-open-invoices.ts'
import { requireUnreferenced } from '../../commands/references.ts'
import { changeRow } from '../../db/change-row.ts'
import {
  averageValue,
  customerFigures,
  customerSearch,
  invoiceCount,
  lastPaymentTime,
  lifetimeRevenue,
  paymentCount,
} from '../../db/entities/customer.ts'
import {
  Customer as CustomerRow,
  PaymentInstrument,
  TimelineEntry,
  Website,
} from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { customerEvent } from '../../events/customer-events.ts'
import { presentCustomer, presentLeadSource } from '../../representations/customer.ts'
import { presentPaymentInstrument } from '../../representations/payment-instrument.ts'
import { presentWebsite } from '../../representations/website.ts'
import { isNotModified, requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { type Fields, fieldsOf } from '../query/fields.ts'
import { createdAt } from '../resources/created.ts'
import { remove } from '../resources/delete.ts'
import { embedding } from '../resources/embedding.ts'
import { notFound, type Resource, type Writer } from '../resources/resource.ts'
import { isPart } from '../resources/respond.ts'
import { contactOf } from '../schemas/contact.ts'
import { Customer } from '../schemas/customer.ts'
import { type CustomerLeadSource, leadSourceOf } from '../schemas/lead-source.ts'
import { taxNumbersOf } from '../schemas/tax-number.ts'

const valueFields = (
  name: string,
  { currency, amount, amountUsd }: ReturnType<typeof averageValue>,
): Fields => ({
  [`${name}.currency`]: { sql: currency, type: 'text', folded: 'upper' },
  [`${name}.amount`]: { sql: amount, type: 'number' },
  [`${name}.amountUsd`]: { sql: amountUsd, type: 'number' },
})

export const customers: Resource<CustomerRow> = {
  name: 'Customer',
  label: 'customer',
  path: 'customers',
  schema: Customer,
  entity: CustomerRow,
  table: 'customers',
  computed: `${customerFigures('row')} as figures`,
  search: customerSearch,
  fields: fieldsOf(Customer, {
    'primaryAddress.hash': null,
    'defaultPaymentInstrument.method': {
      sql: "(case when row.default_payment_instrument_id is not null then 'payment-card' end)",
      type: 'text',
    },
    'defaultPaymentInstrument.paymentInstrumentId': {
      sql: 'row.default_payment_instrument_id',
      type: 'text',
    },
    paymentCount: { sql: paymentCount('row'), type: 'number', always: true },
    lastPaymentTime: { sql: lastPaymentTime('row'), type: 'time' },
    invoiceCount: { sql: invoiceCount('row'), type: 'number', always: true },
    ...valueFields('lifetimeRevenue', lifetimeRevenue('row')),
    ...valueFields('averageValue', averageValue('row')),
  }),
  // Payments and invoices change what it shows, and not its revision.
  isVolatile: ({ figures }) => figures == null || figures.paymentCount + figures.invoiceCount > 0,
  present: (row, { baseUrl }) => presentCustomer(row, baseUrl),
  expanders: {
    defaultPaymentInstrument: embedding(
      PaymentInstrument,
      (row) => row.defaultPaymentInstrumentId ?? null,
      presentPaymentInstrument,
    ),
    leadSource: async (rows, { baseUrl }) =>
      new Map(rows.map((row) => [row.id, presentLeadSource(row, baseUrl)])),
    website: embedding(Website, (row) => row.websiteId ?? null, presentWebsite),
  },
}

export const customerWriter: Writer<CustomerRow, Customer> = {
  async lock(unit, id) {
    await lockChargeable(unit, id)
    return await lockRow(unit, CustomerRow, id)
  },
  create: (unit, id, body, context) => createCustomer(unit, id, ...givenOf(body, context, null)),
  update: (unit, row, body, context) => updateCustomer(unit, row, ...givenOf(body, context, row)),
  changed: (unit, row) => unit.emit(customerEvent(row, 'customer-updated', unit)),
}

/**
 * 409 while the customer has an order, an invoice, a credit memo, a coupon redemption, a transaction or a payment
 * instrument. Credentials and tokens end. With `targetCustomerId`, records move to that customer instead.
 */
export async function deleteCustomer(context: OperationContext): Promise<OperationResponse> {
  const { targetCustomerId } = context.query
  if (typeof targetCustomerId === 'string') return await mergeInto(context, targetCustomerId)
  return await remove(context, customers, async (unit, row) => {
    await requireUnreferenced(unit, 'customers', row.id)
    await endAccessOf(unit, row.id)
    const { organizationId } = unit
    await unit.em.nativeDelete(TimelineEntry, { organizationId, customerId: row.id })
  })
}

async function mergeInto(context: OperationContext, targetId: string): Promise<OperationResponse> {
  const id = context.params.id ?? ''
  return await context.commit(async (unit) => {
    const locked = await lockToMerge(unit, id, targetId)
    if (locked === null) throw notFound(customers, id)
    requirePreconditions(context.preconditions, locked.duplicate.revision)
    await mergeCustomers(unit, locked.duplicate, locked.target)
    return {}
  })
}

/** The lead source has the customer's revision. */
export async function getLeadSource(context: OperationContext): Promise<OperationResponse> {
  const { em, organizationId, baseUrl, preconditions } = context
  const id = context.params.id ?? ''
  const row = await em.findOne(CustomerRow, { organizationId, id })
  if (row === null) throw notFound(customers, id)
  const body = presentLeadSource(row, baseUrl)
  if (body === null) throw notFound(LEAD_SOURCE, id)
  if (isPart(context)) return { body }
  const { revision } = row
  return isNotModified(preconditions, revision) ? { status: 304, revision } : { body, revision }
}

/** Responds with 201, whether or not there was a lead source. */
export async function putLeadSource(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const row = await lockedCustomer(context, unit)
    const body = context.body<CustomerLeadSource>()
    await changeRow(unit, row, () => setLeadSource(unit, row, leadSourceOf(body)))
    return {
      body: presentLeadSource(row, context.baseUrl),
      revision: row.revision,
      ...createdAt(context, 'customers', row.id, 'lead-source'),
    }
  })
}

export async function deleteLeadSource(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const row = await lockedCustomer(context, unit)
    if (row.leadSource == null) throw notFound(LEAD_SOURCE, row.id)
    setLeadSource(unit, row, null)
    return {}
  })
}

const LEAD_SOURCE = { label: 'lead source of a customer' }

async function lockedCustomer(
  context: OperationContext,
  unit: Parameters<typeof setLeadSource>[0],
): Promise<CustomerRow> {
  const id = context.params.id ?? ''
  const row = await lockRow(unit, CustomerRow, id)
  if (row === null) throw notFound(customers, id)
  requirePreconditions(context.preconditions, row.revision)
  return row
}

function givenOf(
  body: Customer,
  context: OperationContext,
  row: CustomerRow | null,
): [NewCustomer, TokenPayment | null, string] {
  const isByObject = (body.defaultPaymentInstrument ?? null) !== null
  const field = isByObject ? 'defaultPaymentInstrument.paymentInstrumentId' : 'defaultPaymentInstrumentId'
  return [valuesOf(body, context, row), tokenOf(body, context), field]
}

function tokenOf({ paymentToken }: Customer, { cards }: OperationContext): TokenPayment | null {
  return paymentToken == null ? null : { token: paymentToken, cards }
}

function valuesOf(body: Customer, context: OperationContext, row: CustomerRow | null): NewCustomer {
  const taxNumbers = body.taxNumbers == null ? null : taxNumbersOf(body.taxNumbers)
  if ((taxNumbers ?? []).filter(({ isDefault }) => isDefault).length > 1) {
    throw new InvalidFieldsError([
      { field: 'taxNumbers', code: 'not-unique', message: 'must not have more than one default' },
    ])
  }
  return {
    email: body.email ?? null,
    firstName: body.firstName ?? null,
    lastName: body.lastName ?? null,
    websiteId: body.websiteId ?? null,
    defaultPaymentInstrumentId: defaultInstrumentOf(body, context, row),
    primaryAddress: contactOf(body.primaryAddress),
    locale: body.locale ?? null,
    taxNumbers,
    leadSource: leadSourceOf(body.leadSource),
    customFields: body.customFields ?? {},
  }
}

/**
 * A body names the instrument in two members. The one that differs from the stored instrument counts. Throws
 * InvalidFieldsError if both differ, and from each other.
 */
function defaultInstrumentOf(
  body: Customer,
  { has }: OperationContext,
  row: CustomerRow | null,
): string | null {
  const stored = row?.defaultPaymentInstrumentId ?? null
  const given = [
    ...(has('defaultPaymentInstrument') ? [body.defaultPaymentInstrument?.paymentInstrumentId ?? null] : []),
    ...(has('defaultPaymentInstrumentId') ? [body.defaultPaymentInstrumentId ?? null] : []),
  ]
  const [changed = stored, other = changed] = given.filter((id) => id !== stored)
  if (changed !== other) {
    const message = 'must be the instrument of defaultPaymentInstrument'
    throw new InvalidFieldsError([{ field: 'defaultPaymentInstrumentId', code: 'mismatch', message }])
  }
  return given.length === 0 ? null : changed
}

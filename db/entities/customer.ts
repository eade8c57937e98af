import { defineEntity, p } from '@mikro-orm/core'
import type { Contact } from '../../billing/contacts.ts'
import { UNUSUAL_EXPONENTS } from '../../billing/money.ts'
import { id, instant, json, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'
import { MONEY_TAKEN } from './transaction.ts'

export const customerSearch = searchExpression('email', 'first_name', 'last_name', 'website_id')

/** A renamed tag is renamed here too. */
export interface CustomerTag {
  id: string
  name: string
  type: 'customer'
}

export interface TaxNumber {
  type: 'eu-vat' | 'other'
  value: string
  isDefault: boolean
}

/** Amounts are decimal strings. */
export interface CustomerFigures {
  paymentCount: number
  lastPaymentTime: string | null
  invoiceCount: number
  /** null: no payment, or payments in several currencies. */
  currency: string | null
  currencies: number
  /** Approved ones only. */
  sales: string
  refunds: string
}

export const NO_FIGURES: CustomerFigures = {
  paymentCount: 0,
  lastPaymentTime: null,
  invoiceCount: 0,
  currency: null,
  currencies: 0,
  sales: '0',
  refunds: '0',
}

const approved = (row: string, type: 'paid' | 'refund') =>
  `from transactions payment where payment.organization_id = ${row}.organization_id and payment.customer_id = ${row}.id
    and payment.result = 'approved' and payment.type in (${type === 'paid' ? MONEY_TAKEN : `'refund'`})`
export const paymentCount = (row: string) => `(select count(*) ${approved(row, 'paid')})`
export const lastPaymentTime = (row: string) =>
  `(select max(coalesce(payment.charged_time, payment.created_time)) ${approved(row, 'paid')})`
export const invoiceCount = (row: string) =>
  `(select count(*) from invoices invoice where invoice.organization_id = ${row}.organization_id
    and invoice.customer_id = ${row}.id and invoice.issued_time is not null)`

const decimals = `case min(payment.currency) ${[...UNUSUAL_EXPONENTS]
  .map(([currency, exponent]) => `when '${currency}' then ${exponent}`)
  .join(' ')} else 2 end`
const isUsd = `(count(*) = 0 or min(payment.currency) = 'USD')`
/** What `lifetimeRevenue` and `averageValue` show, in SQL: amounts of several currencies are not summed. */
const figureOf = (row: string, amount: string) => {
  const of = (shown: string, condition: string) =>
    `(select case when count(distinct payment.currency) ${condition} then ${shown} end ${approved(row, 'paid')})`
  return {
    currency: of('min(payment.currency)', '= 1'),
    amount: of(amount, '<= 1'),
    amountUsd: of(amount, `<= 1 and ${isUsd}`),
  }
}
export const lifetimeRevenue = (row: string) =>
  figureOf(
    row,
    `coalesce(sum(payment.amount), 0) - (select coalesce(sum(payment.amount), 0) ${approved(row, 'refund')})`,
  )
export const averageValue = (row: string) =>
  figureOf(row, `round(coalesce(sum(payment.amount), 0) / greatest(count(*), 1), ${decimals})`)

export const customerFigures = (row: string) =>
  `(select jsonb_build_object(
      'paymentCount', count(*),
      'lastPaymentTime', max(coalesce(payment.charged_time, payment.created_time)),
      'invoiceCount', ${invoiceCount(row)},
      'currency', case when count(distinct payment.currency) = 1 then min(payment.currency) end,
      'currencies', count(distinct payment.currency),
      'sales', coalesce(sum(payment.amount), 0)::text,
      'refunds', (select coalesce(sum(payment.amount), 0)::text ${approved(row, 'refund')}))
    ${approved(row, 'paid')})`

const CustomerSchema = defineEntity({
  name: 'Customer',
  tableName: 'customers',
  indexes: [
    ...listIndexes('customers', customerSearch),
    { name: 'customers_website_index', properties: ['organizationId', 'websiteId'] },
    {
      name: 'customers_tags_index',
      expression:
        'create index "customers_tags_index" on "customers" using gin ("organization_id", "tags" jsonb_path_ops) where "tags" <> \'[]\'',
    },
  ],
  properties: {
    ...tenantKey,
    email: p.string().nullable(),
    firstName: p.string().nullable(),
    lastName: p.string().nullable(),
    websiteId: id().nullable(),
    /** Charged when an order names no instrument. */
    defaultPaymentInstrumentId: id().nullable(),
    /** True if there is no default, because the one that was chosen was deactivated: backups stand for it (ADR 91). */
    isDefaultDeactivated: p.boolean().default(false),
    primaryAddress: json<Contact>().nullable(),
    locale: p.string().length(35).nullable(),
    taxNumbers: json<TaxNumber[]>().nullable(),
    tags: json<CustomerTag[]>().default('[]'),
    leadSource: json<Record<string, string | null>>().nullable(),
    originalLeadSource: json<Record<string, string | null>>().nullable(),
    leadSourceCreatedTime: instant().nullable(),
    leadSourceUpdatedTime: instant().nullable(),
    customFields: json<Record<string, unknown>>().nullable(),
    /** Computed when the row is read, because a payment does not change the customer. */
    figures: json<CustomerFigures>()
      .formula((_, table) => customerFigures(`${table}`))
      .nullable(),
    ...resourceColumns,
  },
})

export class Customer extends CustomerSchema.class {}
CustomerSchema.setClass(Customer)

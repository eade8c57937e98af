import { defineEntity, p } from '@mikro-orm/core'
import type { Contact, Reachable } from '../../billing/contacts.ts'
import type { CreditAllocation } from '../../billing/credit-memos.ts'
import type { InvoiceDiscount } from '../../billing/discounts.ts'
import type { Decline } from '../../billing/dunning.ts'
import type {
  CreditWithdrawal,
  InvoiceLine,
  InvoiceStatus,
  InvoiceType,
  OpenCharge,
} from '../../billing/invoices.ts'
import {
  EMPTY_ARRAY,
  id,
  instant,
  json,
  listIndexes,
  quarantineColumns,
  quarantineIndex,
  resourceColumns,
  searchExpression,
  tenantKey,
} from './columns.ts'

export const invoiceSearch = searchExpression(
  'subscription_id',
  'customer_id',
  'website_id',
  'currency',
  'status',
  'type',
  'po_number',
  'notes',
)

export interface Issuer {
  name: string
  website: string | null
  address: string | null
  address2: string | null
  city: string | null
  region: string | null
  country: string | null
  postalCode: string | null
  phoneNumbers: Reachable[]
  emails: Reachable[]
  taxDescriptor: string | null
  /** Of the IANA database; the document's dates are in it. */
  timeZone: string
}

export interface TaxIdNumber {
  type: 'eu-vat' | 'other'
  value: string
}

const InvoiceSchema = defineEntity({
  name: 'Invoice',
  tableName: 'invoices',
  indexes: [
    ...listIndexes('invoices', invoiceSearch),
    { name: 'invoices_customer_index', properties: ['organizationId', 'customerId'] },
    quarantineIndex('invoices'),
    {
      name: 'invoices_deadline_index',
      expression: `create index "invoices_deadline_index" on "invoices" ("next_deadline") where "next_deadline" is not null`,
    },
  ],
  checks: [
    {
      // One live invoice per period, checked at the commit: a transaction may end one and issue its replacement.
      name: 'invoices_live_period_exclude',
      expression: `EXCLUDE USING btree (organization_id WITH =, subscription_id WITH =, period_number WITH =) WHERE (((status)::text <> ALL ((ARRAY['voided'::character varying, 'abandoned'::character varying])::text[]))) DEFERRABLE INITIALLY DEFERRED`,
    },
  ],
  uniques: [
    {
      name: 'invoices_sequence_unique',
      properties: ['organizationId', 'subscriptionId', 'sequence'],
    },
    { name: 'invoices_number_unique', properties: ['organizationId', 'invoiceNumber'] },
  ],
  properties: {
    ...tenantKey,
    /** null: it is the merchant's own, and the lock of this row protects it (ADR 78). */
    subscriptionId: id().nullable(),
    customerId: id(),
    websiteId: id(),
    sequence: p.integer(),
    type: p.string().length(20).$type<InvoiceType>(),
    status: p.string().length(20).$type<InvoiceStatus>(),
    currency: p.string().length(3),
    /** Amounts are decimal strings. Lines of earlier releases have no id. */
    lines: json<(InvoiceLine & { id?: string })[]>(),
    /** In the order of application. */
    discounts: json<InvoiceDiscount[]>().defaultRaw(EMPTY_ARRAY),
    /** A decimal string, as all amounts below. */
    discountAmount: p.decimal().precision(18).scale(6).default('0').$type<string>(),
    amount: p.decimal().precision(18).scale(6).$type<string>(),
    amountDue: p.decimal().precision(18).scale(6).$type<string>(),
    periodNumber: p.integer().nullable(),
    periodStart: instant().nullable(),
    periodEnd: instant().nullable(),
    issuedTime: instant().nullable(),
    dueTime: instant().nullable(),
    delinquencyTime: instant().nullable(),
    paidTime: instant().nullable(),
    voidedTime: instant().nullable(),
    abandonedTime: instant().nullable(),
    chargeTime: instant().nullable(),
    autopayRetryNumber: p.integer().default(0),
    /** The next automatic charge has this number plus one. */
    attempts: p.integer().default(0),
    declinedTime: instant().nullable(),
    declines: json<Decline[]>().nullable(),
    charge: json<OpenCharge>().nullable(),
    amountPaid: p.decimal().precision(18).scale(6).default('0').$type<string>(),
    amountRefunded: p.decimal().precision(18).scale(6).default('0').$type<string>(),
    refundedWhileOpen: p.decimal().precision(18).scale(6).default('0').$type<string>(),
    /** What was credited of the time that it billed, and what refunds took back of that. */
    amountCredited: p.decimal().precision(18).scale(6).default('0').$type<string>(),
    creditTakenBack: p.decimal().precision(18).scale(6).default('0').$type<string>(),
    creditWithdrawals: json<readonly CreditWithdrawal[]>().defaultRaw(EMPTY_ARRAY),
    credits: json<CreditAllocation[]>().defaultRaw(EMPTY_ARRAY),
    isDisputed: p.boolean().default(false),
    poNumber: p.string().nullable(),
    notes: p.text().nullable(),
    /** Of a draft those of its order; when it is issued, a missing one is the customer's. */
    billingAddress: json<Contact>().nullable(),
    deliveryAddress: json<Contact>().nullable(),
    /** Given when it is issued, without gaps; so are the members below. */
    invoiceNumber: p.integer().nullable(),
    issuer: json<Issuer>().nullable(),
    organizationTaxIdNumber: json<TaxIdNumber>().nullable(),
    customerTaxIdNumber: json<TaxIdNumber>().nullable(),
    /** Of an own invoice, as the two below: an order has them for its own. */
    lastEventTime: instant().nullable(),
    nextDeadline: instant().nullable(),
    ...quarantineColumns,
    ...resourceColumns,
  },
})

export class Invoice extends InvoiceSchema.class {}
InvoiceSchema.setClass(Invoice)

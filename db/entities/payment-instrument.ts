import { defineEntity, p } from '@mikro-orm/core'
import type { CardBrand } from '../../billing/cards.ts'
import type { Contact } from '../../billing/contacts.ts'
import type { PaymentInstrumentStatus } from '../../billing/payment-instruments.ts'
import type { DerivedRisk, RiskInput } from '../../billing/risk.ts'
import {
  EMPTY_ARRAY,
  id,
  instant,
  json,
  listIndexes,
  resourceColumns,
  searchExpression,
  tenantKey,
} from './columns.ts'
import { MONEY_TAKEN } from './transaction.ts'

export const paymentInstrumentSearch = searchExpression(
  'customer_id',
  'method',
  'bin',
  'last4',
  'brand',
  'status',
)

/** Of approved sales. The customer's transactions are few, and have an index. */
export const lastPaymentTime = (organizationId: string, customerId: string, instrumentId: string) =>
  `(select max(sale.processed_time) from transactions sale where sale.organization_id = ${organizationId}
      and sale.customer_id = ${customerId} and sale.type in (${MONEY_TAKEN}) and sale.result = 'approved'
      and sale.payment_instruction ->> 'paymentInstrumentId' = ${instrumentId})`

const PaymentInstrumentSchema = defineEntity({
  name: 'PaymentInstrument',
  tableName: 'payment_instruments',
  indexes: [
    ...listIndexes('payment_instruments', paymentInstrumentSearch),
    { name: 'payment_instruments_customer_index', properties: ['organizationId', 'customerId'] },
    { name: 'payment_instruments_reference_index', properties: ['organizationId', 'gatewayReference'] },
    {
      name: 'payment_instruments_expiry_index',
      expression:
        'create index "payment_instruments_expiry_index" on "payment_instruments" (("exp_year" * 12 + "exp_month")) where "status" = \'active\'',
    },
  ],
  properties: {
    ...tenantKey,
    customerId: id(),
    method: p.string().length(20).$type<'payment-card'>(),
    /** null for a card that the provider's own form stored. */
    bin: p.string().length(6).nullable(),
    /** Identifies a card that the provider's own form stored. */
    referenceData: json<Record<string, string>>().nullable(),
    last4: p.string().length(4),
    brand: p.string().length(20).$type<CardBrand>(),
    expMonth: p.smallint(),
    expYear: p.smallint(),
    status: p.string().length(20).$type<PaymentInstrumentStatus>(),
    billingAddress: json<Contact>().nullable(),
    /** Captured with its payment token; returned with orders that name no instrument. */
    riskMetadata: json<RiskInput & DerivedRisk>().nullable(),
    gateway: p.string().length(50),
    /** Never public. */
    gatewayReference: p.string(),
    /** At other accounts, in the order in which they are tried after a soft decline. */
    backupReferences: json<string[]>().defaultRaw(EMPTY_ARRAY),
    /** Keyed hash of the number: equal for equal cards, meaningless without the key. */
    cardFingerprint: p.string().length(64),
    /** What the merchant sees in its place; differs between organizations. */
    fingerprint: p.string().length(64),
    expirationReminderNumber: p.integer().default(0),
    useAsBackup: p.boolean().default(false),
    customFields: json<Record<string, unknown>>().nullable(),
    /** Computed when the row is read, because a payment does not change the instrument. */
    lastPaymentTime: instant()
      .formula((columns) =>
        lastPaymentTime(`${columns.organizationId}`, `${columns.customerId}`, `${columns.id}`),
      )
      .nullable(),
    ...resourceColumns,
  },
})

export class PaymentInstrument extends PaymentInstrumentSchema.class {}
PaymentInstrumentSchema.setClass(PaymentInstrument)

import { defineEntity, p } from '@mikro-orm/core'
import type { CardBrand } from '../../billing/cards.ts'
import type { Contact } from '../../billing/contacts.ts'
import type { DerivedRisk, RiskInput } from '../../billing/risk.ts'
import { id, json, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export const paymentInstrumentSearch = searchExpression(
  'customer_id',
  'method',
  'bin',
  'last4',
  'brand',
  'status',
)

const PaymentInstrumentSchema = defineEntity({
  name: 'PaymentInstrument',
  tableName: 'payment_instruments',
  indexes: [
    ...listIndexes('payment_instruments', paymentInstrumentSearch),
    { name: 'payment_instruments_customer_index', properties: ['organizationId', 'customerId'] },
  ],
  properties: {
    ...tenantKey,
    customerId: id(),
    method: p.string().length(20).$type<'payment-card'>(),
    bin: p.string().length(6),
    last4: p.string().length(4),
    brand: p.string().length(20).$type<CardBrand>(),
    expMonth: p.smallint(),
    expYear: p.smallint(),
    status: p.string().length(20).$type<'active' | 'inactive'>(),
    billingAddress: json<Contact>().nullable(),
    /** Captured with its payment token; returned with orders that name no instrument. */
    riskMetadata: json<RiskInput & DerivedRisk>().nullable(),
    gateway: p.string().length(50),
    /** The gateway's reference of the card; never public. */
    gatewayReference: p.string(),
    /** Keyed hash of the number: equal for equal cards, meaningless without the key. */
    cardFingerprint: p.string().length(64),
    ...resourceColumns,
  },
})

export class PaymentInstrument extends PaymentInstrumentSchema.class {}
PaymentInstrumentSchema.setClass(PaymentInstrument)

import { defineEntity, p } from '@mikro-orm/core'
import type { CardBrand } from '../../billing/cards.ts'
import type { Contact } from '../../billing/contacts.ts'
import type { DerivedRisk, RiskInput } from '../../billing/risk.ts'
import {
  instant,
  json,
  listIndexes,
  quarantineColumns,
  quarantineIndex,
  resourceColumns,
  searchExpression,
  tenantKey,
} from './columns.ts'

/** Every list declares one, although that of tokens has no `q`. */
export const paymentTokenSearch = searchExpression('bin', 'last4')

/** For the velocities: recent tokens that share a value. */
const sharing = (column: string) => ({
  name: `payment_tokens_${column}_index`,
  expression: `create index "payment_tokens_${column}_index" on "payment_tokens" ("organization_id", "${column}", "created_time") where "${column}" is not null`,
})

const PaymentTokenSchema = defineEntity({
  name: 'PaymentToken',
  tableName: 'payment_tokens',
  indexes: [
    quarantineIndex('payment_tokens'),
    ...listIndexes('payment_tokens', paymentTokenSearch).slice(0, 1),
    {
      name: 'payment_tokens_card_held_index',
      expression:
        'create index "payment_tokens_card_held_index" on "payment_tokens" ("expiration_time") where "card_cipher" is not null',
    },
    ...['card_fingerprint', 'ip_address', 'device', 'email', 'billing_address_hash'].map(sharing),
  ],
  properties: {
    ...tenantKey,
    method: p.string().length(20).$type<'payment-card'>(),
    bin: p.string().length(6).nullable(),
    last4: p.string().length(4).nullable(),
    brand: p.string().length(20).$type<CardBrand>().nullable(),
    expMonth: p.smallint(),
    expYear: p.smallint(),
    /** Number and security code; null after use or expiry. */
    cardCipher: p.text().nullable(),
    cardFingerprint: p.string().length(64).nullable(),
    billingAddress: json<Contact>().nullable(),
    billingAddressHash: p.string().length(64).nullable(),
    email: p.string().nullable(),
    ipAddress: p.string().length(45).nullable(),
    device: p.string().nullable(),
    riskMetadata: json<RiskInput & DerivedRisk>().nullable(),
    leadSource: json<Record<string, string | null>>().nullable(),
    isUsed: p.boolean().default(false),
    usageTime: instant().nullable(),
    /** The request that uses the token now, until it is consumed or the lease ends. */
    leaseOwner: p.string().length(100).nullable(),
    leasedUntil: instant().nullable(),
    expirationTime: instant(),
    ...quarantineColumns,
    ...resourceColumns,
  },
})

export class PaymentToken extends PaymentTokenSchema.class {}
PaymentTokenSchema.setClass(PaymentToken)

import { defineEntity, p } from '@mikro-orm/core'
import { EMPTY_ARRAY, json, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export type GatewayAccountStatus = 'active' | 'inactive' | 'closed'

/** Stored as JSON in the ciphertext. */
export interface GatewayCredentials {
  readonly secretKey: string
  readonly publishableKey: string | null
  /** Verifies the provider's notifications; null or missing: they are refused. */
  readonly webhookSecret?: string | null
}

/** What an account charges at most in a day (UTC) in a currency; null: any number, any amount. */
export interface DailyLimit {
  readonly currency: string
  readonly count: number | null
  /** A decimal string. */
  readonly amount: string | null
}

export const gatewayAccountSearch = searchExpression('gateway_name', 'descriptor')

const GatewayAccountSchema = defineEntity({
  name: 'GatewayAccount',
  tableName: 'gateway_accounts',
  indexes: listIndexes('gateway_accounts', gatewayAccountSearch),
  properties: {
    ...tenantKey,
    gatewayName: p.string().length(30).$type<'TestGateway' | 'Stripe'>(),
    status: p.string().length(10).$type<GatewayAccountStatus>(),
    /** Accounts are tried in this order, equal ones in the order of their creation. */
    priority: p.integer(),
    /** Empty: all. */
    acceptedCurrencies: json<string[]>(),
    /** Empty: all. */
    paymentCardSchemes: json<string[]>(),
    takesCardNumbers: p.boolean(),
    descriptor: p.string().length(22).nullable(),
    /** At most one for each currency. */
    dailyLimits: json<DailyLimit[]>().defaultRaw(EMPTY_ARRAY),
    /** `GatewayCredentials`; null if the provider asks for none. */
    credentialsCipher: p.text().nullable(),
    customFields: json<Record<string, unknown>>(),
    ...resourceColumns,
  },
})

export class GatewayAccount extends GatewayAccountSchema.class {}
GatewayAccountSchema.setClass(GatewayAccount)

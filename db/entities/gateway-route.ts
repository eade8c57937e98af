import { defineEntity, p } from '@mikro-orm/core'
import { id } from './columns.ts'

const GatewayRouteSchema = defineEntity({
  name: 'GatewayRoute',
  tableName: 'gateway_routes',
  indexes: [{ name: 'gateway_routes_created_index', properties: ['createdTime'] }],
  properties: {
    organizationId: id().primary(),
    requestId: p.string().length(150).primary(),
    /** Where the request was last sent; null: every account has refused it. */
    reference: p.string().length(255).nullable(),
    gatewayAccountId: id().nullable(),
    /** The day whose limit it counts for; null: for none. */
    countedDay: p.date().nullable(),
    /** It is sent to no further account. */
    hasEnded: p.boolean().default(false),
    createdTime: p.datetime().length(3).defaultRaw('now()'),
  },
})

export class GatewayRoute extends GatewayRouteSchema.class {}
GatewayRouteSchema.setClass(GatewayRoute)

const GatewayAccountDaySchema = defineEntity({
  name: 'GatewayAccountDay',
  tableName: 'gateway_account_days',
  properties: {
    organizationId: id().primary(),
    gatewayAccountId: id().primary(),
    currency: p.string().length(3).primary(),
    /** UTC. */
    day: p.date().primary(),
    charges: p.integer(),
    /** A decimal string; the sum of many amounts. */
    amount: p.decimal().precision(30).scale(6).$type<string>(),
  },
})

/** What an account with a daily limit has charged in a day. */
export class GatewayAccountDay extends GatewayAccountDaySchema.class {}
GatewayAccountDaySchema.setClass(GatewayAccountDay)

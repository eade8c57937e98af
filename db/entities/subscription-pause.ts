import { defineEntity, p } from '@mikro-orm/core'
import type { Pause } from '../../billing/order.ts'
import { id, instant, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export const pauseSearch = searchExpression('subscription_id', 'status', 'description')

const SubscriptionPauseSchema = defineEntity({
  name: 'SubscriptionPause',
  tableName: 'subscription_pauses',
  indexes: [
    ...listIndexes('subscription_pauses', pauseSearch),
    { name: 'subscription_pauses_order_index', properties: ['organizationId', 'subscriptionId'] },
  ],
  properties: {
    ...tenantKey,
    subscriptionId: id(),
    status: p.string().length(20).$type<Pause['status']>(),
    effectiveTime: instant(),
    endTime: instant().nullable(),
    /** Milliseconds from its end to the next boundary. */
    timeRemaining: p.bigint('number').nullable(),
    pausedBy: p.string().length(20).default('merchant').$type<'merchant' | 'customer'>(),
    description: p.string().nullable(),
    ...resourceColumns,
  },
})

export class SubscriptionPause extends SubscriptionPauseSchema.class {}
SubscriptionPauseSchema.setClass(SubscriptionPause)

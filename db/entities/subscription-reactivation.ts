import { defineEntity } from '@mikro-orm/core'
import { id, instant, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

/** What `q` searches. */
export const reactivationSearch = searchExpression('subscription_id')

const SubscriptionReactivationSchema = defineEntity({
  name: 'SubscriptionReactivation',
  tableName: 'subscription_reactivations',
  indexes: listIndexes('subscription_reactivations', reactivationSearch),
  properties: { ...tenantKey, subscriptionId: id(), effectiveTime: instant(), ...resourceColumns },
})

/** A caller's reactivation of a canceled order. */
export class SubscriptionReactivation extends SubscriptionReactivationSchema.class {}
SubscriptionReactivationSchema.setClass(SubscriptionReactivation)

import { defineEntity } from '@mikro-orm/core'
import { id, instant, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export const reactivationSearch = searchExpression('subscription_id')

const SubscriptionReactivationSchema = defineEntity({
  name: 'SubscriptionReactivation',
  tableName: 'subscription_reactivations',
  indexes: listIndexes('subscription_reactivations', reactivationSearch),
  properties: { ...tenantKey, subscriptionId: id(), effectiveTime: instant(), ...resourceColumns },
})

export class SubscriptionReactivation extends SubscriptionReactivationSchema.class {}
SubscriptionReactivationSchema.setClass(SubscriptionReactivation)

import { defineEntity, p } from '@mikro-orm/core'
import { id, instant, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export const reactivationSearch = searchExpression('subscription_id', 'description')

const SubscriptionReactivationSchema = defineEntity({
  name: 'SubscriptionReactivation',
  tableName: 'subscription_reactivations',
  indexes: listIndexes('subscription_reactivations', reactivationSearch),
  properties: {
    ...tenantKey,
    subscriptionId: id(),
    /** null: it reverses one for delinquency. */
    cancellationId: id().nullable(),
    effectiveTime: instant(),
    renewalTime: instant().nullable(),
    /** The instrument that it gave the order; null: none. */
    paymentInstrumentId: id().nullable(),
    description: p.string().nullable(),
    ...resourceColumns,
  },
})

export class SubscriptionReactivation extends SubscriptionReactivationSchema.class {}
SubscriptionReactivationSchema.setClass(SubscriptionReactivation)

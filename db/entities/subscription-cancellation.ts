import { defineEntity, p } from '@mikro-orm/core'
import type { CancelCategory, CanceledBy } from '../../billing/order.ts'
import { id, instant, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export const cancellationSearch = searchExpression('subscription_id', 'canceled_by', 'reason', 'description')

const SubscriptionCancellationSchema = defineEntity({
  name: 'SubscriptionCancellation',
  tableName: 'subscription_cancellations',
  indexes: listIndexes('subscription_cancellations', cancellationSearch),
  properties: {
    ...tenantKey,
    subscriptionId: id(),
    churnTime: instant(),
    canceledBy: p.string().length(20).$type<CanceledBy>(),
    reason: p.string().length(30).nullable().$type<CancelCategory | null>(),
    description: p.string().nullable(),
    ...resourceColumns,
  },
})

export class SubscriptionCancellation extends SubscriptionCancellationSchema.class {}
SubscriptionCancellationSchema.setClass(SubscriptionCancellation)

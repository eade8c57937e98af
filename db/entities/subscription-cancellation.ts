import { defineEntity, p } from '@mikro-orm/core'
import type { InvoiceLine } from '../../billing/invoices.ts'
import type { CancelCategory, CanceledBy } from '../../billing/order.ts'
import type { ChurnTimePolicy } from '../../billing/order-commands.ts'
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

export type CancellationStatus = 'draft' | 'confirmed' | 'completed' | 'revoked'

export const cancellationSearch = searchExpression('subscription_id', 'canceled_by', 'reason', 'description')

const SubscriptionCancellationSchema = defineEntity({
  name: 'SubscriptionCancellation',
  tableName: 'subscription_cancellations',
  indexes: listIndexes('subscription_cancellations', cancellationSearch),
  properties: {
    ...tenantKey,
    subscriptionId: id(),
    /** A draft changes nothing; a confirmed one ends service at its churn time, which completes it. */
    status: p.string().length(20).default('confirmed').$type<CancellationStatus>(),
    canceledTime: instant().nullable(),
    /** null: a draft that ends service at once. */
    churnTime: instant().nullable(),
    churnTimePolicy: p.string().length(20).nullable().$type<ChurnTimePolicy | null>(),
    canceledBy: p.string().length(20).$type<CanceledBy>(),
    reason: p.string().length(30).nullable().$type<CancelCategory | null>(),
    description: p.string().nullable(),
    /** True if the unused part of the last period is credited when service ends. */
    prorated: p.boolean().default(false),
    /** Amounts are decimal strings, and negative. */
    creditLines: json<InvoiceLine[]>().defaultRaw(EMPTY_ARRAY),
    currency: p.string().length(3).nullable(),
    proratedInvoiceId: id().nullable(),
    ...resourceColumns,
  },
})

export class SubscriptionCancellation extends SubscriptionCancellationSchema.class {}
SubscriptionCancellationSchema.setClass(SubscriptionCancellation)

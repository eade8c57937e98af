import { defineEntity, p } from '@mikro-orm/core'
import { id, instant, resourceColumns, tenantKey } from './columns.ts'

const FastForwardSchema = defineEntity({
  name: 'FastForward',
  tableName: 'fast_forwards',
  indexes: [{ name: 'fast_forwards_subscription_index', properties: ['organizationId', 'subscriptionId'] }],
  properties: {
    ...tenantKey,
    subscriptionId: id(),
    toTime: instant(),
    status: p.string().length(20).default('running').$type<'running' | 'completed' | 'failed'>(),
    detail: p.string().nullable(),
    /** When the order was last advanced; real time. */
    progressTime: instant(),
    ...resourceColumns,
  },
})

export class FastForward extends FastForwardSchema.class {}
FastForwardSchema.setClass(FastForward)

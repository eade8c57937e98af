import { defineEntity, p } from '@mikro-orm/core'
import type { InvoiceTimeShift, PlanTrial, RecurringInterval } from '../../billing/order-terms.ts'
import type { Pricing } from '../../billing/pricing.ts'
import { json, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

/** What `q` searches. */
export const planSearch = searchExpression('name', 'currency')

const PlanSchema = defineEntity({
  name: 'Plan',
  tableName: 'plans',
  indexes: listIndexes('plans', planSearch),
  properties: {
    ...tenantKey,
    name: p.string(),
    currency: p.string().length(3),
    /** Amounts in it are decimal strings: JSON numbers outside, never floating point inside. */
    pricing: json<Pricing>(),
    recurringInterval: json<RecurringInterval>().nullable(),
    trial: json<PlanTrial>().nullable(),
    isTrialOnly: p.boolean().default(false),
    setup: json<{ price: string }>().nullable(),
    invoiceTimeShift: json<InvoiceTimeShift>().nullable(),
    isActive: p.boolean().default(true),
    ...resourceColumns,
  },
})

/** What is sold, at which price and how often. */
export class Plan extends PlanSchema.class {}
PlanSchema.setClass(Plan)

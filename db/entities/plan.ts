import { defineEntity, p } from '@mikro-orm/core'
import type { PeriodUnit } from '../../billing/periods.ts'
import { json, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

/** Amounts are decimal strings: JSON numbers outside, never floating point inside. */
export interface FixedFeePricing {
  formula: 'fixed-fee'
  price: string
}

export interface RecurringInterval {
  unit: PeriodUnit
  length: number
}

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
    pricing: json<FixedFeePricing>(),
    recurringInterval: json<RecurringInterval>(),
    isActive: p.boolean().default(true),
    ...resourceColumns,
  },
})

/** What is sold, at which price and how often. */
export class Plan extends PlanSchema.class {}
PlanSchema.setClass(Plan)

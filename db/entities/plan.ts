import { defineEntity, p } from '@mikro-orm/core'
import type { InvoiceTimeShift, PlanTrial, RecurringInterval } from '../../billing/order-terms.ts'
import type { Pricing } from '../../billing/pricing.ts'
import { id, json, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export const planSearch = searchExpression(
  'name',
  'currency',
  'product_id',
  'description',
  'rich_description',
)

const PlanSchema = defineEntity({
  name: 'Plan',
  tableName: 'plans',
  indexes: [
    ...listIndexes('plans', planSearch),
    { name: 'plans_product_index', properties: ['organizationId', 'productId'] },
  ],
  properties: {
    ...tenantKey,
    name: p.string(),
    description: p.text().nullable(),
    richDescription: p.text().nullable(),
    productId: id().nullable(),
    currency: p.string().length(3),
    /** Amounts are decimal strings: the API uses JSON numbers, the code never floating point. */
    pricing: json<Pricing>(),
    recurringInterval: json<RecurringInterval>().nullable(),
    trial: json<PlanTrial>().nullable(),
    isTrialOnly: p.boolean().default(false),
    setup: json<{ price: string }>().nullable(),
    invoiceTimeShift: json<InvoiceTimeShift>().nullable(),
    isActive: p.boolean().default(true),
    customFields: json<Record<string, unknown>>().nullable(),
    ...resourceColumns,
  },
})

export class Plan extends PlanSchema.class {}
PlanSchema.setClass(Plan)

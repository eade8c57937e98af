import { defineEntity, p } from '@mikro-orm/core'
import { listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export const shippingRateSearch = searchExpression('name', 'description', 'currency', 'status')

const ShippingRateSchema = defineEntity({
  name: 'ShippingRate',
  tableName: 'shipping_rates',
  indexes: listIndexes('shipping_rates', shippingRateSearch),
  properties: {
    ...tenantKey,
    name: p.string(),
    description: p.text().nullable(),
    /** A decimal string. */
    price: p.decimal().precision(18).scale(6).$type<string>(),
    currency: p.string().length(3),
    status: p.string().length(20).$type<'active' | 'inactive'>(),
    ...resourceColumns,
  },
})

export class ShippingRate extends ShippingRateSchema.class {}
ShippingRateSchema.setClass(ShippingRate)

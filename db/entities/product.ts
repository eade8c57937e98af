import { defineEntity, p } from '@mikro-orm/core'
import { json, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export const productSearch = searchExpression('name', 'unit_label', 'description')

const ProductSchema = defineEntity({
  name: 'Product',
  tableName: 'products',
  indexes: listIndexes('products', productSearch),
  properties: {
    ...tenantKey,
    name: p.string(),
    unitLabel: p.string().nullable(),
    description: p.text().nullable(),
    taxCategoryId: p.string().length(50).nullable(),
    customFields: json<Record<string, unknown>>().nullable(),
    ...resourceColumns,
  },
})

export class Product extends ProductSchema.class {}
ProductSchema.setClass(Product)

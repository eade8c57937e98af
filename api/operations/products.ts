import { createProduct, type NewProduct } from '../../commands/catalog/create-product.ts'
import { requireUnreferenced } from '../../commands/references.ts'
import { Product as ProductRow } from '../../db/entities/index.ts'
import { productSearch } from '../../db/entities/product.ts'
import { presentProduct } from '../../representations/product.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf } from '../query/fields.ts'
import { remove } from '../resources/delete.ts'
import type { Resource, Writer } from '../resources/resource.ts'
import { Product } from '../schemas/product.ts'

export const products: Resource<ProductRow> = {
  name: 'Product',
  label: 'product',
  path: 'products',
  schema: Product,
  entity: ProductRow,
  table: 'products',
  search: productSearch,
  fields: fieldsOf(Product),
  present: (row, { baseUrl }) => presentProduct(row, baseUrl),
}

export const productWriter: Writer<ProductRow, Product> = {
  create: (unit, id, body) => createProduct(unit, id, valuesOf(body)),
  update: (_, row, body) => void Object.assign(row, valuesOf(body)),
}

export async function deleteProduct(context: OperationContext): Promise<OperationResponse> {
  return await remove(context, products, (unit, row) => requireUnreferenced(unit, 'products', row.id))
}

function valuesOf(body: Product): NewProduct {
  return {
    name: body.name,
    unitLabel: body.unitLabel ?? null,
    description: body.description ?? null,
    taxCategoryId: body.taxCategoryId ?? null,
    customFields: body.customFields ?? {},
  }
}

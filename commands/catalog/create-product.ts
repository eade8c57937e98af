import { Product } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

export interface NewProduct {
  readonly name: string
  readonly unitLabel: string | null
  readonly description: string | null
  readonly taxCategoryId: string | null
  readonly customFields: Record<string, unknown>
}

export function createProduct(unit: UnitOfWork, id: string, given: NewProduct): Product {
  return unit.create(Product, {
    id,
    ...given,
  })
}

import type { Product } from '../db/entities/index.ts'
import { type Link, resourceUrl } from './links.ts'

export function presentProduct(product: Product, baseUrl: string) {
  const self: Link = {
    rel: 'self',
    href: resourceUrl(baseUrl, product.organizationId, 'products', product.id),
  }
  return {
    id: product.id,
    name: product.name,
    unitLabel: product.unitLabel ?? null,
    description: product.description ?? null,
    taxCategoryId: product.taxCategoryId ?? null,
    customFields: product.customFields ?? {},
    revision: product.revision,
    createdTime: product.createdTime.toISOString(),
    updatedTime: product.updatedTime.toISOString(),
    _links: [self],
  }
}

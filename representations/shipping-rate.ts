import { jsonAmount } from '../billing/money.ts'
import type { ShippingRate } from '../db/entities/index.ts'
import { resourceUrl } from './links.ts'

export function presentShippingRate(rate: ShippingRate, baseUrl: string) {
  return {
    id: rate.id,
    name: rate.name,
    description: rate.description ?? null,
    price: jsonAmount(rate.price),
    currency: rate.currency,
    status: rate.status,
    revision: rate.revision,
    createdTime: rate.createdTime.toISOString(),
    updatedTime: rate.updatedTime.toISOString(),
    _links: [{ rel: 'self', href: resourceUrl(baseUrl, rate.organizationId, 'shipping-rates', rate.id) }],
  }
}

import { amountOf, plainAmount } from '../../billing/money.ts'
import {
  createShippingRate,
  type NewShippingRate,
  requirePrice,
} from '../../commands/catalog/create-shipping-rate.ts'
import { ShippingRate as ShippingRateRow } from '../../db/entities/index.ts'
import { shippingRateSearch } from '../../db/entities/shipping-rate.ts'
import { presentShippingRate } from '../../representations/shipping-rate.ts'
import { fieldsOf } from '../query/fields.ts'
import type { Resource, Writer } from '../resources/resource.ts'
import { ShippingRate } from '../schemas/shipping-rate.ts'

export const shippingRates: Resource<ShippingRateRow> = {
  name: 'ShippingRate',
  label: 'shipping rate',
  path: 'shipping-rates',
  schema: ShippingRate,
  entity: ShippingRateRow,
  table: 'shipping_rates',
  search: shippingRateSearch,
  fields: fieldsOf(ShippingRate),
  present: (row, { baseUrl }) => presentShippingRate(row, baseUrl),
}

export const shippingRateWriter: Writer<ShippingRateRow, ShippingRate> = {
  create: (unit, id, body) => createShippingRate(unit, id, valuesOf(body)),
  update(_, row, body) {
    const values = valuesOf(body)
    requirePrice(values)
    // The same price without the zeros of its column is no change.
    const price = plainAmount(row.price) === values.price ? row.price : values.price
    Object.assign(row, values, { price })
  },
}

function valuesOf({ name, description, price, currency, status }: ShippingRate): NewShippingRate {
  return {
    name,
    description: description ?? null,
    price: amountOf(price),
    currency,
    status: status === 'inactive' ? 'inactive' : 'active',
  }
}

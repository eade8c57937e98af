import { InvalidFieldsError } from '../../billing/errors.ts'
import { amountProblem } from '../../billing/money.ts'
import { ShippingRate } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

export interface NewShippingRate {
  readonly name: string
  readonly description: string | null
  /** A decimal string. */
  readonly price: string
  readonly currency: string
  readonly status: 'active' | 'inactive'
}

/** @throws InvalidFieldsError for a price that its currency cannot express. */
export function createShippingRate(unit: UnitOfWork, id: string, given: NewShippingRate): ShippingRate {
  requirePrice(given)
  return unit.create(ShippingRate, { id, ...given })
}

export function requirePrice({ price, currency }: Pick<NewShippingRate, 'price' | 'currency'>): void {
  const problem = amountProblem(price, currency)
  if (problem !== null) throw new InvalidFieldsError([{ field: 'price', ...problem }])
}

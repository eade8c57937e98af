import Type, { type Static } from 'typebox'
import type { TaxNumber as StoredTaxNumber } from '../../db/entities/customer.ts'
import { OrNull, ReadOnly, Text } from './conventions.ts'

export const TaxNumber = Type.Object(
  {
    type: Type.Enum(['eu-vat', 'other'], { description: 'Kind of the tax number.' }),
    value: Text('Tax number.', { minLength: 1 }),
    isDefault: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether invoices show this tax number.' }),
    ),
    isValid: ReadOnly(
      OrNull(
        Type.Boolean({ description: 'Result of a check at the tax authority. Null, because none is made.' }),
      ),
    ),
  },
  { additionalProperties: false, description: 'A tax number.' },
)

export function taxNumbersOf(
  given: readonly Static<typeof TaxNumber>[] | null | undefined,
): StoredTaxNumber[] {
  return (given ?? []).map(({ type, value, isDefault }) => ({
    type: type as StoredTaxNumber['type'],
    value,
    isDefault: isDefault ?? false,
  }))
}

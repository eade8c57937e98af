import Type, { type Static } from 'typebox'
import type { TaxNumber as StoredTaxNumber } from '../../db/entities/organization.ts'
import { OrNull, ReadOnly, Text } from './conventions.ts'

export const TaxNumber = Type.Object(
  {
    type: Type.Enum(['eu-vat', 'other'], { description: 'Kind of the number.' }),
    value: Text('The number.', { minLength: 1 }),
    isDefault: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether it is the number on invoices.' }),
    ),
    isValid: ReadOnly(OrNull(Type.Boolean({ description: 'Whether the number is valid; null if unknown.' }))),
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

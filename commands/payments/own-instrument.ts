import { PaymentInstrument } from '../../db/entities/index.ts'
import type { References } from '../references.ts'

/** Returns the instrument that a field names; null: none, or the field fails. It may have expired. */
export async function ownInstrument(
  found: References,
  field: string,
  id: string | null,
  customerId: string,
): Promise<PaymentInstrument | null> {
  const instrument = await found.optional(PaymentInstrument, field, id)
  if (instrument === null) return null
  if (instrument.customerId !== customerId) {
    found.fail(field, 'mismatch', 'must be a payment instrument of the customer')
    return null
  }
  if (instrument.status === 'deactivated') {
    found.fail(field, 'inactive', 'must be a payment instrument that is not deactivated')
    return null
  }
  return instrument
}

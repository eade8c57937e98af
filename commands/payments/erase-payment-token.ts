import { eraseAt } from '../../billing/payment-tokens.ts'
import { PaymentToken } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

/** Erases the card data of an expired token. Returns its next deadline in milliseconds; null: none. */
export async function erasePaymentToken(
  unit: UnitOfWork,
  id: string,
  instant: number,
): Promise<number | null> {
  const token = await lockRow(unit, PaymentToken, id)
  if (token === null) return null
  const due = eraseAt({
    holdsCard: token.cardCipher != null,
    expirationTime: token.expirationTime.getTime(),
  })
  if (due === null || due > instant) return due
  token.cardCipher = null
  return null
}

import { EXPIRY_NOTICE, expiryOf } from '../../billing/cards.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { Customer, PaymentInstrument } from '../../db/entities/index.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { paymentInstrumentEvent } from '../../events/payment-instrument-events.ts'

/** Expires cards after their month, and announces once those within thirty days of it. Returns how many changed. */
export async function expireCards(unit: UnitOfWork, ids: readonly string[]): Promise<number> {
  const { em, organizationId, now } = unit
  const locked = await statement<{ id: string }>(
    em,
    'lock-expiring-cards',
    `select id from payment_instruments
      where organization_id = ? and id in (select jsonb_array_elements_text(?::jsonb)) and status = 'active'
      order by id for update skip locked`,
    [organizationId, JSON.stringify(ids)],
  )
  const instruments = await em.find(
    PaymentInstrument,
    { organizationId, id: { $in: locked.map(({ id }) => id) } },
    { orderBy: { id: 'asc' }, refresh: true },
  )
  const customers = await em.find(
    Customer,
    { organizationId, id: { $in: [...new Set(instruments.map(({ customerId }) => customerId))] } },
    { fields: ['websiteId'] },
  )
  const websites = new Map(customers.map(({ id, websiteId }) => [id, websiteId ?? null]))
  let changed = 0
  for (const instrument of instruments) {
    const type = dueOf(instrument, now.getTime())
    if (type === null) continue
    changed += 1
    if (type === 'payment-card-expired') instrument.status = 'expired'
    else instrument.expirationReminderNumber += 1
    raiseRevision(instrument, unit)
    unit.emit(paymentInstrumentEvent(instrument, type, unit, websites.get(instrument.customerId) ?? null))
  }
  return changed
}

function dueOf(
  { status, expMonth, expYear, expirationReminderNumber }: PaymentInstrument,
  now: number,
): 'payment-card-expired' | 'payment-card-expiration-reminder' | null {
  if (status !== 'active') return null
  const expiry = expiryOf(expMonth, expYear)
  if (now >= expiry) return 'payment-card-expired'
  const hasReminder = expirationReminderNumber > 0 || now < expiry - EXPIRY_NOTICE
  return hasReminder ? null : 'payment-card-expiration-reminder'
}

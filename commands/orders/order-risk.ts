import { canonicalJson } from '../../billing/canonical-json.ts'
import type { Contact } from '../../billing/contacts.ts'
import { type DerivedRisk, deriveRisk, type RiskInput } from '../../billing/risk.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { sharedBy, velocities } from '../payments/velocities.ts'

export type OrderRisk = RiskInput & DerivedRisk

export interface Captured {
  readonly risk: OrderRisk | null
  readonly card: string | null
}

/** Selects it for a row `organization`; placeholders: customer, instrument (null: none named), customer. */
export const captured = `(select jsonb_build_object('risk', risk_metadata, 'card', card_fingerprint) from payment_instruments
   where organization_id = organization.id and customer_id = ? and id = coalesce(?::text,
     (select default_payment_instrument_id from customers where organization_id = organization.id and id = ?)))`

export async function readCaptured(
  { em, organizationId }: UnitOfWork,
  { customerId, paymentInstrumentId }: { customerId: string; paymentInstrumentId: string | null },
): Promise<Captured | null> {
  const [found] = await statement<{ captured: Captured | null }>(
    em,
    'read-captured-risk',
    `select ${captured} as captured from organizations organization where organization.id = ?`,
    [customerId, paymentInstrumentId, customerId, organizationId],
  )
  return found?.captured ?? null
}

/** Derived values stay if the same is sent again, so that writing back what was read changes nothing. */
export async function orderRisk(
  unit: UnitOfWork,
  given: RiskInput | null,
  billingAddress: Contact | null,
  stored: OrderRisk | null,
  read: () => Captured | null | Promise<Captured | null>,
): Promise<OrderRisk | null> {
  if (given !== null && stored !== null && canonicalJson(inputOf(stored)) === canonicalJson(given))
    return stored
  const known = await read()
  if (given === null) return known?.risk ?? null
  const shared = sharedBy(given, billingAddress, known?.card ?? null)
  const country = billingAddress?.country ?? null
  const counted = await velocities(unit, shared, 0)
  return { ...given, ...deriveRisk(given, country, counted, unit.now.getTime()) }
}

function inputOf({ ipAddress, fingerprint, httpHeaders, browserData, extraData }: RiskInput): RiskInput {
  return { ipAddress, fingerprint, httpHeaders, browserData, extraData }
}

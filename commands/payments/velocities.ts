import { type Contact, contactHash } from '../../billing/contacts.ts'
import type { RiskInput, Velocities } from '../../billing/risk.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

/** Properties that tokens share with a payer, by column. */
export type Shared = Readonly<
  Record<'card_fingerprint' | 'ip_address' | 'device' | 'email' | 'billing_address_hash', string | null>
>

export function sharedBy(
  risk: RiskInput | null,
  billingAddress: Contact | null,
  cardFingerprint: string | null,
): Shared {
  return {
    card_fingerprint: cardFingerprint,
    ip_address: risk?.ipAddress ?? null,
    device: risk?.fingerprint ?? null,
    email: primaryEmail(billingAddress),
    billing_address_hash: billingAddress === null ? null : contactHash(billingAddress),
  }
}

/** Counts tokens of the last 24 hours by shared property, `toCome` new ones included, and the card's sales. */
export async function velocities(
  { em, organizationId, now }: UnitOfWork,
  shared: Shared,
  toCome: 0 | 1,
): Promise<Velocities> {
  const columns = Object.entries(shared)
  const since = new Date(now.getTime() - 24 * 3_600_000)
  const card = shared.card_fingerprint
  const [counts = {}] = await statement<Record<string, number>>(
    em,
    'count-velocities',
    `select (select count(*)::int from transactions where organization_id = ? and card_fingerprint = ? and type in ('sale', 'authorize')
                and result = 'declined' and created_time > ?) as declined,
            (select count(*)::int from transactions where organization_id = ? and card_fingerprint = ? and type in ('sale', 'authorize')
                and result = 'approved') as approved,
            ${columns
              .map(
                ([column]) =>
                  `(select count(*)::int from payment_tokens where organization_id = ? and ${column} = ? and created_time > ?) as ${column}`,
              )
              .join(', ')}`,
    [
      ...[organizationId, card, since],
      ...[organizationId, card],
      ...columns.flatMap(([, value]) => [organizationId, value, since]),
    ],
  )
  const countOf = (column: keyof Shared) => (shared[column] === null ? null : (counts[column] ?? 0) + toCome)
  return {
    paymentInstrumentVelocity: countOf('card_fingerprint'),
    deviceVelocity: countOf('device'),
    ipVelocity: countOf('ip_address'),
    emailVelocity: countOf('email'),
    billingAddressVelocity: countOf('billing_address_hash'),
    declinedPaymentInstrumentVelocity: card === null ? null : (counts.declined ?? 0),
    paymentInstrumentApprovedTransactionCount: card === null ? null : (counts.approved ?? 0),
  }
}

function primaryEmail(contact: Contact | null): string | null {
  const emails = contact?.emails ?? []
  return (emails.find(({ primary }) => primary) ?? emails[0])?.value.toLowerCase() ?? null
}

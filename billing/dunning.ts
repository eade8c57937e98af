/**
 * Dunning: what declines say of later charges. One declined charge decides when its invoice is charged again; declined
 * renewals in a row decide whether their order is charged at all.
 */
import type { OrderTerms } from './order-terms.ts'
import { nextDayOfMonth } from './periods.ts'

/**
 * Why a charge was declined, as far as it matters for the next one.
 *
 * `hard`: never again with this instrument. `soft`: may succeed later. `lost-or-stolen` is a hard one that the customer
 * should be told nothing of. `needs-action`: only with the customer present.
 */
export const DECLINE_CLASSES = [
  'hard',
  'soft',
  'lost-or-stolen',
  'insufficient-funds',
  'needs-action',
] as const
export type DeclineClass = (typeof DECLINE_CLASSES)[number]

/** A charge that was declined, or counts as that. */
export interface DeclinedCharge {
  /** null: the reason is not known. */
  readonly class: DeclineClass | null
  /** The instrument that was charged; null: there was none to charge. */
  readonly instrumentId: string | null
}

/** Why the last charge of an invoice by an instrument was declined. */
export interface Decline {
  readonly instrumentId: string
  readonly class: DeclineClass
}

/** Renewal invoices in a row whose charges by one instrument were all declined. */
export interface DeclinedRenewals {
  readonly count: number
  readonly instrumentId: string
}

/** What the rules read of an order. */
interface Dunned {
  readonly terms: OrderTerms
  readonly declinedRenewals: DeclinedRenewals | null
}

/** What the rules read of an invoice. */
interface Declined {
  readonly declines: readonly Decline[]
}

export const NO_INSTRUMENT: DeclinedCharge = { class: null, instrumentId: null }

/** Returns the declines of an invoice after another one; a reason that is not known counts as a soft one. */
export function declinesAfter(before: readonly Decline[], charge: DeclinedCharge): readonly Decline[] {
  const { instrumentId } = charge
  if (instrumentId === null) return before
  const others = before.filter((one) => one.instrumentId !== instrumentId)
  return [...others, { instrumentId, class: charge.class ?? 'soft' }]
}

/** Why the instrument that would be charged now was declined for the invoice; null: it was not. */
function currentClass({ terms }: Pick<Dunned, 'terms'>, { declines }: Declined): DeclineClass | null {
  return declines.find(({ instrumentId }) => instrumentId === terms.instrumentId)?.class ?? null
}

/** True if the invoice was declined, and would now be charged by an instrument that was not declined for it. */
export function isForNewInstrument(order: Pick<Dunned, 'terms'>, invoice: Declined): boolean {
  const { instrumentId } = order.terms
  return instrumentId !== null && invoice.declines.length > 0 && currentClass(order, invoice) === null
}

/** True if the invoice is not charged before there is another instrument, or the customer pays. */
export function isHeld(order: Dunned, invoice: Declined): boolean {
  const reason = currentClass(order, invoice)
  return waitsForInstrument(order) || (reason !== null && FINAL.has(reason))
}

const FINAL: ReadonlySet<DeclineClass> = new Set(['hard', 'lost-or-stolen', 'needs-action'])

/** True if so many renewals in a row were declined that the order is not charged by its instrument any more. */
export function waitsForInstrument({ terms, declinedRenewals }: Dunned): boolean {
  return reachesLimit(terms, declinedRenewals) && declinedRenewals?.instrumentId === terms.instrumentId
}

/** True if the order waited for another instrument, and these terms have one. */
export function endsWait({ declinedRenewals }: Pick<Dunned, 'declinedRenewals'>, terms: OrderTerms): boolean {
  const { instrumentId } = terms
  if (instrumentId === null || !reachesLimit(terms, declinedRenewals)) return false
  return declinedRenewals?.instrumentId !== instrumentId
}

function reachesLimit({ declinedRenewalsLimit: limit }: OrderTerms, declined: DeclinedRenewals | null) {
  return declined !== null && limit !== null && declined.count >= limit
}

/** Returns the renewals declined in a row, after another one that will not be retried. */
export function declinedRenewalsAfter(
  before: DeclinedRenewals | null,
  instrumentId: string,
): DeclinedRenewals {
  return { count: before?.instrumentId === instrumentId ? before.count + 1 : 1, instrumentId }
}

/**
 * Returns the first payday after `after` on which an invoice declined for lack of funds is retried, at the same time of
 * day; null: the schedule decides. There are as many such retries as the schedule has, all before the delinquency.
 */
export function paydayRetry(
  order: Pick<Dunned, 'terms'>,
  invoice: Declined & { readonly attempts: number; readonly delinquencyTime: number | null },
  after: number,
): number | null {
  const { paydays, autopayRetries } = order.terms
  const { attempts, delinquencyTime } = invoice
  if (currentClass(order, invoice) !== 'insufficient-funds' || paydays.length === 0) return null
  if (attempts > autopayRetries.length) return null
  const payday = Math.min(...paydays.map((day) => nextDayOfMonth(after, day)))
  return payday < (delinquencyTime ?? Number.POSITIVE_INFINITY) ? payday : null
}

/** What a decline leads to. When a charge is retried: `charging.ts`; by default: `billing-settings.ts`. */
import type { OrderTerms } from './order-terms.ts'
import { nextDayOfMonth } from './periods.ts'

/**
 * `hard`, `lost-or-stolen` and `needs-action` are final for the instrument; `soft` and `insufficient-funds` may
 * succeed later. Of `lost-or-stolen` the customer is told nothing; `needs-action` needs the customer's presence. `amount` is
 * final for what is due, on any instrument, and says nothing of the instrument.
 */
export const DECLINE_CLASSES = [
  'hard',
  'soft',
  'lost-or-stolen',
  'insufficient-funds',
  'needs-action',
  'amount',
] as const
export type DeclineClass = (typeof DECLINE_CLASSES)[number]

export interface DeclinedCharge {
  readonly class: DeclineClass | null
  /** null: there was no instrument to charge. */
  readonly instrumentId: string | null
}

export interface Decline {
  readonly instrumentId: string
  readonly class: DeclineClass
}

/** Renewal invoices in a row whose charges by one instrument, and by the backups for it, were all declined. */
export interface DeclinedRenewals {
  readonly count: number
  readonly instrumentId: string
  /** Sequences of those that are still open; none in what earlier releases stored. */
  readonly invoices?: readonly number[]
}

interface Dunned {
  readonly terms: OrderTerms
  readonly declinedRenewals: DeclinedRenewals | null
}

interface Declined {
  readonly declines: readonly Decline[]
}

export const NO_INSTRUMENT: DeclinedCharge = { class: null, instrumentId: null }

/** A decline of unknown reason counts as a soft one. */
export function declinesAfter(before: readonly Decline[], charge: DeclinedCharge): readonly Decline[] {
  const { instrumentId } = charge
  if (instrumentId === null) return before
  const others = before.filter((one) => one.instrumentId !== instrumentId)
  return [...others, { instrumentId, class: charge.class ?? 'soft' }]
}

/**
 * Returns the instrument that is charged for an invoice: the preferred one or, where that was declined for good, the
 * first backup that was not; null: there is none.
 */
export function instrumentFor({ terms }: Pick<Dunned, 'terms'>, invoice: Declined): string | null {
  const { instrumentId, backupIds = [] } = terms
  const preferred = classOf(invoice, instrumentId)
  if (instrumentId === null || preferred === 'amount' || !isFinal(preferred)) return instrumentId
  return backupIds.find((id) => !isFinal(classOf(invoice, id))) ?? instrumentId
}

function currentClass(order: Pick<Dunned, 'terms'>, invoice: Declined): DeclineClass | null {
  return classOf(invoice, instrumentFor(order, invoice))
}

function classOf({ declines }: Declined, id: string | null): DeclineClass | null {
  return declines.find(({ instrumentId }) => instrumentId === id)?.class ?? null
}

function isFinal(reason: DeclineClass | null): boolean {
  return reason !== null && FINAL.has(reason)
}

/** True if the invoice was declined, but not for the instrument that would be charged now. */
export function isForNewInstrument(order: Pick<Dunned, 'terms'>, invoice: Declined): boolean {
  const { instrumentId } = order.terms
  return instrumentId !== null && invoice.declines.length > 0 && currentClass(order, invoice) === null
}

/** True if the invoice is not charged until there is another instrument, or the customer pays. */
export function isHeld(order: Dunned, invoice: Declined): boolean {
  return waitsForInstrument(order) || isFinal(currentClass(order, invoice))
}

const FINAL: ReadonlySet<DeclineClass> = new Set(['hard', 'lost-or-stolen', 'needs-action', 'amount'])

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

/** Counts the renewal invoice once, whichever instruments, and however often, it is declined for. */
export function declinedRenewalsAfter(
  before: DeclinedRenewals | null,
  { instrumentId: preferred, backupIds = [] }: Pick<OrderTerms, 'instrumentId' | 'backupIds'>,
  declined: { readonly instrumentId: string; readonly invoice: number },
): Required<DeclinedRenewals> {
  const { invoice } = declined
  const isBackup = preferred !== null && backupIds.includes(declined.instrumentId)
  const instrumentId = isBackup ? preferred : declined.instrumentId
  if (before?.instrumentId !== instrumentId) return { count: 1, instrumentId, invoices: [invoice] }
  const { count, invoices = [] } = before
  if (invoices.includes(invoice)) return { count, instrumentId, invoices }
  return { count: count + 1, instrumentId, invoices: [...invoices, invoice] }
}

/**
 * Returns the next payday, at the time of day of `after`, for a charge declined for lack of funds; null: the
 * schedule decides. There are at most as many such retries as the schedule has, all before the delinquency.
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
  const payday = Math.min(...paydays.flatMap((day) => nextDayOfMonth(after, day) ?? []))
  return payday < (delinquencyTime ?? Number.POSITIVE_INFINITY) ? payday : null
}

/**
 * When the gateway has a part in an order: charges that are due, outcomes that are asked for, and what has to wait for
 * them. Pure, as all of the life cycle; the charges themselves are made outside of it.
 */
import { reach } from './durations.ts'
import { type Invoice, isOpen } from './invoices.ts'
import type { Order } from './order.ts'

/** A charge this much later than it was due is a late one. Milliseconds. */
export const LATENESS = 3_600_000

/** Something to ask of the gateway about an invoice: a charge, or the outcome of the one that is open. */
export interface GatewayCall {
  readonly invoice: number
  /** When it is to be made. */
  readonly at: number
}

/** The first call to make, due or ahead; null: none is in sight. */
export function nextGatewayCall(order: Order): GatewayCall | null {
  const calls = order.invoices.flatMap((invoice) => {
    const { charge, sequence } = invoice
    if (charge !== null) {
      return charge.isOwn && charge.askTime !== null
        ? [{ invoice: sequence, at: charge.askTime, since: charge.askTime }]
        : []
    }
    return isChargeable(order, invoice)
      ? [{ invoice: sequence, at: allowed(order, invoice.chargeTime), since: invoice.chargeTime }]
      : []
  })
  const [first] = calls.sort((a, b) => a.at - b.at || a.since - b.since || a.invoice - b.invoice)
  return first === undefined ? null : { invoice: first.invoice, at: first.at }
}

/** A charge whose first answer is awaited: it is due, or was made and nothing is heard of it yet. */
export interface AwaitedCharge {
  readonly invoice: Invoice
  readonly since: number
}

export function awaitedCharges(order: Order): AwaitedCharge[] {
  return order.invoices.flatMap((invoice) => {
    const since = awaitedSince(order, invoice)
    return since === null ? [] : [{ invoice, since }]
  })
}

/** Whether something that would happen at `at`, to an invoice or to none, has to wait for the answer of a charge. */
export function waitsFor(
  { status }: Order,
  { invoice, since }: AwaitedCharge,
  at: number,
  about: number | null,
): boolean {
  // The charge of a start is part of the start; one that is tried again comes last at its instant.
  const isFirst = status === 'pending' && invoice.declinedTime === null
  if (at < since || (at === since && !isFirst)) return false
  if (status === 'pending' || about === invoice.sequence) return true
  const endsOrder = status === 'active' || status === 'paused'
  return endsOrder && invoice.delinquencyTime !== null && at >= invoice.delinquencyTime
}

/**
 * When a declined charge is tried again, later than `after` and not before the start of a pending order; null: not by
 * itself.
 */
export function nextRetry(order: Order, { declinedTime, status }: Invoice, after: number): number | null {
  if (declinedTime === null || !isOpen({ status }) || !isRetrying(order)) return null
  const times = order.terms.autopayRetries.flatMap((wait) => reach(declinedTime, wait) ?? [])
  const ahead = times.filter((time) => time > after)
  if (ahead.length === 0) return null
  return Math.max(Math.min(...ahead), order.status === 'pending' ? order.terms.startTime : after)
}

/** Whether an order's charges that moved no money are tried again. */
export function isRetrying({ status }: Pick<Order, 'status'>): boolean {
  return RETRYING.has(status)
}

const RETRYING: ReadonlySet<Order['status']> = new Set([
  'pending',
  'active',
  'paused',
  'completed',
  'trial-ended',
])

type Chargeable = Invoice & { readonly chargeTime: number }

function isChargeable(order: Order, invoice: Invoice): invoice is Chargeable {
  return (
    order.status !== 'paused' && invoice.chargeTime !== null && invoice.charge === null && isOpen(invoice)
  )
}

function awaitedSince(order: Order, invoice: Invoice): number | null {
  const { charge, chargeTime } = invoice
  if (charge !== null) return charge.isOwn && charge.answer === 'none' && isOpen(invoice) ? charge.at : null
  return isChargeable(order, invoice) ? chargeTime : null
}

/** A charge that was late already when another was made late comes no sooner than an hour after that one. */
function allowed({ lateChargeTime }: Order, chargeTime: number): number {
  const waits = lateChargeTime !== null && chargeTime + LATENESS < lateChargeTime
  return waits ? lateChargeTime + LATENESS : chargeTime
}

import { isForNewInstrument, isHeld, paydayRetry } from './dunning.ts'
import { reach } from './durations.ts'
import { type Invoice, isOpen } from './invoices.ts'
import { isServed, type Order, ongoingPause } from './order.ts'

/** A charge made more than this after it was due is late, and late charges are this far apart. Milliseconds. */
export const LATENESS = 3_600_000

export interface GatewayCall {
  readonly invoice: number
  readonly at: number
}

/**
 * Returns the next charge to make or unknown outcome to ask for, with its instant in milliseconds, which may have passed;
 * null if nothing is wanted of the gateway. Only charges of the service's own are asked for.
 */
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

export function nextCharge(order: Order): number | null {
  const times = order.invoices.flatMap((invoice) =>
    isChargeable(order, invoice) ? allowed(order, invoice.chargeTime) : [],
  )
  return times.length === 0 ? null : Math.min(...times)
}

/** A charge that is due, or was made and has no result yet. */
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

/** True if what is due at `at` has to wait for the result of the charge. */
export function waitsFor(
  { status, invoices, notBefore }: Order,
  { invoice, since }: AwaitedCharge,
  at: number,
  about: number | null,
): boolean {
  // The charge of a start is part of the start; a retry comes last at its instant.
  const isFirst = status === 'pending' && invoice.declinedTime === null
  if (at < since || (at === since && !isFirst)) return false
  if (status === 'pending' || about === invoice.sequence) return true
  if (status !== 'active' && status !== 'paused') return false
  return invoices.some((one) => {
    if (one.delinquencyTime === null || !isOpen(one)) return false
    const end = Math.max(one.delinquencyTime, notBefore)
    // Another invoice's delinquency would abandon what the charge, which counts as on time for an hour, has paid by then.
    const waits = one.sequence === invoice.sequence || (end > since && end - since <= LATENESS)
    return waits && at >= end
  })
}

/** Returns the retry after `after`, or at `after` by an instrument not declined for it; null: none is automatic. */
export function nextRetry(order: Order, invoice: Invoice, after: number): number | null {
  if (!isOpen(invoice) || !isRetrying(order)) return null
  const time = retryAfter(order, invoice, after)
  if (time === null) return null
  return Math.max(time, order.status === 'pending' ? order.terms.startTime : after)
}

function retryAfter(order: Order, invoice: Invoice, after: number): number | null {
  const { declinedTime } = invoice
  if (declinedTime === null || isHeld(order, invoice)) return null
  if (isForNewInstrument(order, invoice)) return after
  const times = order.terms.autopayRetries.flatMap((wait) => reach(declinedTime, wait) ?? [])
  const ahead = times.filter((time) => time > after)
  return paydayRetry(order, invoice, after) ?? (ahead.length === 0 ? null : Math.min(...ahead))
}

/** True where retries are planned; those of an order that is paused or canceled are not made before that ends. */
export function isRetrying(order: Pick<Order, 'status' | 'canceledBy'>): boolean {
  return RETRYING.has(order.status) || isServed(order)
}

const RETRYING: ReadonlySet<Order['status']> = new Set([
  'pending',
  'active',
  'paused',
  'completed',
  'trial-ended',
])

/** True for a retry that is made only if the cancellation of its order is undone, at the undo (decisions 6.3). */
export function awaitsUndo(
  order: Pick<Order, 'status' | 'canceledBy' | 'canceledTime'>,
  { declinedTime, chargeTime }: Pick<Invoice, 'declinedTime' | 'chargeTime'>,
): boolean {
  if (!isServed(order) || declinedTime === null || chargeTime === null) return false
  return chargeTime >= (order.canceledTime ?? chargeTime)
}

type Chargeable = Invoice & { readonly chargeTime: number }

function isChargeable(order: Order, invoice: Invoice): invoice is Chargeable {
  if (fallsIntoPause(order, invoice) || awaitsUndo(order, invoice)) return false
  return invoice.chargeTime !== null && invoice.charge === null && isOpen(invoice)
}

/** True for a charge that is due during a pause, or after it. One that was due before is made during the pause. */
function fallsIntoPause(order: Pick<Order, 'pauses'>, { chargeTime }: Pick<Invoice, 'chargeTime'>): boolean {
  const pause = ongoingPause(order)
  return pause !== null && chargeTime !== null && chargeTime >= pause.effectiveTime
}

function awaitedSince(order: Order, invoice: Invoice): number | null {
  const { charge, chargeTime } = invoice
  if (charge !== null) return charge.isOwn && charge.answer === 'none' && isOpen(invoice) ? charge.at : null
  return isChargeable(order, invoice) ? chargeTime : null
}

/** After a late charge, another charge that was late by then waits an hour. */
function allowed({ lateChargeTime }: Order, chargeTime: number): number {
  const waits = lateChargeTime !== null && chargeTime + LATENESS < lateChargeTime
  return waits ? lateChargeTime + LATENESS : chargeTime
}

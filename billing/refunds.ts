/**
 * How money that goes back of a sale spreads over the invoices that the sale paid. Amounts are exact decimal strings of
 * one currency.
 */
import { isZero, Money, sumOf } from './money.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Waits before a refund that the service owes is begun again, each from the failure before it. Milliseconds. */
export const REFUND_WAITS: readonly number[] = [HOUR, 6 * HOUR, DAY, 3 * DAY, 7 * DAY]

/** When to begin again after so many failures in a row, the last of them at `at`; null: that does not help any more. */
export function nextRefundTime(failed: number, at: number): number | null {
  const wait = REFUND_WAITS[failed - 1]
  return wait === undefined ? null : at + wait
}

/** What an approved sale paid. */
export interface Paid {
  readonly amount: string
  /** What each of its invoices got, in the order they were paid. */
  readonly payments: readonly (readonly [invoiceId: string, amount: string])[]
}

/** A refund that was not declined, be it under way: what it gives back, and what of that is of which invoice. */
export interface CountedRefund {
  readonly amount: string
  /** The rest is of no invoice. */
  readonly shares: Readonly<Record<string, string>>
}

/** What is left to give back of a sale. */
export function refundable({ amount }: Pick<Paid, 'amount'>, refunds: readonly CountedRefund[]): string {
  return atLeastNothing(new Money(amount).minus(sumOf(refunds.map((one) => one.amount))))
}

/** What is left to give back of what a sale paid of an invoice: never more than is left of the sale. */
export function refundableOfInvoice(
  paid: Paid,
  refunds: readonly CountedRefund[],
  invoiceId: string,
): string {
  const got = sumOf(paid.payments.flatMap(([id, amount]) => (id === invoiceId ? [amount] : [])))
  const back = sumOf(refunds.flatMap(({ shares }) => shares[invoiceId] ?? []))
  return Money.min(atLeastNothing(new Money(got).minus(back)), refundable(paid, refunds)).toFixed()
}

/** A part of a sale that the service has to give back by itself. */
export interface Debt {
  /** null: no invoice could use it. */
  readonly invoiceId: string | null
  readonly amount: string
}

/**
 * What the service owes of a sale of invoices, besides what went back or is on its way: what no invoice used, and all that
 * the sale paid of `undelivered` invoices. Never more than is left of the sale.
 */
export function debtsOf(
  paid: Paid,
  undelivered: readonly string[],
  refunds: readonly CountedRefund[],
): Debt[] {
  let rest = refundable(paid, refunds)
  return [null, ...undelivered].flatMap((invoiceId) => {
    const left = invoiceId === null ? unusedOf(paid, refunds) : refundableOfInvoice(paid, refunds, invoiceId)
    const amount = Money.min(left, rest).toFixed()
    if (isZero(amount)) return []
    rest = new Money(rest).minus(amount).toFixed()
    return [{ invoiceId, amount }]
  })
}

/** What is left to give back of what no invoice used. */
function unusedOf(paid: Paid, refunds: readonly CountedRefund[]): string {
  const used = sumOf(paid.payments.map(([, got]) => got))
  const unattributed = refunds.map((one) =>
    new Money(one.amount).minus(sumOf(Object.values(one.shares))).toFixed(),
  )
  return atLeastNothing(new Money(paid.amount).minus(used).minus(sumOf(unattributed)))
}

/**
 * The shares that invoices have in a refund that names none: first goes what no invoice used, then what is left of the
 * invoice that was paid last. An amount over what is left has shares of no more than that.
 */
export function sharesOf(
  paid: Paid,
  refunds: readonly CountedRefund[],
  amount: string,
): Record<string, string> {
  let rest = atLeastNothing(new Money(amount).minus(unusedOf(paid, refunds)))
  const shares: Record<string, string> = {}
  for (const [id] of paid.payments.toReversed()) {
    const share = Money.min(rest, refundableOfInvoice(paid, refunds, id)).toFixed()
    if (!isZero(share)) shares[id] = share
    rest = new Money(rest).minus(share).toFixed()
  }
  return shares
}

function atLeastNothing(amount: Money): string {
  return Money.max(amount, 0).toFixed()
}

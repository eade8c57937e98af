/** How refunds of a sale are distributed over the invoices that it paid. */
import { isZero, Money, sumOf } from './money.ts'
import { ownValue } from './own-value.ts'

export interface Paid {
  readonly amount: string
  /** Applied to its invoices, in the order of payment. */
  readonly payments: readonly (readonly [invoiceId: string, amount: string])[]
}

/** A refund that is approved or pending. */
export interface CountedRefund {
  readonly amount: string
  /** By invoice id; the remainder belongs to no invoice. */
  readonly shares: Readonly<Record<string, string>>
}

export function refundable({ amount }: Pick<Paid, 'amount'>, refunds: readonly CountedRefund[]): string {
  return atLeastZero(new Money(amount).minus(sumOf(refunds.map((one) => one.amount))))
}

/** At most the refundable amount of the sale. */
export function refundableOfInvoice(
  paid: Paid,
  refunds: readonly CountedRefund[],
  invoiceId: string,
): string {
  const got = sumOf(paid.payments.flatMap(([id, amount]) => (id === invoiceId ? [amount] : [])))
  const back = sumOf(refunds.flatMap(({ shares }) => ownValue(shares, invoiceId) ?? []))
  return Money.min(atLeastZero(new Money(got).minus(back)), refundable(paid, refunds)).toFixed()
}

/** A part of a sale that the service has to refund automatically. */
export interface Debt {
  /** null: the part that no invoice used. */
  readonly invoiceId: string | null
  readonly amount: string
}

/** Returns the part that no invoice used and payments of `undelivered` invoices, at most what is refundable. */
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

/** What neither an invoice nor a refund that names none has used. */
export function unusedOf(paid: Paid, refunds: readonly CountedRefund[]): string {
  const used = sumOf(paid.payments.map(([, got]) => got))
  const unattributed = refunds.map((one) =>
    new Money(one.amount).minus(sumOf(Object.values(one.shares))).toFixed(),
  )
  return atLeastZero(new Money(paid.amount).minus(used).minus(sumOf(unattributed)))
}

/** For a refund that names no invoice: first the part that no invoice used, then the last paid invoices. */
export function sharesOf(
  paid: Paid,
  refunds: readonly CountedRefund[],
  amount: string,
): Record<string, string> {
  let rest = atLeastZero(new Money(amount).minus(unusedOf(paid, refunds)))
  const shares = new Map<string, string>()
  for (const [id] of paid.payments.toReversed()) {
    const share = Money.min(rest, refundableOfInvoice(paid, refunds, id)).toFixed()
    if (!isZero(share)) shares.set(id, share)
    rest = new Money(rest).minus(share).toFixed()
  }
  return Object.fromEntries(shares)
}

/** Parts of a sale that pay back nothing but what they paid for. */
export interface Reserved {
  readonly invoiceIds: readonly string[]
  /** True if what no invoice used is refunded automatically. */
  readonly isRestOwed: boolean
}

/** Counts reserved parts as refunded, so that a refund of something else takes nothing of them. */
export function withReserved(
  paid: Paid,
  refunds: readonly CountedRefund[],
  { invoiceIds, isRestOwed }: Reserved,
): CountedRefund[] {
  const parts = debtsOf(paid, invoiceIds, refunds).filter(({ invoiceId }) => invoiceId !== null || isRestOwed)
  const counted = parts.map(({ invoiceId, amount }): CountedRefund => {
    return { amount, shares: invoiceId === null ? {} : { [invoiceId]: amount } }
  })
  return [...refunds, ...counted]
}

function atLeastZero(amount: Money): string {
  return Money.max(amount, 0).toFixed()
}

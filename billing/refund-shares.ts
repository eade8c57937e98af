/** How refunds of a sale are distributed over the invoices that it paid. */
import { isZero, Money, sumOf } from './money.ts'
import { ownValue } from './own-value.ts'

/**
 * Stands among the invoices of `payments` and `shares` for what a refund that failed late left an invoice paid too much. No
 * id contains a slash.
 */
export const OVERPAID = '/overpaid'

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

/** Parts of a sale that go back for themselves: what the service owes of it, or keeps for what may be owed. */
export interface Parts {
  /** All that these were paid. */
  readonly invoiceIds: readonly string[]
  /** True: what no invoice used, too. */
  readonly hasRest: boolean
}

/** Returns what is owed of each part and not refunded yet, at most what is refundable. */
export function debtsOf(
  paid: Paid,
  { invoiceIds, hasRest }: Parts,
  refunds: readonly CountedRefund[],
): Debt[] {
  let rest = refundable(paid, refunds)
  return [...(hasRest ? [null] : []), ...invoiceIds].flatMap((invoiceId) => {
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

/** For a refund that names no invoice: first what is owed, then what no invoice used, then the last paid invoices. */
export function sharesOf(
  paid: Paid,
  refunds: readonly CountedRefund[],
  amount: string,
  owed: Parts,
): Record<string, string> {
  let rest = new Money(amount)
  const shares = new Map<string, string>()
  const take = (id: string | null, most: string) => {
    const share = Money.min(rest, most)
    rest = rest.minus(share)
    if (id !== null && !share.isZero()) shares.set(id, sumOf([shares.get(id) ?? '0', share.toFixed()]))
  }
  for (const debt of debtsOf(paid, owed, refunds)) take(debt.invoiceId, debt.amount)
  if (!owed.hasRest) take(null, unusedOf(paid, refunds))
  for (const [id] of paid.payments.toReversed()) {
    const left = new Money(refundableOfInvoice(paid, refunds, id))
    take(id, left.minus(shares.get(id) ?? '0').toFixed())
  }
  return Object.fromEntries(shares)
}

/** Returns refunds and what banks took back, which pays what is owed as a refund that names no invoice does. */
export function withTakenBack(
  paid: Paid,
  refunds: readonly CountedRefund[],
  takenBack: string,
  owed: Parts,
): CountedRefund[] {
  const amount = Money.min(takenBack, refundable(paid, refunds)).toFixed()
  return [...refunds, { amount, shares: sharesOf(paid, refunds, amount, owed) }]
}

/** Moves what an invoice was paid too much of a sale to the part that is owed of it. */
export function withOverpaid(
  payments: Readonly<Record<string, string>>,
  invoiceId: string,
  surplus: string,
): Record<string, string> {
  const moved = new Map(Object.entries(payments))
  moved.set(OVERPAID, sumOf([moved.get(OVERPAID) ?? '0', surplus]))
  moved.set(invoiceId, new Money(moved.get(invoiceId) ?? '0').minus(surplus).toFixed())
  return Object.fromEntries([...moved].filter(([, amount]) => !isZero(amount)))
}

/** Counts reserved parts as refunded, so that a refund of something else takes nothing of them. */
export function withReserved(
  paid: Paid,
  refunds: readonly CountedRefund[],
  reserved: Parts,
): CountedRefund[] {
  const counted = debtsOf(paid, reserved, refunds).map(({ invoiceId, amount }): CountedRefund => {
    return { amount, shares: invoiceId === null ? {} : { [invoiceId]: amount } }
  })
  return [...refunds, ...counted]
}

function atLeastZero(amount: Money): string {
  return Money.max(amount, 0).toFixed()
}

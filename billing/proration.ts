/** Proration as lines of invoices and of the queue (decisions 6.3). */
import { canonicalJson } from './canonical-json.ts'
import { netAmount } from './discounts.ts'
import type { InvoiceLine } from './invoices.ts'
import { isZero, lineAmount, Money, sumOf } from './money.ts'

/** Half-open; `at` divides it. Milliseconds. */
export interface DividedPeriod {
  readonly start: number
  readonly end: number
  readonly at: number
}

/** Returns the share of the rest, by the second, rounded half-up. A second that has begun is not used yet. */
export function unusedShare(amount: string, { start, end, at }: DividedPeriod, currency: string): string {
  if (end <= start) return '0'
  const seconds = Math.max(1, Math.round((end - start) / 1000))
  const used = Math.min(seconds, Math.max(0, Math.floor((at - start) / 1000)))
  return lineAmount(new Money(amount).times(seconds - used).div(seconds), currency)
}

/** What was billed of a line: for the whole period, or for its rest after a change. */
export interface BilledLine {
  /** For the whole period. */
  readonly line: InvoiceLine
  /** Less discounts. */
  readonly billed: string
  /** How much of the period had been used, in milliseconds. */
  readonly from: number
}

export function billedWhole(lines: readonly InvoiceLine[]): BilledLine[] {
  return lines.map((line) => ({ line, billed: netAmount(line), from: 0 }))
}

export interface PeriodChange {
  readonly lines: readonly InvoiceLine[]
  /** How the period is billed from then on. */
  readonly billed: readonly BilledLine[]
}

/**
 * Credits the unused shares of what was billed, and debits those of the new prices, less discounts.
 * What stays is not billed anew, and nothing remains where the shares are equal.
 */
export function changedBilling(
  before: readonly BilledLine[],
  after: readonly InvoiceLine[],
  period: DividedPeriod,
  currency: string,
): PeriodChange {
  const fresh = [...after]
  const isKept = ({ line }: BilledLine): boolean => {
    const same = fresh.findIndex((one) => canonicalJson(one) === canonicalJson(line))
    if (same >= 0) fresh.splice(same, 1)
    return same >= 0
  }
  const [kept, ended] = [[] as BilledLine[], [] as BilledLine[]]
  for (const one of before) (isKept(one) ? kept : ended).push(one)
  const from = usedTime(period)
  const begun = fresh.map((line) => ({ line, billed: unusedShare(netAmount(line), period, currency), from }))
  const lines = [
    ...creditLines(ended, period, currency),
    ...begun.flatMap(({ line, billed }) =>
      shareLine(line, billed, { kind: 'debit', word: 'Remaining', from: period.at, to: period.end }),
    ),
  ]
  return { lines: isZero(subtotal(lines)) ? [] : lines, billed: [...kept, ...begun] }
}

export function creditLines(
  billed: readonly BilledLine[],
  period: DividedPeriod,
  currency: string,
): InvoiceLine[] {
  return billed.flatMap(({ line, billed: amount, from }) => {
    const share = unusedShare(amount, { ...period, start: period.start + from }, currency)
    return shareLine(line, share, { kind: 'credit', word: 'Unused', from: period.at, to: period.end })
  })
}

/** Returns lines for a part of a period that is not billed yet, between two times of use. Parts sum to the whole. */
export function partLines(
  lines: readonly InvoiceLine[],
  { start, end }: Pick<DividedPeriod, 'start' | 'end'>,
  part: { readonly from: number; readonly to: number },
  currency: string,
): InvoiceLine[] {
  const [from, to] = [start + part.from, Math.min(start + part.to, end)]
  const word = to < end ? 'Used' : 'Remaining'
  return lines.flatMap((line) => {
    const shareAt = (at: number) => unusedShare(line.amount, { start, end, at }, currency)
    const share = new Money(shareAt(from)).minus(shareAt(to)).toFixed()
    return shareLine(line, share, { kind: 'debit', word, from, to, type: line.type })
  })
}

/** Milliseconds, in whole seconds. */
export function usedTime({ start, end, at }: DividedPeriod): number {
  return Math.min(Math.max(0, Math.floor((at - start) / 1000) * 1000), end - start)
}

export interface Drawn {
  readonly lines: readonly InvoiceLine[]
  readonly left: readonly InvoiceLine[]
}

/** Returns the debits of the queue, all of which the next invoice gets. */
export function queuedDebits(queue: readonly InvoiceLine[]): InvoiceLine[] {
  return queue.filter(({ amount }) => !isCredit(amount)).map((line) => ({ ...line, isQueued: true as const }))
}

/** Draws the oldest credits first, at most `amount`. A credit may be divided, and the rest stays queued. */
export function drawCredits(queue: readonly InvoiceLine[], amount: string): Drawn {
  let bearable = Money.max(0, amount)
  const lines: InvoiceLine[] = []
  const left: InvoiceLine[] = []
  for (const line of queue) {
    if (!isCredit(line.amount)) continue
    const taken = Money.min(new Money(line.amount).negated(), bearable)
    const rest = new Money(line.amount).plus(taken)
    bearable = bearable.minus(taken)
    if (!taken.isZero()) lines.push({ ...withAmount(line, taken.negated()), isQueued: true })
    if (!rest.isZero()) left.push(withAmount(line, rest))
  }
  return { lines, left }
}

/** Returns the lines from the queue, as they return to it when the invoice is voided. */
export function returnedLines(lines: readonly InvoiceLine[]): InvoiceLine[] {
  return lines.flatMap(({ isQueued, discount: _, ...line }) => (isQueued === true ? [line] : []))
}

export function subtotal(lines: readonly Pick<InvoiceLine, 'amount'>[]): string {
  return sumOf(lines.map(({ amount }) => amount))
}

export function isCredit(amount: string): boolean {
  return new Money(amount).isNegative() && !new Money(amount).isZero()
}

function shareLine(
  { itemId, planId, productId = null, description }: InvoiceLine,
  share: string,
  {
    kind,
    word,
    from,
    to,
    type = 'proration',
  }: {
    readonly kind: 'credit' | 'debit'
    readonly word: 'Unused' | 'Remaining' | 'Used'
    readonly from: number
    readonly to: number
    readonly type?: InvoiceLine['type']
  },
): InvoiceLine[] {
  const exact = new Money(share)
  if (exact.isZero()) return []
  const amount = (kind === 'credit' ? exact.negated() : exact).toFixed()
  return [
    {
      type,
      itemId,
      planId,
      productId,
      description: `${word} time on ${description}`,
      quantity: 1,
      unitPrice: amount,
      amount,
      periodStart: from,
      periodEnd: to,
    },
  ]
}

function withAmount(line: InvoiceLine, amount: Money): InvoiceLine {
  return { ...line, unitPrice: amount.toFixed(), amount: amount.toFixed() }
}

/** Proration as lines of invoices and of the queue (decisions 6.3). */
import { canonicalJson } from './canonical-json.ts'
import type { InvoiceLine } from './invoices.ts'
import { lineAmount, Money, sumOf } from './money.ts'

/** Half-open; `at` divides it. Milliseconds. */
export interface DividedPeriod {
  readonly start: number
  readonly end: number
  readonly at: number
}

/** Returns the share of the rest, by the second, rounded half-up. A second that has begun is not used yet. */
export function unusedShare(amount: string, { start, end, at }: DividedPeriod, currency: string): string {
  const seconds = Math.max(1, Math.round((end - start) / 1000))
  const used = Math.min(seconds, Math.max(0, Math.floor((at - start) / 1000)))
  return lineAmount(new Money(amount).times(seconds - used).div(seconds), currency)
}

/** Both shares sum to the whole. */
export function usedShare(amount: string, period: DividedPeriod, currency: string): string {
  return new Money(amount).minus(unusedShare(amount, period, currency)).toFixed()
}

/**
 * Credits the unused shares of the lines before, and debits those of the lines after.
 * What stands in both is left out, and nothing remains where the shares are equal.
 */
export function changeLines(
  before: readonly InvoiceLine[],
  after: readonly InvoiceLine[],
  period: DividedPeriod,
  currency: string,
): InvoiceLine[] {
  const [old, fresh] = withoutCommon(before, after)
  const lines = [
    ...shareLines(old, period, currency, 'credit'),
    ...shareLines(fresh, period, currency, 'debit'),
  ]
  return new Money(subtotal(lines)).isZero() ? [] : lines
}

/** For a period billed at its end: the time before is credited at the new prices, and owed at the old ones. */
export function changeLinesInArrears(
  before: readonly InvoiceLine[],
  after: readonly InvoiceLine[],
  period: DividedPeriod,
  currency: string,
): InvoiceLine[] {
  const [old, fresh] = withoutCommon(before, after)
  const used = (lines: readonly InvoiceLine[], kind: 'credit' | 'debit') =>
    lines.flatMap((line) =>
      shareLine(line, usedShare(line.amount, period, currency), kind, 'Used', period.start, period.at),
    )
  const lines = [...used(fresh, 'credit'), ...used(old, 'debit')]
  return new Money(subtotal(lines)).isZero() ? [] : lines
}

export function creditLines(
  lines: readonly InvoiceLine[],
  period: DividedPeriod,
  currency: string,
): InvoiceLine[] {
  return shareLines(lines, period, currency, 'credit')
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

function shareLines(
  lines: readonly InvoiceLine[],
  period: DividedPeriod,
  currency: string,
  kind: 'credit' | 'debit',
): InvoiceLine[] {
  const word = kind === 'credit' ? 'Unused' : 'Remaining'
  return lines.flatMap((line) =>
    shareLine(line, unusedShare(line.amount, period, currency), kind, word, period.at, period.end),
  )
}

function shareLine(
  { itemId, planId, productId = null, description }: InvoiceLine,
  share: string,
  kind: 'credit' | 'debit',
  word: 'Unused' | 'Remaining' | 'Used',
  periodStart: number,
  periodEnd: number,
): InvoiceLine[] {
  const exact = new Money(share)
  if (exact.isZero()) return []
  const amount = (kind === 'credit' ? exact.negated() : exact).toFixed()
  return [
    {
      type: 'proration',
      itemId,
      planId,
      productId,
      description: `${word} time on ${description}`,
      quantity: 1,
      unitPrice: amount,
      amount,
      periodStart,
      periodEnd,
    },
  ]
}

function withoutCommon(
  before: readonly InvoiceLine[],
  after: readonly InvoiceLine[],
): readonly [InvoiceLine[], InvoiceLine[]] {
  const fresh = [...after]
  const old = before.filter((line) => {
    const written = canonicalJson(line)
    const same = fresh.findIndex((one) => canonicalJson(one) === written)
    if (same >= 0) fresh.splice(same, 1)
    return same < 0
  })
  return [old, fresh]
}

function withAmount(line: InvoiceLine, amount: Money): InvoiceLine {
  return { ...line, unitPrice: amount.toFixed(), amount: amount.toFixed() }
}

/** Proration as lines of invoices and of the queue (decisions 6.3). */
import { canonicalJson } from './canonical-json.ts'
import type { InvoiceLine } from './invoices.ts'
import { lineAmount, Money, sumOf } from './money.ts'
import { addedTax, taxOf, withTaxAmounts } from './taxes.ts'

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
  return isNothing(lines) ? [] : lines
}

/** For a period billed at its end: the time before is credited at the new prices, and owed at the old ones. */
export function changeLinesInArrears(
  before: readonly InvoiceLine[],
  after: readonly InvoiceLine[],
  period: DividedPeriod,
  currency: string,
): InvoiceLine[] {
  const [old, fresh] = withoutCommon(before, after)
  const shareOf = (amount: string) => usedShare(amount, period, currency)
  const used = (lines: readonly InvoiceLine[], kind: 'credit' | 'debit') =>
    lines.flatMap((line) => shareLine(line, shareOf, kind, 'Used', period.start, period.at))
  const lines = [...used(fresh, 'credit'), ...used(old, 'debit')]
  return isNothing(lines) ? [] : lines
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

/** Draws the oldest credits first, with their taxes at most `amount`. A credit may be divided, and the rest stays queued. */
export function drawCredits(queue: readonly InvoiceLine[], amount: string, currency: string): Drawn {
  let bearable = Money.max(0, amount)
  const lines: InvoiceLine[] = []
  const left: InvoiceLine[] = []
  for (const line of queue) {
    if (!isCredit(line.amount)) continue
    const taken = Money.min(grossOf(line), bearable)
    bearable = bearable.minus(taken)
    const [part, rest] = divided(line, taken, currency)
    if (part !== null) lines.push({ ...part, isQueued: true })
    if (rest !== null) left.push(rest)
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
  const shareOf = (amount: string) => unusedShare(amount, period, currency)
  return lines.flatMap((line) => shareLine(line, shareOf, kind, word, period.at, period.end))
}

function shareLine(
  { itemId, planId, productId = null, description, amount: whole, taxes = [] }: InvoiceLine,
  shareOf: (amount: string) => string,
  kind: 'credit' | 'debit',
  word: 'Unused' | 'Remaining' | 'Used',
  periodStart: number,
  periodEnd: number,
): InvoiceLine[] {
  const signed = (price: string) => {
    const share = new Money(shareOf(price))
    return (kind === 'credit' ? share.negated() : share).toFixed()
  }
  const amount = signed(whole)
  if (new Money(amount).isZero()) return []
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
      ...(taxes.length === 0 ? {} : { taxes: taxes.map((tax) => ({ ...tax, amount: signed(tax.amount) })) }),
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

/** Divides a credit into what is taken of it, taxes included, and the rest; null where that is nothing. */
function divided(
  line: InvoiceLine,
  taken: Money,
  currency: string,
): readonly [InvoiceLine | null, InvoiceLine | null] {
  if (taken.isZero()) return [null, line]
  const gross = grossOf(line)
  if (taken.equals(gross)) return [line, null]
  const part = withTaxAmounts(line, (tax) => lineAmount(taken.times(tax).div(gross), currency))
  const amount = taken.plus(addedTax([part])).negated()
  const rest = withTaxAmounts(line, (tax, index) =>
    new Money(tax).minus(part.taxes?.[index]?.amount ?? 0).toFixed(),
  )
  return [withAmount(part, amount), withAmount(rest, new Money(line.amount).minus(amount))]
}

function withAmount(line: InvoiceLine, amount: Money): InvoiceLine {
  return { ...line, unitPrice: amount.toFixed(), amount: amount.toFixed() }
}

/** Returns what a credit takes off an invoice, with its taxes. */
function grossOf(line: InvoiceLine): Money {
  return new Money(line.amount).plus(addedTax([line])).negated()
}

function isNothing(lines: readonly InvoiceLine[]): boolean {
  return new Money(subtotal(lines)).isZero() && new Money(taxOf(lines)).isZero()
}

/**
 * Proration (decisions 6.3): what a part of a service period costs, as lines of an invoice, and what is queued for the
 * next invoice. Pure: amounts are exact decimal strings in the currency's units, instants are milliseconds.
 */
import { canonicalJson } from './canonical-json.ts'
import type { InvoiceLine } from './invoices.ts'
import { lineAmount, Money, sumOf } from './money.ts'

/** A service period, half-open, and the instant that divides it. */
export interface DividedPeriod {
  readonly start: number
  readonly end: number
  readonly at: number
}

/**
 * Returns the share of an amount for the rest of a period, by the second over the period's seconds, rounded half-up to the
 * decimals of the currency. A second that has begun is not used yet. The share is nothing at the end, and never exceeds the
 * amount.
 */
export function unusedShare(amount: string, { start, end, at }: DividedPeriod, currency: string): string {
  const seconds = Math.max(1, Math.round((end - start) / 1000))
  const used = Math.min(seconds, Math.max(0, Math.floor((at - start) / 1000)))
  return lineAmount(new Money(amount).times(seconds - used).div(seconds), currency)
}

/** Returns the rest of the amount: both shares sum to the whole. */
export function usedShare(amount: string, period: DividedPeriod, currency: string): string {
  return new Money(amount).minus(unusedShare(amount, period, currency)).toFixed()
}

/**
 * Returns what a change of prices within a period costs: the unused shares of the lines before it as credits, and those of
 * the lines after it as debits. What stands in both is left out, and nothing is left where the shares are equal.
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

/**
 * As `changeLines`, of a period that is billed as a whole under the new prices when it ends: the time before the change is
 * credited at the new prices, and owed at the old ones.
 */
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

/** Returns the unused shares of lines as credits: what is credited of a period that ends early. */
export function creditLines(
  lines: readonly InvoiceLine[],
  period: DividedPeriod,
  currency: string,
): InvoiceLine[] {
  return shareLines(lines, period, currency, 'credit')
}

export interface Drawn {
  /** What the invoice gets, marked as queued before. */
  readonly lines: readonly InvoiceLine[]
  /** What stays in the queue. */
  readonly left: readonly InvoiceLine[]
}

/** Returns what is owed of a queue, all of which the next invoice gets. */
export function queuedDebits(queue: readonly InvoiceLine[]): InvoiceLine[] {
  return queue.filter(({ amount }) => !isCredit(amount)).map((line) => ({ ...line, isQueued: true as const }))
}

/**
 * Returns the credits of a queue that an invoice of `amount` gets, oldest first and no more than it can bear: its amount does
 * not fall below zero. A credit of which it gets a part is divided, and the rest stays queued.
 */
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

/** Returns the lines that an invoice has from the queue, as they return to it when the invoice is voided. */
export function returnedLines(lines: readonly InvoiceLine[]): InvoiceLine[] {
  return lines.flatMap(({ isQueued, discount: _, ...line }) => (isQueued === true ? [line] : []))
}

/** Returns the signed sum of lines: negative where credits exceed debits. */
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

/** Returns both lists without the lines that have an equal one in the other. */
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

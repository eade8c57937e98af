/** Proration as lines of invoices and of the queue (decisions 6.3). */
import { canonicalJson } from './canonical-json.ts'
import { netAmount } from './discounts.ts'
import type { Invoice, InvoiceLine } from './invoices.ts'
import { isZero, lineAmount, Money, sumOf } from './money.ts'
import { addedTax, type LineTax, taxOf, withTaxAmounts } from './taxes.ts'

/** Half-open; `at` divides it. Milliseconds. */
export interface DividedPeriod {
  readonly start: number
  readonly end: number
  readonly at: number
  /** What was unused at its last change: that is divided evenly since, wherever its end is now. Absent: all, at its start. */
  readonly since?: UnusedSince
}

/** An exact share of what a period costs, reduced: whole numbers. */
export interface Ratio {
  readonly unused: string
  readonly of: string
}

export interface UnusedSince extends Ratio {
  /** How much of the period had been used, in milliseconds. */
  readonly from: number
}

/**
 * Returns the share of the rest, by the second, rounded half-up. A second that has begun is not used yet. `whole`: what was
 * unused of the period when the amount was billed.
 */
export function unusedShare(
  amount: string,
  period: DividedPeriod,
  currency: string,
  whole: Ratio = ALL,
): string {
  const rest = unusedRatio(period)
  if (whole.unused === '0') return '0'
  const { unused, of } = reduced(
    BigInt(rest.unused) * BigInt(whole.of),
    BigInt(rest.of) * BigInt(whole.unused),
  )
  return lineAmount(new Money(amount).times(unused).div(of), currency)
}

const ALL: Ratio = { unused: '1', of: '1' }

/** Returns how much of a period is unused. */
export function unusedRatio({ start, end, at, since }: DividedPeriod): Ratio {
  const from = start + (since?.from ?? 0)
  if (end <= from) return { unused: '0', of: '1' }
  const seconds = Math.max(1, Math.round((end - from) / 1000))
  const used = Math.min(seconds, Math.max(0, Math.floor((at - from) / 1000)))
  return reduced(
    BigInt(seconds - used) * BigInt(since?.unused ?? 1),
    BigInt(seconds) * BigInt(since?.of ?? 1),
  )
}

function reduced(unused: bigint, of: bigint): Ratio {
  let [divisor, rest] = [of, unused]
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest]
  return { unused: String(unused / divisor), of: String(of / divisor) }
}

/** What was billed of a line: for the whole period, or for its rest after a change. */
export interface BilledLine {
  /** For the whole period. */
  readonly line: InvoiceLine
  /** Less discounts. */
  readonly billed: string
  readonly taxes: readonly LineTax[]
  /** How much of the period had been used, in milliseconds. */
  readonly from: number
  /** What was unused of the period then; absent: all, or it was billed by an earlier release, which kept `from` alone. */
  readonly unused?: Ratio
}

export function billedWhole(lines: readonly InvoiceLine[]): BilledLine[] {
  return lines.map((line) => ({ line, billed: netAmount(line), taxes: line.taxes ?? [], from: 0 }))
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
  const unused = unusedRatio(period)
  const begun = fresh.map((line) => ({
    line,
    from,
    unused,
    ...rest(period, currency, netAmount(line), line.taxes),
  }))
  const lines = [
    ...creditLines(ended, period, currency),
    ...begun.flatMap(({ line, ...share }) =>
      shareLine(line, share, { kind: 'debit', word: 'Remaining', from: period.at, to: period.end }),
    ),
  ]
  const isNothing = isZero(subtotal(lines)) && isZero(taxOf(lines))
  return { lines: isNothing ? [] : lines, billed: [...kept, ...begun] }
}

export function creditLines(
  billed: readonly BilledLine[],
  period: DividedPeriod,
  currency: string,
): InvoiceLine[] {
  return billed.flatMap(({ line, billed: amount, taxes, from, unused }) => {
    const { start, end, at } = period
    const of = unused === undefined && from > 0 ? { start: start + from, end, at } : period
    const share = rest(of, currency, amount, taxes, unused)
    return shareLine(line, share, { kind: 'credit', word: 'Unused', from: period.at, to: period.end })
  })
}

/** Returns lines for a part of a period that is not billed yet, between two times of use. Parts sum to the whole. */
export function partLines(
  lines: readonly InvoiceLine[],
  period: Pick<DividedPeriod, 'start' | 'end' | 'since'>,
  part: { readonly from: number; readonly to: number },
  currency: string,
): InvoiceLine[] {
  const { start, end } = period
  const [from, to] = [start + part.from, Math.min(start + part.to, end)]
  const word = to < end ? 'Used' : 'Remaining'
  return lines.flatMap((line) => {
    const shareAt = (at: number) => unusedShare(line.amount, { ...period, at }, currency)
    const share = new Money(shareAt(from)).minus(shareAt(to)).toFixed()
    return shareLine(line, { billed: share }, { kind: 'debit', word, from, to, type: line.type })
  })
}

/** Returns the unused shares of an amount and of its taxes. */
function rest(
  period: DividedPeriod,
  currency: string,
  amount: string,
  taxes: readonly LineTax[] = [],
  whole: Ratio = ALL,
): Pick<BilledLine, 'billed' | 'taxes'> {
  const shareOf = (billed: string) => unusedShare(billed, period, currency, whole)
  return { billed: shareOf(amount), taxes: taxes.map((tax) => ({ ...tax, amount: shareOf(tax.amount) })) }
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

/** Draws the oldest credits first, with their taxes at most `amount`. A credit may be divided, and the rest stays queued. */
export function drawCredits(queue: readonly InvoiceLine[], amount: string, currency: string): Drawn {
  let bearable = Money.max(0, amount)
  const lines: InvoiceLine[] = []
  const left: InvoiceLine[] = []
  for (const line of queue) {
    if (!isCredit(line.amount)) continue
    const taken = Money.min(grossOf(line), bearable)
    bearable = bearable.minus(taken)
    const [part, kept] = divided(line, taken, currency)
    if (part !== null) lines.push({ ...part, isQueued: true })
    if (kept !== null) left.push(kept)
  }
  return { lines, left }
}

/** Returns credits and debits without `amount` of the credits, taxes included. */
export function keptCredits(lines: readonly InvoiceLine[], amount: Money, currency: string): InvoiceLine[] {
  const debits = lines.filter((line) => !isCredit(line.amount))
  return [...drawCredits(lines, amount.toFixed(), currency).left, ...debits]
}

/** Returns debits of `amount` in all, taxes included, that take back credit of what an invoice billed. */
export function reclaimed(
  { lines, periodStart, periodEnd }: Pick<Invoice, 'lines' | 'periodStart' | 'periodEnd'>,
  amount: Money,
  at: number,
  currency: string,
): InvoiceLine[] {
  const billed = lines.filter((line) => !isCredit(line.amount) && line.type !== 'shipping')
  const credits = billed.flatMap((line) => {
    const description = line.description.replace(/^(Remaining|Refunded) time on /, '')
    const whole = { billed: netAmount(line), taxes: line.taxes ?? [] }
    const credit = { kind: 'credit', word: 'Refunded', from: at, to: at } as const
    return shareLine({ ...line, description }, whole, credit)
  })
  return drawCredits(credits, amount.toFixed(), currency).lines.map(({ isQueued: _, ...line }) => ({
    ...negatedLine(line),
    periodStart: periodStart ?? at,
    periodEnd: periodEnd ?? at,
  }))
}

/** Returns a credit of what is debited, or a debit of what is credited. */
export function negatedLine(line: InvoiceLine): InvoiceLine {
  const negated = (amount: string) => new Money(amount).negated().toFixed()
  const amount = negated(line.amount)
  return { ...withTaxAmounts(line, negated), unitPrice: amount, amount }
}

/** Returns the lines from the queue, as they return to it when the invoice is voided. */
export function returnedLines(lines: readonly InvoiceLine[]): InvoiceLine[] {
  return lines.flatMap(({ isQueued, discount: _, ...line }) => (isQueued === true ? [line] : []))
}

export function subtotal(lines: readonly Pick<InvoiceLine, 'amount'>[]): string {
  return sumOf(lines.map(({ amount }) => amount))
}

/** Returns the sum of lines with the taxes that are added to them. */
export function grossAmount(lines: readonly InvoiceLine[]): Money {
  return new Money(sumOf([subtotal(lines), addedTax(lines)]))
}

export function isCredit(amount: string): boolean {
  return new Money(amount).isNegative() && !new Money(amount).isZero()
}

function shareLine(
  { itemId, planId, productId = null, description }: InvoiceLine,
  { billed, taxes = [] }: { readonly billed: string; readonly taxes?: readonly LineTax[] },
  {
    kind,
    word,
    from,
    to,
    type = 'proration',
  }: {
    readonly kind: 'credit' | 'debit'
    readonly word: 'Unused' | 'Remaining' | 'Used' | 'Refunded'
    readonly from: number
    readonly to: number
    readonly type?: InvoiceLine['type']
  },
): InvoiceLine[] {
  if (isZero(billed)) return []
  const signed = (amount: string) => (kind === 'credit' ? new Money(amount).negated().toFixed() : amount)
  const amount = signed(billed)
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
      ...(taxes.length === 0 ? {} : { taxes: taxes.map((tax) => ({ ...tax, amount: signed(tax.amount) })) }),
      periodStart: from,
      periodEnd: to,
    },
  ]
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

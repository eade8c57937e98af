/** Credit memos: what a customer is owed, and which invoices use it (decisions 6.3). */
import { lineAmount, Money, sumOf } from './money.ts'

export const CREDIT_MEMO_STATUSES = ['issued', 'partially-applied', 'applied', 'voided'] as const
export type CreditMemoStatus = (typeof CREDIT_MEMO_STATUSES)[number]

export const CREDIT_MEMO_REASONS = [
  'return',
  'product-unsatisfactory',
  'order-change',
  'order-cancellation',
  'chargeback',
  'write-off',
  'waiver',
  'customer-credit',
  'prepayment',
  'other',
] as const
export type CreditMemoReason = (typeof CREDIT_MEMO_REASONS)[number]

/** A credit memo as the rules read it: what no invoice uses yet. */
export interface Credit {
  readonly creditMemoId: string
  readonly currency: string
  /** Exact, in the currency's units. */
  readonly left: string
}

/** A part of a credit memo that an invoice uses. */
export interface CreditAllocation {
  readonly creditMemoId: string
  /** Exact, in the currency's units; above zero. */
  readonly amount: string
}

/**
 * Returns which memos cover an amount, in the order given: the rest of each until the amount is covered. Memos of
 * another currency are not used, and never more than is due or left.
 */
export function allocateCredit(due: string, currency: string, credit: readonly Credit[]): CreditAllocation[] {
  let open = new Money(due)
  return credit.flatMap((memo) => {
    const amount = memo.currency === currency ? Money.min(open, memo.left) : new Money(0)
    if (!amount.greaterThan(0)) return []
    open = open.minus(amount)
    return [{ creditMemoId: memo.creditMemoId, amount: amount.toFixed() }]
  })
}

/** Returns the memos without what is allocated of them. */
export function withoutCredit(credit: readonly Credit[], allocations: readonly CreditAllocation[]): Credit[] {
  return credit.map((memo) => {
    const used = ofMemo(allocations, memo.creditMemoId)
    return { ...memo, left: new Money(memo.left).minus(used).toFixed() }
  })
}

/** Returns the memos with what an invoice no longer uses. */
export function withCredit(credit: readonly Credit[], released: readonly CreditAllocation[]): Credit[] {
  return credit.map((memo) => ({
    ...memo,
    left: sumOf([memo.left, ofMemo(released, memo.creditMemoId)]),
  }))
}

/** Returns the allocations of an invoice with further ones, one for each memo. */
export function mergedCredit(
  allocations: readonly CreditAllocation[],
  further: readonly CreditAllocation[],
): CreditAllocation[] {
  const all = [...allocations, ...further]
  return [...new Set(all.map(({ creditMemoId }) => creditMemoId))].map((creditMemoId) => ({
    creditMemoId,
    amount: ofMemo(all, creditMemoId),
  }))
}

/** Returns what memos cover of an invoice. */
export function creditedAmount(allocations: readonly CreditAllocation[]): string {
  return sumOf(allocations.map(({ amount }) => amount))
}

/** Returns what changed of each memo between two states of an invoice: above zero where it uses more. */
export function creditChanges(
  before: readonly CreditAllocation[],
  after: readonly CreditAllocation[],
): CreditAllocation[] {
  const less = before.map(({ creditMemoId, amount }) => ({
    creditMemoId,
    amount: new Money(amount).neg().toFixed(),
  }))
  return mergedCredit(less, after).filter(({ amount }) => !new Money(amount).isZero())
}

/** Returns the status of a memo that is not voided. */
export function creditMemoStatus(total: string, unused: string): Exclude<CreditMemoStatus, 'voided'> {
  if (new Money(unused).isZero()) return 'applied'
  return new Money(unused).equals(total) ? 'issued' : 'partially-applied'
}

export interface CreditMemoItem {
  readonly description: string
  readonly unitPrice: string
  readonly quantity: number
}

/** Returns the price of an item, rounded half-up to the currency's decimals. */
export function creditMemoItemPrice({ unitPrice, quantity }: CreditMemoItem, currency: string): string {
  return lineAmount(new Money(unitPrice).times(quantity), currency)
}

/** Returns what a memo credits: its items and shipping. */
export function creditMemoTotal(
  items: readonly CreditMemoItem[],
  shipping: string,
  currency: string,
): string {
  return sumOf([...items.map((item) => creditMemoItemPrice(item, currency)), shipping])
}

function ofMemo(allocations: readonly CreditAllocation[], id: string): string {
  return sumOf(allocations.filter(({ creditMemoId }) => creditMemoId === id).map(({ amount }) => amount))
}

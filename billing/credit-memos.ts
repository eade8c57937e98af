/** An invoice uses the customer's memos when it is issued: `useCredit` in `order.ts`. */
import { lineAmount, Money, sumOf } from './money.ts'
import { type LineTax, taxText } from './taxes.ts'

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

export interface Credit {
  readonly creditMemoId: string
  readonly currency: string
  readonly left: string
  /** True if it is what an order had left when its service ended. */
  readonly isOfOrder?: true
}

export interface CreditAllocation {
  readonly creditMemoId: string
  /** Exact, in the currency's units; above zero. */
  readonly amount: string
}

/** Returns the part of each memo that covers `due`, in the order given. Memos of other currencies are not used. */
export function allocateCredit(due: string, currency: string, credit: readonly Credit[]): CreditAllocation[] {
  let open = new Money(due)
  return credit.flatMap((memo) => {
    const amount = memo.currency === currency ? Money.min(open, memo.left) : new Money(0)
    if (!amount.greaterThan(0)) return []
    open = open.minus(amount)
    return [{ creditMemoId: memo.creditMemoId, amount: amount.toFixed() }]
  })
}

export function withoutCredit(credit: readonly Credit[], allocations: readonly CreditAllocation[]): Credit[] {
  return credit.map((memo) => {
    const used = ofMemo(allocations, memo.creditMemoId)
    return { ...memo, left: new Money(memo.left).minus(used).toFixed() }
  })
}

export function withCredit(credit: readonly Credit[], released: readonly CreditAllocation[]): Credit[] {
  return credit.map((memo) => ({
    ...memo,
    left: sumOf([memo.left, ofMemo(released, memo.creditMemoId)]),
  }))
}

/** Returns the allocations with further ones, one for each memo. */
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

/** Returns the allocations less others of the same memos. */
export function withoutAllocations(
  allocations: readonly CreditAllocation[],
  released: readonly CreditAllocation[],
): CreditAllocation[] {
  return creditChanges(released, allocations)
}

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

export function creditMemoStatus(total: string, unused: string): Exclude<CreditMemoStatus, 'voided'> {
  if (new Money(unused).isZero()) return 'applied'
  return new Money(unused).equals(total) ? 'issued' : 'partially-applied'
}

export interface CreditMemoItem {
  readonly description: string
  readonly unitPrice: string
  readonly quantity: number
  /** Left out where there is none. */
  readonly tax?: CreditedTax
}

/** Amounts are exact, rates in percent; both decimal strings. */
export interface CreditedTax {
  readonly amount: string
  readonly description: string
  readonly rate: string | null
  /** What parts of a state have of it: `stateAmount`, `cityRate` and so on. */
  readonly parts: Readonly<Record<string, string>>
  readonly jurisdictions: Readonly<Record<'country' | 'state' | 'county' | 'city', string | null>> | null
}

/** Returns the item for a credit line of an order: its price without taxes, and these beside it. */
export function creditedItem({
  description,
  amount,
  taxes = [],
}: {
  readonly description: string
  readonly amount: string
  readonly taxes?: readonly LineTax[]
}): CreditMemoItem {
  const paidBack = (amounts: readonly string[]) => new Money(sumOf(amounts)).negated().toFixed()
  const included = taxes.flatMap((tax) => (tax.isIncluded ? [new Money(tax.amount).negated().toFixed()] : []))
  const [first] = taxes
  const tax = first && {
    amount: paidBack(taxes.map((one) => one.amount)),
    description: taxes.map(taxText).join(' + '),
    rate: sumOf(taxes.map(({ rate }) => rate)),
    parts: {},
    jurisdictions: { country: first.country, state: first.region, county: null, city: null },
  }
  return {
    description,
    unitPrice: paidBack([amount, ...included]),
    quantity: 1,
    ...(tax === undefined ? {} : { tax }),
  }
}

export function creditMemoItemPrice({ unitPrice, quantity }: CreditMemoItem, currency: string): string {
  return lineAmount(new Money(unitPrice).times(quantity), currency)
}

export function creditMemoTotal(
  items: readonly CreditMemoItem[],
  shipping: string,
  currency: string,
): string {
  return sumOf([...items.map((item) => creditMemoItemPrice(item, currency)), creditMemoTax(items), shipping])
}

export function creditMemoTax(items: readonly CreditMemoItem[]): string {
  return sumOf(items.flatMap(({ tax }) => tax?.amount ?? []))
}

export interface CreditedParts<Item extends CreditMemoItem> {
  readonly items: readonly Item[]
  readonly shippingAmount: string
}

/** Returns what a memo credits without `amount` of it: of its last items first, taxes included, and of shipping last. */
export function withoutAmount<Item extends CreditMemoItem>(
  { items, shippingAmount }: CreditedParts<Item>,
  amount: string,
  currency: string,
): CreditedParts<Item> {
  let rest = new Money(amount)
  const kept = items.toReversed().flatMap((item) => {
    const gross = new Money(creditMemoTotal([item], '0', currency))
    const taken = Money.min(rest, gross)
    rest = rest.minus(taken)
    if (taken.isZero()) return [item]
    return taken.equals(gross) ? [] : [itemOf(item, gross.minus(taken), gross, currency)]
  })
  return { items: kept.toReversed(), shippingAmount: new Money(shippingAmount).minus(rest).toFixed() }
}

/** Returns an item for `amount` of what it comes to, its tax in proportion. */
function itemOf<Item extends CreditMemoItem>(
  item: Item,
  amount: Money,
  gross: Money,
  currency: string,
): Item {
  const shareOf = (whole: string) => lineAmount(amount.times(whole).div(gross), currency)
  const { tax } = item
  const parts = Object.entries(tax?.parts ?? {}).map(([name, value]) => [
    name,
    name.endsWith('Amount') ? shareOf(value) : value,
  ])
  const taxed = tax && { ...tax, amount: shareOf(tax.amount), parts: Object.fromEntries(parts) }
  const unitPrice = amount.minus(taxed?.amount ?? 0).toFixed()
  return { ...item, quantity: 1, unitPrice, ...(taxed === undefined ? {} : { tax: taxed }) }
}

export function ofMemo(allocations: readonly CreditAllocation[], id: string): string {
  return sumOf(allocations.filter(({ creditMemoId }) => creditMemoId === id).map(({ amount }) => amount))
}

/** What is credited of an invoice, and taken back when it is refunded (ADR 90). Amounts are exact decimal strings. */
import {
  allocateCredit,
  type Credit,
  type CreditAllocation,
  creditedAmount,
  mergedCredit,
  ofMemo,
  withCredit,
  withoutAllocations,
  withoutCredit,
} from './credit-memos.ts'
import { type CreditWithdrawal, type Invoice, type InvoiceLine, isLive } from './invoices.ts'
import { isZero, Money, sumOf } from './money.ts'
import { billingInvoices, refundedOf, type ServedOrder, worthOf } from './prorated-periods.ts'
import { drawCredits, grossAmount, isCredit, keptCredits, negatedLine, reclaimed } from './proration.ts'

export interface CreditedOrder extends ServedOrder {
  readonly queue: readonly InvoiceLine[]
  readonly credit: readonly Credit[]
}

/**
 * Returns credits of the current period, with debits beside them, less what refunds and earlier credits have left nothing
 * for. The invoices that bill the period count what is credited of them, the latest first.
 */
export function givenCredit(
  order: CreditedOrder,
  lines: readonly InvoiceLine[],
): { readonly invoices: readonly Invoice[]; readonly lines: readonly InvoiceLine[] } {
  const amount = grossAmount(lines).negated()
  if (amount.isNegative()) return { invoices: withLessCredited(order, amount.negated()), lines }
  let rest = amount
  const parts = new Map<number, Money>()
  for (const invoice of billingInvoices(order)) {
    const part = Money.min(rest, Money.max(0, creditable(invoice)))
    parts.set(invoice.sequence, part)
    rest = rest.minus(part)
  }
  return {
    invoices: withCredited(order, parts),
    lines: rest.isZero() ? lines : keptCredits(lines, rest, order.terms.currency),
  }
}

/** Returns the invoices with less that is credited of those that bill the current period: its own first. */
export function withLessCredited(order: CreditedOrder, amount: Money): readonly Invoice[] {
  const billing = billingInvoices(order)
  const own = billing.at(-1)
  if (own === undefined) return order.invoices
  let rest = amount
  const parts = new Map<number, Money>()
  for (const invoice of [own, ...billing.slice(0, -1)]) {
    const part = Money.min(rest, Money.max(0, standingCredit(invoice)))
    parts.set(invoice.sequence, part.negated())
    rest = rest.minus(part)
  }
  // What is owed of the period but not billed yet can be credited too.
  parts.set(own.sequence, (parts.get(own.sequence) ?? new Money(0)).minus(rest))
  return withCredited(order, parts)
}

/**
 * Takes back what is credited of an invoice beyond what it billed and was not refunded: first from the queue, then from
 * credit memos of the order, and what has been used already as a debit for the next invoice. A refunded invoice uses the
 * memos; one that billed nothing cannot: they are less by that (`reduced`). What a refund that failed had taken back is
 * credited again.
 */
export function takenBack(
  order: CreditedOrder,
  sequence: number,
  at: number,
): Pick<CreditedOrder, 'invoices' | 'queue' | 'credit'> & { readonly reduced: readonly CreditAllocation[] } {
  const { invoices, queue, credit, terms } = order
  const invoice = invoices.find((one) => one.sequence === sequence)
  if (invoice === undefined) return { invoices, queue, credit, reduced: [] }
  const target = overCredited(invoice)
  const owed = target.minus(invoice.creditTakenBack)
  const changed = (values: Partial<Invoice>) =>
    invoices.map((one) =>
      one.sequence === sequence ? { ...one, creditTakenBack: target.toFixed(), ...values } : one,
    )
  if (owed.isZero()) return { invoices, queue, credit, reduced: [] }
  if (owed.isNegative()) {
    const returned = returnedMemos(invoice, credit, owed.negated(), terms.currency)
    const rest = owed.negated().minus(creditedAmount(returned))
    const again = reclaimed(invoice, rest, at, terms.currency).map(negatedLine)
    return {
      invoices: changed({
        credits: withoutAllocations(invoice.credits, returned),
        creditWithdrawals: withdrawalsAfterFailure(invoice, target),
      }),
      queue: [...queue, ...again],
      credit: withCredit(credit, returned),
      reduced: [],
    }
  }
  const drawn = drawCredits(queue, owed.toFixed(), terms.currency)
  const debits = queue.filter(({ amount }) => !isCredit(amount))
  const left = owed.plus(grossAmount(drawn.lines))
  const own = credit.filter(({ isOfOrder }) => isOfOrder === true)
  const used = allocateCredit(left.toFixed(), terms.currency, own)
  const rest = used.reduce((sum, { amount }) => sum.minus(amount), left)
  const uses = isLive(invoice)
  return {
    invoices: changed(uses ? { credits: mergedCredit(invoice.credits, used) } : {}),
    queue: [...debits, ...drawn.left, ...reclaimed(invoice, rest, at, terms.currency)],
    credit: withoutCredit(credit, used),
    reduced: uses ? [] : used,
  }
}

/**
 * Returns those of an order's invoices that count less once `amount` of credit is withdrawn from the customer: of what stands
 * of their credits, the latest first. What refunds have taken back of them besides stays taken back, until they fail.
 */
export function withdrawnCredit<Counted extends WithdrawableInvoice>(
  invoices: readonly Counted[],
  amount: string,
): { readonly invoice: Counted; readonly count: Pick<Invoice, 'amountCredited' | 'creditWithdrawals'> }[] {
  let rest = new Money(amount)
  const latest = invoices.toSorted((one, other) => other.sequence - one.sequence)
  return latest.flatMap((invoice) => {
    const standing = standingCredit(invoice)
    const part = Money.min(rest, Money.max(0, standing))
    if (part.isZero()) return []
    rest = rest.minus(part)
    const { amountCredited, creditTakenBack: takenBack, creditWithdrawals } = invoice
    const withdrawal = { refunded: refundedOf(invoice).toFixed(), takenBack }
    const count = {
      amountCredited: new Money(amountCredited).minus(part).toFixed(),
      creditWithdrawals: isZero(takenBack) ? [] : [...creditWithdrawals, withdrawal],
    }
    return [{ invoice, count }]
  })
}

/** Returns what an invoice counts beside a refund that pays a credit memo back: nothing of the period is returned by that. */
export function creditPaidBack(
  { amountCredited, creditWithdrawals }: Invoice,
  amount: string,
): Pick<Invoice, 'amountCredited' | 'creditWithdrawals'> {
  return {
    amountCredited: new Money(amountCredited).minus(amount).toFixed(),
    creditWithdrawals: creditWithdrawals.map((one) => ({ ...one, refunded: sumOf([one.refunded, amount]) })),
  }
}

/** Returns what a refunded invoice uses of the order's memos beyond its amount. */
function returnedMemos(
  invoice: Invoice,
  credit: readonly Credit[],
  owed: Money,
  currency: string,
): CreditAllocation[] {
  const { amount, amountPaid, refundedWhileOpen, credits } = invoice
  const covered = new Money(amountPaid).minus(refundedWhileOpen).plus(creditedAmount(credits))
  const beyond = Money.min(owed, Money.max(0, covered.minus(amount)))
  const used = credit
    .filter(({ isOfOrder }) => isOfOrder === true)
    .map((memo) => ({ ...memo, left: ofMemo(credits, memo.creditMemoId) }))
  return allocateCredit(beyond.toFixed(), currency, used)
}

function creditable(invoice: Invoice): Money {
  return worthOf(invoice).minus(refundedOf(invoice)).minus(standingCredit(invoice))
}

/**
 * Returns what refunds take back of what is credited: all of it once they come to what the invoice is worth, and as much
 * less as they are less. What was taken back before a withdrawal stays so, but for what refunds have failed since.
 */
function overCredited(invoice: Invoice): Money {
  const { amountCredited, creditWithdrawals } = invoice
  const refunded = refundedOf(invoice)
  const all = { refunded: worthOf(invoice), takenBack: amountCredited }
  const parts = [all, ...creditWithdrawals].map(({ refunded: through, takenBack }) =>
    Money.min(takenBack, refunded.minus(through).plus(takenBack)),
  )
  return Money.max(0, ...parts)
}

/** What a failed refund returns does not stay taken back because of an earlier withdrawal, nor is it taken again for that. */
function withdrawalsAfterFailure(invoice: Invoice, takenBack: Money): readonly CreditWithdrawal[] {
  if (takenBack.isZero()) return []
  const refunded = refundedOf(invoice)
  const now = { refunded: refunded.toFixed(), takenBack: takenBack.toFixed() }
  return invoice.creditWithdrawals.map((one) => (refunded.lessThan(one.refunded) ? now : one))
}

type CreditCount = Pick<Invoice, 'amountCredited' | 'creditTakenBack'>
type WithdrawableInvoice = CreditCount &
  Pick<Invoice, 'sequence' | 'creditWithdrawals' | 'status' | 'amountRefunded' | 'refundedWhileOpen'>

function standingCredit({ amountCredited, creditTakenBack }: CreditCount): Money {
  return new Money(amountCredited).minus(creditTakenBack)
}

function withCredited({ invoices }: CreditedOrder, parts: ReadonlyMap<number, Money>): readonly Invoice[] {
  return invoices.map((one) => {
    const part = parts.get(one.sequence)
    if (part === undefined || part.isZero()) return one
    return { ...one, amountCredited: part.plus(one.amountCredited).toFixed() }
  })
}

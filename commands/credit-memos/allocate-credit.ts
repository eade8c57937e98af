import type { CreditAllocation } from '../../billing/credit-memos.ts'
import { type FieldCode, InvalidFieldsError } from '../../billing/errors.ts'
import { amountDue } from '../../billing/invoices.ts'
import { amountProblem, Money, sumOf } from '../../billing/money.ts'
import { creditInvoice } from '../../billing/order-payments.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { actOnInvoice, type OwnedInvoice } from '../invoices/act-on-invoice.ts'

/**
 * Applies the credit balance, beyond what the invoice used when it was issued (`useCredit` in billing/order.ts), to
 * an open invoice that is locked: `amount` of it (a decimal string), or for
 * null what is due and left. Throws InvalidFieldsError, or ConflictError for an invoice that is not open or
 * is being charged.
 */
export async function allocateCreditBalance(
  unit: UnitOfWork,
  owned: OwnedInvoice,
  { amount, newestFirst }: { readonly amount: string | null; readonly newestFirst: boolean },
): Promise<readonly CreditAllocation[]> {
  let used: readonly CreditAllocation[] = []
  await actOnInvoice(unit, owned, (record, at) => {
    const { sequence, currency } = owned.invoice
    const credit = newestFirst ? record.order.credit.toReversed() : record.order.credit
    const made = creditInvoice(record.order, at, sequence, credit, amount)
    const state = record.order.invoices.find((one) => one.sequence === sequence)
    if (amount !== null && state !== undefined) {
      const problem = amountProblem(amount, currency)
      if (problem !== null) refuse(problem.code, problem.message)
      const due = amountDue(state)
      if (new Money(amount).greaterThan(due)) refuse('out-of-range', `must not exceed what is due: ${due}`)
      const left = sumOf(made.used.map((one) => one.amount))
      if (new Money(amount).greaterThan(left))
        refuse('out-of-range', `must not exceed the credit balance in ${currency}: ${left}`)
    }
    used = made.used
    return made.transition
  })
  return used
}

function refuse(code: FieldCode, message: string): never {
  throw new InvalidFieldsError([{ field: 'amount', code, message }])
}

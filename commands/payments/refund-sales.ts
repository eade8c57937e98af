/** Automatic refunds: a debt stays on the sale, however often the gateway declines (docs/adr/0027). */
import { takenBackOf } from '../../billing/disputes.ts'
import { isZero, sumOf } from '../../billing/money.ts'
import { ownValue } from '../../billing/own-value.ts'
import { nextRefundTime, REFUND_WAITS } from '../../billing/refund-schedule.ts'
import {
  type CountedRefund,
  type Debt,
  debtsOf,
  OVERPAID,
  type Paid,
  type Parts,
  withTakenBack,
} from '../../billing/refund-shares.ts'
import { statusOf, takesMoney } from '../../billing/transactions.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { Dispute, Invoice, Transaction } from '../../db/entities/index.ts'
import { MONEY_TAKEN } from '../../db/entities/transaction.ts'
import { lockRow } from '../../db/lock-row.ts'
import { newId } from '../../db/new-id.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { InvoicesRecord } from '../invoices/invoices-record.ts'
import { refundOf } from './transaction-members.ts'

/**
 * Begins the refunds of invoices that ended undelivered, each with its own workflow; sales are locked by id.
 * The caller holds the locks of all its orders, because one sale may have paid invoices of several.
 */
export async function refundUndelivered(unit: UnitOfWork, records: readonly InvoicesRecord[]): Promise<void> {
  const voided = records.flatMap(({ row, invoices, toRefund }) =>
    [...toRefund].map((sequence) => ({
      customerId: row.customerId,
      invoiceId: invoices.get(sequence)?.id ?? '',
    })),
  )
  if (voided.length === 0) return
  for (const { toRefund } of records) toRefund.clear()
  const { em, organizationId } = unit
  await em.flush()
  const sales = await statement<{ id: string }>(
    em,
    'find-charged-sales',
    `select sale.id from transactions sale
      where sale.organization_id = ? and sale.type in (${MONEY_TAKEN}) and sale.gateway is not null
        and sale.customer_id in (select jsonb_array_elements_text(?::jsonb))
        and exists (select from jsonb_array_elements_text(?::jsonb) invoice(id)
              where sale.payments ->> invoice.id is not null)
      order by sale.id`,
    [
      organizationId,
      JSON.stringify([...new Set(voided.map(({ customerId }) => customerId))]),
      JSON.stringify(voided.map(({ invoiceId }) => invoiceId)),
    ],
  )
  for (const { id } of sales) {
    const sale = await lockRow(unit, Transaction, id)
    if (sale === null) continue
    const paid = voided
      .map(({ invoiceId }) => invoiceId)
      .filter((one) => ownValue(sale.payments, one) !== undefined)
    sale.undelivered = [...new Set([...sale.undelivered, ...paid])]
    await refundOwed(unit, sale)
  }
}

/** Begins a refund of each part that a locked sale owes and that has no pending refund. */
export async function refundOwed(unit: UnitOfWork, sale: Transaction): Promise<void> {
  const { em, organizationId } = unit
  const { debts, amount } = await debtOf(unit, sale)
  sale.owedAmount = amount
  sale.nextRefundTime = null
  const ids = debts.flatMap(({ invoiceId }) => invoiceId ?? [])
  const invoices = ids.length === 0 ? [] : await em.find(Invoice, { organizationId, id: { $in: ids } })
  if (debts.length > 0) raiseRevision(sale, unit)
  for (const { invoiceId, amount } of debts) {
    sale.refundsBegun += 1
    const invoice = invoices.find(({ id }) => id === invoiceId)
    // Derived, as the ids of charges are, and distinct from those by a character that no id contains.
    const about =
      invoice === undefined ? 'rest' : `${invoice.subscriptionId ?? invoice.id}.${invoice.sequence}`
    const requestId = `${sale.requestId}/${about}/${sale.refundsBegun}`
    const shares: Record<string, string> = invoiceId === null ? {} : { [invoiceId]: amount }
    addRefund(unit, sale, { amount, shares, requestId })
  }
  await em.flush()
}

/** Records the outcome of a refund of a locked sale. If no money moved and it is owed, another is scheduled. */
export async function recordRefund(unit: UnitOfWork, sale: Transaction, hasMoved: boolean): Promise<void> {
  await unit.em.flush()
  if (hasMoved) await countRefunds(unit, sale)
  const debts = await countOwed(unit, sale)
  // The first of several declined refunds schedules the others, too.
  if (hasMoved || debts.length === 0 || sale.nextRefundTime != null) return
  sale.refundsFailed += 1
  const now = unit.now.getTime()
  sale.nextRefundTime = new Date(nextRefundTime(sale.refundsFailed, now) ?? now)
  unit.wake('transaction', sale.id, { dueBy: sale.nextRefundTime })
}

/** Counts what a locked sale owes, and returns the parts without a pending refund; if there is none, none stays scheduled. */
export async function countOwed(unit: UnitOfWork, sale: Transaction): Promise<readonly Debt[]> {
  const { debts, amount } = await debtOf(unit, sale)
  sale.owedAmount = amount
  if (isZero(amount)) sale.refundsFailed = 0
  if (debts.length === 0) sale.nextRefundTime = null
  return debts
}

/** Counts anew after a change of a locked sale's disputes; what is owed because of it is refunded at once, or as scheduled. */
export async function recountDisputed(unit: UnitOfWork, sale: Transaction): Promise<void> {
  if (!takesMoney(sale.type) || sale.result !== 'approved') return
  const isScheduled = sale.nextRefundTime != null || sale.refundsFailed > REFUND_WAITS.length
  const debts = await countOwed(unit, sale)
  if (!isScheduled && debts.length > 0) await refundOwed(unit, sale)
}

async function countRefunds(unit: UnitOfWork, sale: Transaction): Promise<void> {
  const approved = (await refundsOf(unit, sale.id)).filter(({ result }) => result === 'approved')
  const status = statusOf('approved', sale.amount, sumOf(approved.map(({ amount }) => amount)))
  if (status === sale.status) return
  sale.status = status
  raiseRevision(sale, unit)
}

/**
 * Begins owed refunds that are due at `instant`; after too many failures it calls `alertOperator` before the
 * commit. Returns when to check again; null: after the next change.
 */
export async function retryOwedRefunds(
  unit: UnitOfWork,
  saleId: string,
  instant: number,
  alertOperator: (sale: Transaction) => void,
): Promise<number | null> {
  const sale = await lockRow(unit, Transaction, saleId)
  if (sale?.nextRefundTime == null) return null
  if (sale.nextRefundTime.getTime() > instant) return sale.nextRefundTime.getTime()
  if (sale.refundsFailed <= REFUND_WAITS.length) await refundOwed(unit, sale)
  else {
    sale.nextRefundTime = null
    alertOperator(sale)
  }
  return null
}

/** `debts`: the parts without a pending refund; `amount`: all that is not refunded yet. */
async function debtOf(
  unit: UnitOfWork,
  sale: Transaction,
): Promise<{ readonly debts: readonly Debt[]; readonly amount: string }> {
  const [paid, owed] = [paidOf(sale), owedOf(sale)]
  const nothing = { debts: [], amount: '0' }
  if (debtsOf(paid, owed, []).length === 0) return nothing
  const refunds = await refundsOf(unit, sale.id)
  const made = refunds.filter(({ result }) => result === 'approved')
  if (debtsOf(paid, owed, made).length === 0) return nothing
  const takenBack = await readTakenBack(unit, sale)
  const left = (counted: readonly CountedRefund[]) =>
    debtsOf(paid, owed, withTakenBack(paid, counted, takenBack, owed))
  return { debts: left(refunds), amount: sumOf(left(made).map(({ amount }) => amount)) }
}

/** What banks took back of a sale, whose row has to be locked. */
export async function readTakenBack(
  { em, organizationId }: UnitOfWork,
  sale: Pick<Transaction, 'id' | 'amount' | 'currency'>,
): Promise<string> {
  const disputes = await em.find(Dispute, { organizationId, transactionId: sale.id })
  return takenBackOf(
    sale,
    disputes.map((one) => ({ ...one, caseId: one.caseId ?? null })),
  )
}

/** Payments outside of this service are not refunded. What no invoice used of a sale without invoices is the merchant's. */
export function owedOf({ gateway, undelivered, invoiceIds, keepsRest }: Transaction): Parts {
  if (gateway == null) return { invoiceIds: [], hasRest: false }
  return { invoiceIds: undelivered, hasRest: invoiceIds.length > 0 && !keepsRest }
}

export function paidOf({ amount, payments, invoiceIds }: Transaction): Paid {
  // The order of the ids is that of payment; members of a JSON object have none.
  return {
    amount,
    payments: [...invoiceIds, OVERPAID].flatMap((id) => {
      const got = ownValue(payments, id)
      return got === undefined ? [] : [[id, got] as const]
    }),
  }
}

/** Approved and pending ones. The sale's row has to be locked. */
export async function refundsOf(
  { em, organizationId }: UnitOfWork,
  parentTransactionId: string,
): Promise<(CountedRefund & Pick<Transaction, 'id' | 'requestId' | 'result'>)[]> {
  return await statement<{
    id: string
    requestId: string | null
    amount: string
    shares: Record<string, string>
    result: Transaction['result']
  }>(
    em,
    'read-refunds-of-sale',
    `select id, request_id as "requestId", amount::text as amount, shares, result from transactions
      where organization_id = ? and parent_transaction_id = ? and coalesce(result, 'unknown') not in ('declined', 'canceled')
      order by created_time, id`,
    [organizationId, parentTransactionId],
  )
}

/** Its own workflow makes the refund at once; `shares` are its amounts by invoice. */
export function addRefund(
  unit: UnitOfWork,
  sale: Transaction,
  {
    amount,
    shares,
    requestId,
    creditMemoId = null,
  }: {
    readonly amount: string
    readonly shares: Readonly<Record<string, string>>
    readonly requestId: string
    readonly creditMemoId?: string | null
  },
): Transaction {
  const id = newId('txn')
  sale.childTransactions = [...sale.childTransactions, id]
  const refund = unit.create(Transaction, {
    id,
    ...refundOf(sale),
    creditMemoId,
    amount,
    shares: { ...shares },
    status: 'pending',
    result: null,
    requestId,
    nextInquiryTime: unit.now,
  })
  unit.startWorkflow('transaction', id, {
    dueBy: unit.now,
    gatewayCall: true,
    attributes: { status: 'unknown', customerId: sale.customerId },
  })
  return refund
}

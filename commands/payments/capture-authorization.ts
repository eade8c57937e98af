/** The first step of captures and voids: an authorization is captured once, wholly or in part, or released (ADR 83). */
import { ConflictError, InvalidFieldsError } from '../../billing/errors.ts'
import { amountProblem, Money, plainAmount } from '../../billing/money.ts'
import { beginCallersCharge, requireNoCharge } from '../../billing/order-payments.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { Transaction } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { endedEntries } from '../../events/timeline.ts'
import { orderInstant } from '../orders/order-instant.ts'
import { references } from '../references.ts'
import { applyToInvoices, type LockedInvoice, lockInvoices } from './apply-payment.ts'
import {
  addTransaction,
  checkAgainstParent,
  checkInvoices,
  type Names,
  type OfParent,
  stateOf,
} from './start-transaction.ts'
import { aboutInvoices, inheritedBy, routeOfSale } from './transaction-members.ts'
import { readScope } from './transaction-scope.ts'

export interface CaptureOf extends OfParent {
  /** A decimal string; null: all that the authorization holds. */
  readonly amount: string | null
  /** The open invoices that it pays, in this order. */
  readonly invoiceIds: readonly string[]
}

/**
 * Starts a capture of an approved authorization. The rest of a partial one is released.
 *
 * @throws InvalidFieldsError
 * @throws ConflictError while a charge of one of its invoices, or a capture or void of the authorization, is in progress.
 */
export async function startCapture(unit: UnitOfWork, names: Names, capture: CaptureOf): Promise<Transaction> {
  const found = references(unit)
  // Lock order: orders before transactions.
  const invoices = await lockInvoices(unit, capture.invoiceIds, (row) => orderInstant(unit, row))
  const authorization = await lockAuthorization(unit, capture.parentTransactionId)
  const { customerId, currency } = authorization
  checkAgainstParent(found, authorization, capture)
  const amount = capture.amount ?? authorization.amount
  const problem = amountProblem(amount, currency)
  if (problem !== null) found.fail('amount', problem.code, problem.message)
  else if (new Money(amount).greaterThan(authorization.amount)) {
    const held = plainAmount(authorization.amount)
    found.fail('amount', 'out-of-range', `must not exceed the authorized amount: ${held}`)
  }
  checkInvoices(found, { invoiceIds: capture.invoiceIds, customerId, currency, amount }, invoices)
  found.check()
  for (const { record, sequence } of invoices) requireNoCharge(stateOf(record, sequence))
  const transaction = await addChild(unit, names, authorization, capture, invoices, {
    type: 'capture',
    amount,
    invoiceIds: [...capture.invoiceIds],
  })
  await applyToInvoices(unit, invoices, transaction, ({ record, sequence, instant }) =>
    beginCallersCharge(record.order, instant, sequence),
  )
  return transaction
}

/**
 * Starts the release of an approved authorization.
 *
 * @throws InvalidFieldsError
 * @throws ConflictError while a capture or void of the authorization is in progress.
 */
export async function startVoid(unit: UnitOfWork, names: Names, given: OfParent): Promise<Transaction> {
  const found = references(unit)
  const authorization = await lockAuthorization(unit, given.parentTransactionId)
  checkAgainstParent(found, authorization, given)
  found.check()
  const { amount } = authorization
  return await addChild(unit, names, authorization, given, [], { type: 'void', amount, invoiceIds: [] })
}

/** Its bank or the provider has ended an approved authorization. */
export async function releaseAuthorization(unit: UnitOfWork, id: string): Promise<void> {
  const authorization = await lockRow(unit, Transaction, id)
  if (authorization?.status === 'waiting-capture') endAuthorization(unit, authorization, 'voided', unit.now)
}

/** A locked authorization holds nothing any more. */
export function endAuthorization(
  unit: UnitOfWork,
  authorization: Transaction,
  status: 'completed' | 'voided',
  time: Date,
): void {
  if (authorization.status === status) return
  authorization.status = status
  raiseRevision(authorization, unit)
  for (const entry of endedEntries(authorization, time)) unit.addTimelineEntry(entry)
}

async function lockAuthorization(unit: UnitOfWork, id: string): Promise<Transaction> {
  const { em, organizationId, now } = unit
  const field = 'parentTransactionId'
  const authorization = await lockRow(unit, Transaction, id)
  if (authorization === null) {
    const message = 'must be the id of an existing transaction'
    throw new InvalidFieldsError([{ field, code: 'not-found', message }])
  }
  if (authorization.type !== 'authorize' || authorization.status !== 'waiting-capture') {
    const message = 'must be an approved authorization that is neither captured nor voided'
    throw new InvalidFieldsError([{ field, code: 'inactive', message }])
  }
  const { authorizationExpiryTime: expiry } = authorization
  if (expiry != null && expiry <= now) {
    const message = `must be an authorization that has not expired: it did at ${expiry.toISOString()}`
    throw new InvalidFieldsError([{ field, code: 'expired', message }])
  }
  const pending = { organizationId, parentTransactionId: id, status: 'pending' } as const
  if ((await em.count(Transaction, pending)) > 0) {
    throw new ConflictError('A capture or void of the authorization is in progress.')
  }
  return authorization
}

/** Adds a pending capture or void of a locked authorization. */
export async function addChild(
  unit: UnitOfWork,
  names: Names,
  authorization: Transaction,
  given: OfParent,
  invoices: readonly LockedInvoice[],
  values: Pick<Transaction, 'amount' | 'invoiceIds'> & { readonly type: 'capture' | 'void' },
): Promise<Transaction> {
  const { id, customerId, currency, paymentInstruction } = authorization
  const inherited = inheritedBy(authorization)
  const transaction = addTransaction(unit, names, await readScope(unit, invoices, authorization), {
    ...values,
    customerId,
    currency,
    paymentInstruction,
    parentTransactionId: id,
    shares: {},
    ...inherited,
    ...(invoices.length === 0 ? {} : aboutInvoices(invoices.map(({ row }) => row))),
    websiteId: given.websiteId ?? inherited.websiteId,
    billingAddress: given.billingAddress ?? inherited.billingAddress,
    description: given.description ?? null,
    customFields: given.customFields ?? {},
    ...routeOfSale(authorization),
  })
  authorization.childTransactions = [...authorization.childTransactions, transaction.id]
  raiseRevision(authorization, unit)
  return transaction
}

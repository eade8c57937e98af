import { createHash } from 'node:crypto'
import { canonicalJson } from '../../billing/canonical-json.ts'
import { type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import { amountOf } from '../../billing/money.ts'
import { pendingMovement, recordResult } from '../../commands/payments/record-result.ts'
import { startRefund, startSale } from '../../commands/payments/start-transaction.ts'
import { Transaction as TransactionRow } from '../../db/entities/index.ts'
import { type PaymentInstruction, transactionSearch } from '../../db/entities/transaction.ts'
import { newId } from '../../db/ids.ts'
import { inUnitOfWork, type UnitOfWork } from '../../db/unit-of-work.ts'
import { carryOut } from '../../gateways/movement.ts'
import { presentTransaction } from '../../representations/transaction.ts'
import type { OperationContext, OperationHandler, OperationResponse } from '../operation.ts'
import { fieldsOf, reference } from '../query/fields.ts'
import type { Resource } from '../resources/resource.ts'
import { respondCreated } from '../resources/respond.ts'
import { Transaction } from '../schemas/transaction.ts'

export const transactions: Resource<TransactionRow> = {
  name: 'Transaction',
  label: 'transaction',
  path: 'transactions',
  schema: Transaction,
  entity: TransactionRow,
  table: 'transactions',
  search: transactionSearch,
  fields: fieldsOf(Transaction, { customerId: reference('customer_id', 'customers') }),
  present: (row, { baseUrl }) => presentTransaction(row, baseUrl),
}

/**
 * POST of one, in the three steps of a payment. The first step stores the `Idempotency-Key`: a repetition continues
 * that transaction where it stopped and never creates another.
 */
export const postTransaction: OperationHandler = async (context) => {
  const body = context.body<Transaction>()
  const started = await context.commit(async (unit) =>
    respondCreated(context, transactions, await start(unit, body, context)),
  )
  const { id } = started.body as { readonly id: string }
  const { em, organizationId, gateway, baseUrl } = context
  const now = () => context.now().getTime()
  const readAt = now()
  const found = await pendingMovement(em.fork(), organizationId, id)
  // A transaction that has had a gateway result, even `unknown`, belongs to its workflow.
  if (found !== null && !found.pending.isUnknown) {
    const response = await carryOut(gateway, found.pending, readAt, now)
    await inUnitOfWork(em.fork(), { organizationId, baseUrl, now: context.now() }, (unit) =>
      recordResult(unit, id, response, unit.now.getTime()),
    )
  }
  return await createdNow(context, id)
}

async function createdNow(context: OperationContext, id: string): Promise<OperationResponse> {
  const row = await context.em
    .fork()
    .findOneOrFail(TransactionRow, { organizationId: context.organizationId, id })
  return await respondCreated(context, transactions, row)
}

async function start(
  unit: UnitOfWork,
  body: Transaction,
  context: OperationContext,
): Promise<TransactionRow> {
  const id = newId('txn')
  const derived = requestIdOf(context, body)
  if (derived !== null) {
    const { organizationId } = unit
    // Repeated after its stored response was removed: the money of one request moves once.
    const known = await unit.em.findOne(TransactionRow, { organizationId, requestId: derived })
    if (known !== null) return known
  }
  const requestId = derived ?? id
  const { keys, gateway } = context
  const { customerId, currency, amount, paymentInstruction, parentTransactionId, invoiceIds = [] } = body
  const invalid: InvalidField[] = []
  switch (body.type) {
    case 'sale': {
      const instruction = instructionOf(paymentInstruction)
      if (parentTransactionId != null) {
        invalid.push({
          field: 'parentTransactionId',
          code: 'not-supported',
          message: 'is supported for refunds only',
        })
      }
      if (customerId == null || currency == null || amount == null || instruction === null) {
        const needed = { customerId, currency, amount, paymentInstruction: instruction }
        for (const [field, value] of Object.entries(needed)) {
          if (value == null) invalid.push({ field, code: 'required', message: 'is required' })
        }
        throw new InvalidFieldsError(invalid)
      }
      if (invalid.length > 0) throw new InvalidFieldsError(invalid)
      const sale = {
        customerId,
        currency,
        amount: amountOf(amount),
        paymentInstruction: instruction,
        invoiceIds,
      }
      return await startSale(unit, { vault: keys.vault, gateway }, { id, requestId }, sale)
    }
    default: {
      if (paymentInstruction != null) {
        invalid.push({
          field: 'paymentInstruction',
          code: 'not-supported',
          message: 'is supported for sales only',
        })
      }
      if (invoiceIds.length > 0) {
        invalid.push({ field: 'invoiceIds', code: 'not-supported', message: 'is supported for sales only' })
      }
      if (parentTransactionId == null) {
        invalid.push({ field: 'parentTransactionId', code: 'required', message: 'is required' })
        throw new InvalidFieldsError(invalid)
      }
      if (invalid.length > 0) throw new InvalidFieldsError(invalid)
      return await startRefund(
        unit,
        { id, requestId },
        {
          parentTransactionId,
          amount: amount == null ? null : amountOf(amount),
          currency: currency ?? null,
          customerId: customerId ?? null,
        },
      )
    }
  }
}

/**
 * Returns the gateway's request id of a request under an `Idempotency-Key`, or null without one. It is derived from the
 * request alone, so that a repetition moves no money twice even if its records are lost.
 */
function requestIdOf(
  { organizationId, idempotencyKey }: Pick<OperationContext, 'organizationId' | 'idempotencyKey'>,
  body: Transaction,
): string | null {
  if (idempotencyKey === null) return null
  const text = ['PostTransaction', organizationId, idempotencyKey, canonicalJson(body)].join('\n')
  return `key_${createHash('sha256').update(text).digest('base64url')}`
}

/** The schema guarantees exactly one member. */
function instructionOf(given: Transaction['paymentInstruction']): PaymentInstruction | null {
  if (given == null) return null
  if (given.token !== undefined) return { token: given.token }
  if (given.paymentInstrumentId !== undefined) return { paymentInstrumentId: given.paymentInstrumentId }
  return { method: 'external' }
}

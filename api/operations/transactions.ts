import { createHash } from 'node:crypto'
import { canonicalJson } from '../../billing/canonical-json.ts'
import { ConflictError } from '../../billing/errors.ts'
import { amountOf } from '../../billing/money.ts'
import { takesMoney } from '../../billing/transactions.ts'
import { defaultCustomFields } from '../../commands/custom-fields.ts'
import { movementOf, pendingMovement } from '../../commands/payments/pending-movement.ts'
import { recordFoundResult } from '../../commands/payments/query-transaction.ts'
import { recordResult } from '../../commands/payments/record-result.ts'
import { type Names, startRefund } from '../../commands/payments/start-transaction.ts'
import { Transaction as TransactionRow } from '../../db/entities/index.ts'
import { disputeOf, isExpiredAuthorization, transactionSearch } from '../../db/entities/transaction.ts'
import { newId } from '../../db/new-id.ts'
import { inUnitOfWork, type UnitOfWork } from '../../db/unit-of-work.ts'
import { carryOut, lookUp, type MovementOutcome } from '../../gateways/movement.ts'
import { GatewayFailedError, type Movement, NotSentError } from '../../gateways/port.ts'
import { presentTransaction } from '../../representations/transaction.ts'
import type { OperationContext, OperationHandler, OperationResponse } from '../operation.ts'
import { constant, type Field, fieldsOf, reference } from '../query/fields.ts'
import { createdAt, respondCreated } from '../resources/created.ts'
import { withCustomFields } from '../resources/custom-fields.ts'
import { patch } from '../resources/patch.ts'
import { notFound, type Resource } from '../resources/resource.ts'
import { respondWith } from '../resources/respond.ts'
import { Transaction, type TransactionRefund } from '../schemas/transaction.ts'
import { transactionExpanders } from './expand-transaction.ts'
import { startOf } from './transaction-bodies.ts'

const DISPUTE = disputeOf('row.organization_id', 'row.id')
const IS_DISPUTED = `coalesce((${DISPUTE} ->> 'isOpen')::boolean, false)`
const IS_EXPIRED = isExpiredAuthorization('row.authorization_expiry_time')
const AMOUNT: Field = { sql: 'row.amount', type: 'number', always: true }
const CURRENCY: Field = { sql: 'row.currency', type: 'text', folded: 'upper', always: true }

/** The gateway's own reason, as the adapters write it; one with escaped characters, which is no code, is not found. */
const REASON = `(case when row.gateway is not null then substring(row.raw_response from '"reason":"([^"\\\\]*)"') end)`
const NEVER_REPORTED = [
  ...['message', 'type', 'originalMessage'].map((name) => `response.${name}`),
  ...['avsResponse', 'cvvResponse'].flatMap((one) =>
    ['code', 'message', 'originalCode', 'originalMessage'].map((name) => `${one}.${name}`),
  ),
]

export const transactions: Resource<TransactionRow> = {
  name: 'Transaction',
  label: 'transaction',
  path: 'transactions',
  schema: Transaction,
  entity: TransactionRow,
  table: 'transactions',
  computed: `${DISPUTE} as dispute, ${IS_EXPIRED} as is_expired`,
  search: transactionSearch,
  fields: fieldsOf(Transaction, {
    customerId: reference('customer_id', 'customers'),
    purchaseAmount: AMOUNT,
    purchaseCurrency: CURRENCY,
    requestAmount: AMOUNT,
    requestCurrency: CURRENCY,
    orderId: { sql: '(row.subscription_ids ->> 0)', type: 'text' },
    isRetry: { sql: '(row.retry_number > 0)', type: 'boolean', always: true },
    isMerchantInitiated: {
      sql: '(row.subscription_id is not null or row.is_merchant_initiated)',
      type: 'boolean',
      always: true,
    },
    has3ds: { sql: '(row.approval_url is not null)', type: 'boolean', always: true },
    isProcessedOutside: { sql: '(row.gateway is null)', type: 'boolean', always: true },
    method: {
      sql: "coalesce(row.payment_instruction ->> 'method', 'payment-card')",
      type: 'text',
      folded: 'lower',
      always: true,
    },
    'paymentInstrument.method': {
      sql: "(case when row.payment_instruction ->> 'paymentInstrumentId' is not null then 'payment-card' end)",
      type: 'text',
    },
    'paymentInstrument.paymentInstrumentId': {
      sql: "(row.payment_instruction ->> 'paymentInstrumentId')",
      type: 'text',
    },
    gatewayName: { sql: 'row.gateway', type: 'text' },
    gatewayAccountId: { sql: `substring(row.gateway_reference from '^account/([^/]+)/')`, type: 'text' },
    'gateway.response.code': {
      sql: '(case when row.gateway is not null then row.decline_class end)',
      type: 'text',
    },
    'gateway.response.originalCode': { sql: REASON, type: 'text' },
    ...Object.fromEntries(NEVER_REPORTED.map((name) => [`gateway.${name}`, constant(null)])),
    'billingAddress.hash': null,
    status: {
      sql: `case when ${IS_DISPUTED} then 'disputed'
                 when row.status = 'pending' and row.approval_url is not null then 'waiting-approval'
                 when row.status = 'waiting-capture' and ${IS_EXPIRED} then 'voided'
                 else row.status end`,
      type: 'text',
      folded: 'lower',
      always: true,
    },
    isDisputed: { sql: IS_DISPUTED, type: 'boolean', always: true },
    disputeTime: { sql: `(${DISPUTE} ->> 'time')::timestamptz`, type: 'time' },
    disputeStatus: { sql: `(${DISPUTE} ->> 'status')`, type: 'text', folded: 'lower' },
  }),
  // A dispute changes what a sale shows, and not the sale.
  isVolatile: ({ type }) => takesMoney(type) || type === 'authorize',
  present: (row, { baseUrl }) => presentTransaction(row, baseUrl),
  expanders: transactionExpanders,
}

/** The first step stores the `Idempotency-Key`: a repetition continues the transaction and creates no other. */
export const postTransaction: OperationHandler = async (context) => {
  const body = context.body<Transaction>()
  return await pay(context, ['PostTransaction'], body, async (unit, names) =>
    startOf(unit, names, await withCustomFields(unit, transactions, {}, body, null), context),
  )
}

/** 409 unless the transaction is an approved sale. */
export const postRefund: OperationHandler = async (context) => {
  const { organizationId, params, em } = context
  const id = params.id ?? ''
  const sale = await em.fork().findOne(TransactionRow, { organizationId, id })
  if (sale === null) throw notFound(transactions, id)
  const body = context.body<TransactionRefund>()
  if (!takesMoney(sale.type) || sale.result !== 'approved') {
    throw new ConflictError('Only an approved sale or capture can be refunded.')
  }
  return await pay(context, ['PostTransactionRefund', id], body, async (unit, names) =>
    startRefund(unit, names, {
      parentTransactionId: id,
      amount: body.amount == null ? null : amountOf(body.amount),
      currency: null,
      customerId: null,
      description: body.description ?? null,
      customFields: await defaultCustomFields(unit, transactions.path),
      isProcessedOutside: body.isProcessedOutside ?? false,
    }),
  )
}

export async function patchTransaction(context: OperationContext): Promise<OperationResponse> {
  return await patch<TransactionRow, Transaction>(context, transactions, {
    changeable: ['description', 'customFields'],
    update(_, row, body) {
      row.description = body.description ?? null
      row.customFields = body.customFields ?? {}
    },
  })
}

/**
 * Asks the gateway for the outcome, and records it if the transaction waits for it. What the gateway never received was
 * never sent, once no repetition can follow.
 */
export async function queryTransaction(context: OperationContext): Promise<OperationResponse> {
  const { organizationId, params, em, gateway, baseUrl } = context
  const id = params.id ?? ''
  const read = () => em.fork().findOne(TransactionRow, { organizationId, id })
  const row = await read()
  if (row === null) throw notFound(transactions, id)
  const found = row.requestId == null ? null : await ask(row, await movementOf(em.fork(), row, row.requestId))
  const isKnown = found !== null && found.result !== 'unknown'
  return await context.commit(async (unit) => {
    if (isKnown) await recordFoundResult(unit, id, found)
    await unit.em.flush()
    const now = (await unit.em.findOne(TransactionRow, { organizationId, id }, { refresh: true })) ?? row
    const { amount, currency, status, result } = presentTransaction(now, baseUrl)
    return { body: { transactionId: id, result: result ?? 'unknown', status, amount, currency } }
  })

  async function ask(
    { createdTime, status }: TransactionRow,
    movement: Movement,
  ): Promise<MovementOutcome | null> {
    const since = createdTime.getTime()
    try {
      if (status !== 'pending') return await gateway.find(movement, since)
      return await lookUp(gateway, movement, since, context.now().getTime())
    } catch (error) {
      if (error instanceof NotSentError) throw error
      throw new GatewayFailedError('The payment gateway did not respond. Try again later.')
    }
  }
}

type Start = (unit: UnitOfWork, names: Names) => Promise<TransactionRow>

/** Starts a transaction, makes its gateway call and returns 201. `request` names the operation. */
async function pay(
  context: OperationContext,
  request: readonly string[],
  body: object,
  startOne: Start,
): Promise<OperationResponse> {
  const started = await context.commit(async (unit) =>
    respondCreated(
      unit,
      context,
      transactions,
      await startOnce(unit, requestIdOf(context, request, body), startOne),
    ),
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
  return { ...(await createdNow(context, id)), ...replayHeaders(started) }
}

/** A continued request is a repetition too. */
function replayHeaders({ headers }: OperationResponse): Pick<OperationResponse, 'headers'> {
  return headers === undefined ? {} : { headers }
}

async function createdNow(context: OperationContext, id: string): Promise<OperationResponse> {
  const row = await context.em
    .fork()
    .findOneOrFail(TransactionRow, { organizationId: context.organizationId, id })
  return { ...(await respondWith(context, transactions, row)), ...createdAt(context, 'transactions', id) }
}

async function startOnce(unit: UnitOfWork, derived: string | null, startOne: Start): Promise<TransactionRow> {
  const id = newId('txn')
  if (derived !== null) {
    const { organizationId } = unit
    // Repeated after its stored response was removed: the money of one request moves once.
    const known = await unit.em.findOne(TransactionRow, { organizationId, requestId: derived })
    if (known !== null) return known
  }
  return await startOne(unit, { id, requestId: derived ?? id })
}

/** Derived from the request alone: a repetition moves no money twice, even if its records are lost. */
function requestIdOf(
  { organizationId, idempotencyKey }: Pick<OperationContext, 'organizationId' | 'idempotencyKey'>,
  [operation = '', ...about]: readonly string[],
  body: object,
): string | null {
  if (idempotencyKey === null) return null
  const text = [operation, organizationId, idempotencyKey, ...about, canonicalJson(body)].join('\n')
  return `key_${createHash('sha256').update(text).digest('base64url')}`
}

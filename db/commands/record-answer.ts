/** The last step of a payment (decisions 6.5): what the gateway answered, where nothing was recorded before. */
import { LockMode } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/postgresql'
import { CHARGE_TIMEOUT, nextInquiry } from '../../billing/charge-schedule.ts'
import type { Movement } from '../../gateways/movement.ts'
import type { GatewayAnswer } from '../../gateways/port.ts'
import { Customer, Transaction } from '../entities/index.ts'
import { transactionEvent } from '../transaction-events.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/** A pending transaction as the gateway is asked about it; null for one that is not pending, or not there. */
export async function pendingMovement(
  em: EntityManager,
  organizationId: string,
  id: string,
): Promise<{ readonly transaction: Transaction; readonly movement: Movement } | null> {
  const transaction = await em.findOne(Transaction, { organizationId, id }, { refresh: true })
  if (transaction?.status !== 'pending' || transaction.requestId == null) return null
  const { requestId, amount, currency } = transaction
  const shared = { organizationId, requestId, amount, currency }
  if (transaction.type === 'sale') {
    const reference = transaction.gatewayReference ?? ''
    return { transaction, movement: { kind: 'charge', charge: { ...shared, reference } } }
  }
  const parent = await em.findOneOrFail(Transaction, {
    organizationId,
    id: transaction.parentTransactionId ?? '',
  })
  const chargeRequestId = parent.requestId ?? ''
  return { transaction, movement: { kind: 'refund', refund: { ...shared, chargeRequestId } } }
}

/**
 * Records an answer on a transaction that is still pending, and emits `transaction-processed` or `transaction-declined`.
 * `unknown` leaves it pending, to be asked about by its workflow; after a day of that `transaction-timeout-resolved` is
 * emitted, once, and a later answer still counts. `instant` is the clock of who asked, in milliseconds.
 *
 * @returns when to ask next; null: never.
 */
export async function recordAnswer(
  unit: UnitOfWork,
  id: string,
  { result, raw }: GatewayAnswer,
  instant: number,
): Promise<number | null> {
  const { em, organizationId } = unit
  const transaction = await em.findOne(
    Transaction,
    { organizationId, id },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  )
  if (transaction?.status !== 'pending') return null
  const time = new Date(instant)
  const charged = transaction.createdTime.getTime()
  const next = result === 'unknown' ? nextInquiry(charged, instant) : null
  const wasUnknown = transaction.result === 'unknown'
  const timesOut =
    result === 'unknown' && transaction.timeoutTime == null && instant >= charged + CHARGE_TIMEOUT
  transaction.nextInquiryTime = next === null ? null : new Date(next)
  if (wasUnknown && result === 'unknown' && !timesOut) return next

  transaction.result = result
  transaction.rawResponse = raw
  if (result !== 'unknown') transaction.status = 'completed'
  if (timesOut) transaction.timeoutTime = time
  transaction.revision += 1
  transaction.updatedTime = unit.now
  const customer = await em.findOne(Customer, { organizationId, id: transaction.customerId })
  const emit = (type: Parameters<typeof transactionEvent>[1]) =>
    unit.emit(transactionEvent(transaction, type, unit, time, customer?.websiteId ?? null))
  if (timesOut) emit('transaction-timeout-resolved')
  if (result === 'approved') emit('transaction-processed')
  if (result === 'declined') emit('transaction-declined')
  if (result === 'unknown' && !wasUnknown) unit.wake('transaction', id)
  return next
}

/** What `gateways/movement.ts` needs of a pending transaction, for the middle one of three steps of a payment (decisions 6.5). */
import type { EntityManager } from '@mikro-orm/postgresql'
import { isOpen } from '../../billing/invoices.ts'
import { approvalIsOverdue } from '../../billing/transactions.ts'
import { Invoice, Transaction } from '../../db/entities/index.ts'
import type { PendingMovement } from '../../gateways/movement.ts'
import type { Movement } from '../../gateways/port.ts'

/** Returns null when it is not pending. At `instant` a customer's time to approve may have ended; null: no end. */
export async function pendingMovement(
  em: EntityManager,
  organizationId: string,
  id: string,
  instant: number | null = null,
): Promise<{ readonly transaction: Transaction; readonly pending: PendingMovement } | null> {
  const transaction = await em.findOne(Transaction, { organizationId, id }, { refresh: true })
  if (transaction?.status !== 'pending' || transaction.requestId == null) return null
  const { invoiceIds, result } = transaction
  const pending = {
    movement: await movementOf(em, transaction, transaction.requestId),
    since: transaction.createdTime.getTime(),
    isUnknown: result === 'unknown',
    isRefused: isOfExpiredCard(transaction),
    isWanted: await areOpen(em, organizationId, invoiceIds),
    isStillWanted: () => areOpen(em, organizationId, invoiceIds),
    isOverdue: instant !== null && approvalIsOverdue(chargedAt(transaction), instant),
  }
  return { transaction, pending }
}

/** Only the charge of an expired card has a decline class before its result. */
export function isOfExpiredCard({ result, declineClass }: Transaction): boolean {
  return result == null && declineClass != null
}

export async function movementOf(
  em: EntityManager,
  transaction: Transaction,
  requestId: string,
): Promise<Movement> {
  const { organizationId, amount, currency, gatewayReference } = transaction
  const shared = { organizationId, requestId, amount, currency, reference: gatewayReference ?? '' }
  const { type } = transaction
  if (type === 'sale' || type === 'authorize') {
    const isOffSession = transaction.subscriptionId != null || transaction.isMerchantInitiated
    const customer = isOffSession ? null : { returnUrl: transaction.redirectUrl ?? null }
    return { kind: type === 'sale' ? 'charge' : 'authorize', charge: { ...shared, customer } }
  }
  const parent = await em.findOneOrFail(Transaction, {
    organizationId,
    id: transaction.parentTransactionId ?? '',
  })
  if (type === 'capture' || type === 'void') {
    const request = {
      ...shared,
      authorizationRequestId: parent.requestId ?? '',
      authorizationId: parent.gatewayTransactionId ?? null,
    }
    return type === 'capture' ? { kind: type, capture: request } : { kind: type, release: request }
  }
  const refund = {
    ...shared,
    reference: parent.gatewayReference ?? '',
    chargeRequestId: parent.requestId ?? '',
    chargeId: parent.gatewayTransactionId ?? null,
  }
  return { kind: 'refund', refund }
}

async function areOpen(
  em: EntityManager,
  organizationId: string,
  invoiceIds: readonly string[],
): Promise<boolean> {
  if (invoiceIds.length === 0) return true
  const found = await em.find(
    Invoice,
    { organizationId, id: { $in: [...invoiceIds] } },
    { fields: ['status'], disableIdentityMap: true },
  )
  return found.every(isOpen)
}

/** On the clock of the order that charges, else in real time. */
export function chargedAt({ chargedTime, createdTime }: Transaction): number {
  return (chargedTime ?? createdTime).getTime()
}

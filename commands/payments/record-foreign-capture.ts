import { Transaction } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { newId } from '../../db/new-id.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { GatewayResult } from '../../gateways/port.ts'
import { addChild } from './capture-authorization.ts'
import { FOREIGN } from './record-foreign-refund.ts'
import { recordResult } from './record-result.ts'

/**
 * Records once a capture of an authorization that was made at the provider, as a capture of ours that names no invoice.
 * Returns false while a capture or void of ours is in progress: its outcome has to be known first.
 */
export async function recordForeignCapture(
  unit: UnitOfWork,
  authorizationId: string,
  amount: string,
  outcome: GatewayResult,
): Promise<boolean> {
  const { em, organizationId, now } = unit
  // Its own outcome may have been recorded just now.
  await em.flush()
  const authorization = await lockRow(unit, Transaction, authorizationId)
  if (authorization === null) return true
  const { id: parentTransactionId } = authorization
  const children = await em.find(Transaction, { organizationId, parentTransactionId })
  if (children.some(({ status }) => status === 'pending')) return false
  // Money that is held is taken once.
  if (children.some(({ type, result }) => type === 'capture' && result === 'approved')) return true
  const names = { id: newId('txn'), requestId: `${FOREIGN}${outcome.id}` }
  const given = { parentTransactionId, currency: null, customerId: null }
  await addChild(unit, names, authorization, given, [], { type: 'capture', amount, invoiceIds: [] })
  await em.flush()
  await recordResult(unit, names.id, outcome, now.getTime())
  return true
}

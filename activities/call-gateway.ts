import { startOrderCall } from '../commands/orders/start-order-call.ts'
import { pendingMovement } from '../commands/payments/pending-movement.ts'
import { recordResult } from '../commands/payments/record-result.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { carryOut } from '../gateways/movement.ts'
import type { AdvanceInput, AdvanceResult } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { reportUnresolved } from './inquire-transaction.ts'
import { instantOf } from './instant.ts'

/**
 * Makes the charge that is due, or queries its outcome. The request id stays the same until there is a result, so
 * that a repetition moves no money twice. Returns what the order then waits for, which may be the end of its
 * quarantine; null: it has to be advanced first.
 */
export async function callGateway(
  dependencies: ActivityDependencies,
  input: AdvanceInput,
): Promise<AdvanceResult | null> {
  return await dependencies.quarantine.guard('subscription', input, async () => {
    await makeCall(dependencies, input)
    return await dependencies.orders.waiting(input)
  })
}

async function makeCall(dependencies: ActivityDependencies, input: AdvanceInput): Promise<void> {
  const { em, baseUrl, now, gateway } = dependencies
  const { organizationId, recordId } = input
  const tenant = () => ({ organizationId, baseUrl, now: new Date(now()) })
  const call = await inUnitOfWork(em(), tenant(), (unit) =>
    startOrderCall(unit, recordId, instantOf(dependencies, input)),
  )
  if (call === null) return
  const { transactionId, instant } = call
  const readAt = now()
  // Without a result, an earlier attempt may have failed before the gateway, and the invoice may have ended since.
  const found = await pendingMovement(em(), organizationId, transactionId)
  if (found === null) return
  const result = await carryOut(gateway, found.pending, readAt, now)
  await inUnitOfWork(em(), tenant(), (unit) => recordResult(unit, transactionId, result, instant))
  reportUnresolved(dependencies, found.transaction, result, instant)
}

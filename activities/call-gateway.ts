import { startOrderCall } from '../db/commands/charge-order.ts'
import { pendingMovement, recordAnswer } from '../db/commands/record-answer.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { inquire, move } from '../gateways/movement.ts'
import type { SettleInput } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { reportUnresolved } from './inquire-transaction.ts'

/**
 * Asks the gateway what is due of an order at the workflow's instant: a charge, or the outcome of one. Repeating it, at once
 * or later, moves no money twice: the request id stays the same until there is an answer.
 */
export async function callGateway(
  dependencies: ActivityDependencies,
  { organizationId, recordId, clock, base }: SettleInput,
): Promise<void> {
  const { em, baseUrl, now, gateway } = dependencies
  const instant = clock + (base ?? 0)
  const tenant = () => ({ organizationId, baseUrl, now: new Date(now()) })
  const id = await inUnitOfWork(em(), tenant(), (unit) => startOrderCall(unit, recordId, instant))
  const pending = id === null ? null : await pendingMovement(em(), organizationId, id)
  if (id === null || pending === null) return
  // Of one without any answer, an earlier try may have died before the gateway heard of it.
  const ask = pending.transaction.result === 'unknown' ? inquire : move
  const answer = await ask(gateway, pending.movement)
  await inUnitOfWork(em(), tenant(), (unit) => recordAnswer(unit, id, answer, instant))
  reportUnresolved(dependencies, pending.transaction, answer, instant)
}

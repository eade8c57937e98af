import { nextInquiry } from '../billing/charge-schedule.ts'
import { chargedAt, pendingMovement, recordAnswer } from '../db/commands/record-answer.ts'
import type { Transaction } from '../db/entities/index.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { inquire } from '../gateways/movement.ts'
import type { GatewayAnswer } from '../gateways/port.ts'
import type { AdvanceInput, AdvanceResult } from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { instantOf } from './instant.ts'

/**
 * Asks the gateway what became of a transaction whose outcome is not known, when that is due at the workflow's instant.
 * Repeating it does no harm: the request id stays the same, and only a pending transaction takes an answer.
 */
export async function inquireTransaction(
  dependencies: ActivityDependencies,
  input: AdvanceInput,
): Promise<AdvanceResult> {
  const { em, baseUrl, now, visibility, gateway } = dependencies
  const { organizationId, recordId } = input
  const base = input.base ?? 0
  const instant = instantOf(dependencies, input)
  const pending = await pendingMovement(em(), organizationId, recordId)
  if (pending === null) return { next: null, base, visibility: null }
  const { transaction, movement } = pending
  let next = transaction.nextInquiryTime?.getTime() ?? null
  if (next !== null && next <= instant) {
    const answer = await inquire(gateway, movement)
    const tenant = { organizationId, baseUrl, now: new Date(now()) }
    next = await inUnitOfWork(em(), tenant, (unit) => recordAnswer(unit, recordId, answer, instant))
    reportUnresolved(dependencies, transaction, answer, instant)
  }
  const time = next === null ? null : new Date(next).toISOString()
  return {
    next,
    base,
    visibility:
      visibility && time !== null
        ? {
            details: `The gateway has not told the outcome of transaction **${recordId}**.`,
            timer: `asked again at ${time}`,
            attributes: {
              BillingOrganization: organizationId,
              BillingCustomer: transaction.customerId,
              BillingWebhook: null,
              BillingStatus: 'unknown',
              BillingNextDeadline: time,
            },
          }
        : null,
  }
}

/** Tells the operator of a payment whose outcome nobody will ask for any more; it stays pending, and its invoices unpaid. */
export function reportUnresolved(
  { log, unresolved }: Pick<ActivityDependencies, 'log' | 'unresolved'>,
  transaction: Transaction,
  { result }: GatewayAnswer,
  instant: number,
): void {
  if (result !== 'unknown' || nextInquiry(chargedAt(transaction), instant) !== null) return
  const { organizationId, id, requestId, gateway } = transaction
  unresolved.inc()
  log.error(
    { organizationId, transactionId: id, requestId, gateway },
    'the outcome of a payment stays unknown',
  )
}

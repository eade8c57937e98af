import { nextInquiry } from '../billing/inquiry-schedule.ts'
import { chargedAt, pendingMovement } from '../commands/payments/pending-movement.ts'
import { recordResult } from '../commands/payments/record-result.ts'
import { retryOwedRefunds } from '../commands/payments/refund-sales.ts'
import type { Transaction } from '../db/entities/index.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { carryOut, type MovementOutcome } from '../gateways/movement.ts'
import {
  type AdvanceInput,
  type AdvanceResult,
  searchAttributesOf,
  type Visibility,
} from '../workflows/contract.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { executionTimeOf, instantOf, wakingTime } from './instant.ts'

/**
 * Queries an outcome, or begins the refunds that a sale owes. Idempotent: the request id stays the same, and only a
 * pending transaction accepts a result.
 */
export async function inquireTransaction(
  dependencies: ActivityDependencies,
  input: AdvanceInput,
): Promise<AdvanceResult> {
  const { em, baseUrl, now, gateway } = dependencies
  const { organizationId, recordId } = input
  const base = input.base ?? 0
  const instant = instantOf(dependencies, input)
  const waking = (deadline: number | null) => wakingTime(deadline, { time: executionTimeOf(input), instant })
  const readAt = now()
  const tenant = () => ({ organizationId, baseUrl, now: new Date(now()) })
  const found = await pendingMovement(em(), organizationId, recordId, instant)
  if (found === null) {
    const next = await inUnitOfWork(em(), tenant(), (unit) =>
      retryOwedRefunds(unit, recordId, instant, (sale) => reportUnpaidRefund(dependencies, sale)),
    )
    return { next: waking(next), base, visibility: visibilityOf({ organizationId, recordId, next }) }
  }
  const { transaction, pending } = found
  const { customerId } = transaction
  let next = transaction.nextInquiryTime?.getTime() ?? null
  if (next !== null && next <= instant) {
    const result = await carryOut(gateway, pending, readAt, now)
    next = await inUnitOfWork(em(), tenant(), (unit) => recordResult(unit, recordId, result, instant))
    reportUnresolved(dependencies, transaction, result, instant)
  }
  return {
    next: waking(next),
    base,
    visibility: visibilityOf({ organizationId, recordId, customerId, next }),
  }
}

function visibilityOf({
  organizationId,
  recordId,
  customerId,
  next,
}: {
  readonly organizationId: string
  readonly recordId: string
  /** Set if an outcome is queried; otherwise a refund is owed. */
  readonly customerId?: string
  readonly next: number | null
}): Visibility | null {
  if (next === null) return null
  const time = new Date(next).toISOString()
  const isAsked = customerId !== undefined
  return {
    details: isAsked
      ? `The gateway has not reported the outcome of transaction **${recordId}**.`
      : `A refund of sale **${recordId}** is owed and was declined.`,
    timer: isAsked ? `asked again at ${time}` : `refunded again at ${time}`,
    attributes: searchAttributesOf({
      organizationId,
      customerId,
      status: isAsked ? 'unknown' : 'refund-owed',
      nextDeadline: time,
    }),
  }
}

/** The debt must be paid by other means. It stays on the sale until refunds of it are approved. */
function reportUnpaidRefund(
  { log, unpaidRefunds }: Pick<ActivityDependencies, 'log' | 'unpaidRefunds'>,
  { organizationId, id, owedAmount, currency, gateway }: Transaction,
): void {
  unpaidRefunds.inc()
  log.error(
    { organizationId, transactionId: id, owedAmount, currency, gateway },
    'a refund that is owed was declined every time',
  )
}

/** Alerts the operator to a payment that is no longer queried. It stays pending, and its invoices unpaid. */
export function reportUnresolved(
  { log, unresolved }: Pick<ActivityDependencies, 'log' | 'unresolved'>,
  transaction: Transaction,
  { result }: MovementOutcome,
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

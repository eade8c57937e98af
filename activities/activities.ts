import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common'
import { ClockSkewError } from '../db/clock-agreement.ts'
import type { AdvanceResult } from '../workflows/contract.ts'
import type { Activities } from '../workflows/workflows.ts'
import { advanceCoupon } from './advance-coupon.ts'
import { advanceDispute } from './advance-dispute.ts'
import { advanceInvoice } from './advance-invoice.ts'
import { advanceToken } from './advance-token.ts'
import { attemptDelivery } from './attempt-delivery.ts'
import { callGateway } from './call-gateway.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { inquireTransaction } from './inquire-transaction.ts'
import { NotYetError } from './not-yet.ts'

/** Delay after a process with a wrong clock refused an activity, so that another process may take it. */
const AFTER_SKEW = '1 s'

export function createActivities(dependencies: ActivityDependencies): Activities {
  const { orders, quarantine, isVisible } = dependencies
  const shown = async <Result extends AdvanceResult | null>(activity: Promise<Result>) => {
    const result = await retriedSoon(activity)
    return result === null || isVisible() ? result : { ...result, visibility: null }
  }
  return {
    advanceOrder: (input) => shown(orders.advance(input)),
    advanceDispute: (input) =>
      shown(quarantine.guard('dispute-deadline', input, () => advanceDispute(dependencies, input))),
    advanceCoupon: (input) =>
      shown(quarantine.guard('coupon', input, () => advanceCoupon(dependencies, input))),
    advanceInvoice: (input) =>
      shown(quarantine.guard('invoice', input, () => advanceInvoice(dependencies, input))),
    advanceToken: (input) =>
      shown(quarantine.guard('token-expiry', input, () => advanceToken(dependencies, input))),
    inquireTransaction: (input) =>
      shown(quarantine.guard('transaction', input, () => inquireTransaction(dependencies, input))),
    attemptDelivery: (input) =>
      shown(quarantine.guard('webhook-delivery', input, () => attemptDelivery(dependencies, input))),
    callGateway: (input) => shown(callGateway(dependencies, input)),
  }
}

/** A refusal because of the clock, or for lack of a place, is not the record's fault and must not lengthen the back-off. */
async function retriedSoon<T>(activity: Promise<T>): Promise<T> {
  try {
    return await activity
  } catch (error) {
    if (!(error instanceof ClockSkewError || error instanceof NotYetError)) throw error
    const { name: type, message } = error
    throw ApplicationFailure.create({
      type,
      message,
      cause: error,
      ...(error instanceof NotYetError
        ? { nextRetryDelay: error.wait, category: ApplicationFailureCategory.BENIGN }
        : { nextRetryDelay: AFTER_SKEW }),
    })
  }
}

import {
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow'
import {
  type AdvanceInput,
  type AdvanceResult,
  GATEWAY_QUEUE_SUFFIX,
  HTTP_QUEUE_SUFFIX,
  type WorkflowInput,
} from './contract.ts'
import { follow } from './follow.ts'

export interface Activities {
  advanceOrder(input: AdvanceInput): Promise<AdvanceResult>
  advanceDispute(input: AdvanceInput): Promise<AdvanceResult>
  advanceCoupon(input: AdvanceInput): Promise<AdvanceResult>
  advanceInvoice(input: AdvanceInput): Promise<AdvanceResult>
  advanceToken(input: AdvanceInput): Promise<AdvanceResult>
  inquireTransaction(input: AdvanceInput): Promise<AdvanceResult>
  attemptDelivery(input: AdvanceInput): Promise<AdvanceResult>
  callGateway(input: AdvanceInput): Promise<AdvanceResult | null>
}

/** Time skipping skips these waits, so attempts are unlimited. */
const RETRY_FOREVER = { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 minute' } as const

const local = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10 s',
  // A waiting local activity keeps its workflow task slot, so the queued activity takes over after a few attempts.
  localRetryThreshold: '2 s',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumAttempts: 3 },
})
const queued = proxyActivities<Activities>({ startToCloseTimeout: '30 s', retry: RETRY_FOREVER })

/** Runs locally while the database responds, and from the task queue otherwise. */
function persistent(
  name: 'advanceOrder' | 'advanceDispute' | 'advanceCoupon' | 'advanceInvoice' | 'advanceToken',
): (input: AdvanceInput) => Promise<AdvanceResult> {
  return async (input) => {
    try {
      return await local[name](input)
    } catch (error) {
      // A time-out is an ActivityFailure at first, and a bare TimeoutFailure in every replay.
      if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error
      return await queued[name]({ ...input, clock: Date.now() })
    }
  }
}

async function subscription(input: WorkflowInput): Promise<void> {
  const { callGateway } = proxyActivities<Activities>({
    taskQueue: `${workflowInfo().taskQueue}${GATEWAY_QUEUE_SUFFIX}`,
    startToCloseTimeout: '60 s',
    // The order is then advanced before the next attempt, because each call carries its own instant.
    scheduleToCloseTimeout: '3 minutes',
    retry: RETRY_FOREVER,
  })
  await follow(input, persistent('advanceOrder'), callGateway)
}

async function webhookDelivery(input: WorkflowInput): Promise<void> {
  const { attemptDelivery } = proxyActivities<Activities>({
    taskQueue: `${workflowInfo().taskQueue}${HTTP_QUEUE_SUFFIX}`,
    startToCloseTimeout: '30 s',
    retry: RETRY_FOREVER,
  })
  await follow(input, attemptDelivery)
}

async function tokenExpiry(input: WorkflowInput): Promise<void> {
  await follow(input, persistent('advanceToken'))
}

async function transaction(input: WorkflowInput): Promise<void> {
  const { inquireTransaction } = proxyActivities<Activities>({
    taskQueue: `${workflowInfo().taskQueue}${GATEWAY_QUEUE_SUFFIX}`,
    startToCloseTimeout: '60 s',
    retry: RETRY_FOREVER,
  })
  await follow(input, inquireTransaction)
}

async function disputeDeadline(input: WorkflowInput): Promise<void> {
  await follow(input, persistent('advanceDispute'))
}

async function coupon(input: WorkflowInput): Promise<void> {
  await follow(input, persistent('advanceCoupon'))
}

/** An own invoice: past due, and its charges, whose sales have workflows of their own. */
async function invoice(input: WorkflowInput): Promise<void> {
  await follow(input, persistent('advanceInvoice'))
}

export {
  coupon,
  disputeDeadline as 'dispute-deadline',
  invoice,
  subscription,
  tokenExpiry as 'token-expiry',
  transaction,
  webhookDelivery as 'webhook-delivery',
}

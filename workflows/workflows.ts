/** The workflows of the service: one for each kind of record, by the name operators see. */
import {
  ActivityFailure,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
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

/** Activities as workflows call them; implemented in `activities/`. */
export interface Activities {
  advanceOrder(input: AdvanceInput): Promise<AdvanceResult>
  advanceDispute(input: AdvanceInput): Promise<AdvanceResult>
  advanceToken(input: AdvanceInput): Promise<AdvanceResult>
  inquireTransaction(input: AdvanceInput): Promise<AdvanceResult>
  attemptDelivery(input: AdvanceInput): Promise<AdvanceResult>
  callGateway(input: AdvanceInput): Promise<AdvanceResult | null>
}

/** Failures of our own infrastructure only, which pass. Time skipping skips these waits too, so attempts are unlimited. */
const RETRY_FOREVER = { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 minute' } as const

const local = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10 s',
  // A local activity that waits keeps its workflow task slot: after a few attempts the activity below takes over.
  localRetryThreshold: '2 s',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumAttempts: 3 },
})
const queued = proxyActivities<Activities>({ startToCloseTimeout: '30 s', retry: RETRY_FOREVER })

/** A database activity: local while the database answers, else queued. */
function persistent(
  name: 'advanceOrder' | 'advanceDispute' | 'advanceToken',
): (input: AdvanceInput) => Promise<AdvanceResult> {
  return async (input) => {
    try {
      return await local[name](input)
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error
      return await queued[name]({ ...input, clock: Date.now() })
    }
  }
}

/** An order: everything time does to it, and its charges. */
async function subscription(input: WorkflowInput): Promise<void> {
  const { callGateway } = proxyActivities<Activities>({
    taskQueue: `${workflowInfo().taskQueue}${GATEWAY_QUEUE_SUFFIX}`,
    startToCloseTimeout: '60 s',
    // Then the order is advanced before the next attempt: each call carries its own instant.
    scheduleToCloseTimeout: '3 minutes',
    retry: RETRY_FOREVER,
  })
  await follow(input, persistent('advanceOrder'), callGateway)
}

/** A delivery whose first attempt failed: the exact retry schedule. */
async function webhookDelivery(input: WorkflowInput): Promise<void> {
  const { attemptDelivery } = proxyActivities<Activities>({
    taskQueue: `${workflowInfo().taskQueue}${HTTP_QUEUE_SUFFIX}`,
    startToCloseTimeout: '30 s',
    retry: RETRY_FOREVER,
  })
  await follow(input, attemptDelivery)
}

/** A payment token: card data that nobody used are erased when it expires. */
async function tokenExpiry(input: WorkflowInput): Promise<void> {
  await follow(input, persistent('advanceToken'))
}

/** A transaction whose outcome the gateway has not told: it is asked until it does. */
async function transaction(input: WorkflowInput): Promise<void> {
  const { inquireTransaction } = proxyActivities<Activities>({
    taskQueue: `${workflowInfo().taskQueue}${GATEWAY_QUEUE_SUFFIX}`,
    startToCloseTimeout: '60 s',
    retry: RETRY_FOREVER,
  })
  await follow(input, inquireTransaction)
}

/** A dispute: lost when its deadline passes unanswered. */
async function disputeDeadline(input: WorkflowInput): Promise<void> {
  await follow(input, persistent('advanceDispute'))
}

export {
  disputeDeadline as 'dispute-deadline',
  subscription,
  tokenExpiry as 'token-expiry',
  transaction,
  webhookDelivery as 'webhook-delivery',
}

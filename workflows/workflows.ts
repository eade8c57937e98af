/** The workflows of the service: each follows one record of its kind, by the name operators see. */
import { proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow'
import { type FollowInput, HTTP_QUEUE_SUFFIX, type SettleInput, type SettleResult } from './contract.ts'
import { follow } from './follow.ts'

/** Activities as workflows call them; implemented in `activities/`. */
export interface Activities {
  settleOrder(input: SettleInput): Promise<SettleResult>
  settleDispute(input: SettleInput): Promise<SettleResult>
  settleToken(input: SettleInput): Promise<SettleResult>
  inquireTransaction(input: SettleInput): Promise<SettleResult>
  attemptDelivery(input: SettleInput): Promise<SettleResult>
  callGateway(input: SettleInput): Promise<void>
}

/** Failures of our own infrastructure only: they pass, so nothing but patience helps. Time skipping skips the waits too. */
const RETRY_FOREVER = { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 minute' } as const

const { settleOrder, settleDispute, settleToken } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10 s',
  retry: RETRY_FOREVER,
})

/** Follows an order: everything time does to it, and its charges. */
async function subscription(input: FollowInput): Promise<void> {
  const { callGateway } = proxyActivities<Activities>({
    taskQueue: `${workflowInfo().taskQueue}${HTTP_QUEUE_SUFFIX}`,
    startToCloseTimeout: '60 s',
    // After that the order is looked at anew: the call tells the time at which it is made.
    scheduleToCloseTimeout: '3 minutes',
    // Ahead of the webhook attempts that share the queue: a thousand slow receivers must not make a charge late.
    priority: { priorityKey: 1 },
    retry: RETRY_FOREVER,
  })
  await follow(input, settleOrder, callGateway)
}

/** Follows a delivery whose first attempt failed: the exact retry schedule. */
async function webhookDelivery(input: FollowInput): Promise<void> {
  const { attemptDelivery } = proxyActivities<Activities>({
    taskQueue: `${workflowInfo().taskQueue}${HTTP_QUEUE_SUFFIX}`,
    startToCloseTimeout: '30 s',
    retry: RETRY_FOREVER,
  })
  await follow(input, attemptDelivery)
}

/** Follows a payment token: card data that nobody used are erased when it expires. */
async function tokenExpiry(input: FollowInput): Promise<void> {
  await follow(input, settleToken)
}

/** Follows a transaction whose outcome the gateway has not told: it is asked until it does. */
async function transaction(input: FollowInput): Promise<void> {
  const { inquireTransaction } = proxyActivities<Activities>({
    taskQueue: `${workflowInfo().taskQueue}${HTTP_QUEUE_SUFFIX}`,
    startToCloseTimeout: '60 s',
    retry: RETRY_FOREVER,
  })
  await follow(input, inquireTransaction)
}

/** Follows a dispute: lost when its deadline passes unanswered. */
async function disputeDeadline(input: FollowInput): Promise<void> {
  await follow(input, settleDispute)
}

export {
  disputeDeadline as 'dispute-deadline',
  subscription,
  tokenExpiry as 'token-expiry',
  transaction,
  webhookDelivery as 'webhook-delivery',
}

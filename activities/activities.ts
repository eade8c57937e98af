/** The activities a worker offers, bound to its dependencies. */
import type { SettleInput } from '../workflows/contract.ts'
import type { Activities } from '../workflows/workflows.ts'
import { attemptDelivery, lookAtDelivery } from './attempt-delivery.ts'
import { callGateway } from './call-gateway.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { inquireTransaction } from './inquire-transaction.ts'
import { settleDispute } from './settle-dispute.ts'
import { lookAtOrder, settleOrder } from './settle-order.ts'
import { lookAtToken, settleToken } from './settle-token.ts'

export function createActivities(dependencies: ActivityDependencies): Activities {
  return {
    settleDispute: (input) => settleDispute(dependencies, input),
    settleToken: (input) => settleToken(dependencies, input),
    settleOrder: (input) => settleOrder(dependencies, input),
    inquireTransaction: (input) => inquireTransaction(dependencies, input),
    callGateway: (input) => callGateway(dependencies, input),
    attemptDelivery: (input) => attemptDelivery(dependencies, input),
  }
}

/** What can be said of a record by reading it, by the workflow that follows it; null where something may be due. */
export function createLooks(dependencies: Pick<ActivityDependencies, 'em' | 'labels' | 'settledTogether'>) {
  return {
    subscription: (input: SettleInput) => lookAtOrder(dependencies, input),
    'token-expiry': (input: SettleInput) => lookAtToken(dependencies, input),
    'webhook-delivery': (input: SettleInput) => lookAtDelivery(dependencies, input),
  }
}

/** The activities a worker offers, bound to its dependencies. */
import type { Activities } from '../workflows/workflows.ts'
import { attemptDelivery } from './attempt-delivery.ts'
import { callGateway } from './call-gateway.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { inquireTransaction } from './inquire-transaction.ts'
import { settleDispute } from './settle-dispute.ts'
import { settleOrder } from './settle-order.ts'
import { settleToken } from './settle-token.ts'

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

/** The activities a worker offers, bound to its dependencies. */
import type { Activities } from '../workflows/workflows.ts'
import { advanceDispute } from './advance-dispute.ts'
import { advanceToken } from './advance-token.ts'
import { attemptDelivery } from './attempt-delivery.ts'
import { callGateway } from './call-gateway.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { inquireTransaction } from './inquire-transaction.ts'

export function createActivities(dependencies: ActivityDependencies): Activities {
  const { orders, quarantine } = dependencies
  return {
    advanceOrder: (input) => orders.advance(input),
    advanceDispute: (input) =>
      quarantine.guard('dispute-deadline', input, () => advanceDispute(dependencies, input)),
    advanceToken: (input) => quarantine.guard('token-expiry', input, () => advanceToken(dependencies, input)),
    inquireTransaction: (input) =>
      quarantine.guard('transaction', input, () => inquireTransaction(dependencies, input)),
    attemptDelivery: (input) =>
      quarantine.guard('webhook-delivery', input, () => attemptDelivery(dependencies, input)),
    callGateway: (input) => callGateway(dependencies, input),
  }
}

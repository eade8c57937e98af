/** Returns the gateway of a deployment: the sandbox has its test gateway, a live deployment none yet. */
import { type Gateway, NoGatewayError } from './port.ts'
import { createTestGateway } from './test-gateway.ts'

export function createGateway(environment: 'sandbox' | 'live', databaseUrl: string): Gateway {
  return environment === 'sandbox' ? createTestGateway(databaseUrl) : noGateway()
}

function noGateway(): Gateway {
  const refuse = async (): Promise<never> => {
    throw new NoGatewayError('No payment gateway is connected to this deployment.')
  }
  return {
    name: 'none',
    takesCards: false,
    idempotencyWindow: 24 * 3_600_000,
    store: refuse,
    charge: refuse,
    refund: refuse,
    find: refuse,
    close: async () => {},
  }
}

import { ConflictError } from '../billing/errors.ts'
import { lastUsed } from '../billing/last-used.ts'
import {
  dispatchByAccount,
  type GatewayAccountFacts,
  type GatewayAccountSource,
  type GatewayOfAccounts,
  type GatewayRoutes,
} from './accounts.ts'
import { type Gateway, NoGatewayError } from './port.ts'
import { returnPage } from './return-page.ts'
import { createStripeGateway, type StripeGateway, type StripeOptions } from './stripe.ts'
import { readStripeNotification } from './stripe-notifications.ts'
import { type Approvals, createTestGateway, type Disputes } from './test-gateway.ts'

export interface GatewayOptions {
  readonly environment: 'sandbox' | 'live'
  readonly databaseUrl: string
  readonly baseUrl: string
  readonly accounts: GatewayAccountSource
  readonly routes: GatewayRoutes
  /** A stand-in for Stripe; null: Stripe itself. */
  readonly stripeHost: StripeOptions['host'] | null
}

export interface Gateways extends GatewayOfAccounts {
  /** Charges of the test gateway that wait for their customers; null in live. */
  readonly approvals: Approvals | null
  /** The disputes that the test gateway makes; null in live. */
  readonly disputes: Disputes | null
}

/** Organizations without accounts have the test gateway in the sandbox, and none in live. */
export function createGateways({
  environment,
  databaseUrl,
  baseUrl,
  accounts,
  routes,
  stripeHost,
}: GatewayOptions): Gateways {
  const own = createGateway(environment, databaseUrl, baseUrl)
  const stripeFor = lastUsed(KEPT, adapterKey, (account: GatewayAccountFacts) =>
    stripeOf(account, baseUrl, stripeHost),
  )
  const dispatched = dispatchByAccount(own, accounts, routes, {
    of: (account) => (account.gatewayName === 'Stripe' ? stripeFor(account) : own),
    async probe({ gatewayName, secretKey }) {
      const unsaved = { secretKey, takesCardNumbers: false, descriptor: null }
      if (gatewayName === 'Stripe') await stripeOf(unsaved, baseUrl, stripeHost).probe()
    },
    readNotification(organizationId, { gatewayName, webhookSecret }, sent) {
      if (gatewayName !== 'Stripe' || webhookSecret === null) {
        throw new ConflictError(
          'The gateway account takes no notifications: it has no credentials.webhookSecret.',
        )
      }
      return readStripeNotification(organizationId, webhookSecret, sent)
    },
  })
  return { ...dispatched, approvals: own.approvals, disputes: own.disputes }
}

/** How many adapters are kept: to make one takes longer than to read its account. */
const KEPT = 1_000

/** What an adapter is made of: one of an account that has changed is made anew. */
function adapterKey({ id, secretKey, takesCardNumbers, descriptor }: GatewayAccountFacts): string {
  return JSON.stringify([id, secretKey, takesCardNumbers, descriptor])
}

export function createGateway(
  environment: 'sandbox' | 'live',
  databaseUrl: string,
  baseUrl: string,
): Gateway & Pick<Gateways, 'approvals' | 'disputes'> {
  if (environment !== 'sandbox') return { ...noGateway(), approvals: null, disputes: null }
  const testGateway = createTestGateway(databaseUrl, { baseUrl })
  return { ...testGateway, approvals: testGateway, disputes: testGateway }
}

/** Holds nothing that must be closed. */
export function stripeOf(
  {
    secretKey,
    takesCardNumbers,
    descriptor,
  }: Pick<GatewayAccountFacts, 'secretKey' | 'takesCardNumbers' | 'descriptor'>,
  baseUrl: string,
  host: StripeOptions['host'],
): StripeGateway {
  return createStripeGateway({
    secretKey: secretKey ?? '',
    takesCards: takesCardNumbers,
    descriptor,
    returnUrl: returnPage(baseUrl),
    host: host ?? null,
  })
}

function noGateway(): Gateway {
  const refuse = async (): Promise<never> => {
    throw new NoGatewayError('No payment gateway is connected to this deployment.')
  }
  return {
    name: 'none',
    idempotencyWindow: 24 * 3_600_000,
    takesCards: async () => false,
    store: refuse,
    adopt: refuse,
    renew: refuse,
    charge: refuse,
    authorize: refuse,
    capture: refuse,
    void: refuse,
    abandon: refuse,
    refund: refuse,
    find: refuse,
    close: async () => {},
  }
}

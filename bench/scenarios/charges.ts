import Stripe from 'stripe'
import { ulid } from 'ulid'
import { gatewayAccountSource, sealedCredentials } from '../../commands/payments/gateway-accounts.ts'
import { gatewayRoutes } from '../../commands/payments/gateway-routes.ts'
import { GatewayAccount } from '../../db/entities/index.ts'
import { openOrm } from '../../db/orm.ts'
import { createGateways } from '../../gateways/gateways.ts'
import { STRIPE_API_VERSION } from '../../gateways/stripe.ts'
import { TEST_CARDS } from '../../test/support/cards.ts'
import type { Metric } from '../metric.ts'
import type { ScenarioContext } from './scenario.ts'

const SECRET_KEY = 'sk_test_bench'
const CLIENTS = 50
/** As a worker has. */
const POOL = 30
/** Milliseconds. */
const ROUND = 5_000
const LATENCIES = [20, 200]
const AIM = 0.6

/** A charge as the service makes it, its account and route read and written, beside one by the library alone. */
export async function charges(context: ScenarioContext): Promise<Metric[]> {
  const { teardown, divisor, rounds, say } = context
  const { databaseUrl, vault, merchant, command, provider, providerPort } = await context.environment()
  const { organizationId } = merchant
  const host = { protocol: 'http', host: '127.0.0.1', port: providerPort } as const
  const orm = await openOrm({ databaseUrl, poolSize: POOL, name: 'billing bench of charges' })
  teardown.add(() => orm.close())
  const em = () => orm.em.fork()
  const gateway = createGateways({
    environment: 'sandbox',
    databaseUrl,
    baseUrl: 'http://127.0.0.1',
    accounts: gatewayAccountSource(em, vault),
    routes: gatewayRoutes(em, Date.now),
    stripeHost: host,
  })
  teardown.add(() => gateway.close())
  await command(async (unit) => {
    unit.create(GatewayAccount, {
      id: 'gwa_bench',
      gatewayName: 'Stripe',
      status: 'active',
      priority: 0,
      acceptedCurrencies: ['EUR'],
      paymentCardSchemes: [],
      takesCardNumbers: true,
      descriptor: null,
      credentialsCipher: await sealedCredentials(vault, { secretKey: SECRET_KEY }),
      customFields: {},
    })
  })
  const stored = await gateway.store(
    organizationId,
    { pan: TEST_CARDS.approves, cvv: null, expMonth: 12, expYear: 2090 },
    ulid(),
  )
  if ('refusal' in stored) throw new Error(stored.refusal)
  const stripe = new Stripe(SECRET_KEY, {
    apiVersion: STRIPE_API_VERSION,
    maxNetworkRetries: 0,
    telemetry: false,
    ...host,
  })
  const byService = async () => {
    const { result } = await gateway.charge({
      organizationId,
      requestId: ulid(),
      reference: stored.reference,
      amount: '12.5',
      currency: 'EUR',
      customer: null,
    })
    if (result !== 'approved') throw new Error(`a charge was ${result}`)
  }
  const bare = async () => {
    await stripe.paymentIntents.create(
      { amount: 1250, currency: 'eur', customer: 'cus_1', payment_method: 'pm_1', confirm: true },
      { idempotencyKey: ulid() },
    )
  }
  const run = async (charge: () => Promise<void>): Promise<number> => {
    const duration = ROUND / divisor
    await provider.call('charges', null, 10_000)
    const started = performance.now()
    const client = async () => {
      while (performance.now() - started < duration) await charge()
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    const made = await provider.call('charges', null, 10_000)
    return made / ((performance.now() - started) / 1_000)
  }

  const metrics: Metric[] = []
  for (const latency of LATENCIES) {
    await provider.call('takes', latency, 10_000)
    await run(byService)
    await run(bare)
    const [service, baseline]: [number[], number[]] = [[], []]
    for (let round = 1; round <= rounds; round += 1) {
      service.push(await run(byService))
      baseline.push(await run(bare))
      say(
        `charges at ${latency} ms ${round}/${rounds}: ${service.at(-1)?.toFixed(0)}/s, baseline ${baseline.at(-1)?.toFixed(0)}/s`,
      )
    }
    metrics.push({
      what: `charges at a provider that takes ${latency} ms, ${CLIENTS} at a time`,
      unit: '/s',
      service,
      baseline,
      aim: AIM,
      beside: {},
      note: 'Account and credentials read and opened, the route written, the charge made. Baseline: the library of the provider alone, in the same process.',
    })
  }
  return metrics
}

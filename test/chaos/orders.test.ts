/**
 * Bursts of orders while every part is killed at random. `KILL_SEEDS` (default 6) is how many bursts, besides one
 * whose charges go to a scripted Stripe.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mulberry32 } from '../support/random.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Fault, type ScriptedStripe, startScriptedStripe } from '../support/scripted-stripe.ts'
import { type Burst, type Ledger, placeOrders, requireBurst } from './bursts.ts'
import { type Environment, killEverything, startEnvironment } from './environment.ts'

const SEEDS = Number(process.env.KILL_SEEDS ?? 6)
const ORDERS = 200
/** The burst's kills fall into this time, in milliseconds. */
const KILLING = 4_000
const STRIPE_KEY = 'sk_test_kill'
const STRIPE_SEED = 201
const STRIPE_ORDERS = 120
/** Of so many charges each has its turn of these: the kills meet calls under way, and responses that get lost. */
const FAULTY = 48
const FAULTS: readonly Fault[] = [
  { silent: 1_500 },
  { closes: true },
  { silent: 1_500 },
  { before: { status: 429, error: { type: 'invalid_request_error', code: 'rate_limit' } } },
  { silent: 1_500 },
  { after: { status: 500, error: { type: 'api_error', message: 'Try again.' } } },
]

describe(`a burst of ${ORDERS} orders, half of them charged, with everything killed once meanwhile`, () => {
  let environment: Environment
  let receiver: Receiver
  let provider: ScriptedStripe
  const bursts = new Map<number, Burst>()
  const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1)

  beforeAll(async () => {
    provider = await startScriptedStripe(STRIPE_KEY)
    environment = await startEnvironment({ STRIPE_API_URL: `http://127.0.0.1:${provider.port}` })
    receiver = await startReceiver()
  }, 180_000)
  afterAll(async () => {
    await receiver?.close()
    await environment?.stop()
    await provider?.close()
  }, 120_000)

  // First of all: a charge whose response got lost is asked for after a minute, while the others are placed.
  test('seed 201: all six die and come back while Stripe charges', async () => {
    const random = mulberry32(STRIPE_SEED)
    const merchant = await environment.merchant('org_stripe', receiver.url)
    const account = await merchant.api.post('gateway-accounts', {
      gatewayName: 'Stripe',
      method: 'payment-card',
      acceptedCurrencies: ['EUR'],
      takesCardNumbers: true,
      credentials: { secretKey: STRIPE_KEY },
    })
    expect(account.status).toBe(201)
    for (let number = 0; number < FAULTY; number += 1) {
      const fault = FAULTS[number % FAULTS.length]
      if (fault !== undefined) provider.fail(/^POST \/v1\/payment_intents$/, fault)
    }
    const killing = killEverything(environment, random, KILLING)
    const burst = placeOrders(merchant, random, {
      orders: STRIPE_ORDERS,
      within: KILLING,
      startsWithin: 5_000,
    })
    await killing
    bursts.set(STRIPE_SEED, await burst)
  }, 180_000)

  test.each(seeds)(
    'seed %i: all six die and come back',
    async (seed) => {
      const random = mulberry32(seed)
      const merchant = await environment.merchant(`org_seed_${seed}`, receiver.url)
      const killing = killEverything(environment, random, KILLING)
      const burst = placeOrders(merchant, random, {
        orders: ORDERS,
        within: KILLING,
        startsWithin: 5_000,
        lateCards: true,
      })
      await killing
      bursts.set(seed, await burst)
    },
    180_000,
  )

  // Afterwards: a charge with a late response takes a minute, here one for all bursts.
  test.each(seeds)(
    'seed %i: every order became active once, was charged once if at all, and each event was received',
    async (seed) => {
      const burst = bursts.get(seed)
      if (burst === undefined) throw new Error('the burst was not placed')
      expect(burst.orders).toHaveLength(ORDERS)
      await requireBurst(environment, receiver, burst)
    },
    900_000,
  )

  test("seed 201: every order became active once, and was charged once if at all by Stripe's own books", async () => {
    const burst = bursts.get(STRIPE_SEED)
    if (burst === undefined) throw new Error('the burst was not placed')
    expect(burst.orders).toHaveLength(STRIPE_ORDERS)
    await requireBurst(environment, receiver, burst, ledgerOf(provider))
  }, 900_000)
})

/** Reads every intent of the provider, whoever made it. */
function ledgerOf(provider: ScriptedStripe): Ledger {
  return async () =>
    provider.intents().map(({ metadata, status, amount, currency }) => ({
      requestId: String((metadata as Record<string, unknown>).requestId),
      kind: 'charge',
      result: status === 'succeeded' ? 'approved' : String(status),
      amount: (Number(amount) / 100).toFixed(6),
      currency: String(currency).toUpperCase(),
    }))
}

/** Bursts of orders while every part is killed at random. `KILL_SEEDS` (default 6) is how many bursts. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mulberry32 } from '../support/random.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Burst, placeOrders, requireBurst } from './bursts.ts'
import { type Environment, killEverything, startEnvironment } from './environment.ts'

const SEEDS = Number(process.env.KILL_SEEDS ?? 6)
const ORDERS = 200
/** The burst's kills fall into this time, in milliseconds. */
const KILLING = 4_000

describe(`a burst of ${ORDERS} orders, half of them charged, with everything killed once meanwhile`, () => {
  let environment: Environment
  let receiver: Receiver
  const bursts = new Map<number, Burst>()
  const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1)

  beforeAll(async () => {
    environment = await startEnvironment()
    receiver = await startReceiver()
  }, 180_000)
  afterAll(async () => {
    await receiver?.close()
    await environment?.stop()
  }, 120_000)

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
})

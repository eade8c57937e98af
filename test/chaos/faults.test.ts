/** `bursts.ts` has what must be true after each fault. `KILL_LONG=1` makes faults as long as in the field. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { mulberry32 } from '../support/random.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait-for.ts'
import {
  type Burst,
  makeCustomers,
  type PlacedOrder,
  placeOrder,
  placeOrders,
  requireBurst,
} from './bursts.ts'
import { delay, type Environment, type Process, rows, startEnvironment, stubborn } from './environment.ts'

const IS_LONG = process.env.KILL_LONG === '1'
/** How long a process is paused, or its packets are swallowed. Milliseconds. */
const PAUSE = IS_LONG ? 40_000 : 12_000
const AWAY = IS_LONG ? 600_000 : 20_000
/** Longer than everything takes on a busy machine; a wait ends with the fact that it waits for. */
const TIMEOUT = 900_000 + AWAY
const BURST = { orders: 120, within: 4_000, startsWithin: 6_000 }
const CLOCK = new URL('skewed-clock.ts', import.meta.url).href

describe('beside a burst of orders, half of them charged', () => {
  let environment: Environment
  let receiver: Receiver

  beforeAll(async () => {
    environment = await startEnvironment()
    receiver = await startReceiver()
  }, 180_000)
  beforeEach(() => environment.revive(), 180_000)
  afterEach(() => {
    for (const process of [...environment.apis, ...environment.workers]) process.resume()
    environment.database.heal()
  })
  afterAll(async () => {
    await receiver?.close()
    await environment?.stop()
  }, 120_000)

  test(
    'seed 101: a worker and an API are paused in the middle of their work, and go on later',
    async () => {
      const random = mulberry32(101)
      const merchant = await environment.merchant('org_paused', receiver.url)
      const burst = placeOrders(merchant, random, { ...BURST, lateCards: IS_LONG })
      await delay(random() * BURST.within)
      const paused = [environment.workers[0], environment.apis[0]]
      for (const process of paused) process.pause()
      await delay(PAUSE)
      for (const process of paused) process.resume()
      await requireBurst(environment, receiver, await burst)
    },
    TIMEOUT,
  )

  test(
    'seed 102: packets between a worker and the database are swallowed, and what was sent arrives later',
    async () => {
      const random = mulberry32(102)
      const merchant = await environment.merchant('org_swallowed', receiver.url)
      const burst = placeOrders(merchant, random, { ...BURST, lateCards: IS_LONG })
      await delay(random() * BURST.within)
      environment.database.swallow()
      await delay(PAUSE)
      environment.database.heal()
      await requireBurst(environment, receiver, await burst)
    },
    TIMEOUT,
  )

  test(
    'seed 103: a poisoned order is quarantined by itself, the others start on time, and it does when it is repaired',
    async () => {
      const merchant = await environment.merchant('org_poisoned', receiver.url)
      const { organizationId } = merchant
      const customers = await makeCustomers(merchant)
      const startTime = new Date(Date.now() + 15_000).toISOString()
      const poisoned = await placeOrder(merchant, null, startTime)
      const database = await environment.query()
      try {
        const [items] = await rows<{ items: string }>(
          database,
          `with before as (select items from subscriptions where organization_id = $1 and id = $2)
           update subscriptions set items = '[{}]' from before
            where organization_id = $1 and id = $2 and status = 'pending' and start_time > now()
           returning before.items::text as items`,
          [organizationId, poisoned.id],
        )
        if (items === undefined) throw new Error('it began before it was poisoned')
        const others: PlacedOrder[] = await Promise.all(
          Array.from({ length: 60 }, (_, ordinal) =>
            placeOrder(
              merchant,
              ordinal % 2 === 0 ? null : (customers.charged[ordinal % 8] ?? null),
              startTime,
            ),
          ),
        )
        const quarantine = await waitFor(
          'the quarantine',
          async () => {
            const [row] = await rows<{ status: string; reason: string; until: Date }>(
              database,
              `select status, quarantine_reason as reason, quarantined_until as until from subscriptions
                where organization_id = $1 and id = $2 and quarantine_count > 0`,
              [organizationId, poisoned.id],
            )
            return row ?? null
          },
          120_000,
        )
        expect(quarantine.status).toBe('pending')
        expect(quarantine.reason).not.toBe('')
        await waitFor(
          'the others',
          async () => {
            const [row] = await rows<{ open: string }>(
              database,
              `select count(*) as open from subscriptions
                where organization_id = $1 and id <> $2 and status <> 'active'`,
              [organizationId, poisoned.id],
            )
            return row?.open === '0' || null
          },
          120_000,
        )
        const [late] = await rows<{ seconds: number }>(
          database,
          `select max(extract(epoch from event.updated_time - start_time))::float8 as seconds
             from subscriptions subscription join events event using (organization_id)
            where organization_id = $1 and event.entity_id = subscription.id and event.type = 'subscription-activated'`,
          [organizationId],
        )
        // Nobody waited for the quarantine, which is a minute at least.
        expect(late?.seconds).toBeLessThan(30)

        await database.query(
          'update subscriptions set items = $3::jsonb where organization_id = $1 and id = $2',
          [organizationId, poisoned.id, items.items],
        )
        await releaseQuarantine(environment, `subscription/${organizationId}/${poisoned.id}`)
        await requireBurst(environment, receiver, { merchant, orders: [...others, poisoned] })
      } finally {
        await database.end()
      }
    },
    TIMEOUT,
  )

  test(
    'seed 104: 64 receivers of three other organizations hang, and every healthy delivery arrives',
    async () => {
      const random = mulberry32(104)
      const hanging = await Promise.all(Array.from({ length: 64 }, startReceiver))
      try {
        for (const one of hanging) one.respondWith(() => {})
        for (const organization of [0, 1, 2]) {
          const [first, ...rest] = hanging.filter((_, index) => index % 3 === organization)
          if (first === undefined) throw new Error('there are 64')
          const tenant = await environment.merchant(`org_hanging_${organization}`, first.url)
          for (const { url } of rest) {
            expect((await tenant.api.post('webhooks', { url })).status).toBe(201)
          }
          for (let made = 0; made < 10; made += 1) {
            expect((await tenant.api.post('customers', { firstName: `${made}` })).status).toBe(201)
          }
        }
        await waitFor(
          'receivers to hang',
          () => hanging.filter(({ received }) => received.length > 0).length > 16 || null,
          120_000,
        )
        const merchant = await environment.merchant('org_healthy', receiver.url)
        const burst = await placeOrders(merchant, random, BURST)
        await requireBurst(environment, receiver, burst)
      } finally {
        await Promise.all(hanging.map((one) => one.close()))
      }
    },
    TIMEOUT,
  )

  test(
    'seed 105: a worker whose clock is wrong is not ready and advances nothing; another one does, and never early',
    async () => {
      const random = mulberry32(105)
      const [ahead, behind] = environment.workers
      const skew = async (process: Process, milliseconds: number): Promise<void> => {
        await process.kill()
        await process.start({ NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_SKEW: String(milliseconds) })
        const response = await waitFor('the health port to say so', () => readyz(process), 60_000)
        expect(response).toMatchObject({
          status: 503,
          body: { checks: { clock: expect.stringContaining('database') } },
        })
      }
      try {
        await Promise.all([skew(ahead, 5_000), skew(behind, -5_000)])
        const merchant = await environment.merchant('org_skewed', receiver.url)
        const first = await placeOrders(merchant, random, { ...BURST, orders: 60 })
        // Timers have fired by then, and the sweep has found what is late.
        await delay(8_000)
        const database = await environment.query()
        const status = await rows(
          database,
          'select distinct status from subscriptions where organization_id = $1',
          [merchant.organizationId],
        ).finally(() => database.end())
        expect(status).toEqual([{ status: 'pending' }])

        await behind.kill()
        await behind.start()
        await requireBurst(environment, receiver, first)

        await skew(ahead, -5_000)
        const other = await environment.merchant('org_skewed_back', receiver.url)
        await requireBurst(environment, receiver, await placeOrders(other, random, { ...BURST, orders: 60 }))
      } finally {
        for (const process of environment.workers) {
          await process.kill()
          await process.start()
        }
      }
    },
    TIMEOUT,
  )

  test(
    'seed 106: Temporal is away: orders are accepted, uncharged ones start, charged ones do when it is back',
    async () => {
      const random = mulberry32(106)
      const merchant = await environment.merchant('org_without_temporal', receiver.url)
      await environment.temporalServer.kill()
      const away = delay(AWAY)
      const comeBack = () => stubborn('Temporal to be back', () => environment.temporalServer.start())
      let burst: Burst
      try {
        const before = merchant.repeated()
        burst = await placeOrders(merchant, random, { ...BURST, lateCards: true })
        expect(merchant.repeated()).toBe(before)
        const database = await environment.query()
        await waitFor(
          'the uncharged orders to start without Temporal',
          async () => {
            const [row] = await rows<{ open: string }>(
              database,
              `select count(*) as open from subscriptions
                where organization_id = $1 and customer_id = $2 and status <> 'active'`,
              [merchant.organizationId, merchant.customerId],
            )
            return row?.open === '0' || null
          },
          120_000,
        ).finally(() => database.end())
        await away
      } finally {
        await comeBack()
      }
      await requireBurst(environment, receiver, burst)
    },
    TIMEOUT,
  )
})

async function releaseQuarantine({ env }: Environment, id: string): Promise<void> {
  const script = fileURLToPath(new URL('../../cli/quarantine.ts', import.meta.url))
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [script, ...args], { env: { PATH: process.env.PATH, ...env } })
  expect((await run()).stdout).toContain(id)
  expect((await run('release', id)).stdout).toBe(`Released ${id}.\n`)
}

/** Null while nothing is wrong. */
async function readyz({ opsPort }: Process): Promise<{ status: number; body: unknown } | null> {
  const response = await fetch(`http://127.0.0.1:${opsPort}/readyz`)
  return response.status === 200 ? null : { status: response.status, body: await response.json() }
}

/**
 * Nothing is lost: bursts of orders while worker, API, engine and database are killed at random moments.
 *
 * The oracle, per burst: every accepted order exists; every order is active; each of its two events was written exactly
 * once; every event reached the receiver, verified, at least once; no order was ever in a state it may not be in.
 * `KILL_SEEDS` (default 20) is how many bursts; a burst's seed stands in its name.
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createVerifier } from '../../dev/verify-webhook.ts'
import { type Catalogue, orderBody } from '../rig/catalogue.ts'
import { mulberry32 } from '../rig/random.ts'
import { type Receiver, startReceiver } from '../rig/receiver.ts'
import { waitFor } from '../rig/wait-for.ts'
import { delay, killEverything, rows, startWorld, type World } from './world.ts'

const SEEDS = Number(process.env.KILL_SEEDS ?? 20)
const ORDERS = 200
const CLIENTS = 20
/** The burst's kills fall into this time, in milliseconds. */
const KILLING = 4_000

describe('a burst of 200 orders, with everything killed once meanwhile', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'billing-kill-'))
  const masterKey = randomBytes(32).toString('base64')
  let world: World
  let receiver: Receiver
  const bursts: Burst[] = []

  beforeAll(async () => {
    chmodSync(dataDir, 0o755)
    world = await startWorld(dataDir, masterKey)
    receiver = await startReceiver()
  }, 180_000)
  afterAll(async () => {
    await receiver?.close()
    await world?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }, 120_000)

  test.each(Array.from({ length: SEEDS }, (_, index) => index + 1))(
    'seed %i: all four die and come back',
    async (seed) => {
      const random = mulberry32(seed)
      const merchant = await world.merchant(`org_seed_${seed}`, receiver.url)
      const killing = killEverything(world, random, KILLING)
      const burst = placeOrders(merchant, random)
      await killing
      bursts.push({ seed, merchant, accepted: await burst })
    },
    120_000,
  )

  test('every order of every burst became active, with each event written once and received, verified', async () => {
    const database = await world.query()
    try {
      for (const { seed, merchant, accepted } of bursts) {
        const organization = merchant.organizationId
        await waitFor(
          `all orders of seed ${seed} to be active and all deliveries to be done`,
          async () => {
            const [row] = await rows<{ open: string }>(
              database,
              `select (select count(*) from subscriptions where organization_id = $1 and status <> 'active')
                    + (select count(*) from deliveries where organization_id = $1 and status <> 'delivered') as open`,
              [organization],
            )
            return row?.open === '0' ? true : null
          },
          600_000,
        )
        const orders = await rows<{ id: string; status: string; revision: number }>(
          database,
          'select id, status, revision from subscriptions where organization_id = $1',
          [organization],
        )
        const ids = new Set(orders.map(({ id }) => id))
        expect(accepted.length).toBeGreaterThanOrEqual(ORDERS)
        expect(accepted.filter((id) => !ids.has(id))).toEqual([])
        expect(orders.filter(({ status, revision }) => status !== 'active' || revision !== 2)).toEqual([])

        const invoices = await rows<{ id: string; subscription_id: string }>(
          database,
          'select id, subscription_id from invoices where organization_id = $1',
          [organization],
        )
        expect(new Set(invoices.map((invoice) => invoice.subscription_id))).toEqual(ids)
        expect(invoices).toHaveLength(orders.length)
        const invoiceIds = new Set(invoices.map(({ id }) => id))

        const events = await rows<{ id: string; type: string; entity_id: string; state: string }>(
          database,
          `select id, type, entity_id, coalesce(payload::jsonb #>> '{_embedded,subscription,status}',
                  payload::jsonb #>> '{_embedded,invoice,status}') as state
             from events where organization_id = $1 and type <> 'customer-created' order by id`,
          [organization],
        )
        const written = new Map<string, string[]>()
        for (const { type, state, entity_id } of events) {
          written.set(entity_id, [...(written.get(entity_id) ?? []), `${type}: ${state}`])
        }
        const once = (id: string) =>
          invoiceIds.has(id)
            ? ['invoice-created: draft', 'invoice-issued: unpaid']
            : ['subscription-activated: active', 'subscription-created: pending']
        expect([...written].filter(([id, said]) => String(said.sort()) !== String(once(id)))).toEqual([])
        expect(written.size).toBe(orders.length + invoices.length)

        const verifier = createVerifier({ issuer: `${world.baseUrl}/`, organizationId: organization })
        const came = new Set<string>()
        for (const one of receiver.received) {
          if (!ids.has(String(one.event.subscriptionId)) && !invoiceIds.has(String(one.event.invoiceId)))
            continue
          await verifier.verify(String(one.headers['security-signature']), one.body, new Date(one.at))
          came.add(one.event.eventId)
        }
        expect(events.filter(({ id }) => !came.has(id))).toEqual([])
      }
    } finally {
      await database.end()
    }
  }, 900_000)
})

interface Burst {
  readonly seed: number
  readonly merchant: Catalogue
  readonly accepted: readonly string[]
}

/** Places the burst's orders; a request that gets no 201 is made anew, so that as many as wanted are accepted. */
async function placeOrders(merchant: Catalogue, random: () => number): Promise<string[]> {
  const accepted: string[] = []
  let left = ORDERS
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      // A third of them starts a little later, so that timers are pending when the engine dies.
      const startTime = random() < 1 / 3 ? new Date(Date.now() + random() * 5_000).toISOString() : null
      for (;;) {
        const answer = await merchant.api
          .post('subscriptions', orderBody(merchant, { startTime }))
          .catch(() => null)
        if (answer?.status === 201) {
          accepted.push(String(answer.body.id))
          break
        }
        if (answer !== null && answer.status !== 503)
          throw new Error(`unexpected answer: ${JSON.stringify(answer.body)}`)
        await delay(100)
      }
      await delay(random() * ((KILLING * CLIENTS) / ORDERS))
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return accepted
}

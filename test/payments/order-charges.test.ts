import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { callGateway } from '../../activities/call-gateway.ts'
import type { ActivityDependencies } from '../../activities/dependencies.ts'
import { inquireTransaction } from '../../activities/inquire-transaction.ts'
import { CHARGE_TIMEOUT } from '../../billing/inquiry-schedule.ts'
import { startOrderCall } from '../../commands/orders/start-order-call.ts'
import { pendingMovement } from '../../commands/payments/pending-movement.ts'
import { carryOut } from '../../gateways/movement.ts'
import type { Gateway } from '../../gateways/port.ts'
import { activityDependencies } from '../support/activities.ts'
import { TEST_CARDS } from '../support/cards.ts'
import type { Catalogue } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import fc from '../support/fast-check.ts'
import {
  makePayer,
  type Payments,
  type PlacedOrder,
  placeCharged,
  startPayments,
} from '../support/payments.ts'
import type { TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('an order is charged', () => {
  let payments: Payments
  let service: TestService
  let merchant: Catalogue
  let gateway: Gateway
  let sql: Payments['sql']
  let inUnit: Payments['inUnit']
  let input: Payments['input']

  beforeAll(async () => {
    payments = await startPayments()
    ;({ service, merchant, gateway, sql, inUnit, input } = payments)
  })
  afterAll(() => payments.stop())

  const dependencies = (by: Gateway, logged: string[] = [], unresolved = { inc() {} }) =>
    activityDependencies(service, { gateway: by, logged, unresolved })
  const advanceOrder = ({ orders }: ActivityDependencies, of: Parameters<typeof orders.advance>[0]) =>
    orders.advance(of)
  /** A gateway that does what it is asked, and whose response never arrives. */
  const deaf = (): Gateway => ({
    ...gateway,
    charge: async (charge) => {
      await gateway.charge(charge)
      throw new Error('the answer was lost')
    },
    find: async () => {
      throw new Error('the answer was lost')
    },
  })
  /** Does as a worker would until nothing is left to do at that instant: of the order, then of its refunds. */
  const work = async ({ id, customerId }: PlacedOrder, ahead: number, by = gateway) => {
    for (let turn = 0; turn < 40; turn += 1) {
      if (!(await advanceOrder(dependencies(by), input(id, ahead))).gatewayCallDue) break
      await callGateway(dependencies(by), input(id, ahead))
    }
    const pending = await sql<{ id: string }>(
      "select id from transactions where customer_id = ? and status = 'pending' and subscription_id is null",
      [customerId],
    )
    for (const one of pending) await inquireTransaction(dependencies(by), input(one.id, ahead))
  }
  /** The customer's money by the gateway's ledger, by the invoices, and by the sales. */
  const money = async ({ customerId }: PlacedOrder) => {
    const [row] = await sql<{ held: number; paid: number; charges: number }>(
      `select (select coalesce(sum(case when kind = 'charge' then ledger.amount else -ledger.amount end), 0)
                 from test_gateway.ledger join transactions using (organization_id, request_id)
                where customer_id = ? and ledger.result = 'approved')::float8 as held,
              (select coalesce(sum(amount_paid - amount_refunded), 0) from invoices
                where customer_id = ?)::float8 as paid,
              (select count(*) from test_gateway.ledger join transactions using (organization_id, request_id)
                where customer_id = ? and kind = 'charge' and ledger.result = 'approved')::int as charges`,
      [customerId, customerId, customerId],
    )
    return row
  }

  test('never twice, wherever it is interrupted, whatever is repeated, and whoever else pays or voids', async () => {
    const step = fc.constantFrom(
      'advance',
      'call',
      'call',
      'unrecorded',
      'lost',
      'later',
      'sale',
      'void',
      'cash',
    )
    const pans = fc.constantFrom(
      TEST_CARDS.approves,
      TEST_CARDS.answersLate,
      TEST_CARDS.lacksFunds,
      TEST_CARDS.declinesRenewals,
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 2, maxLength: 8 }),
        pans,
        fc.boolean(),
        async (transitions, pan, atOnce) => {
          const placed = await placeCharged(merchant, pan)
          await advanceOrder(dependencies(gateway), input(placed.id, 0))
          let ahead = 0
          const pay = (paymentInstruction: object) =>
            merchant.api.post('transactions', {
              type: 'sale',
              customerId: placed.customerId,
              currency: 'EUR',
              amount: 9.9,
              paymentInstruction,
              invoiceIds: [placed.invoiceId],
            })
          const take = async (one: (typeof transitions)[number]): Promise<void> => {
            switch (one) {
              case 'advance':
                return void (await advanceOrder(dependencies(gateway), input(placed.id, ahead)))
              case 'call':
                return void (await callGateway(dependencies(gateway), input(placed.id, ahead)))
              case 'lost':
                return void (await callGateway(dependencies(deaf()), input(placed.id, ahead)))
              case 'unrecorded': {
                // As if the worker is killed after the gateway call.
                const call = await inUnit((work) => startOrderCall(work, placed.id, Date.now() + ahead))
                const id = call?.transactionId ?? 'none'
                const pending = await pendingMovement(
                  service.database.orm.em.fork(),
                  merchant.organizationId,
                  id,
                )
                if (pending !== null) await carryOut(gateway, pending.pending, Date.now(), Date.now)
                return
              }
              case 'later':
                ahead += 2 * MINUTE
                return
              case 'sale': {
                const { status } = await pay({ paymentInstrumentId: placed.paymentInstrumentId })
                return expect([201, 409, 422]).toContain(status)
              }
              case 'cash':
                return expect([201, 409, 422]).toContain((await pay({ method: 'external' })).status)
              case 'void': {
                const { status } = await merchant.api.post(`invoices/${placed.invoiceId}/void`, {})
                return expect([201, 409]).toContain(status)
              }
            }
          }
          if (atOnce) await Promise.all(transitions.map(take))
          else for (const one of transitions) await take(one)
          // Whatever happened, time goes on until everything is known.
          for (const after of [ahead, ahead + 3 * MINUTE, ahead + 2 * HOUR, ahead + 30 * HOUR]) {
            await work(placed, after)
            await work(placed, after)
          }
          const cash = transitions.includes('cash')
          const found = await money(placed)
          const [external] = await sql<{ sum: number }>(
            `select coalesce(sum(amount), 0)::float8 as sum from transactions
              where customer_id = ? and gateway is null and result = 'approved'`,
            [placed.customerId],
          )
          expect(external?.sum === 0 || cash).toBe(true)
          expect((found?.held ?? 0) + (external?.sum ?? 0)).toBeCloseTo(found?.paid ?? -1, 6)
          const { body: invoice } = await merchant.api.get(`invoices/${placed.invoiceId}`)
          expect(found?.paid).toBeCloseTo(invoice.status === 'paid' ? 9.9 : 0, 6)
          expect(found?.charges).toBeLessThanOrEqual(2) // the second, if any, went back: what is held says so
          const open = await sql('select 1 from invoices where customer_id = ? and charge is not null', [
            placed.customerId,
          ])
          expect(open).toEqual([])
        },
      ),
      { numRuns: 40 },
    )
  }, 240_000)

  test('after a merge by the default of the other customer, and not again by a default that declined it', async () => {
    const merge = async (from: string, into: string) =>
      expect((await merchant.api.delete(`customers/${from}?targetCustomerId=${into}`)).status).toBe(204)
    const charges = ({ invoiceId }: PlacedOrder) =>
      sql<{ result: string }>(
        'select result from transactions where invoice_ids @> jsonb_build_array(?::text) order by created_time',
        [invoiceId],
      )
    const placed = await placeCharged(merchant, TEST_CARDS.stolen)
    await work(placed, 0)
    expect(await charges(placed)).toMatchObject([{ result: 'declined' }])
    const nobody = await create(merchant.api, 'customers', {})
    const moved = { ...placed, customerId: String(nobody.id) }
    await merge(placed.customerId, moved.customerId)
    await work(moved, MINUTE)
    expect(await charges(moved)).toHaveLength(1)
    const payer = await makePayer(merchant.api)
    await merge(moved.customerId, payer.customerId)
    await work({ ...moved, customerId: payer.customerId }, MINUTE)
    expect(await charges(moved)).toMatchObject([{ result: 'declined' }, { result: 'approved' }])
    expect((await merchant.api.get(`subscriptions/${placed.id}`)).body.status).toBe('active')
  })

  test.each([
    ['the duplicate, for the target', 'target', false],
    ['the target, for the duplicate', 'duplicate', false],
    ['the target, for an order of the duplicate with a card of its own', 'duplicate', true],
  ] as const)('after a merge by a backup of %s', async (_, debtor, isOwn) => {
    const { api } = merchant
    const placed = await placeCharged(merchant, TEST_CARDS.stolen)
    if (isOwn) {
      const { paymentInstrumentId } = placed
      const given = await api.put(`subscriptions/${placed.id}`, {
        ...(await api.get(`subscriptions/${placed.id}`)).body,
        paymentInstrumentId,
      })
      expect(given.status).toBe(200)
    }
    await work(placed, 0)
    // Its default is none of the order's.
    const id = isOwn ? (await makePayer(api)).customerId : (await create(api, 'customers', {})).id
    const token = await makeToken(api)
    const backup = await create(api, 'payment-instruments', { customerId: id, token, useAsBackup: true })
    const [from, into] = debtor === 'target' ? [id, placed.customerId] : [placed.customerId, id]
    expect((await api.delete(`customers/${from}?targetCustomerId=${into}`)).status).toBe(204)
    await work({ ...placed, customerId: String(into) }, MINUTE)
    const charges = await sql(
      `select payment_instruction ->> 'paymentInstrumentId' as card, result from transactions
        where invoice_ids @> jsonb_build_array(?::text) order by created_time`,
      [placed.invoiceId],
    )
    expect(charges).toEqual([
      { card: placed.paymentInstrumentId, result: 'declined' },
      { card: backup.id, result: 'approved' },
    ])
    const { body: order } = await api.get(`subscriptions/${placed.id}`)
    expect(order).toMatchObject({ status: 'active', customerId: into })
  })

  test('once, by however many workers at the same time', async () => {
    const placed = await placeCharged(merchant, TEST_CARDS.approves)
    await advanceOrder(dependencies(gateway), input(placed.id, 0))
    await Promise.all(
      Array.from({ length: 12 }, () => callGateway(dependencies(gateway), input(placed.id, 0))),
    )
    expect(await money(placed)).toEqual({ held: 9.9, paid: 9.9, charges: 1 })
    const { body } = await merchant.api.get(`subscriptions/${placed.id}`)
    expect(body).toMatchObject({ status: 'active', billingStatus: 'paid' })
  })

  test('after an outage for one period an hour, the oldest first', async () => {
    const placed = await placeCharged(merchant, TEST_CARDS.approves)
    await work(placed, 0)
    const outage = 100 * DAY
    const paid = async (ahead: number) => {
      await work(placed, ahead)
      const { body } = await merchant.api.get<{ periodNumber: number; status: string }[]>(
        `invoices?filter=subscriptionId:${placed.id}&sort=id`,
      )
      return body.filter(({ status }) => status === 'paid').map(({ periodNumber }) => periodNumber)
    }
    expect(await paid(outage)).toEqual([1, 2])
    expect(await paid(outage + 59 * MINUTE)).toEqual([1, 2])
    expect(await paid(outage + 61 * MINUTE)).toEqual([1, 2, 3])
    expect(await paid(outage + 3 * HOUR)).toEqual([1, 2, 3, 4])
    expect(await money(placed)).toEqual({ held: 39.6, paid: 39.6, charges: 4 })
  })

  test('and the events of its payments belong to the website of the order', async () => {
    const { body: website } = await merchant.api.post('websites', { name: 'Another shop' })
    const placed = await placeCharged(merchant, TEST_CARDS.approves, { websiteId: website.id })
    await work(placed, 0)
    const events = await sql<{ type: string; website_id: string }>(
      `select type, website_id from events where payload::jsonb #>> '{_embedded,transaction,customerId}' = ?`,
      [placed.customerId],
    )
    expect(events).toEqual([{ type: 'transaction-processed', website_id: website.id }])
  })

  test('raises one revision for what it shows, and none for what it does not', async () => {
    const placed = await placeCharged(merchant, TEST_CARDS.lacksFunds)
    await advanceOrder(dependencies(gateway), input(placed.id, 0))
    const invoice = async () => (await merchant.api.get(`invoices/${placed.invoiceId}`)).body
    const { revision, issuedTime, autopayScheduledTime } = await invoice()
    expect(autopayScheduledTime).toBe(issuedTime)
    const at = (days: number) => new Date(Date.parse(String(issuedTime)) + days * DAY).toISOString()
    // The beginning of a charge changes nothing that is shown; its decline changes when the next one is made.
    await callGateway(dependencies(gateway), input(placed.id, 0))
    expect(await invoice()).toMatchObject({
      revision: Number(revision) + 1,
      autopayScheduledTime: at(1),
      autopayRetryNumber: 0,
    })
    await callGateway(dependencies(gateway), input(placed.id, DAY + MINUTE))
    expect(await invoice()).toMatchObject({
      revision: Number(revision) + 3,
      autopayScheduledTime: at(3),
      autopayRetryNumber: 1,
    })
  })

  test('of which nobody learns the outcome: told of after a day, asked for a month, then the operator is called', async () => {
    const placed = await placeCharged(merchant, TEST_CARDS.approves)
    const silent: Gateway = {
      ...gateway,
      charge: async () => ({ result: 'unknown', raw: '{}' }),
      find: async () => null,
    }
    await advanceOrder(dependencies(silent), input(placed.id, 0))
    const logged: string[] = []
    let alerts = 0
    const alerting = dependencies(silent, logged, {
      inc() {
        alerts += 1
      },
    })
    const ask = (ahead: number) => callGateway(alerting, input(placed.id, ahead))
    await ask(0)
    await ask(CHARGE_TIMEOUT + MINUTE)
    const events = await sql<{ type: string }>(
      `select type from events where payload::jsonb #>> '{_embedded,transaction,customerId}' = ?`,
      [placed.customerId],
    )
    expect(events.map(({ type }) => type)).toEqual(['transaction-timeout-resolved'])
    // Counted as declined: no other charge though, before this one is known.
    await ask(3 * DAY)
    expect((await sql('select 1 from transactions where customer_id = ?', [placed.customerId])).length).toBe(
      1,
    )
    expect({ alerts, logged }).toEqual({ alerts: 0, logged: [] })
    await ask(32 * DAY)
    expect(alerts).toBe(1)
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      { level: 50, msg: 'the outcome of a payment stays unknown', requestId: `${placed.id}.1.1` },
    ])
    const { gatewayCallDue, next } = await advanceOrder(dependencies(silent), input(placed.id, 40 * DAY))
    expect({ gatewayCallDue, next }).toEqual({ gatewayCallDue: false, next: null })
  })
})

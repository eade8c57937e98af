/** One card with several gateway accounts: soft declines and daily limits send a charge on, and never twice. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { callGateway } from '../../activities/call-gateway.ts'
import { gatewayAccountSource } from '../../commands/payments/gateway-accounts.ts'
import { gatewayRoutes } from '../../commands/payments/gateway-routes.ts'
import { dispatchByAccount, type GatewayAccountFacts } from '../../gateways/accounts.ts'
import { createGateway, createGateways } from '../../gateways/gateways.ts'
import type { Charge, Gateway, GatewayResult } from '../../gateways/port.ts'
import { removeExpired } from '../../worker/retention.ts'
import { activityDependencies } from '../support/activities.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import fc from '../support/fast-check.ts'
import { type ScriptedStripe, startScriptedStripe } from '../support/scripted-stripe.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

const SECRET_KEY = 'sk_test_of_the_scripted_provider'
const ACCOUNT = {
  gatewayName: 'Stripe',
  method: 'payment-card',
  acceptedCurrencies: ['EUR', 'USD'],
  takesCardNumbers: true,
  credentials: { secretKey: SECRET_KEY },
}
const INTENT = /^POST \/v1\/payment_intents$/
const softly = (code = 'generic_decline') => ({
  before: { status: 402, error: { type: 'card_error', code: 'card_declined', decline_code: code } },
})

describe('a card that several gateway accounts hold', () => {
  let provider: ScriptedStripe
  let service: TestService
  let merchant: Catalogue
  let card: string
  beforeAll(async () => {
    provider = await startScriptedStripe(SECRET_KEY)
    const stripeHost = { protocol: 'http', host: '127.0.0.1', port: provider.port } as const
    service = await startService({ stripeHost, worker: false })
  }, 60_000)
  beforeEach(async () => {
    merchant = await catalogue(service)
    await merchant.api.put('gateway-accounts/first', { ...ACCOUNT, priority: 1 })
    await merchant.api.put('gateway-accounts/second', { ...ACCOUNT, priority: 2 })
    const { id } = await create(merchant.api, 'payment-instruments', {
      customerId: merchant.customerId,
      token: await makeToken(merchant.api, TEST_CARDS.approves),
    })
    card = String(id)
  })
  afterAll(async () => {
    await service?.stop()
    await provider?.close()
  })
  const charge = async (members: object = {}) =>
    (
      await merchant.api.post('transactions', {
        type: 'sale',
        customerId: merchant.customerId,
        currency: 'EUR',
        amount: 12.5,
        paymentInstruction: { paymentInstrumentId: card },
        ...members,
      })
    ).body
  /** Charges a new order as its workflow does. */
  const chargeOrder = async (recordId: string) => {
    const { vault } = service.database
    const em = () => service.database.orm.em.fork()
    const gateway = createGateways({
      environment: 'sandbox',
      databaseUrl: service.databaseUrl,
      baseUrl: service.baseUrl,
      accounts: gatewayAccountSource(em, vault),
      routes: gatewayRoutes(em, Date.now),
      stripeHost: { protocol: 'http', host: '127.0.0.1', port: provider.port },
    })
    const dependencies = activityDependencies(service, { gateway })
    const input = { organizationId: merchant.organizationId, recordId, clock: Date.now(), base: 0 }
    expect(await dependencies.orders.advance(input)).toMatchObject({ gatewayCallDue: true })
    await callGateway(dependencies, input)
    await gateway.close()
  }
  const chargesFor = (requestId: unknown) =>
    provider.charges().filter(({ metadata }) => (metadata as { requestId?: string }).requestId === requestId)
  const patch = (id: string, body: object) =>
    merchant.api.send('PATCH', `gateway-accounts/${id}`, {
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    })

  test('is charged by the first, and by the next after a soft decline, where it is refunded too', async () => {
    expect(await charge()).toMatchObject({ result: 'approved', gatewayAccountId: 'first' })
    provider.fail(INTENT, softly())
    const sent = await charge()
    expect(sent).toMatchObject({ result: 'approved', gatewayAccountId: 'second' })
    expect(chargesFor(sent.requestId)).toHaveLength(1)
    const refund = await merchant.api.post(`transactions/${sent.id}/refund`, {})
    expect(refund.body).toMatchObject({ result: 'approved', gatewayAccountId: 'second' })
    expect(await charge()).toMatchObject({ gatewayAccountId: 'first' })
  })

  describe('whose new expiry is entered', () => {
    const RENEWAL = /^POST \/v1\/payment_methods\/\w+$/
    let requestsBefore = 0
    beforeEach(() => {
      requestsBefore = provider.requests().length
    })
    const told = () =>
      provider
        .requests()
        .slice(requestsBefore)
        .filter((request) => RENEWAL.test(request))
    const FAILURE = { before: { status: 500, error: { type: 'api_error' } } }
    const renew = (members: object = { expMonth: 11, expYear: 2091 }) =>
      merchant.api.send('PATCH', `payment-instruments/${card}`, {
        body: JSON.stringify(members),
        headers: { 'Content-Type': 'application/json' },
      })

    test('is charged again by each of them', async () => {
      provider.expireCards()
      expect(await charge()).toMatchObject({ result: 'declined', gatewayAccountId: 'first' })
      expect((await renew()).status).toBe(200)
      expect(await charge()).toMatchObject({ result: 'approved', gatewayAccountId: 'first' })
      provider.fail(INTENT, softly())
      expect(await charge()).toMatchObject({ result: 'approved', gatewayAccountId: 'second' })
    })

    test('stays as it is while the first cannot be told: 502; if it refuses: 422', async () => {
      const read = async () => (await merchant.api.get(`payment-instruments/${card}`)).body
      const before = await read()
      provider.fail(RENEWAL, FAILURE)
      expectProblem(await renew(), 502, 'upstream-failed')
      provider.fail(RENEWAL, softly('invalid_expiry_year'))
      expect(expectProblem(await renew(), 422, 'validation-error')).toEqual(['expYear'])
      expect(await read()).toEqual(before)
      expect((await renew()).body).toMatchObject({ expMonth: 11, expYear: 2091 })
    })

    test('is changed also if the first is disabled and cannot be told', async () => {
      await merchant.api.post('gateway-accounts/first/disable', {})
      provider.fail(RENEWAL, FAILURE)
      expect((await renew()).body).toMatchObject({ expMonth: 11, expYear: 2091 })
      expect(told()).toHaveLength(2)
      await merchant.api.post('gateway-accounts/first/enable', {})
    })

    test('is refused if the first no longer has the card', async () => {
      provider.fail(RENEWAL, { before: { status: 400, error: { type: 'invalid_request_error' } } })
      expect(expectProblem(await renew(), 422, 'validation-error')).toEqual(['expYear'])
    })

    test('is changed also if the second cannot be told', async () => {
      const connection = service.database.orm.em.fork().getConnection()
      const held = JSON.stringify(['account/second/cus_1/pm_unreached'])
      await connection.execute('update payment_instruments set backup_references = ? where id = ?', [
        held,
        card,
      ])
      provider.fail(/pm_unreached$/, FAILURE)
      expect((await renew()).body).toMatchObject({ expMonth: 11, expYear: 2091 })
      expect(told()).toHaveLength(2)
    })

    test('and which does not change is told to nobody, nor one of the past', async () => {
      expect((await renew({ expMonth: 12, useAsBackup: true })).status).toBe(200)
      expectProblem(await renew({ expYear: 2020 }), 422, 'validation-error')
      expect(told()).toEqual([])
    })
  })

  test.each(['lost_card', 'insufficient_funds', 'authentication_required'])(
    'is not charged elsewhere after %s',
    async (code) => {
      provider.fail(INTENT, softly(code))
      expect(await charge()).toMatchObject({ result: 'declined', gatewayAccountId: 'first' })
    },
  )

  test('that all decline is declined as the last did', async () => {
    provider.fail(INTENT, softly())
    provider.fail(INTENT, softly('processing_error'))
    const declined = await charge()
    expect(declined).toMatchObject({ result: 'declined', gatewayAccountId: 'second' })
    expect(declined.gateway).toMatchObject({ response: { code: 'soft', originalCode: 'processing_error' } })
  })

  test('whose second account did not respond is found there, and was charged once', async () => {
    provider.fail(INTENT, softly())
    provider.fail(INTENT, { after: { status: 500, error: { type: 'api_error' } } })
    const unknown = await charge()
    expect(unknown).toMatchObject({ result: 'unknown' })
    await merchant.api.post(`transactions/${unknown.id}/query`, undefined)
    const found = (await merchant.api.get(`transactions/${unknown.id}`)).body
    expect(found).toMatchObject({ result: 'approved', gatewayAccountId: 'second' })
    expect(chargesFor(found.requestId)).toHaveLength(1)
  })

  test.each([
    ['of a caller', false],
    ['of an order', true],
  ])(
    'is charged by no other for what was voided while the first was asked, by a sale %s',
    async (_, isOwn) => {
      const members = isOwn ? { paymentInstrumentId: card } : { autopay: false }
      const placed = await create(merchant.api, 'subscriptions', orderBody(merchant, members))
      const { promise: voided, resolve: respond } = Promise.withResolvers<void>()
      provider.fail(INTENT, { ...softly(), until: voided })
      const before = provider.requests().length
      const asked = isOwn
        ? chargeOrder(String(placed.id))
        : charge({ amount: 9.9, invoiceIds: [placed.initialInvoiceId] })
      await waitFor('the first account to be asked', async () => {
        const requests = provider.requests().slice(before)
        return requests.some((request) => INTENT.test(request)) || null
      })
      const ended = isOwn ? `subscriptions/${placed.id}` : `invoices/${placed.initialInvoiceId}`
      expect((await merchant.api.post(`${ended}/void`, {})).status).toBe(201)
      respond()
      await asked
      const { body } = await merchant.api.get<Record<string, unknown>[]>('transactions?limit=2')
      expect(body).toMatchObject([{ type: 'sale', result: 'declined', gatewayAccountId: 'first' }])
      expect(chargesFor(body[0]?.requestId)).toEqual([])
    },
  )

  test('whose outcome is unknown is asked for where it was sent, however long ago that was', async () => {
    const done = await charge()
    provider.fail(INTENT, softly())
    provider.fail(INTENT, { after: { status: 500, error: { type: 'api_error' } } })
    const unknown = await charge()
    expect(unknown).toMatchObject({ result: 'unknown' })
    const em = service.database.orm.em.fork()
    const sql = (text: string) => em.getConnection().execute<{ request_id: string }[]>(text)
    await sql("update gateway_routes set created_time = now() - interval '61 days'")
    await removeExpired(em)
    const kept = (await sql('select request_id from gateway_routes')).map(({ request_id: id }) => id)
    expect(kept).toContain(unknown.requestId)
    expect(kept).not.toContain(done.requestId)
    await merchant.api.post(`transactions/${unknown.id}/query`, undefined)
    const found = (await merchant.api.get(`transactions/${unknown.id}`)).body
    expect(found).toMatchObject({ result: 'approved', gatewayAccountId: 'second' })
    await removeExpired(em)
    expect(await sql('select request_id from gateway_routes')).not.toContainEqual({
      request_id: unknown.requestId,
    })
  })

  test('is charged by the next one above the limit of the day, in count or in amount', async () => {
    for (const limit of [{ count: 2 }, { amount: 30 }]) {
      await patch('first', { dailyLimits: [{ currency: 'EUR', ...limit }] })
      const accounts = []
      for (let one = 0; one < 3; one += 1) accounts.push((await charge()).gatewayAccountId)
      expect(accounts).toEqual(['first', 'first', 'second'])
      expect(await charge({ currency: 'USD' })).toMatchObject({ gatewayAccountId: 'first' })
      await service.database.orm.em.fork().getConnection().execute('delete from gateway_account_days')
    }
  })

  test('is charged however much that comes to in a day, where the limit is of charges', async () => {
    await patch('first', { acceptedCurrencies: ['VND'], dailyLimits: [{ currency: 'VND', count: 1000 }] })
    for (let one = 0; one < 2; one += 1) {
      expect(await charge({ currency: 'VND', amount: 999_999_999_999 })).toMatchObject({ result: 'approved' })
    }
  })

  test('is declined softly, with the reason, where all accounts have reached their limit', async () => {
    for (const id of ['first', 'second']) await patch(id, { dailyLimits: [{ currency: 'EUR', count: 1 }] })
    const sent = await Promise.all(Array.from({ length: 6 }, () => charge()))
    expect(sent.filter(({ result }) => result === 'approved')).toHaveLength(2)
    const refused = sent.find(({ result }) => result === 'declined')
    expect(refused?.gateway).toMatchObject({
      response: { code: 'soft', originalCode: 'daily-limit-of-gateway-account' },
    })
    expect(chargesFor(refused?.requestId)).toEqual([])
  })

  test('what is declined does not count for the limit', async () => {
    await patch('first', { dailyLimits: [{ currency: 'EUR', count: 1 }] })
    provider.fail(INTENT, softly('lost_card'))
    expect(await charge()).toMatchObject({ result: 'declined', gatewayAccountId: 'first' })
    expect(await charge()).toMatchObject({ result: 'approved', gatewayAccountId: 'first' })
    expect(await charge()).toMatchObject({ gatewayAccountId: 'second' })
  })

  test('keeps each of its accounts from being deleted: 409', async () => {
    for (const id of ['first', 'second']) {
      expectProblem(await merchant.api.delete(`gateway-accounts/${id}`), 409, 'conflict')
    }
  })

  test('of which one was charged without a result keeps that one from being deleted: 409', async () => {
    provider.fail(INTENT, softly())
    provider.fail(INTENT, { after: { status: 500, error: { type: 'api_error' } } })
    expect(await charge()).toMatchObject({ result: 'unknown' })
    const em = service.database.orm.em.fork()
    await em.getConnection().execute("update payment_instruments set backup_references = '[]'")
    expectProblem(await merchant.api.delete('gateway-accounts/second'), 409, 'conflict')
  })

  test('what its customer does not approve does not count for the limit', async () => {
    const { id } = await create(merchant.api, 'payment-instruments', {
      customerId: merchant.customerId,
      token: await makeToken(merchant.api, TEST_CARDS.asksIfPresent),
    })
    await patch('first', { dailyLimits: [{ currency: 'EUR', count: 1 }] })
    const waiting = await charge({ paymentInstruction: { paymentInstrumentId: id } })
    expect(waiting).toMatchObject({ status: 'waiting-approval' })
    const links = waiting._links as { rel: string; href: string }[]
    provider.answer(links.find(({ rel }) => rel === 'approvalUrl')?.href ?? '', false)
    expect((await merchant.api.post(`transactions/${waiting.id}/query`, undefined)).body).toMatchObject({
      result: 'declined',
    })
    expect(await charge()).toMatchObject({ result: 'approved', gatewayAccountId: 'first' })
  })

  test.each([
    ['JPY', 10.5],
    ['EUR', 1.005],
    ['EUR', -1],
  ])('a limit of %s %p is refused', async (currency, amount) => {
    const refused = await patch('first', { dailyLimits: [{ currency, amount }] })
    expect(expectProblem(refused, 422, 'validation-error')).toEqual(['dailyLimits.0.amount'])
  })

  test('limits are shown, kept by PATCH, and refused where one currency has two', async () => {
    const dailyLimits = [{ currency: 'EUR', count: 3, amount: 100.5 }]
    expect((await patch('first', { dailyLimits })).body).toMatchObject({ dailyLimits })
    expect((await patch('first', { priority: 4 })).body).toMatchObject({ dailyLimits, priority: 4 })
    const twice = [
      { currency: 'EUR', count: 3 },
      { currency: 'EUR', amount: 5 },
    ]
    expect(expectProblem(await patch('first', { dailyLimits: twice }), 422, 'validation-error')).toEqual([
      'dailyLimits.1.currency',
    ])
  })

  test('is charged by one account at most, whatever fails, is repeated at once, or is changed meanwhile', async () => {
    type Response = 'approves' | 'declines' | 'fails before' | 'fails after'
    const response = fc.constantFrom<Response>('approves', 'declines', 'fails before', 'fails after')
    const account = fc.record({
      // The first response to a request holds; failures come before it.
      responses: fc.array(response, { minLength: 1, maxLength: 4 }),
      inactiveUntil: fc.integer({ min: 0, max: 6 }),
      limit: fc.constantFrom(null, 0, 1),
    })
    let run = 0
    const em = () => service.database.orm.em.fork()
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(account, account, account),
        fc.integer({ min: 1, max: 4 }),
        async (given, callers) => {
          run += 1
          const { organizationId } = merchant
          const references = given.map((_, index) => `account/a${index}-${run}/card`)
          const moved: string[] = []
          let reads = 0
          const gatewayOf = (index: number): Gateway => {
            const kept = new Map<string, GatewayResult>()
            const responses = [...(given[index]?.responses ?? [])]
            const move = async ({ requestId }: Charge): Promise<GatewayResult> => {
              await new Promise((resolve) => setTimeout(resolve, index))
              const before = kept.get(requestId)
              const next = responses.shift() ?? 'approves'
              if (next === 'fails before') throw new Error('no response')
              const isApproved = next !== 'declines'
              const result = before ?? {
                result: isApproved ? ('approved' as const) : ('declined' as const),
                raw: '{}',
                decline: isApproved ? null : ('soft' as const),
              }
              if (before === undefined && result.result === 'approved') moved.push(`a${index}`)
              kept.set(requestId, result)
              if (next === 'fails after') throw new Error('no response')
              return result
            }
            return {
              ...createGateway('live', service.databaseUrl, service.baseUrl),
              charge: move,
              find: async (movement) =>
                'charge' in movement ? (kept.get(movement.charge.requestId) ?? null) : null,
            }
          }
          const gateways = given.map((_, index) => gatewayOf(index))
          const indexOf = (id: string) => Number(id.slice(1, 2))
          const factsOf = (id: string): GatewayAccountFacts => {
            reads += 1
            const { limit = null, inactiveUntil = 0 } = given[indexOf(id)] ?? {}
            return {
              id,
              gatewayName: 'Stripe',
              revision: 1,
              isActive: reads > inactiveUntil,
              acceptedCurrencies: ['EUR'],
              paymentCardSchemes: [],
              takesCardNumbers: true,
              dailyLimits: limit === null ? [] : [{ currency: 'EUR', count: limit, amount: null }],
              descriptor: null,
              secretKey: null,
              webhookSecret: null,
            }
          }
          const routes = { ...gatewayRoutes(em, Date.now), backups: async () => references.slice(1) }
          const dispatcher = dispatchByAccount(
            createGateway('live', service.databaseUrl, service.baseUrl),
            { find: async (_, id) => factsOf(id), active: async () => [] },
            routes,
            {
              of: ({ id }) => gateways[indexOf(id)] as Gateway,
              probe: async () => {},
              readNotification: () => {
                throw new Error('not asked for')
              },
            },
          )
          const charge: Charge = {
            organizationId,
            requestId: `run-${run}-${merchant.organizationId}`,
            amount: '12.5',
            currency: 'EUR',
            reference: references[0] ?? '',
            customer: null,
          }
          const untilKnown = async (): Promise<GatewayResult> => {
            for (let attempt = 0; ; attempt += 1) {
              try {
                const found = attempt % 2 === 0 ? null : await dispatcher.find({ kind: 'charge', charge }, 0)
                return found ?? (await dispatcher.charge(charge))
              } catch (error) {
                if (attempt > 40) throw error
              }
            }
          }
          const results = await Promise.all(Array.from({ length: callers }, untilKnown))
          expect(moved.length).toBeLessThanOrEqual(1)
          expect(new Set(results.map(({ result }) => result)).size).toBe(1)
          for (const { result, heldBy } of results) {
            expect(moved).toEqual(result === 'approved' ? [heldBy?.reference.slice(8, 10)] : [])
          }
        },
      ),
      { numRuns: 100 },
    )
  }, 120_000)
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { inquireTransaction } from '../../activities/inquire-transaction.ts'
import { CHARGE_TIMEOUT, INQUIRIES, nextInquiry } from '../../billing/inquiry-schedule.ts'
import { pendingMovement } from '../../commands/payments/pending-movement.ts'
import { recordResult } from '../../commands/payments/record-result.ts'
import { startSale } from '../../commands/payments/start-transaction.ts'
import { newId } from '../../db/new-id.ts'
import { inUnitOfWork, type UnitOfWork } from '../../db/unit-of-work.ts'
import { createGateway } from '../../gateways/gateways.ts'
import { carryOut } from '../../gateways/movement.ts'
import type { Gateway } from '../../gateways/port.ts'
import { wakeLateRecords } from '../../worker/sweep.ts'
import { activityDependencies } from '../support/activities.ts'
import type { ApiClient } from '../support/api-client.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import fc from '../support/fast-check.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { NO_CARDS } from '../support/stored-card.ts'
import { skipTime } from '../support/time-skipping.ts'
import { makeToken, tokenBody } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

describe('payments', () => {
  let service: TestService
  let receiver: Receiver
  let merchant: Catalogue
  let api: ApiClient
  let gateway: Gateway

  beforeAll(async () => {
    service = await startService()
    receiver = await startReceiver()
    merchant = await catalogue(service, { webhook: receiver.url })
    api = merchant.api
    gateway = createGateway('sandbox', service.databaseUrl, service.baseUrl)
  })
  afterAll(async () => {
    await gateway?.close()
    await receiver.close()
    await service.stop()
  })

  const sql = <T>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const ledger = (requestId: unknown) =>
    sql<{ kind: string; amount: string; result: string; calls: number }>(
      'select kind, amount, result, calls from test_gateway.ledger where request_id = ?',
      [requestId],
    )
  const inUnit = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
    inUnitOfWork(
      service.database.orm.em.fork(),
      { organizationId: merchant.organizationId, baseUrl: service.baseUrl, now: new Date() },
      work,
    )
  const instrument = async (pan: string, customerId = merchant.customerId) =>
    await create(api, 'payment-instruments', { customerId, token: await makeToken(api, pan) })
  const saleBody = (paymentInstruction: object, members: object = {}) => ({
    type: 'sale',
    customerId: merchant.customerId,
    currency: 'EUR',
    amount: 12.5,
    paymentInstruction,
    ...members,
  })
  const sale = (paymentInstruction: object, members: object = {}) =>
    api.post('transactions', saleBody(paymentInstruction, members))
  const eventsOf = (id: unknown) =>
    receiver.received.filter(({ event }) => event.transactionId === id).map(({ event }) => event.eventType)

  describe('by instrument', () => {
    test('an instrument is made of a token, and shows neither token nor number nor reference', async () => {
      const token = await makeToken(api)
      const { status, headers, body } = await api.post('payment-instruments', {
        customerId: merchant.customerId,
        token,
      })
      expect(status).toBe(201)
      expect(headers.get('location')).toContain(`/payment-instruments/${body.id}`)
      expect(body).toEqual({
        id: expect.stringMatching(/^inst_/),
        customerId: merchant.customerId,
        method: 'payment-card',
        bin: '411111',
        last4: '1111',
        brand: 'Visa',
        expMonth: 12,
        expYear: 2090,
        status: 'active',
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        billingAddress: null,
        useAsBackup: false,
        customFields: {},
        lastPaymentTime: null,
        riskMetadata: null,
        fpanLast4: null,
        bankCountry: null,
        bankName: null,
        isPayoutable: false,
        billingPortalUrl: null,
        stickyGatewayAccountId: null,
        expirationReminderTime: '2090-12-02T00:00:00.000Z',
        expirationReminderNumber: 0,
        referenceData: {},
        digitalWallet: null,
        revision: 1,
        createdTime: expect.any(String),
        updatedTime: expect.any(String),
        _links: expect.any(Array),
      })
      expect((await api.get(`payment-instruments/${body.id}`)).body).toEqual(body)
      const listed = await api.get<unknown[]>(`payment-instruments?filter=customerId:${merchant.customerId}`)
      expect(listed.body).toContainEqual(body)
      expect((await api.get(`tokens/${token}`)).body).toMatchObject({ isUsed: true })
      const [event] = await receiver.until(({ event }) => event.paymentInstrumentId === body.id)
      expect(event?.event.eventType).toBe('payment-card-created')
      const [stored] = await sql<object>(
        'select * from test_gateway.cards order by created_time desc limit 1',
      )
      expect(stored).toMatchObject({ last4: '1111', behaviour: 'approve' })
    })

    test('a token makes one instrument only, whoever asks at the same time', async () => {
      const token = await makeToken(api)
      const made = await Promise.all(
        Array.from({ length: 30 }, () =>
          api.post('payment-instruments', { customerId: merchant.customerId, token }),
        ),
      )
      expect(made.map(({ status }) => status).toSorted()).toEqual([201, ...Array(29).fill(422)])
    })

    test('a customer is given a default instrument by token, at creation and later', async () => {
      const made = await api.post('customers', { paymentToken: await makeToken(api) })
      expect(made.status).toBe(201)
      expect(made.body).not.toHaveProperty('paymentToken')
      const first = made.body.defaultPaymentInstrument as { paymentInstrumentId: string }
      expect(first).toMatchObject({ method: 'payment-card' })
      const put = (body: object) =>
        api.send('PUT', `customers/${made.body.id}`, {
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        })
      const changed = await put({ paymentToken: await makeToken(api, TEST_CARDS.approvesToo) })
      expect(changed.body.defaultPaymentInstrument).not.toEqual(first)
      const back = await put({ defaultPaymentInstrument: first })
      expect(back.body.defaultPaymentInstrument).toEqual(first)
      const foreign = await instrument(TEST_CARDS.approves)
      const refused = await put({
        defaultPaymentInstrument: { method: 'payment-card', paymentInstrumentId: foreign.id },
      })
      expect(refused.status).toBe(422)
    })

    test('is approved, and the money moved once', async () => {
      const { id } = await instrument(TEST_CARDS.approves)
      const { status, body } = await sale({ paymentInstrumentId: id })
      expect(status).toBe(201)
      expect(body).toMatchObject({
        type: 'sale',
        status: 'completed',
        result: 'approved',
        gatewayName: 'TestGateway',
        gateway: { response: { code: null, originalCode: null }, avsResponse: null, cvvResponse: null },
        requestId: body.id,
        amount: 12.5,
        paymentInstruction: { paymentInstrumentId: id },
        parentTransactionId: null,
        rawResponse: expect.stringContaining('approved'),
        nextInquiryTime: null,
        authorizationExpiryTime: null,
      })
      expect(await ledger(body.id)).toEqual([
        { kind: 'charge', amount: '12.500000', result: 'approved', calls: 1 },
      ])
      await receiver.until(({ event }) => event.transactionId === body.id)
      expect(eventsOf(body.id)).toEqual(['transaction-processed'])
    })

    test.each([
      [TEST_CARDS.declines, 'do-not-honor'],
      [TEST_CARDS.lacksFunds, 'insufficient-funds'],
    ])('of the test card %s is declined with its reason', async (pan, reason) => {
      const { id } = await instrument(pan)
      const { status, body } = await sale({ paymentInstrumentId: id })
      expect(status).toBe(201)
      expect(body).toMatchObject({ status: 'completed', result: 'declined' })
      expect(body.rawResponse).toContain(reason)
      await receiver.until(({ event }) => event.transactionId === body.id)
      expect(eventsOf(body.id)).toEqual(['transaction-declined'])
    })

    test('of the card that declines renewals is approved the first time only', async () => {
      const { id } = await instrument(TEST_CARDS.declinesRenewals)
      expect((await sale({ paymentInstrumentId: id })).body.result).toBe('approved')
      expect((await sale({ paymentInstrumentId: id })).body.result).toBe('declined')
    })

    test('of another customer is refused', async () => {
      const stranger = (await api.post('customers', {})).body.id
      const { id } = await instrument(TEST_CARDS.approves, String(stranger))
      const { status, body } = await sale({ paymentInstrumentId: id })
      expect(status).toBe(422)
      expect(body.invalidFields).toMatchObject([
        {
          field: 'paymentInstruction.paymentInstrumentId',
          code: 'mismatch',
          message: 'must be a payment instrument of the customer',
        },
      ])
    })
  })

  test('by token use it up, and a used one is refused', async () => {
    const token = await makeToken(api)
    const { body } = await sale({ token })
    expect(body).toMatchObject({ result: 'approved', paymentInstruction: { token } })
    const again = await sale({ token })
    expect(again.status).toBe(422)
    expect(again.body.invalidFields).toMatchObject([
      { field: 'paymentInstruction.token', code: 'used', message: expect.stringContaining('unused') },
    ])
  })

  test('are counted in the risk metadata of the next token of the card', async () => {
    const other = await catalogue(service)
    for (const pan of [TEST_CARDS.approves, TEST_CARDS.approves, TEST_CARDS.declines]) {
      await other.api.post('transactions', {
        ...saleBody({ token: await makeToken(other.api, pan) }),
        customerId: other.customerId,
      })
    }
    const next = async (pan: string) =>
      (await other.api.post('tokens', tokenBody(pan, { riskMetadata: {} }))).body.riskMetadata
    expect(await next(TEST_CARDS.approves)).toMatchObject({
      paymentInstrumentApprovedTransactionCount: 2,
      declinedPaymentInstrumentVelocity: 0,
      paymentInstrumentVelocity: 3,
    })
    expect(await next(TEST_CARDS.declines)).toMatchObject({
      paymentInstrumentApprovedTransactionCount: 0,
      declinedPaymentInstrumentVelocity: 1,
    })
  })

  test('through the test gateway are for the sandbox only', async () => {
    const live = createGateway('live', service.databaseUrl, service.baseUrl)
    const card = { pan: TEST_CARDS.approves, cvv: null, expMonth: 1, expYear: 2090 }
    await expect(live.store(merchant.organizationId, card, 'token')).rejects.toThrow(
      'No payment gateway is connected',
    )
    await live.close()
  })

  test('outside of this service are approved as they come', async () => {
    const { body } = await sale({ method: 'external' })
    expect(body).toMatchObject({ status: 'completed', result: 'approved', gateway: null, requestId: null })
  })

  test.each([
    ['nothing but a type', { type: 'sale' }, ['customerId', 'currency', 'amount', 'paymentInstruction']],
    ['a refund of nothing', { type: 'refund' }, ['parentTransactionId']],
    ['two ways to pay', saleBodyWith({ method: 'external', token: 'tok_1' }), ['paymentInstruction']],
    ['an unknown type', { type: 'gift' }, ['type']],
  ])('of %s are refused', async (_, body, fields) => {
    const { status, body: problem } = await api.post('transactions', body)
    expect(status).toBe(422)
    expect((problem.invalidFields as { field: string }[]).map(({ field }) => field)).toEqual(fields)
  })

  test('of an amount with too many decimals leave the token unused', async () => {
    const token = await makeToken(api)
    expect((await sale({ token }, { amount: 1.001 })).status).toBe(422)
    expect((await api.get(`tokens/${token}`)).body.isUsed).toBe(false)
  })

  describe('refunded', () => {
    const refund = (parentTransactionId: unknown, members: object = {}) =>
      api.post('transactions', { type: 'refund', parentTransactionId, ...members })

    test('in part, then the rest by default, then not at all', async () => {
      const { id } = (await sale({ token: await makeToken(api) })).body
      const part = await refund(id, { amount: 2.5, currency: 'EUR' })
      expect(part.body).toMatchObject({ type: 'refund', result: 'approved', amount: 2.5 })
      expect(part.body).toMatchObject({ parentTransactionId: id, customerId: merchant.customerId })
      const rest = await refund(id)
      expect(rest.body).toMatchObject({ result: 'approved', amount: 10 })
      expect(await ledger(rest.body.id)).toMatchObject([{ kind: 'refund', result: 'approved' }])
      const over = await refund(id)
      expect(over.status).toBe(422)
      expect(over.body.detail).toContain('the refundable amount of the sale: 0')
      expect(over.body.invalidFields).toHaveLength(1)
    })

    test.each([
      ['over the rest', { amount: 12.51 }, 'amount'],
      ['in another currency', { currency: 'USD' }, 'currency'],
      ['to another customer', { customerId: 'somebody' }, 'customerId'],
    ])('%s are refused', async (_, members, field) => {
      const { id } = (await sale({ token: await makeToken(api) })).body
      const { status, body } = await refund(id, members)
      expect(status).toBe(422)
      expect(body.invalidFields).toMatchObject([{ field }])
    })

    test('never more than was paid, however many ask at the same time', async () => {
      const { id } = (await sale({ token: await makeToken(api) })).body
      const asked = await Promise.all(Array.from({ length: 20 }, () => refund(id, { amount: 2.5 })))
      expect(asked.filter(({ status }) => status === 201)).toHaveLength(5)
      const [moved] = await sql<{ sum: string }>(
        "select sum(amount) as sum from test_gateway.ledger where charge_request_id = ? and result = 'approved'",
        [id],
      )
      expect(Number(moved?.sum)).toBe(12.5)
    })

    test('of a declined sale, or of a refund, are refused', async () => {
      const declined = (await sale({ token: await makeToken(api, TEST_CARDS.declines) })).body
      expect((await refund(declined.id)).status).toBe(422)
      expect((await refund('txn_none')).status).toBe(422)
    })

    test('that were paid outside are refunded outside', async () => {
      const { id } = (await sale({ method: 'external' })).body
      expect((await refund(id)).body).toMatchObject({ result: 'approved', gateway: null })
    })
  })

  describe('whose outcome is not known', () => {
    test('are asked about after a minute by a durable timer, and approved under the same request id', async () => {
      const { body } = await sale({ token: await makeToken(api, TEST_CARDS.answersLate) })
      const created = Date.parse(String(body.createdTime))
      expect(body).toMatchObject({ status: 'pending', result: 'unknown' })
      expect(Date.parse(String(body.nextInquiryTime))).toBe(created + 60_000)
      const workflowId = `transaction/${merchant.organizationId}/${body.id}`
      const execution = service.temporal.workflow.getHandle(workflowId)
      await waitFor('the execution', () => execution.describe().catch(() => null))
      await skipTime(service.temporal, workflowId, 2 * 60_000)
      await execution.result()
      expect((await api.get(`transactions/${body.id}`)).body).toMatchObject({
        status: 'completed',
        result: 'approved',
        requestId: body.id,
        revision: 3,
      })
      expect(await ledger(body.id)).toMatchObject([{ result: 'approved' }])
      await receiver.until(({ event }) => event.transactionId === body.id)
      expect(eventsOf(body.id)).toEqual(['transaction-processed'])
    })

    test('for a day are told so once, and a later answer still counts', async () => {
      const id = newId('txn')
      await inUnit(async (unit) =>
        startSale(
          unit,
          NO_CARDS,
          { id, requestId: id },
          {
            customerId: merchant.customerId,
            currency: 'EUR',
            amount: '1',
            paymentInstruction: { paymentInstrumentId: String((await instrument(TEST_CARDS.approves)).id) },
            invoiceIds: [],
          },
        ),
      )
      const [row] = await sql<{ created_time: Date }>('select created_time from transactions where id = ?', [
        id,
      ])
      const charged = new Date(row?.created_time ?? 0).getTime()
      const silent = { result: 'unknown', raw: '{}' } as const
      const at = (instant: number) => inUnit((unit) => recordResult(unit, id, silent, instant))
      expect(await at(charged)).toBe(charged + 60_000)
      expect(await at(charged + CHARGE_TIMEOUT)).toBe(charged + 2 * CHARGE_TIMEOUT)
      expect(await at(charged + 2 * CHARGE_TIMEOUT)).toBe(charged + 3 * CHARGE_TIMEOUT)
      await inUnit((unit) => recordResult(unit, id, { result: 'approved', raw: '{}' }, charged))
      await receiver.until(
        ({ event }) => event.transactionId === id && event.eventType === 'transaction-processed',
      )
      expect(eventsOf(id).toSorted()).toEqual(['transaction-processed', 'transaction-timeout-resolved'])
    })

    test('because the process died are found by the sweep', async () => {
      const id = newId('txn')
      await inUnit(async (unit) =>
        startSale(
          unit,
          NO_CARDS,
          { id, requestId: id },
          {
            customerId: merchant.customerId,
            currency: 'EUR',
            amount: '1',
            paymentInstruction: { paymentInstrumentId: String((await instrument(TEST_CARDS.approves)).id) },
            invoiceIds: [],
          },
        ),
      )
      await sql("update transactions set next_inquiry_time = now() - interval '2 minutes' where id = ?", [id])
      // Again until it is visible: the wake-up that started the execution may not be committed yet.
      await waitFor('the outcome', async () => {
        await wakeLateRecords(service.database.orm.em.fork(), null)
        const { body } = await api.get(`transactions/${id}`)
        return body.result === 'approved' ? body : null
      })
      expect(await ledger(id)).toMatchObject([{ result: 'approved' }])
    })
  })

  test('under an Idempotency-Key are made once, whoever repeats them when', async () => {
    const { id } = await instrument(TEST_CARDS.approves)
    const body = saleBody({ paymentInstrumentId: id })
    const post = () => api.post('transactions', body, { 'Idempotency-Key': 'charge-once' })
    const responses = [...(await Promise.all(Array.from({ length: 10 }, post))), await post()]
    const made = responses.filter(({ status }) => status === 201)
    expect(new Set(made.map((one) => one.body.id)).size).toBe(1)
    for (const { status } of responses) expect([201, 409]).toContain(status)
    expect(await ledger(made[0]?.body.requestId)).toMatchObject([{ result: 'approved' }])
    expect(made.at(-1)?.body).toMatchObject({ result: 'approved' })
  })

  test('that stopped after their first step are taken up by a repetition', async () => {
    const { id } = await instrument(TEST_CARDS.approves)
    const body = saleBody({ paymentInstrumentId: id })
    const post = () => api.post('transactions', body, { 'Idempotency-Key': 'taken-up' })
    const first = (await post()).body
    // As the row stood between the two transactions.
    await sql(
      `update transactions set status = 'pending', result = null, next_inquiry_time = now() + interval '1 hour' where id = ?`,
      [first.id],
    )
    await sql('delete from test_gateway.ledger where request_id = ?', [first.requestId])
    const again = await post()
    expect(again.body).toMatchObject({ id: first.id, status: 'completed', result: 'approved' })
    expect(await ledger(first.requestId)).toHaveLength(1)
  })

  test('never move money twice, wherever they are interrupted and whatever is repeated', async () => {
    const step = fc.constantFrom('move', 'move-unrecorded', 'inquire', 'activity', 'lost')
    const { id: instrumentId } = await instrument(TEST_CARDS.approves)
    const { id: late } = await instrument(TEST_CARDS.answersLate)
    const em = () => service.database.orm.em.fork()
    const activity = (id: string, after = 2 * 60_000) =>
      inquireTransaction(activityDependencies(service, { gateway }), {
        organizationId: merchant.organizationId,
        recordId: id,
        clock: Date.now() + after,
        base: 0,
      })
    /** A gateway whose response never arrives, though it does what was asked. */
    const deaf: Gateway = {
      ...gateway,
      charge: async (charge) => {
        await gateway.charge(charge)
        throw new Error('the answer was lost')
      },
      find: async () => {
        throw new Error('the answer was lost')
      },
    }
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 6 }),
        fc.boolean(),
        fc.boolean(),
        async (transitions, isLate, atOnce) => {
          const id = newId('txn')
          await inUnit((unit) =>
            startSale(
              unit,
              NO_CARDS,
              { id, requestId: id },
              {
                customerId: merchant.customerId,
                currency: 'EUR',
                amount: '3',
                paymentInstruction: { paymentInstrumentId: String(isLate ? late : instrumentId) },
                invoiceIds: [],
              },
            ),
          )
          const take = async (one: (typeof transitions)[number]) => {
            if (one === 'activity') return void (await activity(id))
            const pending = await pendingMovement(em(), merchant.organizationId, id)
            if (pending === null) return
            const by = one === 'lost' ? deaf : gateway
            const asked = { ...pending.pending, isUnknown: one === 'inquire' }
            const response = await carryOut(by, asked, Date.now(), Date.now)
            if (one === 'move-unrecorded') return
            await inUnit((unit) => recordResult(unit, id, response, Date.now()))
          }
          if (atOnce) await Promise.all(transitions.map(take))
          else for (const one of transitions) await take(one)
          await activity(id)
          await activity(id, 3_600_000)
          const rows = await ledger(id)
          expect(rows).toHaveLength(1)
          expect(rows[0]).toMatchObject({ result: 'approved', amount: '3.000000' })
          expect((await api.get(`transactions/${id}`)).body).toMatchObject({
            status: 'completed',
            result: 'approved',
          })
        },
      ),
      { numRuns: 25 },
    )
  }, 180_000)
})

test('inquiries come after 1, 5 and 30 minutes, hourly to the end of the day, then daily for thirty', () => {
  const minutes = INQUIRIES.map((after) => after / 60_000)
  expect(minutes.slice(0, 5)).toEqual([1, 5, 30, 60, 120])
  expect(minutes).toContain(1440)
  expect(minutes.at(-1)).toBe(31 * 1440)
  fc.assert(
    fc.property(fc.nat(2_000_000_000), fc.integer({ min: 0, max: 40 * CHARGE_TIMEOUT }), (charged, later) => {
      const next = nextInquiry(charged, charged + later)
      if (next === null) expect(later).toBeGreaterThanOrEqual(31 * CHARGE_TIMEOUT)
      else expect(next).toBeGreaterThan(charged + later)
      // A charge may count as made long before its call.
      const first = nextInquiry(charged, charged + later, true)
      expect(first).toBe(next === null ? null : Math.min(next, charged + later + 60_000))
    }),
  )
})

function saleBodyWith(paymentInstruction: object): object {
  return { type: 'sale', customerId: 'cus_1', currency: 'EUR', amount: 1, paymentInstruction }
}

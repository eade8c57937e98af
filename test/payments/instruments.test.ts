import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { advanceInvoice } from '../../activities/advance-invoice.ts'
import { callGateway } from '../../activities/call-gateway.ts'
import { inquireTransaction } from '../../activities/inquire-transaction.ts'
import { renewCard } from '../../commands/payments/renew-card.ts'
import { activityDependencies } from '../support/activities.ts'
import type { ApiClient } from '../support/api-client.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { makePayer, type Payments, placeCharged, startPayments } from '../support/payments.ts'
import { makeToken } from '../support/tokens.ts'

describe('a payment instrument', () => {
  let payments: Payments
  let api: ApiClient
  beforeAll(async () => {
    payments = await startPayments()
    api = payments.merchant.api
  })
  afterAll(() => payments.stop())

  const made = async (members: object = {}, pan: string = TEST_CARDS.approves, by = payments.merchant) =>
    await create(by.api, 'payment-instruments', {
      customerId: by.customerId,
      token: await makeToken(by.api, pan),
      ...members,
    })
  const patch = (id: unknown, body: unknown, headers: Record<string, string> = {}) =>
    api.send('PATCH', `payment-instruments/${id}`, {
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...headers },
    })
  const deactivate = (id: unknown, headers: Record<string, string> = {}) =>
    api.post(`payment-instruments/${id}/deactivation`, undefined, headers)
  const sale = (paymentInstrumentId: unknown, members: object = {}) =>
    api.post('transactions', {
      type: 'sale',
      customerId: payments.merchant.customerId,
      currency: 'EUR',
      amount: 5,
      paymentInstruction: { paymentInstrumentId },
      ...members,
    })
  const eventsOf = async (member: string, id: unknown) =>
    (
      await payments.sql<{ type: string }>(
        'select type from events where payload::jsonb ->> ? = ? order by position',
        [member, id],
      )
    ).map(({ type }) => type)

  test('keeps what the merchant says of it at its creation', async () => {
    const said = {
      billingAddress: { firstName: 'Ada', country: 'GB' },
      useAsBackup: true,
      customFields: { shelf: 'b' },
      riskMetadata: { ipAddress: '203.0.113.9', fingerprint: 'the device', extraData: { tool: 's1' } },
    }
    const instrument = await made(said)
    expect(instrument).toMatchObject(said)
    expect((await api.get(`payment-instruments/${instrument.id}`)).body).toEqual(instrument)
  })

  test('has the billing address and the risk of its token by default', async () => {
    const { id: token } = await create(api, 'tokens', {
      method: 'payment-card',
      paymentInstrument: { pan: TEST_CARDS.approves, expMonth: 12, expYear: 2090 },
      billingAddress: { city: 'Paris', country: 'FR' },
      riskMetadata: { ipAddress: '203.0.113.7' },
    })
    const instrument = await made({ token })
    expect(instrument).toMatchObject({
      billingAddress: { city: 'Paris', country: 'FR' },
      riskMetadata: { ipAddress: '203.0.113.7' },
    })
  })

  test('has the fingerprint of its card, which another organization cannot compare', async () => {
    const other = await catalogue(payments.service)
    const [one, same, different, elsewhere] = [
      await made(),
      await made(),
      await made({}, TEST_CARDS.approvesToo),
      await made({}, TEST_CARDS.approves, other),
    ]
    expect(same.fingerprint).toBe(one.fingerprint)
    expect(different.fingerprint).not.toBe(one.fingerprint)
    expect(elsewhere.fingerprint).not.toBe(one.fingerprint)
    const found = await api.get<{ id: string }[]>(
      `payment-instruments?filter=fingerprint:${different.fingerprint}`,
    )
    expect(found.body.map(({ id }) => id)).toEqual([different.id])
  })

  test('tells when a sale with it was last approved', async () => {
    const { id } = await made({}, TEST_CARDS.declinesRenewals)
    const first = (await sale(id)).body
    expect((await sale(id)).body.result).toBe('declined')
    const read = (await api.get(`payment-instruments/${id}`)).body
    expect(read.lastPaymentTime).toBe(first.processedTime)
    const found = await api.get<{ id: string }[]>(
      `payment-instruments?filter=lastPaymentTime:${first.processedTime}`,
    )
    expect(found.body.map((one) => one.id)).toContain(id)
    // What payments change is not of its revision, so that a copy never counts as current.
    const again = await api.get(`payment-instruments/${id}`, { 'If-None-Match': `"${read.revision}"` })
    expect(again.status).toBe(200)
  })

  test('embeds its customer', async () => {
    const { id } = await made()
    const { body } = await api.get(`payment-instruments/${id}?expand=customer`)
    expect(body._embedded).toMatchObject({ customer: { id: payments.merchant.customerId } })
    expectProblem(await api.get(`payment-instruments/${id}?expand=nobody`), 400, 'malformed-request')
  })

  describe('is changed', () => {
    test('in what is given, and in nothing else', async () => {
      const before = await made({ customFields: { kept: 1, gone: 2 }, useAsBackup: true })
      const { status, body } = await patch(before.id, {
        expMonth: 3,
        expYear: 2077,
        billingAddress: { city: 'Rome' },
        customFields: { gone: null, added: 3 },
      })
      expect(status).toBe(200)
      expect(body).toEqual({
        ...before,
        expMonth: 3,
        expYear: 2077,
        expirationReminderTime: '2077-03-02T00:00:00.000Z',
        billingAddress: expect.objectContaining({ city: 'Rome', firstName: null }),
        customFields: { kept: 1, added: 3 },
        revision: 2,
        updatedTime: expect.any(String),
      })
      expect(await eventsOf('paymentInstrumentId', before.id)).toEqual([
        'payment-card-created',
        'payment-instrument-modified',
      ])
      expect((await patch(before.id, body)).body).toEqual(body)
      const cleared = await patch(before.id, { billingAddress: null, useAsBackup: null, customFields: null })
      expect(cleared.body).toMatchObject({ billingAddress: null, useAsBackup: false, customFields: {} })
    })

    test('but not in its customer: 409; what only the service sets is passed over', async () => {
      const before = await made()
      const response = await patch(before.id, { customerId: 'another' })
      expectProblem(response, 409, 'conflict')
      expect(response.body.detail).toContain('customerId')
      const readOnly = { brand: 'Mastercard', status: 'deactivated', fingerprint: 'x', last4: '0000' }
      expect((await patch(before.id, readOnly)).body).toEqual(before)
    })

    test.each([
      ['an expiry of the past', { expYear: 2020 }, ['expYear']],
      ['a month that none is', { expMonth: 13 }, ['expMonth']],
      ['no month', { expMonth: null }, ['expMonth']],
      ['an unknown member', { color: 'red' }, ['color']],
      ['a member that is not built', { stickyGatewayAccountId: 'acc' }, ['stickyGatewayAccountId']],
      ['another method', { method: 'ach' }, ['method']],
    ])('but not to %s: 422', async (_, body, fields) => {
      const { id } = await made()
      expect(expectProblem(await patch(id, body), 422, 'validation-error')).toEqual(fields)
    })

    test('under the revision that its caller has seen: 412; of nobody: 404', async () => {
      const { id } = await made()
      const change = { useAsBackup: true }
      expectProblem(await patch(id, change, { 'If-Match': '"7"' }), 412, 'precondition-failed')
      expect((await patch(id, change, { 'If-Match': '"1"' })).status).toBe(200)
      expectProblem(await patch('inst_none', change), 404, 'not-found')
    })
  })

  describe('as a backup', () => {
    const DAY = 86_400_000
    const chargesOf = async (customerId: string) =>
      await payments.sql<{ card: string; result: string }>(
        `select payment_instruction ->> 'paymentInstrumentId' as card, result from transactions
          where customer_id = ? and type = 'sale' order by created_time, id`,
        [customerId],
      )
    /** Charges what is due as the workflow does. */
    const charge = async (id: string, ahead = 0) => {
      const dependencies = activityDependencies(payments.service, { gateway: payments.gateway })
      for (let calls = 0; calls < 5; calls += 1) {
        const { gatewayCallDue } = await dependencies.orders.advance(payments.input(id, ahead))
        if (!gatewayCallDue) return
        await callGateway(dependencies, payments.input(id, ahead))
      }
      throw new Error('the order is charged again and again')
    }
    const setDefault = async (customerId: string, defaultPaymentInstrumentId: string | null) => {
      expect((await api.put(`customers/${customerId}`, { defaultPaymentInstrumentId })).status).toBe(200)
    }
    const addBackup = async (customerId: string, members: object = {}) =>
      String((await made({ customerId, useAsBackup: true, ...members })).id)

    test('is charged at once where the preferred one is declined for good', async () => {
      const placed = await placeCharged(payments.merchant, TEST_CARDS.lost)
      const backup = await addBackup(placed.customerId)
      await charge(placed.id)
      expect(await chargesOf(placed.customerId)).toEqual([
        { card: placed.paymentInstrumentId, result: 'declined' },
        { card: backup, result: 'approved' },
      ])
      expect((await api.get(`subscriptions/${placed.id}`)).body).toMatchObject({
        status: 'active',
        billingStatus: 'paid',
      })
      expect((await api.get(`customers/${placed.customerId}`)).body.defaultPaymentInstrument).toMatchObject({
        paymentInstrumentId: placed.paymentInstrumentId,
      })
    })

    test("is the customer's default too, for an order with an instrument of its own", async () => {
      const { customerId, paymentInstrumentId: backup } = await makePayer(api)
      expect((await patch(backup, { useAsBackup: true })).status).toBe(200)
      const { id: own } = await made({ customerId, token: await makeToken(api, TEST_CARDS.lost) })
      const members = { customerId, paymentInstrumentId: own }
      const order = await create(api, 'subscriptions', orderBody(payments.merchant, members))
      await charge(String(order.id))
      expect(await chargesOf(customerId)).toEqual([
        { card: own, result: 'declined' },
        { card: backup, result: 'approved' },
      ])
    })

    test("is the customer's default, where the order's own one is deactivated", async () => {
      const { customerId, paymentInstrumentId: initial } = await makePayer(api)
      const { id: own } = await made({ customerId, token: await makeToken(api, TEST_CARDS.lost) })
      const members = { customerId, paymentInstrumentId: own }
      const order = await create(api, 'subscriptions', orderBody(payments.merchant, members))
      await charge(String(order.id))
      expect((await deactivate(own)).status).toBe(201)
      expect((await patch(initial, { useAsBackup: true })).status).toBe(200)
      await charge(String(order.id))
      expect(await chargesOf(customerId)).toEqual([
        { card: own, result: 'declined' },
        { card: initial, result: 'approved' },
      ])
    })

    test('and is not charged where the preferred one may still be approved', async () => {
      const placed = await placeCharged(payments.merchant, TEST_CARDS.lacksFunds)
      await addBackup(placed.customerId)
      await charge(placed.id)
      expect(await chargesOf(placed.customerId)).toEqual([
        { card: placed.paymentInstrumentId, result: 'declined' },
      ])
    })

    test.each([
      ['made', (customerId: string) => addBackup(customerId)],
      [
        'changed',
        async (customerId: string) => {
          const id = await addBackup(customerId, { useAsBackup: false })
          expect((await patch(id, { useAsBackup: true })).status).toBe(200)
          return id
        },
      ],
    ] as const)('and %s to one, is charged for what was declined for good before', async (_, make) => {
      const placed = await placeCharged(payments.merchant, TEST_CARDS.lost)
      await charge(placed.id)
      const { customerId, paymentInstrumentId } = placed
      expect(await chargesOf(customerId)).toEqual([{ card: paymentInstrumentId, result: 'declined' }])

      const backup = await make(customerId)
      await charge(placed.id)
      expect((await chargesOf(customerId)).slice(1)).toEqual([{ card: backup, result: 'approved' }])
    })

    test('and the preferred one at the same time, is not charged again for what it declined', async () => {
      const { id, customerId, paymentInstrumentId } = await placeCharged(payments.merchant, TEST_CARDS.lost)
      await charge(id)
      expect((await patch(paymentInstrumentId, { useAsBackup: true })).status).toBe(200)
      await charge(id)
      expect(await chargesOf(customerId)).toEqual([{ card: paymentInstrumentId, result: 'declined' }])
    })

    test('of a deactivated default, is charged again for nothing by being made a backup again', async () => {
      const { id, customerId, paymentInstrumentId } = await placeCharged(payments.merchant)
      const backup = await addBackup(customerId, { token: await makeToken(api, TEST_CARDS.lost) })
      await deactivate(paymentInstrumentId)
      await charge(id)
      for (const useAsBackup of [false, true]) {
        expect((await patch(backup, { useAsBackup })).status).toBe(200)
        await charge(id)
      }
      expect(await chargesOf(customerId)).toEqual([{ card: backup, result: 'declined' }])
    })

    test.each([
      ['by its merchant', (id: string) => patch(id, { expYear: 2077 })],
      [
        'by its bank',
        (id: string) =>
          payments.inUnit((unit) => renewCard(unit, id, { last4: '9987', expMonth: 1, expYear: 2077 })),
      ],
    ] as const)('that is renewed %s, is charged again for what it was declined for', async (_, renew) => {
      const { id, customerId, paymentInstrumentId } = await placeCharged(payments.merchant, TEST_CARDS.lost)
      const backup = await addBackup(customerId, { token: await makeToken(api, TEST_CARDS.lost) })
      await charge(id)
      const before = [paymentInstrumentId, backup]
      expect((await chargesOf(customerId)).map(({ card }) => card)).toEqual(before)
      await renew(backup)
      await charge(id)
      expect((await chargesOf(customerId)).map(({ card }) => card)).toEqual([...before, backup])
    })

    test.each([
      ['deactivated', (id: string) => deactivate(id)],
      ['none any more', (id: string) => patch(id, { useAsBackup: false })],
    ] as const)(
      'with a retry to come, and then %s, leaves no charge by one declined for good',
      async (_, take) => {
        const placed = await placeCharged(payments.merchant, TEST_CARDS.lost)
        const { customerId, paymentInstrumentId } = placed
        const token = await makeToken(api, TEST_CARDS.lacksFunds)
        const backup = await addBackup(customerId, { token })
        await charge(placed.id)
        const before = [
          { card: paymentInstrumentId, result: 'declined' },
          { card: backup, result: 'declined' },
        ]
        expect(await chargesOf(customerId)).toEqual(before)
        const planned = (await api.get(`invoices/${placed.invoiceId}`)).body.autopayScheduledTime
        expect(planned).toEqual(expect.any(String))

        await take(backup)
        await charge(placed.id, 1.5 * DAY)
        expect(await chargesOf(customerId)).toEqual(before)
        expect((await api.get(`invoices/${placed.invoiceId}`)).body.autopayScheduledTime).toBeNull()
      },
    )

    test('charges nobody who has chosen no instrument, and no order without autopay', async () => {
      const customerId = String((await create(api, 'customers', {})).id)
      await addBackup(customerId)
      const order = await create(api, 'subscriptions', orderBody(payments.merchant, { customerId }))
      await charge(String(order.id))
      const { paymentInstrumentId, ...manual } = await placeCharged(payments.merchant, TEST_CARDS.lost, {
        autopay: false,
      })
      await addBackup(manual.customerId)
      await charge(manual.id)
      expect(await chargesOf(customerId)).toEqual([])
      expect(await chargesOf(manual.customerId)).toEqual([])
    })

    test.each([
      ['stays', async ({ customerId }: { customerId: string }) => customerId],
      [
        'is merged into another',
        async ({ customerId }: { customerId: string }) => {
          const target = String((await create(api, 'customers', {})).id)
          const merged = await api.delete(`customers/${customerId}?targetCustomerId=${target}`)
          expect(merged.status).toBe(204)
          return target
        },
      ],
    ] as const)('is charged in place of the deactivated default of a customer who %s', async (_, become) => {
      const placed = await placeCharged(payments.merchant)
      const backup = await addBackup(placed.customerId)
      await deactivate(placed.paymentInstrumentId)
      const customerId = await become(placed)
      await charge(placed.id)
      expect(await chargesOf(customerId)).toEqual([{ card: backup, result: 'approved' }])
    })

    test.each([
      ['at once', async () => undefined],
      [
        'after another one',
        async ({ customerId, paymentInstrumentId }: { customerId: string; paymentInstrumentId: string }) => {
          await deactivate(paymentInstrumentId)
          const { id } = await made({ customerId })
          await setDefault(customerId, String(id))
        },
      ],
    ] as const)('is not charged for a customer whose default was taken away %s', async (_, before) => {
      const placed = await placeCharged(payments.merchant)
      await addBackup(placed.customerId)
      await before(placed)
      await setDefault(placed.customerId, null)
      await charge(placed.id)
      expect(await chargesOf(placed.customerId)).toEqual([])
    })

    const issueOwn = async (customerId: string) => {
      const { id } = await create(api, 'invoices', {
        customerId,
        websiteId: payments.merchant.websiteId,
        currency: 'EUR',
        items: [{ type: 'debit', unitPrice: 5 }],
        autopayScheduledTime: new Date(Date.now() + 1_000).toISOString(),
      })
      await create(api, `invoices/${id}/issue`, {})
      return String(id)
    }
    /** Charges an own invoice until nothing is due. */
    const chargeOwn = async (id: string, ahead = 0) => {
      const dependencies = activityDependencies(payments.service, { gateway: payments.gateway })
      for (let charges = 0; charges < 5; charges += 1) {
        await advanceInvoice(dependencies, payments.input(id, 2_000 + ahead))
        const [sale] = await payments.sql<{ id: string }>(
          "select id from transactions where invoice_ids @> jsonb_build_array(?::text) and status = 'pending'",
          [id],
        )
        if (sale === undefined) return
        await inquireTransaction(dependencies, payments.input(sale.id, 2_000 + ahead))
      }
      throw new Error('the invoice is charged again and again')
    }

    test('charges an own invoice too', async () => {
      const { customerId, paymentInstrumentId } = await makePayer(api, TEST_CARDS.lost)
      const backup = await addBackup(customerId)
      const invoice = await issueOwn(customerId)
      await chargeOwn(invoice)
      expect(await chargesOf(customerId)).toEqual([
        { card: paymentInstrumentId, result: 'declined' },
        { card: backup, result: 'approved' },
      ])
      expect((await api.get(`invoices/${invoice}`)).body.status).toBe('paid')
    })

    test('that is gone leaves no charge of an own invoice by one declined for good', async () => {
      const { customerId, paymentInstrumentId } = await makePayer(api, TEST_CARDS.lost)
      const backup = await addBackup(customerId, { token: await makeToken(api, TEST_CARDS.lacksFunds) })
      const invoice = await issueOwn(customerId)
      await chargeOwn(invoice)
      await deactivate(backup)
      await chargeOwn(invoice, 1.5 * DAY)
      expect(await chargesOf(customerId)).toEqual([
        { card: paymentInstrumentId, result: 'declined' },
        { card: backup, result: 'declined' },
      ])
    })
  })

  describe('is deactivated', () => {
    test('for good, and charged no more: 201, then 409', async () => {
      const { id } = await made()
      const { status, body } = await deactivate(id)
      expect([status, body.status, body.revision]).toEqual([201, 'deactivated', 2])
      expectProblem(await deactivate(id), 409, 'conflict')
      expect((await api.get(`payment-instruments/${id}`)).body).toEqual(body)
      expect(await eventsOf('paymentInstrumentId', id)).toEqual([
        'payment-card-created',
        'payment-instrument-modified',
      ])
      const charged = await sale(id)
      expect(expectProblem(charged, 422, 'validation-error')).toEqual([
        'paymentInstruction.paymentInstrumentId',
      ])
      expect((await patch(id, { expMonth: 1, expYear: 2088 })).body).toMatchObject({ status: 'deactivated' })
    })

    test('under the revision that its caller has seen: 412; of nobody: 404', async () => {
      const { id } = await made()
      expectProblem(await deactivate(id, { 'If-Match': '"7"' }), 412, 'precondition-failed')
      expectProblem(await deactivate('inst_none'), 404, 'not-found')
      expect((await api.get(`payment-instruments/${id}`)).body.status).toBe('active')
    })

    test('and is the default of its customer no more, nor can it become so', async () => {
      const { customerId, paymentInstrumentId } = await makePayer(api)
      const before = (await api.get(`customers/${customerId}`)).body
      await deactivate(paymentInstrumentId)
      const customer = (await api.get(`customers/${customerId}`)).body
      expect(customer).toMatchObject({
        defaultPaymentInstrument: null,
        revision: Number(before.revision) + 1,
      })
      expect(
        (await eventsOf('customerId', customerId)).filter((type) => type.startsWith('customer')),
      ).toEqual(['customer-created', 'customer-updated'])
      const again = await api.put(`customers/${customerId}`, {
        defaultPaymentInstrument: { method: 'payment-card', paymentInstrumentId },
      })
      expect(expectProblem(again, 422, 'validation-error')).toEqual([
        'defaultPaymentInstrument.paymentInstrumentId',
      ])
    })

    test('while an order has it: what is due stays due, and nothing is charged', async () => {
      const placed = await placeCharged(payments.merchant)
      await deactivate(placed.paymentInstrumentId)
      const dependencies = activityDependencies(payments.service, { gateway: payments.gateway })
      await dependencies.orders.advance(payments.input(placed.id))
      await callGateway(dependencies, payments.input(placed.id))
      const invoice = (await api.get(`invoices/${placed.invoiceId}`)).body
      expect(invoice).toMatchObject({ amountDue: 9.9 })
      expect(
        await payments.sql('select id from transactions where customer_id = ?', [placed.customerId]),
      ).toEqual([])
    })

    test('and no order can be placed with it', async () => {
      const { customerId, paymentInstrumentId } = await makePayer(api)
      await deactivate(paymentInstrumentId)
      const order = await api.post(
        'subscriptions',
        orderBody(payments.merchant, { customerId, paymentInstrumentId }),
      )
      expect(expectProblem(order, 422, 'validation-error')).toEqual(['paymentInstrumentId'])
    })
  })
})

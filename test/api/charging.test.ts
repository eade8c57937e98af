import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { composedStatement } from '../../db/statement.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { disputeBody } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { skipTime } from '../support/time-skipping.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

type Body = Record<string, unknown>

describe('charging', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const make = (path: string, body: object) => create(merchant.api, path, body)
  const get = async (path: string): Promise<Body> => (await merchant.api.get(path)).body
  const until = (path: string, holds: (body: Body) => boolean) =>
    waitFor(path, async () => {
      const body = await get(path)
      return holds(body) ? body : null
    })
  const customer = async () => String((await make('customers', {})).id)
  const card = async (customerId: string, pan: string = TEST_CARDS.approves) =>
    String((await make('payment-instruments', { customerId, token: await makeToken(merchant.api, pan) })).id)
  const place = (members: object) => make('subscriptions', orderBody(merchant, members))
  const owing = async (customerId: string): Promise<string> => {
    const { id } = await place({ customerId, autopay: false })
    const order = await until(`subscriptions/${id}`, ({ status }) => status === 'active')
    return String(order.recentInvoiceId)
  }
  const pay = (customerId: string, invoiceIds: string[], amount: number, instruction: object = CASH) =>
    merchant.api.post('transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount,
      paymentInstruction: instruction,
      invoiceIds,
    })
  const refund = (parentTransactionId: unknown, amount?: number) =>
    make('transactions', { type: 'refund', parentTransactionId, ...(amount === undefined ? {} : { amount }) })
  const ledger = (invoiceId: unknown) =>
    service.database.orm.em
      .fork()
      .getConnection()
      .execute<{ kind: string; result: string }[]>(
        `select kind, result from test_gateway.ledger
          where coalesce(charge_request_id, request_id) in
                (select request_id from transactions where invoice_ids @> to_jsonb(?::text))
          order by position`,
        [invoiceId],
      )
  const eventsOf = async (invoiceId: unknown) =>
    (
      await service.database.orm.em
        .fork()
        .getConnection()
        .execute<{ type: string }[]>(
          `select type from events where payload::jsonb ->> 'invoiceId' = ? order by id`,
          [invoiceId],
        )
    ).map(({ type }) => type)

  describe('the instrument of an order', () => {
    test('is one of its customer, or it is refused', async () => {
      const stranger = await card(await customer())
      for (const paymentInstrumentId of [stranger, 'none']) {
        const response = await merchant.api.post(
          'subscriptions',
          orderBody(merchant, { paymentInstrumentId }),
        )
        expect(expectProblem(response, 422, 'validation-error')).toEqual(['paymentInstrumentId'])
      }
      const order = await place({ startTime: later(1) })
      const changed = await merchant.api.put(`subscriptions/${order.id}`, {
        ...order,
        paymentInstrumentId: stranger,
      })
      expect(expectProblem(changed, 422, 'validation-error')).toEqual(['paymentInstrumentId'])
    })

    test('is charged, shown, embedded, and changed at any time before a final state', async () => {
      const customerId = await customer()
      const [first, second] = [await card(customerId), await card(customerId, TEST_CARDS.approvesToo)]
      const { id } = await place({ customerId, paymentInstrumentId: first })
      const order = await until(`subscriptions/${id}`, ({ status }) => status === 'active')
      expect(order).toMatchObject({ billingStatus: 'paid', paymentInstrumentId: first, autopay: true })
      const [sale] = (await merchant.api.get<Body[]>(`transactions?filter=customerId:${customerId}`)).body
      expect(sale).toMatchObject({ paymentInstruction: { paymentInstrumentId: first }, result: 'approved' })
      const changed = await merchant.api.put(`subscriptions/${id}?expand=paymentInstrument`, {
        ...order,
        paymentInstrumentId: second,
      })
      expect(changed.body).toMatchObject({
        paymentInstrumentId: second,
        _embedded: { paymentInstrument: { id: second } },
      })
    })

    test("where it has expired, the customer's default one is shown as what is charged", async () => {
      const made = await make('customers', { paymentToken: await makeToken(merchant.api) })
      const customerId = String(made.id)
      const { paymentInstrumentId: byDefault } = made.defaultPaymentInstrument as Body
      const expired = await card(customerId, TEST_CARDS.approvesToo)
      await composedStatement(
        service.database.orm.em.fork(),
        'update payment_instruments set exp_year = 2020 where id = ?',
        [expired],
      )
      const { id } = await place({ customerId, paymentInstrumentId: expired, startTime: later(1) })
      const { body } = await merchant.api.get(`subscriptions/${id}?expand=paymentInstrument`)
      expect(body).toMatchObject({
        paymentInstrumentId: expired,
        _embedded: { paymentInstrument: { id: byDefault } },
      })
    })

    test("where it is inactive, the customer's default one is charged; without any, the order starts unpaid", async () => {
      const made = await make('customers', { paymentToken: await makeToken(merchant.api) })
      const customerId = String(made.id)
      const inactive = await card(customerId, TEST_CARDS.declines)
      await service.database.orm.em
        .fork()
        .getConnection()
        .execute("update payment_instruments set status = 'inactive' where id = ?", [inactive])
      const { id } = await place({ customerId, paymentInstrumentId: inactive })
      await until(`subscriptions/${id}`, ({ billingStatus }) => billingStatus === 'paid')
      const bare = await place({ customerId: await customer() })
      const started = await until(`subscriptions/${bare.id}`, ({ status }) => status === 'active')
      expect(started).toMatchObject({ billingStatus: 'unpaid' })
    })

    test('that is taken from an order charges nothing: what is open waits for one that is given', async () => {
      const made = await make('customers', { paymentToken: await makeToken(merchant.api) })
      const customerId = String(made.id)
      const own = await card(customerId, TEST_CARDS.approvesToo)
      const { id } = await place({ customerId, paymentInstrumentId: own, autopay: false })
      const order = await until(`subscriptions/${id}`, ({ status }) => status === 'active')
      const on = await merchant.api.put<Body>(`subscriptions/${id}`, { ...order, autopay: true })
      expect(on.body).toMatchObject({ autopay: true, billingStatus: 'unpaid' })
      const taken = await merchant.api.put(`subscriptions/${id}`, { ...on.body, paymentInstrumentId: null })
      expect(taken.body).toMatchObject({ paymentInstrumentId: null })
      const invoice = await merchant.api.get(`invoices/${order.recentInvoiceId}`)
      expect(invoice.body).toMatchObject({ status: 'unpaid', autopayScheduledTime: null })
    })

    test('is charged for a sale that the change adds which switches autopay on', async () => {
      const customerId = await customer()
      const paymentInstrumentId = await card(customerId)
      const recurringInterval = { unit: 'month', length: 1, limit: 1 }
      const pricing = { formula: 'fixed-fee', price: 10 }
      const plan = { name: 'Last', currency: 'EUR', pricing, recurringInterval }
      const { id } = await place({ customerId, paymentInstrumentId, autopay: false, items: [{ plan }] })
      const order = await until(`subscriptions/${id}`, ({ status }) => status === 'active')
      const sale = { plan: { name: 'Installation', currency: 'EUR', pricing } }
      const items = [...(order.items as object[]), sale]
      const changed = await merchant.api.put(`subscriptions/${id}`, { ...order, items, autopay: true })
      expect(changed).toMatchObject({ status: 200, body: { autopay: true } })
      expect(changed.body.recentInvoiceId).not.toBe(order.recentInvoiceId)
      await until(`invoices/${changed.body.recentInvoiceId}`, ({ status }) => status === 'paid')
      expect(await get(`invoices/${order.recentInvoiceId}`)).toMatchObject({ status: 'unpaid' })
    })

    test('that is given to an order in service which had none is charged at once for what is open', async () => {
      const customerId = await customer()
      const { id } = await place({ customerId })
      const order = await until(`subscriptions/${id}`, ({ billingStatus }) => billingStatus === 'unpaid')
      const paymentInstrumentId = await card(customerId)
      await merchant.api.put(`subscriptions/${id}`, { ...order, paymentInstrumentId })
      await until(`invoices/${order.recentInvoiceId}`, ({ status }) => status === 'paid')
    })

    test('is not charged without autopay', async () => {
      const made = await make('customers', { paymentToken: await makeToken(merchant.api) })
      const invoiceId = await owing(String(made.id))
      expect(await get(`invoices/${invoiceId}`)).toMatchObject({ status: 'unpaid' })
      expect(await ledger(invoiceId)).toEqual([])
    })
  })

  describe('a sale', () => {
    test('pays its invoices in the order given, the last in part', async () => {
      const customerId = await customer()
      const [one, two] = [await owing(customerId), await owing(customerId)]
      const { body, status } = await pay(customerId, [two, one], 15)
      expect({ status, body }).toMatchObject({
        status: 201,
        body: { result: 'approved', invoiceIds: [two, one] },
      })
      expect(await get(`invoices/${two}`)).toMatchObject({ status: 'paid', amountDue: 0 })
      const part = await get(`invoices/${one}`)
      expect(part).toMatchObject({ status: 'partially-paid', amountDue: 4.8, amount: 9.9 })
      expect(await get(`subscriptions/${part.subscriptionId}`)).toMatchObject({
        billingStatus: 'partially-paid',
      })
      expectProblem(await merchant.api.post(`invoices/${one}/void`, {}), 409, 'conflict')
      expect((await pay(customerId, [one], 4.8)).status).toBe(201)
      expect(await get(`invoices/${one}`)).toMatchObject({ status: 'paid', amountDue: 0 })
      expect((await eventsOf(one)).slice(-2)).toEqual(['invoice-partially-paid', 'invoice-paid'])
    })

    test('by a card pays like any other', async () => {
      const customerId = await customer()
      const paymentInstrumentId = await card(customerId)
      const invoiceId = await owing(customerId)
      expect((await pay(customerId, [invoiceId], 9.9, { paymentInstrumentId })).body.result).toBe('approved')
      expect(await get(`invoices/${invoiceId}`)).toMatchObject({ status: 'paid' })
    })

    test('that is declined leaves its invoice as it was', async () => {
      const customerId = await customer()
      const paymentInstrumentId = await card(customerId, TEST_CARDS.declines)
      const invoiceId = await owing(customerId)
      expect((await pay(customerId, [invoiceId], 9.9, { paymentInstrumentId })).body.result).toBe('declined')
      expect(await get(`invoices/${invoiceId}`)).toMatchObject({ status: 'unpaid', amountDue: 9.9 })
      expect((await pay(customerId, [invoiceId], 9.9)).status).toBe(201)
    })

    test('is refused over what is due, of another customer, of a draft, of a paid one, of none', async () => {
      const customerId = await customer()
      const invoiceId = await owing(customerId)
      const refused = async (response: Promise<Parameters<typeof expectProblem>[0]>) =>
        expectProblem(await response, 422, 'validation-error')
      expect(await refused(pay(customerId, [invoiceId], 9.91))).toEqual(['amount'])
      expect(await refused(pay(await customer(), [invoiceId], 9.9))).toEqual(['invoiceIds.0'])
      const draft = await place({ customerId, startTime: later(1) })
      const draftId = String(draft.recentInvoiceId)
      expect(await refused(pay(customerId, [invoiceId, draftId], 9.9))).toEqual(['invoiceIds.1'])
      expect(await refused(pay(customerId, ['none'], 9.9))).toEqual(['invoiceIds.0'])
      const dollars = { type: 'sale', customerId, currency: 'USD', amount: 9.9, paymentInstruction: CASH }
      const other = merchant.api.post('transactions', { ...dollars, invoiceIds: [invoiceId] })
      expect(await refused(other)).toEqual(['invoiceIds.0'])
      await pay(customerId, [invoiceId], 9.9)
      expect(await refused(pay(customerId, [invoiceId], 9.9))).toContain('invoiceIds.0')
    })

    test('while a charge of the invoice is under way is 409, and so is a change of what is charged', async () => {
      const made = await make('customers', {
        paymentToken: await makeToken(merchant.api, TEST_CARDS.answersLate),
      })
      const customerId = String(made.id)
      const { id } = await place({ customerId })
      const order = await until(`subscriptions/${id}`, ({ billingStatus }) => billingStatus === 'unpaid')
      await waitFor('the unknown answer', async () => {
        const { body } = await merchant.api.get<Body[]>(`transactions?filter=customerId:${customerId}`)
        return body[0]?.result === 'unknown' ? body : null
      })
      const invoiceId = String(order.recentInvoiceId)
      expectProblem(await pay(customerId, [invoiceId], 9.9), 409, 'conflict')
      const items = [{ plan: { id: merchant.planId } }, { plan: { id: merchant.planId } }]
      const { body: now } = await merchant.api.get(`subscriptions/${id}`)
      expectProblem(await merchant.api.put(`subscriptions/${id}`, { ...now, items }), 409, 'conflict')
      expect((await merchant.api.put(`subscriptions/${id}`, { ...now, notes: 'later' })).status).toBe(200)
    })

    test('of many at once pays an invoice once', async () => {
      const customerId = await customer()
      const paymentInstrumentId = await card(customerId)
      const invoiceId = await owing(customerId)
      const responses = await Promise.all(
        Array.from({ length: 10 }, () => pay(customerId, [invoiceId], 9.9, { paymentInstrumentId })),
      )
      expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
      for (const { status } of responses) expect([201, 409, 422]).toContain(status)
    })
  })

  test('an order voided while its first charge is unknown stays voided, and the approval is refunded', async () => {
    const made = await make('customers', {
      paymentToken: await makeToken(merchant.api, TEST_CARDS.answersLate),
    })
    const customerId = String(made.id)
    const { id } = await place({ customerId })
    await until(`subscriptions/${id}`, ({ billingStatus }) => billingStatus === 'unpaid')
    const sales = () => merchant.api.get<Body[]>(`transactions?filter=customerId:${customerId}&sort=id`)
    await waitFor('the unknown answer', async () =>
      (await sales()).body[0]?.result === 'unknown' ? true : null,
    )
    const voided = await make(`subscriptions/${id}/void`, {})
    expect(voided).toMatchObject({ status: 'voided', billingStatus: 'voided' })
    // The next inquiry comes after a minute; the order's clock is moved there.
    const execution = `subscription/${merchant.organizationId}/${id}`
    await skipTime(service.temporal, execution, 120_000)
    const [sale, back] = await waitFor('the refund', async () => {
      const { body } = await sales()
      return body[1]?.result === 'approved' ? body : null
    })
    expect(sale).toMatchObject({ type: 'sale', result: 'approved' })
    expect(back).toMatchObject({ type: 'refund', amount: 9.9, parentTransactionId: sale?.id })
    expect(await get(`subscriptions/${id}`)).toMatchObject({ status: 'voided', billingStatus: 'voided' })
    expect(await ledger(voided.recentInvoiceId)).toEqual([
      { kind: 'charge', result: 'approved' },
      { kind: 'refund', result: 'approved' },
    ])
  })

  test('an invoice paid for a period that will not come is voided, and its money goes back', async () => {
    const plan = await make('plans', {
      name: 'Early',
      currency: 'EUR',
      pricing: { formula: 'fixed-fee', price: 9.9 },
      recurringInterval: { unit: 'day', length: 1 },
      invoiceTimeShift: { issueTimeShift: { chronology: 'before', duration: 23, unit: 'hour' } },
    })
    const made = await make('customers', { paymentToken: await makeToken(merchant.api) })
    const customerId = String(made.id)
    const { id } = await place({ customerId, items: [{ plan: { id: plan.id } }] })
    await until(`subscriptions/${id}`, ({ status }) => status === 'active')
    await skipTime(service.temporal, `subscription/${merchant.organizationId}/${id}`, 2 * 3_600_000)
    const early = await until(
      `subscriptions/${id}`,
      ({ recentInvoiceId, initialInvoiceId }) => recentInvoiceId !== initialInvoiceId,
    )
    const invoiceId = String(early.recentInvoiceId)
    const paymentInstrumentId = (made.defaultPaymentInstrument as Body).paymentInstrumentId
    const sale = await pay(customerId, [invoiceId], 9.9, { paymentInstrumentId })
    expect(sale.status).toBe(201)
    await make('subscription-cancellations', { subscriptionId: id })
    expect(await get(`invoices/${invoiceId}`)).toMatchObject({ status: 'voided' })
    await waitFor('the refund', async () => {
      const { body } = await merchant.api.get<Body[]>(
        `transactions?filter=parentTransactionId:${sale.body.id};result:approved`,
      )
      return body.length === 1 ? body : null
    })
    expect(await get(`invoices/${invoiceId}`)).toMatchObject({ status: 'voided' })
  })

  test('refunds make an invoice partially refunded, then refunded', async () => {
    const customerId = await customer()
    const paymentInstrumentId = await card(customerId)
    const [one, two] = [await owing(customerId), await owing(customerId)]
    const { body: sale } = await pay(customerId, [one, two], 19.8, { paymentInstrumentId })
    await refund(sale.id, 5)
    // What was paid last is refunded first.
    expect(await get(`invoices/${two}`)).toMatchObject({ status: 'partially-refunded' })
    expect(await get(`invoices/${one}`)).toMatchObject({ status: 'paid' })
    const { subscriptionId } = await get(`invoices/${two}`)
    expect(await get(`subscriptions/${subscriptionId}`)).toMatchObject({
      status: 'active',
      billingStatus: 'partially-refunded',
    })
    await refund(sale.id)
    expect(await get(`invoices/${two}`)).toMatchObject({ status: 'refunded' })
    expect(await get(`invoices/${one}`)).toMatchObject({ status: 'refunded' })
    expect((await eventsOf(two)).slice(-2)).toEqual(['invoice-partially-refunded', 'invoice-refunded'])
  })

  test('a refund outside of this service shows on the invoice as any other', async () => {
    const customerId = await customer()
    const invoiceId = await owing(customerId)
    const { body: sale } = await pay(customerId, [invoiceId], 9.9)
    await refund(sale.id)
    expect(await get(`invoices/${invoiceId}`)).toMatchObject({ status: 'refunded' })
  })

  test('a dispute makes its invoice disputed until it is won', async () => {
    const customerId = await customer()
    const invoiceId = await owing(customerId)
    const { body: sale } = await pay(customerId, [invoiceId], 9.9)
    const dispute = await make('disputes', disputeBody(String(sale.id), { status: 'response-needed' }))
    expect(await get(`invoices/${invoiceId}`)).toMatchObject({ status: 'disputed' })
    const { subscriptionId } = await get(`invoices/${invoiceId}`)
    const { revision, billingStatus } = await get(`subscriptions/${subscriptionId}`)
    expect(billingStatus).toBe('disputed')
    await merchant.api.put(`disputes/${dispute.id}`, { ...dispute, status: 'lost' })
    expect(await get(`invoices/${invoiceId}`)).toMatchObject({ status: 'disputed' })
    await merchant.api.put(`disputes/${dispute.id}`, { ...dispute, status: 'won' })
    expect(await get(`invoices/${invoiceId}`)).toMatchObject({ status: 'paid' })
    expect(await get(`subscriptions/${subscriptionId}`)).toMatchObject({
      billingStatus: 'paid',
      revision: Number(revision) + 1,
    })
  })
})

const CASH = { method: 'external' }

function later(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString()
}

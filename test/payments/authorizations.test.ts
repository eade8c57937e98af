/** Authorizations: money is held, then taken once, wholly or in part, or released. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { inquireTransaction } from '../../activities/inquire-transaction.ts'
import { activityDependencies } from '../support/activities.ts'
import type { ApiClient } from '../support/api-client.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { create } from '../support/create.ts'
import { disputeBody } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { type Payments, placeCharged, startPayments } from '../support/payments.ts'
import { makeToken } from '../support/tokens.ts'

const DAY = 24 * 3_600_000

describe('an authorization', () => {
  let payments: Payments
  let api: ApiClient
  beforeAll(async () => {
    payments = await startPayments()
    api = payments.merchant.api
  })
  afterAll(() => payments.stop())

  const authorize = async (pan: string = TEST_CARDS.approves, members: object = {}) =>
    await create(api, 'transactions', {
      type: 'authorize',
      customerId: payments.merchant.customerId,
      currency: 'EUR',
      amount: 12.5,
      paymentInstruction: { token: await makeToken(api, pan) },
      ...members,
    })
  const child = (type: 'capture' | 'void', parentTransactionId: unknown, members: object = {}) =>
    api.post('transactions', { type, parentTransactionId, ...members })
  const read = async (id: unknown) => (await api.get(`transactions/${id}`)).body
  const transactionCount = async () =>
    (await payments.sql<{ count: number }>('select count(*)::int as count from transactions'))[0]?.count
  /** Money that has moved for a request id, by the books of the gateway. */
  const ledger = async (requestId: unknown) =>
    await payments.sql<{ kind: string; amount: number; result: string }>(
      'select kind, amount::float8 as amount, result from test_gateway.ledger where request_id = ?',
      [requestId],
    )

  test('holds the money, and is captured wholly by default', async () => {
    const held = await authorize()
    expect(held).toMatchObject({
      type: 'authorize',
      status: 'waiting-capture',
      result: 'approved',
      authorizationExpiryTime: expect.any(String),
    })
    expect(await ledger(held.requestId)).toEqual([{ kind: 'authorize', amount: 12.5, result: 'approved' }])
    const { status, body } = await child('capture', held.id)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      type: 'capture',
      status: 'completed',
      result: 'approved',
      amount: 12.5,
      parentTransactionId: held.id,
      customerId: held.customerId,
      paymentInstruction: held.paymentInstruction,
    })
    expect(await ledger(body.requestId)).toEqual([{ kind: 'capture', amount: 12.5, result: 'approved' }])
    expect(await read(held.id)).toMatchObject({ status: 'completed', childTransactions: [body.id] })
  })

  test('is captured once', async () => {
    const { id } = await authorize()
    const answers = await Promise.all(Array.from({ length: 8 }, () => child('capture', id, { amount: 5 })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const { status } of answers) expect([201, 409, 422]).toContain(status)
    const moved = await payments.sql(
      `select 1 from test_gateway.ledger where kind = 'capture' and result = 'approved' and charge_request_id = ?`,
      [id],
    )
    expect(moved).toHaveLength(1)
    const again = await child('capture', id, { amount: 1 })
    expect(expectProblem(again, 422, 'validation-error')).toEqual(['parentTransactionId'])
  })

  test('is captured once under an Idempotency-Key', async () => {
    const { id } = await authorize()
    const body = { type: 'capture', parentTransactionId: id, amount: 4 }
    const once = () => api.post('transactions', body, { 'Idempotency-Key': 'capture-once' })
    const first = (await once()).body
    expect((await once()).body).toEqual(first)
    await payments.sql('delete from idempotency_records where key = ?', ['capture-once'])
    expect((await once()).body.id).toBe(first.id)
    expect((await read(id)).childTransactions).toEqual([first.id])
  })

  test.each([
    ['over what it holds', { amount: 12.51 }, ['amount']],
    ['in a fraction of a cent', { amount: 1.001 }, ['amount']],
    ['in another currency', { currency: 'USD' }, ['currency']],
    ['of another customer', { customerId: 'cus_other' }, ['customerId']],
    ['for an invoice that does not exist', { invoiceIds: ['in_none'] }, ['invoiceIds.0']],
  ])('is not captured %s: 422, and nothing is written', async (_, members, fields) => {
    const held = await authorize()
    const before = await transactionCount()
    const response = await child('capture', held.id, members)
    expect(expectProblem(response, 422, 'validation-error')).toEqual(fields)
    expect(await transactionCount()).toBe(before)
    expect(await read(held.id)).toEqual(held)
  })

  test.each([
    ['no parent', async () => undefined],
    ['a parent that does not exist', async () => 'txn_none'],
    ['a declined authorization', async () => (await authorize(TEST_CARDS.declines)).id],
    ['a sale', async () => (await authorize(TEST_CARDS.approves, { type: 'sale' })).id],
    [
      'a voided authorization',
      async () => {
        const { id } = await authorize()
        await child('void', id)
        return id
      },
    ],
  ])('is neither captured nor voided with %s: 422', async (_, parent) => {
    const id = await parent()
    for (const type of ['capture', 'void'] as const) {
      expect(expectProblem(await child(type, id), 422, 'validation-error')).toEqual(['parentTransactionId'])
    }
  })

  test('is voided: nothing is taken, and nothing can be', async () => {
    const { id } = await authorize()
    const { status, body } = await child('void', id)
    expect(status).toBe(201)
    expect(body).toMatchObject({ type: 'void', status: 'completed', result: 'approved', amount: 12.5 })
    expect(await read(id)).toMatchObject({
      status: 'voided',
      result: 'approved',
      childTransactions: [body.id],
    })
    expect((await api.get<object[]>('transactions?filter=status:voided;type:authorize')).body).toContainEqual(
      await read(id),
    )
  })

  test('ends by itself: it is shown as voided then, and a capture is refused', async () => {
    const { id } = await authorize()
    await payments.sql(
      `update transactions set authorization_expiry_time = now() - interval '1 minute' where id = ?`,
      [id],
    )
    const expired = await read(id)
    expect(expired).toMatchObject({ status: 'voided', result: 'approved' })
    expect(expectProblem(await child('capture', id), 422, 'validation-error')).toEqual([
      'parentTransactionId',
    ])
    const waiting = await api.get<{ id: string }[]>('transactions?filter=status:waiting-capture&limit=1000')
    expect(waiting.body.map((one) => one.id)).not.toContain(id)
    expect((await read(id)).childTransactions).toEqual([])
  })

  test('that the gateway has ended declines its capture, and stays as it was', async () => {
    const { id } = await authorize()
    await payments.sql(
      `update test_gateway.ledger set expiry_time = now() - interval '1 minute' where request_id = ?`,
      [id],
    )
    expect((await child('capture', id)).body).toMatchObject({ result: 'declined', status: 'completed' })
    expect(await read(id)).toMatchObject({ status: 'waiting-capture' })
  })

  test('pays invoices by its capture, not before', async () => {
    const order = await placeCharged(payments.merchant, TEST_CARDS.approves, { autopay: false })
    const invoice = async () => (await api.get(`invoices/${order.invoiceId}`)).body
    const { customerId, invoiceId } = order
    await activityDependencies(payments.service).orders.advance(payments.input(order.id))
    const { amount } = await invoice()
    const refused = await api.post('transactions', {
      type: 'authorize',
      customerId,
      currency: 'EUR',
      amount,
      paymentInstruction: { paymentInstrumentId: order.paymentInstrumentId },
      invoiceIds: [invoiceId],
    })
    expect(expectProblem(refused, 422, 'validation-error')).toEqual(['invoiceIds'])
    const held = await authorize(TEST_CARDS.approves, {
      customerId,
      amount,
      paymentInstruction: { paymentInstrumentId: order.paymentInstrumentId },
    })
    expect(await invoice()).toMatchObject({ status: 'unpaid' })
    const { body } = await child('capture', held.id, { invoiceIds: [invoiceId] })
    expect(body).toMatchObject({ result: 'approved', invoiceIds: [invoiceId], subscriptionIds: [order.id] })
    expect(await invoice()).toMatchObject({ status: 'paid', amountDue: 0 })
    const refund = await api.post(`transactions/${body.id}/refund`, {})
    expect(refund.body).toMatchObject({ result: 'approved', amount })
    expect(await read(body.id)).toMatchObject({ status: 'refunded' })
    expect(await invoice()).toMatchObject({ status: 'refunded' })
    expectProblem(await api.post(`transactions/${held.id}/refund`, {}), 409, 'conflict')
  })

  test('pays an invoice later by what its capture has left', async () => {
    const order = await placeCharged(payments.merchant, TEST_CARDS.approves, { autopay: false })
    const { customerId, invoiceId, paymentInstrumentId } = order
    await activityDependencies(payments.service).orders.advance(payments.input(order.id))
    const { amount } = (await api.get(`invoices/${invoiceId}`)).body
    const held = await authorize(TEST_CARDS.approves, {
      customerId,
      amount,
      paymentInstruction: { paymentInstrumentId },
    })
    const apply = (transactionId: unknown) => api.post(`invoices/${invoiceId}/transaction`, { transactionId })
    expect(expectProblem(await apply(held.id), 422, 'validation-error')).toEqual(['transactionId'])
    const capture = (await child('capture', held.id)).body
    expect((await apply(capture.id)).body).toMatchObject({ status: 'paid', amountDue: 0 })
    expect(await read(capture.id)).toMatchObject({ invoiceIds: [invoiceId] })
  })

  test('has its capture refunded by a credit memo of the customer', async () => {
    const held = await authorize()
    const capture = (await child('capture', held.id)).body
    const memo = await create(api, 'credit-memos', {
      customerId: held.customerId,
      currency: 'EUR',
      items: [{ description: 'Goodwill', unitPrice: 5, quantity: 1 }],
    })
    const { status, body } = await api.post<{
      allocations: { transactions: { transactionId: string; amount: number }[] }
    }>(`credit-memos/${memo.id}/refund`, undefined)
    expect({ status, transactions: body.allocations.transactions }).toMatchObject({
      status: 200,
      transactions: [{ amount: 5 }],
    })
    expect(await read(body.allocations.transactions[0]?.transactionId)).toMatchObject({
      type: 'refund',
      parentTransactionId: capture.id,
    })
  })

  test('its capture can be disputed, as a sale', async () => {
    const { id } = await authorize()
    const capture = (await child('capture', id)).body
    await create(api, 'disputes', disputeBody(String(capture.id)))
    expect(await read(capture.id)).toMatchObject({ status: 'disputed', isDisputed: true })
  })

  test('whose outcome is unknown at first is asked for, and can be captured then', async () => {
    const held = await authorize(TEST_CARDS.answersLate)
    expect(held).toMatchObject({ status: 'pending', result: 'unknown' })
    expect(expectProblem(await child('capture', held.id), 422, 'validation-error')).toEqual([
      'parentTransactionId',
    ])
    const dependencies = activityDependencies(payments.service, { gateway: payments.gateway })
    await inquireTransaction(dependencies, payments.input(String(held.id), DAY / 24))
    expect(await read(held.id)).toMatchObject({ status: 'waiting-capture', result: 'approved' })
    expect((await child('capture', held.id, { amount: 2 })).body).toMatchObject({ result: 'approved' })
  })

  test('waits for a present customer to approve it', async () => {
    const held = await authorize(TEST_CARDS.asksIfPresent)
    expect(held).toMatchObject({ status: 'waiting-approval', result: 'unknown' })
    const { href = '' } =
      (held._links as { rel: string; href: string }[]).find(({ rel }) => rel === 'approvalUrl') ?? {}
    expect((await fetch(`${href}/approve`, { method: 'POST', redirect: 'manual' })).status).toBe(303)
    expect(await read(held.id)).toMatchObject({ status: 'waiting-capture', result: 'approved' })
  })

  test('emits transaction-processed with each of its steps', async () => {
    const { id } = await authorize()
    const { body } = await child('capture', id)
    const events = await payments.sql<{ type: string; id: string }>(
      'select type, entity_id as id from events where entity_id in (?, ?)',
      [id, body.id],
    )
    expect(events.map(({ type }) => type)).toEqual(['transaction-processed', 'transaction-processed'])
    expect(new Set(events.map((one) => one.id))).toEqual(new Set([id, body.id]))
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { callGateway } from '../../activities/call-gateway.ts'
import { createTestGateway, type TestGateway } from '../../gateways/test-gateway.ts'
import { processDueNotifications } from '../../worker/notifications.ts'
import { reportDisputes } from '../../worker/test-disputes.ts'
import { activityDependencies } from '../support/activities.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { create } from '../support/create.ts'
import { type Payments, placeCharged, startPayments } from '../support/payments.ts'
import { makeToken } from '../support/tokens.ts'

const DAY = 24 * 3_600_000

describe('a charge of the test card that is disputed', () => {
  let payments: Payments
  let disputes: TestGateway
  beforeAll(async () => {
    payments = await startPayments()
    disputes = createTestGateway(payments.service.databaseUrl, { baseUrl: payments.service.baseUrl })
  })
  afterAll(async () => {
    await disputes?.close()
    await payments?.stop()
  })

  const em = () => payments.service.database.orm.em.fork()
  const sale = async (members: object = {}, pan: string = TEST_CARDS.disputed) =>
    await create(payments.merchant.api, 'transactions', {
      type: 'sale',
      customerId: payments.merchant.customerId,
      currency: 'EUR',
      amount: 12.5,
      paymentInstruction: { token: await makeToken(payments.merchant.api, pan) },
      ...members,
    })
  const read = async (path: string) => (await payments.merchant.api.get(path)).body
  /** What the worker does, `ahead` milliseconds from now. */
  const report = async (ahead: number) => {
    const { baseUrl } = payments.service
    const reported = await reportDisputes({ em, baseUrl, now: () => Date.now() + ahead, disputes })
    const counter = payments.service.metrics.notifications
    const log = { error() {} } as never
    while (await processDueNotifications({ em, baseUrl, now: () => Date.now(), counter, log }));
    return reported
  }
  const disputesOf = async (id: unknown) =>
    (await payments.merchant.api.get<Record<string, unknown>[]>(`disputes?filter=transactionId:${id}`)).body

  test('is disputed a day later, once, as a provider tells it', async () => {
    const { id } = await sale()
    await sale({}, TEST_CARDS.approves)
    expect(await report(DAY - 60_000)).toBe(0)
    expect(await disputesOf(id)).toEqual([])
    expect(await report(DAY + 1_000)).toBe(1)
    expect(await report(DAY + 1_000)).toBe(0)
    expect(await disputesOf(id)).toMatchObject([
      {
        amount: 12.5,
        currency: 'EUR',
        category: 'fraud',
        status: 'response-needed',
        source: 'webhook',
        transactionId: id,
        deadlineTime: expect.any(String),
        rawResponse: expect.stringContaining('fraudulent'),
      },
    ])
    expect(await read(`transactions/${id}`)).toMatchObject({ status: 'disputed', isDisputed: true })
  })

  test('is disputed once where the worker ends between the report and its record', async () => {
    const { id } = await sale()
    const before = await disputes.disputable()
    expect(await report(2 * DAY)).toBe(1)
    const forgetful: TestGateway = { ...disputes, disputable: async () => before }
    await reportDisputes({
      em,
      baseUrl: payments.service.baseUrl,
      now: () => Date.now() + 2 * DAY,
      disputes: forgetful,
    })
    await report(0)
    expect(await disputesOf(id)).toHaveLength(1)
  })

  test('is disputed on the clock of its order, where that was moved', async () => {
    const { id, customerId } = await placeCharged(payments.merchant, TEST_CARDS.disputed)
    const dependencies = activityDependencies(payments.service, { gateway: payments.gateway })
    await dependencies.orders.advance(payments.input(id))
    await callGateway(dependencies, payments.input(id))
    expect(await report(0)).toBe(0)
    await payments.sql('update subscriptions set clock_offset = ? where id = ?', [DAY + 60_000, id])
    expect(await report(0)).toBe(1)
    const disputed = await payments.merchant.api.get<Record<string, unknown>[]>(
      `disputes?filter=customerId:${customerId}`,
    )
    expect(disputed.body).toHaveLength(1)
    const [{ postedTime } = {}] = disputed.body
    expect(Date.parse(String(postedTime))).toBeGreaterThan(Date.now() + DAY - 60_000)
  })

  test('is disputed as the capture that it is, or where an account has charged it', async () => {
    const held = await sale({ type: 'authorize' })
    const capture = { type: 'capture', parentTransactionId: held.id, amount: 4 }
    const { id } = await create(payments.merchant.api, 'transactions', capture)
    expect(await report(2 * DAY)).toBe(1)
    expect(await disputesOf(id)).toMatchObject([{ amount: 4 }])
    const account = { gatewayName: 'TestGateway', method: 'payment-card', acceptedCurrencies: ['EUR'] }
    await payments.merchant.api.put('gateway-accounts/tests', { ...account, takesCardNumbers: true })
    const charged = await sale()
    expect(charged).toMatchObject({ gatewayAccountId: 'tests' })
    expect(await report(2 * DAY)).toBe(1)
    expect(await disputesOf(charged.id)).toHaveLength(1)
    await payments.merchant.api.post('gateway-accounts/tests/close', {})
  })
})

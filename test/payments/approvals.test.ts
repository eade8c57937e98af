/** Charges that a present customer approves at the bank (3-D Secure). */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { inquireTransaction } from '../../activities/inquire-transaction.ts'
import { INQUIRIES } from '../../billing/inquiry-schedule.ts'
import { APPROVAL_WINDOW, approvalIsOverdue } from '../../billing/transactions.ts'
import { activityDependencies } from '../support/activities.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { catalogue } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { makePayer, type Payments, placeCharged, startPayments } from '../support/payments.ts'

const RETURN_URL = 'https://shop.example.com/thanks?order=1'

describe('a charge whose bank asks the customer', () => {
  let payments: Payments
  beforeAll(async () => {
    payments = await startPayments()
  })
  afterAll(() => payments?.stop())

  const sell = async (pan: string, members: object = {}) => {
    const { customerId, paymentInstrumentId } = await makePayer(payments.merchant.api, pan)
    return await payments.merchant.api.post('transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount: 12.5,
      paymentInstruction: { paymentInstrumentId },
      ...members,
    })
  }
  const read = async (id: unknown) => (await payments.merchant.api.get(`transactions/${id}`)).body
  const linkTo = (body: Record<string, unknown>) =>
    (body._links as { rel: string; href: string }[]).find(({ rel }) => rel === 'approvalUrl')?.href
  const answer = async (url: string | undefined, word: 'approve' | 'refuse') =>
    await fetch(`${url}/${word}`, { method: 'POST', redirect: 'manual' })
  const eventsOf = async (id: unknown) =>
    (
      await payments.sql<{ type: string }>('select type from events where entity_id = ? order by position', [
        id,
      ])
    ).map(({ type }) => type)
  const inquire = (id: unknown, ahead: number) => {
    const { service, gateway, input } = payments
    return inquireTransaction(activityDependencies(service, { gateway }), input(String(id), ahead))
  }

  test('waits with a link for the customer, and shows the outcome once the bank has it', async () => {
    const { status, body } = await sell(TEST_CARDS.asksAlways, { redirectUrl: RETURN_URL })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      status: 'waiting-approval',
      result: 'unknown',
      has3ds: true,
      isMerchantInitiated: false,
      redirectUrl: RETURN_URL,
      processedTime: null,
    })
    expect(await eventsOf(body.id)).toEqual([])
    const listed = await payments.merchant.api.get<{ id: string }[]>(
      'transactions?filter=status:waiting-approval;has3ds:true',
    )
    expect(listed.body.map(({ id }) => id)).toEqual([body.id])
    const answered = await answer(linkTo(body), 'approve')
    expect([answered.status, answered.headers.get('location')]).toEqual([303, RETURN_URL])
    const after = await read(body.id)
    expect(after).toMatchObject({
      status: 'completed',
      result: 'approved',
      has3ds: true,
      redirectUrl: RETURN_URL,
    })
    expect(linkTo(after)).toBeUndefined()
    expect(await eventsOf(body.id)).toEqual(['offsite-payment-completed', 'transaction-processed'])
    expect((await answer(linkTo(body), 'refuse')).status).toBe(303)
    expect(await read(body.id)).toEqual(after)
  })

  test('shows the gateway account whose bank was asked, and is refunded there', async () => {
    const { api } = await catalogue(payments.service)
    const account = { gatewayName: 'TestGateway', method: 'payment-card', acceptedCurrencies: ['EUR'] }
    const full = { dailyLimits: [{ currency: 'EUR', count: 0 }] }
    for (const [id, members] of Object.entries({ full, open: { priority: 1 } })) {
      const body = { ...account, takesCardNumbers: true, ...members }
      expect((await api.put(`gateway-accounts/${id}`, body)).status).toBe(201)
    }
    const { customerId, paymentInstrumentId } = await makePayer(api, TEST_CARDS.asksAlways)
    const sale = await create(api, 'transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount: 12.5,
      paymentInstruction: { paymentInstrumentId },
    })
    expect(sale).toMatchObject({ status: 'waiting-approval' })
    await answer(linkTo(sale), 'approve')
    const approved = { result: 'approved', gatewayAccountId: 'open' }
    expect((await api.get(`transactions/${sale.id}`)).body).toMatchObject(approved)
    expect(await create(api, `transactions/${sale.id}/refund`, {})).toMatchObject(approved)
  })

  test('is declined if the customer refuses', async () => {
    const { body } = await sell(TEST_CARDS.asksIfPresent)
    await answer(linkTo(body), 'refuse')
    expect(await read(body.id)).toMatchObject({
      status: 'completed',
      result: 'declined',
      gateway: { response: { code: 'needs-action', originalCode: 'approval-refused' } },
    })
    expect(await eventsOf(body.id)).toEqual(['offsite-payment-completed', 'transaction-declined'])
  })

  test('is found by its workflow if the bank told nobody', async () => {
    const { body } = await sell(TEST_CARDS.asksAlways)
    await inquire(body.id, 2 * 60_000)
    expect(await read(body.id)).toMatchObject({ status: 'waiting-approval' })
    await payments.sql(
      `update test_gateway.ledger set result = 'approved' where request_id = (select request_id from transactions where id = ?)
       returning 1`,
      [body.id],
    )
    await inquire(body.id, 6 * 60_000)
    expect(await read(body.id)).toMatchObject({ status: 'completed', result: 'approved' })
  })

  test('is abandoned after an hour, and can no longer be approved', async () => {
    const { body } = await sell(TEST_CARDS.asksAlways)
    await inquire(body.id, APPROVAL_WINDOW - 60_000)
    expect(await read(body.id)).toMatchObject({ status: 'waiting-approval' })
    const { next } = await inquire(body.id, APPROVAL_WINDOW)
    expect(next).toBeNull()
    expect(await read(body.id)).toMatchObject({ status: 'completed', result: 'abandoned' })
    expect(await eventsOf(body.id)).toEqual(['transaction-declined'])
    await answer(linkTo(body), 'approve')
    expect(await read(body.id)).toMatchObject({ result: 'abandoned' })
    const page = await fetch(linkTo(body) ?? '')
    expect(await page.text()).toContain('This payment has been answered')
  })

  test('is abandoned also if that it has ended becomes known only later', async () => {
    const { body } = await sell(TEST_CARDS.asksAlways)
    const { service, gateway, input } = payments
    const abandon: typeof gateway.abandon = async (...args) => {
      await gateway.abandon(...args)
      throw new Error('the response was lost')
    }
    const lossy = activityDependencies(service, { gateway: { ...gateway, abandon } })
    await inquireTransaction(lossy, input(String(body.id), APPROVAL_WINDOW))
    expect(await read(body.id)).toMatchObject({ status: 'waiting-approval' })
    await inquire(body.id, 2 * APPROVAL_WINDOW)
    expect(await read(body.id)).toMatchObject({ status: 'completed', result: 'abandoned' })
    expect(await eventsOf(body.id)).toEqual(['transaction-declined'])
  })

  test('and asked for before its workflow does, is abandoned', async () => {
    const { body } = await sell(TEST_CARDS.asksAlways)
    const [row] = await payments.sql<{ requestId: string; reference: string }>(
      'select request_id as "requestId", gateway_reference as reference from transactions where id = ?',
      [body.id],
    )
    const { organizationId, api } = payments.merchant
    const charge = {
      organizationId,
      amount: '12.5',
      currency: 'EUR',
      customer: null,
      requestId: '',
      reference: '',
    }
    await payments.gateway.abandon({ ...charge, ...row }, 0)
    expect((await api.post(`transactions/${body.id}/query`, {})).body).toMatchObject({ result: 'abandoned' })
    expect(await read(body.id)).toMatchObject({ status: 'completed', result: 'abandoned' })
    expect((await api.post(`transactions/${body.id}/query`, {})).body).toMatchObject({ result: 'abandoned' })
  })

  test('holds the invoice that it pays until it has an outcome', async () => {
    const { merchant } = payments
    const placed = await placeCharged(merchant, TEST_CARDS.asksAlways, { autopay: false })
    const { customerId, paymentInstrumentId, invoiceId } = placed
    const invoice = await merchant.api.get(`invoices/${invoiceId}`)
    const pay = () =>
      merchant.api.post('transactions', {
        type: 'sale',
        customerId,
        currency: 'EUR',
        amount: Number((invoice.body as { amountDue: number }).amountDue),
        paymentInstruction: { paymentInstrumentId },
        invoiceIds: [invoiceId],
      })
    const first = await pay()
    expect(first.body).toMatchObject({ status: 'waiting-approval' })
    expect((await pay()).status).toBe(409)
    await answer(linkTo(first.body), 'approve')
    expect((await merchant.api.get(`invoices/${invoiceId}`)).body).toMatchObject({ status: 'paid' })
  })

  test('off session is a decline that needs action, or none if the bank does not ask then', async () => {
    const declined = await sell(TEST_CARDS.asksAlways, { isMerchantInitiated: true })
    expect(declined.body).toMatchObject({
      status: 'completed',
      result: 'declined',
      isMerchantInitiated: true,
      gateway: { response: { code: 'needs-action' } },
    })
    expect(linkTo(declined.body)).toBeUndefined()
    const approved = await sell(TEST_CARDS.asksIfPresent, { isMerchantInitiated: true })
    expect(approved.body).toMatchObject({ result: 'approved', has3ds: false })
  })

  test.each([
    ['a script', { type: 'sale', redirectUrl: 'javascript:alert(1)' }],
    ['a refund', { type: 'refund', parentTransactionId: 'txn_1', redirectUrl: RETURN_URL }],
  ])('comes back to no %s', async (_, body) => {
    const { status, body: problem } = await payments.merchant.api.post('transactions', body)
    expect(status).toBe(422)
    const fields = (problem.invalidFields as { field: string }[]).map(({ field }) => field)
    expect(fields).toContain('redirectUrl')
  })

  test.each([
    'https://shop.example:99999/',
    'http://256.256.256.256/',
    'http://a%20b/',
    'https://shop.example:port/',
    'http://',
    'http://%00/',
  ])('comes back to no address that browsers cannot read, such as %s', async (redirectUrl) => {
    const { status, body } = await sell(TEST_CARDS.asksAlways, { redirectUrl })
    expect([status, body.invalidFields]).toMatchObject([
      422,
      [{ field: 'redirectUrl', code: 'wrong-format' }],
    ])
  })

  test('comes back to this service where such an address was taken before', async () => {
    const { body } = await sell(TEST_CARDS.asksAlways)
    await payments.sql(
      `update test_gateway.ledger set return_url = 'https://shop.example:99999/'
        where request_id = (select request_id from transactions where id = ?) returning 1`,
      [body.id],
    )
    expect((await fetch(`${linkTo(body)}`)).status).toBe(200)
    const answered = await answer(linkTo(body), 'approve')
    expect([answered.status, answered.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(/\/returned$/),
    ])
    expect(await read(body.id)).toMatchObject({ status: 'completed', result: 'approved' })
  })

  test.each(['%00', 'none', 'x'.repeat(60)])('has no page at %s', async (id) => {
    const url = `${payments.service.baseUrl}/test-gateway/approvals/${id}`
    const asked = await fetch(url)
    const answered = await answer(url, 'approve')
    expect([asked.status, answered.status]).toEqual([404, 404])
  })

  test('is asked for the last time when its hour ends', () => {
    expect(INQUIRIES).toContain(APPROVAL_WINDOW)
    expect(
      [APPROVAL_WINDOW - 1, APPROVAL_WINDOW].map((after) => approvalIsOverdue(1_000, 1_000 + after)),
    ).toEqual([false, true])
  })
})

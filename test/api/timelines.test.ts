import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

type Body = Record<string, unknown>
interface Entry extends Body {
  readonly id: string
  readonly type: string
  readonly message: string
  readonly cause: string
  readonly extraData: { readonly links: readonly object[] }
}

describe('timelines', () => {
  let service: TestService
  let merchant: Catalogue
  let records: Readonly<Record<string, string>>

  beforeAll(async () => {
    service = await startService({ settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
    const order = await place()
    const transactionId = await externalSale(merchant.api, merchant.customerId)
    records = {
      customers: merchant.customerId,
      subscriptions: String(order.id),
      invoices: String(order.initialInvoiceId),
      transactions: transactionId,
    }
    // What activation writes comes between no two reads of a test.
    await waitFor('the order to be active', async () => {
      const { body } = await merchant.api.get<Body>(`subscriptions/${order.id}`)
      return body.status === 'active' ? body : null
    })
  })
  afterAll(() => service.stop())

  const make = async (path: string, body: object): Promise<Body> => {
    const response = await merchant.api.post<Body>(path, body)
    expect({ path, status: response.status, body: response.status === 201 ? null : response.body }).toEqual({
      path,
      status: 201,
      body: null,
    })
    return response.body
  }
  const place = (members: object = {}) => make('subscriptions', orderBody(merchant, members))
  const timeline = async (path: string, id: unknown, query = ''): Promise<Entry[]> => {
    const { status, body } = await merchant.api.get<Entry[]>(`${path}/${id}/timeline?limit=1000${query}`)
    expect({ path, status }).toEqual({ path, status: 200 })
    return body
  }
  const types = async (path: string, id: unknown) => (await timeline(path, id)).map(({ type }) => type)

  const KINDS = ['customers', 'subscriptions', 'invoices', 'transactions']
  const COMMENTS: Readonly<Record<string, string>> = { customers: 'customer-comment-created' }

  describe.each(KINDS)('of %s', (path) => {
    const at = () => `${path}/${records[path]}/timeline`

    test('take a comment, which is read, listed and deleted', async () => {
      const before = await types(path, records[path])
      const response = await merchant.api.post<Entry>(at(), { message: 'Called back.' })
      expect(response.status).toBe(201)
      const { id } = response.body
      const url = `${service.baseUrl}/organizations/${merchant.organizationId}/${at()}/${id}`
      expect(response.headers.get('location')).toBe(url)
      expect(response.headers.get('etag')).toBe('"1"')
      const type = COMMENTS[path] ?? 'timeline-comment-created'
      expect(response.body).toMatchObject({
        id: expect.stringMatching(/^tl_/),
        type,
        triggeredBy: 'direct-api',
        cause: 'api',
        message: 'Called back.',
        occurredTime: expect.stringMatching(/Z$/),
        _links: [{ rel: 'self', href: url }],
      })
      expect((await merchant.api.get(`${at()}/${id}`)).body).toEqual(response.body)
      expect((await merchant.api.get(`${at()}/${id}`, { 'If-None-Match': '"1"' })).status).toBe(304)
      expect((await timeline(path, records[path]))[0]).toEqual(response.body)
      expect(await timeline(path, records[path], `&q=called&filter=type:${type}`)).toEqual([response.body])
      const one = await merchant.api.get<object[]>(`${at()}?limit=1&fields=message`)
      expect(one.body).toEqual([{ message: 'Called back.' }])
      expect((await merchant.api.delete(`${at()}/${id}`)).status).toBe(204)
      expectProblem(await merchant.api.get(`${at()}/${id}`), 404, 'not-found')
      expect(await types(path, records[path])).toEqual(before)
    })

    test('take what a client sends by habit, and no more than a comment', async () => {
      const { body } = await merchant.api.post<Entry>(at(), { message: 'One' })
      const again = await merchant.api.post<Entry>(at(), body)
      expect({ status: again.status, message: again.body.message }).toEqual({ status: 201, message: 'One' })
      for (const [wrong, field] of [
        [{}, 'message'],
        [{ message: '' }, 'message'],
        [{ message: 'x'.repeat(1001) }, 'message'],
        [{ message: 'One', colour: 'red' }, 'colour'],
      ] as const) {
        expect(expectProblem(await merchant.api.post(at(), wrong), 422, 'validation-error')).toEqual([field])
      }
    })

    test('keep what the service has written: 409', async () => {
      const written = (await timeline(path, records[path])).find(({ type }) => !type.includes('comment'))
      expectProblem(await merchant.api.delete(`${at()}/${written?.id}`), 409, 'conflict')
      expect((await merchant.api.get(`${at()}/${written?.id}`)).status).toBe(200)
    })

    test('of a record or an entry that is not there: 404', async () => {
      expectProblem(await merchant.api.get(`${path}/nothing/timeline`), 404, 'not-found')
      expectProblem(await merchant.api.post(`${path}/nothing/timeline`, { message: 'x' }), 404, 'not-found')
      expectProblem(await merchant.api.get(`${at()}/tl_nothing`), 404, 'not-found')
      expectProblem(await merchant.api.delete(`${at()}/tl_nothing`), 404, 'not-found')
      const { body } = await merchant.api.post<Entry>(at(), { message: 'Mine' })
      for (const other of KINDS.filter((kind) => kind !== path)) {
        const elsewhere = `${other}/${records[other]}/timeline/${body.id}`
        expectProblem(await merchant.api.get(elsewhere), 404, 'not-found')
        expectProblem(await merchant.api.delete(elsewhere), 404, 'not-found')
      }
      const outdated = await merchant.api.delete(`${at()}/${body.id}`, { 'If-Match': '"2"' })
      expectProblem(outdated, 412, 'precondition-failed')
    })

    test('a comment repeated under its key is made once', async () => {
      const key = { 'Idempotency-Key': `comment-${path}` }
      const first = await merchant.api.post<Entry>(at(), { message: 'Once' }, key)
      const second = await merchant.api.post<Entry>(at(), { message: 'Once' }, key)
      expect(second.body).toEqual(first.body)
    })
  })

  test('a custom event of a customer is not supported yet: 422', async () => {
    const at = `customers/${merchant.customerId}/timeline`
    const body = { type: 'custom-event', customEventType: 'visit', customData: { page: '/' }, message: 'x' }
    const response = await merchant.api.post(at, body)
    expect(expectProblem(response, 422, 'validation-error')).toEqual([
      'customData',
      'customEventType',
      'type',
    ])
    const { body: made } = await merchant.api.post<Body>(at, {
      message: 'x',
      type: 'customer-comment-created',
    })
    expect(made).toMatchObject({ customEventType: null, customData: {} })
  })

  test('an order is told in its own timeline, its customer’s, and that of each invoice', async () => {
    const customerId = String((await make('customers', {})).id)
    const order = await place({ customerId, autopay: false })
    await waitFor('the order to be active', async () => {
      const { body } = await merchant.api.get<Body>(`subscriptions/${order.id}`)
      return body.status === 'active' ? body : null
    })
    const [invoiceId] = (
      await merchant.api.get<{ id: string }[]>(`invoices?filter=subscriptionId:${order.id}`)
    ).body
    const id = invoiceId?.id
    const entries = await timeline('subscriptions', order.id)
    expect(entries.map(({ type }) => type).toSorted()).toEqual(
      ['invoice-created', 'invoice-issued', 'order-activated', 'order-created'].toSorted(),
    )
    expect(entries.map(({ message }) => message)).toEqual(
      expect.arrayContaining([`Order ${order.id}: activated.`, `Invoice ${id}: issued.`]),
    )
    expect(entries.find(({ type }) => type === 'order-activated')).toMatchObject({
      triggeredBy: 'rebilly-side',
      cause: 'timer',
    })
    const issued = entries.find(({ type }) => type === 'invoice-issued')
    expect(issued?.extraData.links).toEqual([
      { resourceType: 'subscription', resourceId: order.id },
      { resourceType: 'invoice', resourceId: id },
    ])
    expect((await types('invoices', id)).toSorted()).toEqual(['invoice-created', 'invoice-issued'])
    expect((await types('customers', customerId)).toSorted()).toEqual(
      [...entries.map(({ type }) => type), 'customer-created'].toSorted(),
    )
    expect((await timeline('invoices', id)).map((entry) => entry.id)).toContain(issued?.id)

    const sale = await make('transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount: 9.9,
      paymentInstruction: { method: 'external' },
      invoiceIds: [id],
    })
    const dispute = await make('disputes', disputeBody(String(sale.id), { status: 'response-needed' }))
    await merchant.api.put(`disputes/${dispute.id}`, { ...dispute, status: 'won' })
    await make('transactions', { type: 'refund', parentTransactionId: sale.id, amount: 9.9 })
    expect((await types('invoices', id)).slice(0, -2).toReversed()).toEqual(
      expect.arrayContaining([
        'transaction-approved',
        'invoice-paid',
        'invoice-disputed',
        'transaction-refunded',
        'invoice-refunded',
      ]),
    )
    expect((await types('transactions', sale.id)).toReversed()).toEqual([
      'transaction-approved',
      'transaction-disputed',
      'dispute-won',
      'transaction-refunded',
    ])
    const all = await types('customers', customerId)
    for (const type of ['invoice-paid', 'transaction-disputed', 'dispute-won', 'invoice-refunded'])
      expect(all).toContain(type)
  })

  test('a declined charge is told of the transaction, its invoice and the customer', async () => {
    const customerId = String((await make('customers', {})).id)
    const token = await makeToken(merchant.api, '4000000000000002')
    const sale = await make('transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount: 5,
      paymentInstruction: { token },
    })
    const [entry, ...others] = await timeline('transactions', sale.id)
    expect(others).toEqual([])
    expect(entry).toMatchObject({
      type: 'transaction-declined',
      triggeredBy: 'rebilly-side',
      message: `Sale ${sale.id} of 5 EUR: declined.`,
    })
    expect(await types('customers', customerId)).toEqual(['transaction-declined', 'customer-created'])
  })

  test('what callers change of a customer is told: cards, address, fields, tags, lead source', async () => {
    const id = String((await make('customers', {})).id)
    const put = (body: object) => merchant.api.put(`customers/${id}`, body)
    const paymentToken = await makeToken(merchant.api)
    await put({ paymentToken })
    const { defaultPaymentInstrumentId } = (await merchant.api.get<Body>(`customers/${id}`)).body
    const body = {
      defaultPaymentInstrumentId,
      primaryAddress: { city: 'Berlin' },
      customFields: { size: 7 },
      leadSource: { medium: 'email' },
      email: 'ada@example.com',
    }
    await put(body)
    await put(body)
    await make('tags', { name: 'told', type: 'customer' })
    await merchant.api.send('POST', `tags/told/customers/${id}`)
    await merchant.api.send('DELETE', `tags/told/customers/${id}`)
    const entries = await timeline('customers', id)
    expect(entries.map(({ type }) => type).toReversed()).toEqual([
      'customer-created',
      'payment-instrument-created',
      'default-payment-instrument-changed',
      'primary-address-changed',
      'custom-fields-changed',
      'customer-updated',
      'lead-source-changed',
      'customer-tagged',
      'customer-untagged',
    ])
    expect(entries.find(({ type }) => type === 'customer-updated')?.message).toBe(
      `Customer ${id}: changed email.`,
    )
  })

  test('a comment on an order whose clock was moved is the newest entry', async () => {
    const order = await place({ autopay: false })
    await waitFor('the order to be active', async () => {
      const { body } = await merchant.api.get<Body>(`subscriptions/${order.id}`)
      return body.status === 'active' ? body : null
    })
    const to = new Date(Date.now() + 70 * 86_400_000).toISOString()
    const moved = await merchant.api.post<Body>(`subscriptions/${order.id}/fast-forward`, { to })
    expect([200, 202]).toContain(moved.status)
    await waitFor('the clock to rest', async () => {
      const { body } = await merchant.api.get<Body>(`subscriptions/${order.id}`)
      return Number(body.rebillNumber) >= 3 && Number(body.clockOffset) > 6_000_000 ? body : null
    })
    await make(`subscriptions/${order.id}/timeline`, { message: 'Now' })
    expect((await timeline('subscriptions', order.id))[0]?.message).toBe('Now')
    const [newest] = (
      await merchant.api.get<{ id: string }[]>(
        `invoices?filter=subscriptionId:${order.id}&sort=-periodNumber`,
      )
    ).body
    await make(`invoices/${newest?.id}/timeline`, { message: 'Now too' })
    expect((await timeline('invoices', newest?.id))[0]?.message).toBe('Now too')
  })
})

/** Invoices of a merchant's own, which belong to no order: drafted, issued, paid, and what time does to them. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { endQuarantine, quarantinedRecords, quarantineRecord } from '../../db/quarantine.ts'
import { rearm } from '../../db/rearm.ts'
import { wakeLateRecords } from '../../worker/sweep.ts'
import type { ApiClient } from '../support/api-client.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { type Catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { customerBrowser } from '../support/customer-browser.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { type Payments, startPayments } from '../support/payments.ts'
import { makeToken } from '../support/tokens.ts'

interface Invoice extends Record<string, unknown> {
  readonly id: string
  readonly status: string
  readonly revision: number
  readonly amountDue: number
  readonly items: readonly (Record<string, unknown> & { readonly id: string })[]
}

describe('an own invoice', () => {
  let payments: Payments
  let merchant: Catalogue
  let api: ApiClient

  beforeAll(async () => {
    payments = await startPayments()
    merchant = payments.merchant
    api = merchant.api
  })
  afterAll(() => payments.stop())

  const HOUR = 3_600_000
  const later = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString()
  const work = { type: 'debit', description: 'An hour of work', unitPrice: 80, quantity: 2 }
  const bodyOf = (members: object = {}) => ({
    customerId: merchant.customerId,
    websiteId: merchant.websiteId,
    currency: 'EUR',
    items: [work],
    ...members,
  })
  const draft = async (members: object = {}) => (await create(api, 'invoices', bodyOf(members))) as Invoice
  const issued = async (members: object = {}): Promise<Invoice> => {
    const { id } = await draft(members)
    return (await create(api, `invoices/${id}/issue`, {})) as Invoice
  }
  const read = async (id: string) => (await api.get<Invoice>(`invoices/${id}`)).body
  const eventsOf = async (id: string) =>
    (
      await payments.sql<{ type: string }>(
        'select type from events where organization_id = ? and entity_id = ? order by position',
        [merchant.organizationId, id],
      )
    ).map(({ type }) => type)
  const counts = async () =>
    await payments.sql(
      `select (select count(*) from invoices) as invoices, (select count(*) from events) as events,
              (select count(*) from transactions) as transactions, (select coalesce(sum(last_number), 0) from invoice_counters) as numbers`,
    )
  const pay = (
    invoiceIds: readonly string[],
    amount: number,
    paymentInstruction: object = { method: 'external' },
    customerId = merchant.customerId,
  ) =>
    api.post('transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount,
      paymentInstruction,
      invoiceIds,
    })

  test('is drafted with items, and has no number, order or due time', async () => {
    const invoice = await draft({
      items: [work, { type: 'credit', description: 'Goodwill', unitPrice: 10.5, quantity: 1 }],
      shipping: { amount: 4.9, calculator: 'manual' },
      notes: 'Thank you.',
      poNumber: 'PO 7',
      billingAddress: { firstName: 'Ada', country: 'DE' },
    })
    expect(invoice).toMatchObject({
      id: expect.stringMatching(/^in_/),
      subscriptionId: null,
      orderId: null,
      type: 'one-time',
      status: 'draft',
      invoiceNumber: null,
      issuedTime: null,
      dueTime: null,
      subtotalAmount: 149.5,
      shipping: { amount: 4.9, calculator: 'manual' },
      amount: 154.4,
      amountDue: 154.4,
      notes: 'Thank you.',
      poNumber: 'PO 7',
      revision: 1,
      transactions: [],
    })
    expect(invoice.items).toMatchObject([
      { ...work, price: 160, productId: null, planId: null, subscriptionId: null },
      { type: 'credit', unitPrice: 10.5, quantity: 1, price: 10.5 },
    ])
    expect(await read(invoice.id)).toEqual(invoice)
    expect((await api.get<Invoice[]>('invoices?filter=status:draft;type:one-time')).body).toContainEqual(
      invoice,
    )
    expect(await eventsOf(invoice.id)).toEqual(['invoice-created'])
  })

  test('is created and changed by PUT while it is a draft, and what comes back changes nothing', async () => {
    const path = 'invoices/consulting-7'
    const made = await api.put<Invoice>(path, bodyOf())
    expect(made.status).toBe(201)
    const same = await api.put(path, made.body)
    expect({ status: same.status, body: same.body }).toEqual({ status: 200, body: made.body })
    const changed = await api.put<Invoice>(path, {
      ...made.body,
      currency: 'JPY',
      notes: 'Second thoughts.',
      items: [work, { type: 'debit', unitPrice: 5 }],
    })
    expect(changed.body).toMatchObject({ currency: 'JPY', amount: 165, revision: 2 })
    expect(changed.body.items[0]?.id).toBe(made.body.items[0]?.id)
    expect(await eventsOf('consulting-7')).toEqual(['invoice-created', 'invoice-modified'])
  })

  test('has items that are added, read, replaced and removed one by one', async () => {
    const { id } = await draft({ items: [] })
    const added = await api.post<Record<string, unknown>>(`invoices/${id}/items`, {
      type: 'debit',
      unitPrice: 12.5,
      quantity: 2,
    })
    expect(added.status).toBe(201)
    const path = `invoices/${id}/items/${added.body.id}`
    expect(added.headers.get('location')).toBe(
      `${payments.service.baseUrl}/organizations/${merchant.organizationId}/${path}`,
    )
    expect(added.body).toMatchObject({
      type: 'debit',
      description: '',
      unitPrice: 12.5,
      quantity: 2,
      price: 25,
    })
    expect((await api.get(path)).body).toEqual(added.body)
    expect(await read(id)).toMatchObject({ amount: 25, revision: 2 })
    const same = await api.put(path, added.body)
    expect({ status: same.status, body: same.body }).toEqual({ status: 200, body: added.body })
    const times = { periodStartTime: '2026-01-01T00:00:00.000Z', periodEndTime: '2026-02-01T00:00:00.000Z' }
    const replaced = await api.put(path, { ...added.body, ...times, quantity: 3 })
    expect(replaced.body).toMatchObject({ id: added.body.id, price: 37.5, ...times })
    expect(await read(id)).toMatchObject({ amount: 37.5, revision: 3 })
    expect((await api.send('DELETE', path)).status).toBe(204)
    expect(await read(id)).toMatchObject({ amount: 0, items: [], revision: 4 })
    for (const method of ['GET', 'DELETE']) expectProblem(await api.send(method, path), 404, 'not-found')
    expect(await eventsOf(id)).toEqual(['invoice-created', ...Array(3).fill('invoice-modified')])
  })

  test('gets the next number and its parties when it is issued, and is due after that', async () => {
    const first = await issued()
    const dueTime = later(30 * 24 * HOUR)
    const { id } = await draft({ dueTime })
    const response = await api.post<Invoice>(`invoices/${id}/issue`, {})
    expect(response.status).toBe(201)
    expect(response.body).toMatchObject({
      status: 'unpaid',
      invoiceNumber: Number(first.invoiceNumber) + 1,
      issuedTime: expect.any(String),
      dueTime,
      amountDue: 160,
      billingAddress: { firstName: 'Ada' },
      revision: 2,
    })
    expect(Date.parse(String(first.dueTime)) - Date.parse(String(first.issuedTime))).toBe(HOUR)
    expect(await eventsOf(id)).toEqual(['invoice-created', 'invoice-issued'])
    const [event] = await payments.sql<{ payload: string }>(
      "select payload from events where entity_id = ? and type = 'invoice-issued'",
      [id],
    )
    expect(JSON.parse(event?.payload ?? '{}')).toMatchObject({
      _embedded: { invoice: { invoiceNumber: response.body.invoiceNumber } },
    })
    expect(
      (await api.get<{ type: string }[]>(`invoices/${id}/timeline`)).body.map(({ type }) => type),
    ).toEqual(['invoice-issued', 'invoice-created'])
    const pdf = await api.send('GET', `invoices/${id}`, { headers: { Accept: 'application/pdf' } })
    expect(pdf.headers.get('content-type')).toBe('application/pdf')
  })

  test('is issued with the times of the request, and of 0 it is paid at once', async () => {
    const { id } = await draft()
    const [issuedTime, dueTime] = ['2026-01-31T00:00:00.000Z', later(HOUR)]
    const made = await api.post(`invoices/${id}/issue`, { issuedTime, dueTime })
    expect(made.body).toMatchObject({ status: 'unpaid', issuedTime, dueTime })
    const free = await issued({ items: [{ ...work, unitPrice: 0 }] })
    expect(free).toMatchObject({ status: 'paid', amountDue: 0, transactions: [] })
    expect(await eventsOf(free.id)).toEqual(['invoice-created', 'invoice-issued', 'invoice-paid'])
  })

  test('is paid in parts, by an external sale and by a card, and refunded', async () => {
    const { id } = await issued()
    expect((await pay([id], 100)).body).toMatchObject({
      result: 'approved',
      invoiceIds: [id],
      subscriptionIds: [],
    })
    expect(await read(id)).toMatchObject({ status: 'partially-paid', amountDue: 60 })
    const sale = await pay([id], 60, { token: await makeToken(api) })
    expect(sale.body).toMatchObject({ result: 'approved' })
    expect(await read(id)).toMatchObject({ status: 'paid', amountDue: 0, paidTime: expect.any(String) })
    expect((await api.get<object[]>(`invoices/${id}/transaction-allocations`)).body).toMatchObject([
      { amount: 100 },
      { amount: 60 },
    ])
    await create(api, `transactions/${sale.body.id}/refund`, { amount: 60 })
    expect(await read(id)).toMatchObject({ status: 'partially-refunded' })
    expect(await eventsOf(id)).toEqual([
      'invoice-created',
      'invoice-issued',
      'invoice-partially-paid',
      'invoice-paid',
      'invoice-partially-refunded',
    ])
  })

  test('is paid beside an invoice of an order by one sale, in the order given', async () => {
    const order = await create(api, 'subscriptions', orderBody(merchant))
    await api.put(`subscriptions/${order.id}`, { ...order, notes: 'Begun.' })
    const { id } = await issued()
    expect((await pay([id, String(order.initialInvoiceId)], 165)).status).toBe(201)
    expect(await read(id)).toMatchObject({ status: 'paid' })
    expect(await read(String(order.initialInvoiceId))).toMatchObject({
      status: 'partially-paid',
      amountDue: 4.9,
    })
  })

  test('of which a charge is declined stays unpaid', async () => {
    const { id } = await issued()
    const declined = await pay([id], 160, { token: await makeToken(api, TEST_CARDS.declines) })
    expect(declined.body).toMatchObject({ result: 'declined' })
    expect(await read(id)).toMatchObject({ status: 'unpaid', amountDue: 160 })
    expect((await pay([id], 160)).status).toBe(201)
  })

  test('uses the credit balance when it is issued, and memos that are made for it later', async () => {
    const { id: customerId } = await create(api, 'customers', { firstName: 'Grace' })
    const memo = {
      customerId,
      currency: 'EUR',
      items: [{ description: 'Goodwill', unitPrice: 100, quantity: 1 }],
    }
    await create(api, 'credit-memos', memo)
    const first = await issued({ customerId })
    expect(first).toMatchObject({ status: 'unpaid', amountDue: 60, creditMemoAllocations: [{ amount: 100 }] })
    const second = await create(api, 'credit-memos', { ...memo, invoiceId: first.id })
    expect(second).toMatchObject({ unusedAmount: 40, status: 'partially-applied' })
    expect(await read(first.id)).toMatchObject({ status: 'paid', amountDue: 0 })
    const other = await issued({ customerId })
    expect(other).toMatchObject({ amountDue: 120 })
    await create(api, 'credit-memos', memo)
    const allocated = await api.post(`invoices/${other.id}/allocate-credit-balance`, { amount: 20 })
    expect(allocated.body).toMatchObject({ remainingInvoiceAmount: 100 })
    const voided = await api.post(`invoices/${other.id}/void`, {})
    expect(voided.body).toMatchObject({ status: 'voided', creditMemoAllocations: [] })
    expect((await api.get(`customers/${customerId}/credit-balance`)).body).toEqual({
      balances: [{ currency: 'EUR', unallocatedAmount: 140 }],
    })
  })

  test('is abandoned, voided and reissued', async () => {
    const abandoned = await issued()
    expect((await api.post(`invoices/${abandoned.id}/abandon`, {})).body).toMatchObject({
      status: 'abandoned',
      amountDue: 0,
    })
    expect(await eventsOf(abandoned.id)).toContain('invoice-abandoned')
    const { id } = await issued()
    const dueTime = later(48 * HOUR)
    expect((await api.post(`invoices/${id}/reissue`, { dueTime })).body).toMatchObject({
      status: 'unpaid',
      dueTime,
    })
    const sale = await pay([id], 60)
    expectProblem(await api.post(`invoices/${id}/void`, {}), 409, 'conflict')
    await create(api, `transactions/${sale.body.id}/refund`, {})
    expect((await api.post(`invoices/${id}/void`, {})).body).toMatchObject({ status: 'voided' })
    expect(await eventsOf(id)).toEqual([
      'invoice-created',
      'invoice-issued',
      'invoice-reissued',
      'invoice-partially-paid',
      'invoice-modified',
      'invoice-voided',
    ])
  })

  test.each<[string, object, string[]]>([
    [
      'an unknown customer, website and product',
      {
        customerId: 'nobody',
        websiteId: 'nowhere',
        items: [{ ...work, productId: 'nothing', planId: 'none' }],
      },
      ['customerId', 'items.0.planId', 'items.0.productId', 'websiteId'],
    ],
    [
      'a price with more decimals than its currency',
      { items: [work, { ...work, unitPrice: 0.001 }] },
      ['items.1.unitPrice'],
    ],
    ['a negative price', { items: [{ ...work, unitPrice: -1 }] }, ['items.0.unitPrice']],
    ['a quantity of 0', { items: [{ ...work, quantity: 0 }] }, ['items.0.quantity']],
    [
      'a credit of nothing',
      { items: [work, { ...work, type: 'credit', unitPrice: 0 }] },
      ['items.1.unitPrice'],
    ],
    ['more credit than debit', { items: [work, { ...work, type: 'credit', quantity: 3 }] }, ['items']],
    ['shipping below 0', { shipping: { amount: -1 } }, ['shipping.amount']],
    [
      'members missing',
      { customerId: undefined, currency: undefined, websiteId: undefined, items: [{}] },
      ['currency', 'customerId', 'items.0.type', 'items.0.unitPrice', 'websiteId'],
    ],
    ['a currency that does not exist', { currency: 'XXY' }, ['currency']],
    ['a member that it does not have', { itmes: [] }, ['itmes']],
  ])('is not drafted with %s: 422, and nothing is written', async (_, members, fields) => {
    const before = await counts()
    expect(expectProblem(await api.post('invoices', bodyOf(members)), 422, 'validation-error')).toEqual(
      fields,
    )
    expect(await counts()).toEqual(before)
  })

  test('is not changed once it is issued, nor an invoice of an order: 409, and nothing is written', async () => {
    const { id, items } = await issued()
    const order = await create(api, 'subscriptions', orderBody(merchant))
    const ofOrder = await read(String(order.initialInvoiceId))
    const before = await counts()
    for (const invoice of [await read(id), ofOrder]) {
      const path = `invoices/${invoice.id}`
      expect((await api.put(path, invoice)).body).toEqual(invoice)
      expectProblem(await api.put(path, { ...invoice, notes: 'Changed.' }), 409, 'conflict')
      expectProblem(await api.post(`${path}/items`, work), 409, 'conflict')
      const item = `${path}/items/${invoice.items[0]?.id}`
      expectProblem(await api.put(item, { ...work, quantity: 7 }), 409, 'conflict')
      expectProblem(await api.send('DELETE', item), 409, 'conflict')
      expectProblem(await api.post(`${path}/issue`, {}), 409, 'conflict')
      expectProblem(await api.post(`${path}/recalculate`, {}), 409, 'conflict')
    }
    expect(items).toHaveLength(1)
    expect(await counts()).toEqual(before)
  })

  test('is not changed by instants that come back without their milliseconds, issued or not', async () => {
    const times = { dueTime: '2090-01-31T00:00:00.123Z', autopayScheduledTime: '2090-01-30T00:00:00.123Z' }
    const period = { periodStartTime: '2026-01-01T00:00:00.123Z', periodEndTime: '2026-02-01T00:00:00.123Z' }
    const { id } = await draft({ ...times, items: [{ ...work, ...period }] })
    const cut = <T>(body: T): T => JSON.parse(JSON.stringify(body).replaceAll('.123Z"', 'Z"'))
    const isSame = async () => {
      const invoice = await read(id)
      expect(invoice).toMatchObject({ ...times, items: [period] })
      const [path, item] = [`invoices/${id}`, invoice.items[0]]
      expect((await api.put(path, cut(invoice))).body).toEqual(invoice)
      expect((await api.put(`${path}/items/${item?.id}`, cut(item) ?? {})).body).toEqual(item)
      expect(await read(id)).toEqual(invoice)
    }
    await isSame()
    await create(api, `invoices/${id}/issue`, {})
    await isSame()
  })

  test('can be sent back by PUT as it was before the service moved its times and added its address', async () => {
    const customer = await create(api, 'customers', { primaryAddress: { firstName: 'Ada', country: 'AT' } })
    const { id } = await draft({ customerId: customer.id, autopayScheduledTime: later(HOUR) })
    const bodies = [await read(id)]
    await create(api, `invoices/${id}/issue`, {})
    bodies.push(await read(id))
    await create(api, `invoices/${id}/reissue`, { dueTime: later(9 * HOUR) })
    bodies.push(await read(id))
    expect((await pay([id], 160, { method: 'external' }, String(customer.id))).status).toBe(201)
    const last = await read(id)
    expect(last).toMatchObject({ status: 'paid', billingAddress: { firstName: 'Ada' } })
    expect(bodies).toMatchObject([
      { dueTime: null, billingAddress: null, autopayScheduledTime: expect.any(String) },
      { dueTime: expect.any(String), billingAddress: { firstName: 'Ada' } },
      { dueTime: expect.any(String) },
    ])
    for (const body of [...bodies, last]) {
      expect(await api.put(`invoices/${id}`, body)).toMatchObject({ status: 200, body: last })
    }
    const other = { ...last, billingAddress: { firstName: 'Bob' } }
    expectProblem(await api.put(`invoices/${id}`, other), 409, 'conflict')
  })

  test('of an order can be sent back by PUT as it was before it was issued and moved', async () => {
    const startTime = later(HOUR)
    const order = await create(api, 'subscriptions', orderBody(merchant, { startTime }))
    const id = String(order.initialInvoiceId)
    const bodies = [await read(id)]
    const begun = orderBody(merchant, { startTime: null })
    expect((await api.put(`subscriptions/${order.id}`, begun)).status).toBe(200)
    bodies.push(await read(id))
    await create(api, `invoices/${id}/reissue`, { dueTime: later(9 * HOUR) })
    const last = await read(id)
    expect(last.dueTime).not.toBe(bodies[0]?.dueTime)
    for (const body of [...bodies, last])
      expect(await api.put(`invoices/${id}`, body)).toMatchObject({ status: 200, body: last })
  })

  test.each<[string, object, string[]]>([
    ['an issue time ahead', { issuedTime: '2999-01-01T00:00:00Z' }, ['issuedTime']],
    ['a due time before its issue', { dueTime: '2020-01-01T00:00:00Z' }, ['dueTime']],
    ['a member that it does not have', { due: null }, ['due']],
  ])('is not issued with %s: 422, and no number is taken', async (_, body, fields) => {
    const { id } = await draft()
    const before = await counts()
    expect(expectProblem(await api.post(`invoices/${id}/issue`, body), 422, 'validation-error')).toEqual(
      fields,
    )
    expect(await counts()).toEqual(before)
  })

  test('without items is not issued, and a draft is neither paid nor voided', async () => {
    const { id } = await draft({ items: [] })
    const before = await counts()
    for (const action of ['issue', 'void', 'abandon', 'reissue'])
      expectProblem(await api.post(`invoices/${id}/${action}`, {}), 409, 'conflict')
    expect(expectProblem(await pay([id], 1), 422, 'validation-error')).toEqual(['amount', 'invoiceIds.0'])
    expect(await counts()).toEqual(before)
  })

  test('is paid by what a sale without invoices has left', async () => {
    const sale = await pay([], 200, { token: await makeToken(api) })
    const [one, other] = [await issued(), await issued()]
    const body = { transactionId: sale.body.id }
    const applied = await api.post(`invoices/${one.id}/transaction`, body)
    expect(applied.status).toBe(200)
    expect(applied.body).toMatchObject({ status: 'paid', amountDue: 0, transactions: [{ id: sale.body.id }] })
    expect((await api.get(`invoices/${one.id}/transaction-allocations`)).body).toMatchObject([
      { amount: 160 },
    ])
    expectProblem(await api.post(`invoices/${one.id}/transaction`, body), 409, 'conflict')
    const part = await api.post(`invoices/${other.id}/transaction`, { ...body, amount: 30 })
    expect(part.body).toMatchObject({ status: 'partially-paid', amountDue: 130 })
    expect((await api.get(`transactions/${sale.body.id}`)).body).toMatchObject({
      invoiceIds: [one.id, other.id],
    })
    // The rest is the merchant's: it is refunded by the merchant alone, and before what invoices use.
    await create(api, `transactions/${sale.body.id}/refund`, { amount: 4 })
    expect((await api.get(`transactions/${sale.body.id}`)).body).toMatchObject({
      status: 'partially-refunded',
      childTransactions: [expect.any(String)],
    })
    expect(
      await payments.sql('select owed_amount::int as owed from transactions where id = ?', [sale.body.id]),
    ).toEqual([{ owed: 0 }])
    expect(await read(other.id)).toMatchObject({ amountDue: 130 })
    const last = await api.post(`invoices/${other.id}/transaction`, body)
    expect(last.body).toMatchObject({ status: 'partially-paid', amountDue: 124 })
    expect(
      expectProblem(await api.post(`invoices/${other.id}/transaction`, body), 422, 'validation-error'),
    ).toEqual(['transactionId'])
  })

  test.each<[string, (invoice: Invoice) => Promise<object>, string[]]>([
    ['that does not exist', async () => ({ transactionId: 'none' }), ['transactionId']],
    [
      'of another customer',
      async () => ({
        transactionId: (await pay([], 9, undefined, String((await create(api, 'customers', {})).id))).body.id,
      }),
      ['transactionId'],
    ],
    [
      'that was declined',
      async () => ({
        transactionId: (await pay([], 9, { token: await makeToken(api, TEST_CARDS.declines) })).body.id,
      }),
      ['transactionId'],
    ],
    [
      'for more than is due',
      async () => ({ transactionId: (await pay([], 999)).body.id, amount: 160.01 }),
      ['amount'],
    ],
    [
      'for more than it has left',
      async () => ({ transactionId: (await pay([], 9)).body.id, amount: 9.01 }),
      ['amount'],
    ],
    ['for nothing', async () => ({ transactionId: (await pay([], 9)).body.id, amount: 0 }), ['amount']],
  ])('is not paid by a sale %s: 422, and nothing is written', async (_, given, fields) => {
    const invoice = await issued()
    const body = await given(invoice)
    const before = await counts()
    expect(
      expectProblem(await api.post(`invoices/${invoice.id}/transaction`, body), 422, 'validation-error'),
    ).toEqual(fields)
    expect(await counts()).toEqual(before)
    expect(await read(invoice.id)).toEqual(invoice)
  })

  test('shows a refund of its sale that is made while the sale is applied', async () => {
    for (let round = 0; round < 6; round += 1) {
      const { id } = await issued()
      const sale = await pay([], 160)
      const [applied, refunded] = await Promise.all([
        api.post(`invoices/${id}/transaction`, { transactionId: sale.body.id }),
        api.post(`transactions/${sale.body.id}/refund`, {}),
      ])
      expect([
        [200, 201, 'refunded'],
        [422, 201, 'unpaid'],
      ]).toContainEqual([applied.status, refunded.status, (await read(id)).status])
    }
  })

  test('is issued once and numbered without gaps, however many ask at once', async () => {
    const drafts = await Promise.all(Array.from({ length: 4 }, () => draft()))
    const responses = await Promise.all(
      [...drafts, ...drafts].map(({ id }) => api.post<Invoice>(`invoices/${id}/issue`, {})),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 409, 409, 409, 409])
    const numbers = (await Promise.all(drafts.map(({ id }) => read(id))))
      .map((one) => Number(one.invoiceNumber))
      .sort((a, b) => a - b)
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index))
  })

  test('is paid once by sales that come at the same time', async () => {
    const { id } = await issued()
    const sales = await Promise.all(Array.from({ length: 4 }, () => pay([id], 160)))
    expect(sales.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422])
    expect(await read(id)).toMatchObject({ status: 'paid', amountDue: 0 })
  })

  test('is for its customer in the storefront once it is issued, and for no other', async () => {
    const { id } = await issued()
    const { id: draftId } = await draft()
    const browser = await customerBrowser(payments.service, merchant)
    expect((await browser.get(`storefront/invoices/${id}`)).body).toMatchObject({ id, amountDue: 160 })
    expectProblem(await browser.get(`storefront/invoices/${draftId}`), 404, 'not-found')
    const customerId = String((await create(api, 'customers', {})).id)
    const other = await customerBrowser(payments.service, { ...merchant, customerId })
    expectProblem(await other.get(`storefront/invoices/${id}`), 404, 'not-found')
  })

  test('whose timer was lost is woken by the sweep, unless it is quarantined, and armed anew after a restore', async () => {
    const { id } = await issued()
    const em = () => payments.service.database.orm.em.fork()
    await payments.sql('delete from wake_ups')
    expect(await rearm(em(), 'invoice')).toBeGreaterThan(0)
    const wakeUps = () =>
      payments.sql("select 1 from wake_ups where workflow = 'invoice' and record_id = ?", [id])
    expect(await wakeUps()).toHaveLength(1)
    await payments.sql('delete from wake_ups')
    await payments.sql("update invoices set next_deadline = now() - interval '1 minute' where id = ?", [id])
    const key = { organizationId: merchant.organizationId, recordId: id }
    await quarantineRecord(em(), 'invoice', key, 'broken')
    expect((await quarantinedRecords(em())).map(({ recordId }) => recordId)).toContain(id)
    await wakeLateRecords(em(), null)
    expect(await wakeUps()).toEqual([])
    expect(await endQuarantine(em(), 'invoice', key)).toBe(true)
    expect((await wakeLateRecords(em(), null)).woken).toContainEqual({ workflow: 'invoice', number: 1 })
    expect(await wakeUps()).toHaveLength(1)
  })

  test('moves with its customer to another', async () => {
    const [{ id: from }, { id: to }] = [
      await create(api, 'customers', {}),
      await create(api, 'customers', {}),
    ]
    const { id } = await issued({ customerId: from })
    expectProblem(await api.send('DELETE', `customers/${from}`), 409, 'conflict')
    expect((await api.send('DELETE', `customers/${from}?targetCustomerId=${to}`)).status).toBe(204)
    expect(await read(id)).toMatchObject({ customerId: to })
    expect((await pay([id], 160, undefined, String(to))).status).toBe(201)
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { advanceDueOrders } from '../../commands/orders/advance-order.ts'
import { recordResult } from '../../commands/payments/record-result.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import type { ApiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { disputeBody } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { makePayer, type Payer } from '../support/payments.ts'
import { startService, type TestService } from '../support/service.ts'

const DAY = 86_400_000

interface Memo extends Record<string, unknown> {
  readonly id: string
  readonly unusedAmount: number
}
interface Allocated {
  readonly allocations: { readonly invoices: readonly object[] }
}
interface Invoice extends Record<string, unknown> {
  readonly id: string
  readonly amount: number
  readonly amountDue: number
  readonly status: string
  readonly creditMemoAllocations: readonly { readonly amount: number }[]
}

describe('a credit memo', () => {
  let service: TestService
  let merchant: Catalogue
  let api: ApiClient

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
    api = merchant.api
  })
  afterAll(() => service.stop())

  const customer = async () => String((await create(api, 'customers', { firstName: 'Ada' })).id)
  const read = async <T>(path: string): Promise<T> => (await api.get<T>(path)).body
  const credit = (customerId: string, amount: number, members: object = {}) =>
    create(api, 'credit-memos', {
      customerId,
      currency: 'EUR',
      items: [{ description: 'Goodwill', unitPrice: amount, quantity: 1 }],
      ...members,
    }) as Promise<unknown> as Promise<Memo>
  const memoOf = <T = Memo>({ id }: Pick<Memo, 'id'>) => read<T & Memo>(`credit-memos/${id}`)
  const balanceOf = async (customerId: string) =>
    (await read<{ balances: object[] }>(`customers/${customerId}/credit-balance`)).balances
  const order = async (customerId: string, members: object = {}) =>
    String((await create(api, 'subscriptions', orderBody(merchant, { customerId, ...members }))).id)
  const begin = async (id: string, customerId: string): Promise<Invoice> => {
    const body = orderBody(merchant, { customerId, notes: 'Begun.' })
    const begun = await api.put<Record<string, unknown>>(`subscriptions/${id}`, body)
    expect(begun.status).toBe(200)
    return await read<Invoice>(`invoices/${begun.body.initialInvoiceId}`)
  }
  const eventsOf = async (memoId: string) =>
    (
      (await service.database.orm.em
        .fork()
        .getConnection()
        .execute('select type from events where organization_id = ? and entity_id = ? order by position', [
          merchant.organizationId,
          memoId,
        ])) as { type: string }[]
    ).map(({ type }) => type)
  const transactionsOf = (customerId: string) =>
    read<object[]>(`transactions?filter=customerId:${customerId}`)

  test('is made, read, listed, changed and voided', async () => {
    const customerId = await customer()
    const made = (await create(api, 'credit-memos', {
      customerId,
      currency: 'EUR',
      reason: 'return',
      description: 'Two lamps came back.',
      items: [{ description: 'Lamp', unitPrice: 12.25, quantity: 2 }],
      shippingAmount: 4.5,
    })) as Memo
    expect(made).toMatchObject({
      id: expect.stringMatching(/^cm_/),
      number: expect.any(Number),
      status: 'issued',
      items: [
        { description: 'Lamp', unitPrice: 12.25, quantity: 2, price: 24.5, productId: null, tax: null },
      ],
      shippingAmount: 4.5,
      taxAmount: 0,
      totalAmount: 29,
      unusedAmount: 29,
      allocations: { invoices: [], transactions: [] },
      invoiceId: null,
      quoteId: null,
      revision: 1,
    })
    const path = `credit-memos/${made.id}`
    expect(await read(path)).toEqual(made)
    const other = await credit(customerId, 3)
    expect(Number(other.number)).toBe(Number(made.number) + 1)
    expect(
      await read(
        `credit-memos?filter=customerId:${customerId};status:issued;unusedAmount:10..;reason:return&sort=-totalAmount&q=lamps`,
      ),
    ).toEqual([made])
    const held = await api.put(path, made)
    expect({ status: held.status, body: held.body }).toEqual({ status: 200, body: made })
    const changed = await api.put(path, {
      ...made,
      description: 'One lamp came back.',
      items: [made.items].flat().map((item) => ({ ...(item as object), quantity: 1 })),
    })
    expect(changed.body).toMatchObject({ totalAmount: 16.75, unusedAmount: 16.75, revision: 2 })
    expectProblem(await api.put(path, { ...made, currency: 'USD' }), 409, 'conflict')
    expect(
      (await api.put('credit-memos/welcome', { customerId, currency: 'USD', shippingAmount: 5 })).status,
    ).toBe(201)
    const patch = (body: object) =>
      api.send('PATCH', path, {
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json' },
      })
    const patched = await patch({ reason: 'waiver' })
    expect(patched).toMatchObject({
      status: 200,
      body: { reason: 'waiver', description: 'One lamp came back.', totalAmount: 16.75, revision: 3 },
    })
    expectProblem(await patch({ customerId: 'another' }), 409, 'conflict')
    expectProblem(
      await patch({ allocations: { invoices: [{ invoiceId: 'in_1', amount: 1 }] } }),
      422,
      'validation-error',
    )
    expect(await balanceOf(customerId)).toEqual([
      { currency: 'EUR', unallocatedAmount: 19.75 },
      { currency: 'USD', unallocatedAmount: 5 },
    ])
    const voided = await api.post<Memo>(`${path}/void`, {})
    expect({ status: voided.status, body: voided.body }).toMatchObject({
      status: 201,
      body: { status: 'voided', unusedAmount: 0, totalAmount: 16.75, revision: 4 },
    })
    expectProblem(await api.post(`${path}/void`, {}), 409, 'conflict')
    expect(await eventsOf(made.id)).toEqual([
      'credit-memo-created',
      'credit-memo-modified',
      'credit-memo-modified',
      'credit-memo-voided',
    ])
    const comment = await create(api, `${path}/timeline`, { message: 'Agreed by phone.' })
    const entries = await read<{ type: string }[]>(`${path}/timeline?sort=occurredTime,id`)
    expect(entries.map(({ type }) => type)).toEqual([
      'credit-memo-created',
      'credit-memo-modified',
      'credit-memo-modified',
      'credit-memo-voided',
      'timeline-comment-created',
    ])
    expect((await api.delete(`${path}/timeline/${comment.id}`)).status).toBe(204)
    expectProblem(await api.delete(`customers/${customerId}`), 409, 'conflict')
  })

  test('with an item for each of more than 100 credits, as an order leaves it, is still changed', async () => {
    const items = Array.from({ length: 101 }, () => ({ unitPrice: 1, quantity: 1 }))
    const memo = await credit(await customer(), 1, { items })
    const path = `credit-memos/${memo.id}`
    const patched = await api.send('PATCH', path, {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ description: 'Unused' }),
    })
    expect(patched).toMatchObject({ status: 200, body: { description: 'Unused', totalAmount: 101 } })
    expect(await api.put(path, patched.body)).toMatchObject({ status: 200, body: patched.body })
  })

  test('credits the taxes of its items too', async () => {
    const customerId = await customer()
    const tax = { amount: 1.5, description: 'GST + QST', rate: 14.975, stateAmount: 1, stateRate: 9.975 }
    const items = [
      { unitPrice: 10, quantity: 1, tax: { ...tax, jurisdictions: { country: 'CA', state: 'QC' } } },
      { unitPrice: 5, quantity: 1 },
    ]
    const given = { customerId, currency: 'EUR', items, shippingAmount: 2 }
    const made = (await create(api, 'credit-memos', given)) as Memo
    expect(made).toMatchObject({
      taxAmount: 1.5,
      totalAmount: 18.5,
      unusedAmount: 18.5,
      items: [
        {
          price: 10,
          tax: {
            ...tax,
            cityAmount: null,
            jurisdictions: { country: 'CA', state: 'QC', county: null, city: null },
          },
        },
        { price: 5, tax: null },
      ],
    })
    const held = await api.put(`credit-memos/${made.id}`, made)
    expect({ status: held.status, body: held.body }).toEqual({ status: 200, body: made })
  })

  test('waits until an invoice is issued: one that it covers is paid without a transaction', async () => {
    const customerId = await customer()
    const [old, young, foreign] = [
      await credit(customerId, 4),
      await credit(customerId, 20),
      await credit(customerId, 50, { currency: 'USD' }),
    ]
    const id = await order(customerId)
    const invoice = await begin(id, customerId)
    expect(invoice).toMatchObject({
      status: 'paid',
      amount: 9.9,
      amountDue: 0,
      transactions: [],
      creditMemoAllocations: [
        { invoiceId: invoice.id, amount: 4, currency: 'EUR' },
        { invoiceId: invoice.id, amount: 5.9, currency: 'EUR' },
      ],
    })
    expect(await read(`subscriptions/${id}`)).toMatchObject({ status: 'active', billingStatus: 'paid' })
    expect(await transactionsOf(customerId)).toEqual([])
    expect(await memoOf(old)).toMatchObject({ status: 'applied', unusedAmount: 0, revision: 2 })
    expect(await memoOf(young)).toMatchObject({
      status: 'partially-applied',
      unusedAmount: 14.1,
      allocations: { invoices: [{ invoiceId: invoice.id, amount: 5.9, currency: 'EUR' }] },
    })
    expect(await memoOf(foreign)).toMatchObject({ status: 'issued', unusedAmount: 50 })
    expect(await eventsOf(old.id)).toEqual(['credit-memo-created', 'credit-memo-applied'])
    expect(await eventsOf(young.id)).toEqual(['credit-memo-created', 'credit-memo-partially-applied'])
    expectProblem(await api.post(`credit-memos/${young.id}/void`, {}), 409, 'conflict')
    const dearer = { ...(await memoOf(young)), items: [{ unitPrice: 99, quantity: 1 }] }
    expectProblem(await api.put(`credit-memos/${young.id}`, dearer), 409, 'conflict')
    const timeline = await read<{ type: string }[]>(`invoices/${invoice.id}/timeline`)
    expect(timeline.map(({ type }) => type)).toContain('credit-memo-applied')
  })

  test('can be sent back by PUT as it was before more of it was used', async () => {
    const payer = await makePayer(api)
    const { customerId } = payer
    await saleOf(payer, 10)
    const memo = (await credit(customerId, 29.8)) as Memo & Allocated
    const bodies = [memo]
    for (const _ of [1, 2]) {
      await begin(await order(customerId), customerId)
      bodies.push(await memoOf<Allocated>(memo))
    }
    expect((await api.post(`credit-memos/${memo.id}/refund`, undefined)).status).toBe(200)
    const last = await memoOf<Allocated>(memo)
    bodies.push(last)
    expect(last).toMatchObject({
      allocations: { invoices: [{ amount: 9.9 }, { amount: 9.9 }], transactions: [{ amount: 10 }] },
    })
    for (const body of bodies) {
      expect(await api.put(`credit-memos/${memo.id}`, body)).toMatchObject({ status: 200, body: last })
    }
    const [first, second] = last.allocations.invoices
    for (const invoices of [
      [{ ...first, amount: 9.91 }],
      [{ ...first, currency: 'USD' }],
      [{ ...first, invoiceId: 'in_1' }],
      [first, first],
      [{ amount: 1 }],
      [first, second, { ...first, invoiceId: 'in_1' }],
    ]) {
      const refused = await api.put(`credit-memos/${memo.id}`, { ...last, allocations: { invoices } })
      expect(expectProblem(refused, 422, 'validation-error')).toEqual(['allocations.invoices'])
    }
    // A patch says what is to change, and nothing of it is left out in silence.
    const patched = await api.send('PATCH', `credit-memos/${memo.id}`, {
      body: JSON.stringify({ allocations: { invoices: [first] } }),
      headers: { 'Content-Type': 'application/json' },
    })
    expect(expectProblem(patched, 422, 'validation-error')).toEqual(['allocations.invoices'])
  })

  test('for an invoice reduces what that owes, and returns with it when it is voided', async () => {
    const customerId = await customer()
    const invoice = await begin(await order(customerId), customerId)
    expect(invoice).toMatchObject({ status: 'unpaid', amountDue: 9.9 })
    const part = await credit(customerId, 4, { invoiceId: invoice.id })
    expect(part).toMatchObject({ status: 'applied', unusedAmount: 0, revision: 1, invoiceId: invoice.id })
    expect(await read(`invoices/${invoice.id}`)).toMatchObject({
      status: 'unpaid',
      amountDue: 5.9,
      creditMemoAllocations: [{ amount: 4 }],
    })
    const sale = {
      type: 'sale',
      customerId,
      currency: 'EUR',
      paymentInstruction: { method: 'external' },
      invoiceIds: [invoice.id],
    }
    expectProblem(await api.post('transactions', { ...sale, amount: 9.9 }), 422, 'validation-error')
    expect((await api.post(`invoices/${invoice.id}/void`, {})).status).toBe(201)
    expect(await read(`invoices/${invoice.id}`)).toMatchObject({ creditMemoAllocations: [], amountDue: 0 })
    expect(await memoOf(part)).toMatchObject({ status: 'issued', unusedAmount: 4 })
    expect(await eventsOf(part.id)).toEqual([
      'credit-memo-created',
      'credit-memo-applied',
      'credit-memo-modified',
    ])
    expect(await balanceOf(customerId)).toEqual([{ currency: 'EUR', unallocatedAmount: 4 }])
  })

  test('over what its invoice owes leaves the rest as balance, also where nothing is owed', async () => {
    const customerId = await customer()
    const invoice = await begin(await order(customerId), customerId)
    const memo = await credit(customerId, 12, { invoiceId: invoice.id })
    expect(memo).toMatchObject({ status: 'partially-applied', unusedAmount: 2.1 })
    expect(await read(`invoices/${invoice.id}`)).toMatchObject({
      status: 'paid',
      amountDue: 0,
      transactions: [],
    })
    const late = await credit(customerId, 3, { invoiceId: invoice.id })
    expect(late).toMatchObject({ status: 'issued', unusedAmount: 3 })
    expect(await balanceOf(customerId)).toEqual([{ currency: 'EUR', unallocatedAmount: 5.1 }])
  })

  test('is allocated to an invoice on request, newest first if that is asked for', async () => {
    const customerId = await customer()
    const invoice = await begin(await order(customerId), customerId)
    const path = `invoices/${invoice.id}/allocate-credit-balance`
    const nothing = await api.post(path, {})
    expect({ status: nothing.status, body: nothing.body }).toEqual({
      status: 200,
      body: { invoiceId: invoice.id, currency: 'EUR', appliedCreditMemos: [], remainingInvoiceAmount: 9.9 },
    })
    const [old, young] = [await credit(customerId, 5), await credit(customerId, 3)]
    for (const [amount, text] of [
      [9.91, 'due'],
      [8.5, 'balance'],
      [0.001, 'decimals'],
    ] as const) {
      const refused = await api.post<{ invalidFields?: object[] }>(path, { amount })
      expect(expectProblem(refused, 422, 'validation-error')).toEqual(['amount'])
      expect(JSON.stringify(refused.body)).toContain(text)
    }
    const some = await api.post(path, { amount: 4, allocationOrder: 'newest-first' })
    expect(some.body).toEqual({
      invoiceId: invoice.id,
      currency: 'EUR',
      appliedCreditMemos: [
        { creditMemoId: young.id, amount: 3 },
        { creditMemoId: old.id, amount: 1 },
      ],
      remainingInvoiceAmount: 5.9,
    })
    await credit(customerId, 100)
    expect((await api.post(path, {})).body).toMatchObject({ remainingInvoiceAmount: 0 })
    expect(await read(`invoices/${invoice.id}`)).toMatchObject({ status: 'paid' })
    expect(await memoOf(old)).toMatchObject({ allocations: { invoices: [{ amount: 5 }] }, unusedAmount: 0 })
    expectProblem(await api.post(path, {}), 409, 'conflict')
    expectProblem(await api.post('invoices/none/allocate-credit-balance', {}), 404, 'not-found')
  })

  /** What memos are worth is what invoices use of them and what is left. */
  const expectLedger = async (customerId: string, invoices: readonly Invoice[], memos: readonly Memo[]) => {
    const sum = (amounts: readonly number[]) => Math.round(amounts.reduce((all, one) => all + one, 0) * 100)
    const used = invoices.flatMap((one) => one.creditMemoAllocations.map(({ amount }) => amount))
    const now = await Promise.all(memos.map(memoOf))
    expect(sum([...used, ...now.map(({ unusedAmount }) => unusedAmount)])).toBe(
      sum(now.map(({ totalAmount }) => Number(totalAmount))),
    )
    const owed = invoices.map(({ amountDue }) => amountDue)
    expect(sum([...used, ...owed])).toBe(sum(invoices.map(({ amount }) => amount)))
    expect(customerId).toMatch(/^cus/)
  }

  test('is never used twice by invoices of one customer that are issued at once', async () => {
    const customerId = await customer()
    const memos = [await credit(customerId, 6), await credit(customerId, 15), await credit(customerId, 7)]
    const orders = await Promise.all([1, 2, 3, 4, 5].map(() => order(customerId)))
    const invoices = await Promise.all(orders.map((id) => begin(id, customerId)))
    await expectLedger(customerId, invoices, memos)
    expect(await balanceOf(customerId)).toEqual([])
    expect(invoices.filter(({ status }) => status === 'paid')).toHaveLength(2)
  })

  test('is never used twice by invoices of one customer that are issued in one batch', async () => {
    const customerId = await customer()
    const memos = [await credit(customerId, 6), await credit(customerId, 15)]
    const orders = await Promise.all([1, 2, 3].map(() => order(customerId)))
    const now = new Date()
    await inUnitOfWork(
      service.database.orm.em.fork(),
      { organizationId: merchant.organizationId, now, baseUrl: 'http://localhost' },
      (unit) =>
        advanceDueOrders(unit, { required: orders, instant: new Date(now.getTime() + DAY), others: 0 }),
    )
    const invoices = await read<Invoice[]>(`invoices?filter=customerId:${customerId}`)
    expect(invoices).toHaveLength(3)
    await expectLedger(customerId, invoices, memos)
    expect((await Promise.all(memos.map(memoOf))).map(({ revision }) => revision)).toEqual([2, 2])
    expect(await balanceOf(customerId)).toEqual([])
  })

  const resultOf = (id: unknown, result: 'approved' | 'declined' | 'canceled') => {
    const now = new Date()
    return inUnitOfWork(
      service.database.orm.em.fork(),
      { organizationId: merchant.organizationId, now, baseUrl: 'http://localhost' },
      (unit) => recordResult(unit, String(id), { result, raw: result }, now.getTime()),
    )
  }

  test('is refunded to the sales of its customer; a refund that is declined returns its amount', async () => {
    const { customerId, paymentInstrumentId } = await makePayer(api)
    const sale = async (amount: number) =>
      (await create(api, 'transactions', {
        type: 'sale',
        customerId,
        currency: 'EUR',
        amount,
        paymentInstruction: { paymentInstrumentId },
      })) as { id: string }
    const memo = await credit(customerId, 12)
    const refund = () => api.post<Memo>(`credit-memos/${memo.id}/refund`, undefined)
    const refused = await refund()
    expectProblem(refused, 409, 'conflict')
    expect(refused.body.detail).toContain('come to 0')
    const [older, newer] = [await sale(8), await sale(10)]
    const refunded = await refund()
    expect(refunded).toMatchObject({
      status: 200,
      body: {
        status: 'applied',
        unusedAmount: 0,
        totalAmount: 12,
        revision: 2,
        allocations: { transactions: [{ amount: 10, currency: 'EUR' }, { amount: 2 }] },
      },
    })
    expect(await api.put(`credit-memos/${memo.id}`, refunded.body)).toMatchObject({
      status: 200,
      body: refunded.body,
    })
    expect(await balanceOf(customerId)).toEqual([])
    for (const problem of [await refund(), await api.post(`credit-memos/${memo.id}/void`, {})])
      expectProblem(problem, 409, 'conflict')
    const [first, second] = await Promise.all(
      [newer, older].map(async ({ id }) => {
        const { childTransactions } = await read<{ childTransactions: string[] }>(`transactions/${id}`)
        return childTransactions[0]
      }),
    )
    expect(await read(`transactions/${first}`)).toMatchObject({
      type: 'refund',
      amount: 10,
      status: 'pending',
    })
    await resultOf(first, 'approved')
    await resultOf(second, 'declined')
    expect(await memoOf(memo)).toMatchObject({
      status: 'partially-applied',
      unusedAmount: 2,
      allocations: { transactions: [{ transactionId: first, amount: 10 }] },
    })
    expect(await balanceOf(customerId)).toEqual([{ currency: 'EUR', unallocatedAmount: 2 }])
    expect(await eventsOf(memo.id)).toEqual([
      'credit-memo-created',
      'credit-memo-applied',
      'credit-memo-modified',
    ])
    expect((await refund()).body).toMatchObject({ status: 'applied', unusedAmount: 0 })
    expectProblem(await api.post('credit-memos/absent/refund', undefined), 404, 'not-found')
  })

  const saleOf = async ({ customerId, paymentInstrumentId }: Payer, amount: number, members: object = {}) =>
    (await create(api, 'transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount,
      paymentInstruction: { paymentInstrumentId },
      ...members,
    })) as { id: string }
  const refundsOf = async ({ id }: { id: string }) =>
    await read<{ id: string; amount: number }[]>(
      `transactions?filter=parentTransactionId:${id}&sort=createdTime`,
    )

  test('is not refunded from what open invoices and coming periods were paid with', async () => {
    const payer = await makePayer(api)
    const { customerId } = payer
    const id = await order(customerId, { autopay: false })
    const body = orderBody(merchant, { customerId, autopay: false, notes: 'Begun.' })
    const { initialInvoiceId } = (await api.put<Record<string, unknown>>(`subscriptions/${id}`, body)).body
    const issued = await create(api, `subscriptions/${id}/upcoming-invoice/issue`, {})
    const memo = await credit(customerId, 5)
    const refund = () => api.post<Memo>(`credit-memos/${memo.id}/refund`, undefined)

    const part = await saleOf(payer, 6, { invoiceIds: [initialInvoiceId] })
    const ahead = await saleOf(payer, 9.9, { invoiceIds: [issued.id] })
    const refused = await refund()
    expectProblem(refused, 409, 'conflict')
    expect(refused.body.detail).toContain('come to 0')
    expect(await read(`invoices/${initialInvoiceId}`)).toMatchObject({ amountDue: 3.9 })
    expect(await read(`invoices/${issued.id}`)).toMatchObject({ status: 'paid' })

    const rest = await saleOf(payer, 3.9, { invoiceIds: [initialInvoiceId] })
    expect((await refund()).body).toMatchObject({ status: 'applied', unusedAmount: 0 })
    expect([await refundsOf(rest), await refundsOf(part), await refundsOf(ahead)]).toMatchObject([
      [{ amount: 3.9 }],
      [{ amount: 1.1 }],
      [],
    ])
    await create(api, 'subscription-cancellations', { subscriptionId: id })
    expect(await refundsOf(ahead)).toMatchObject([{ amount: 9.9 }])
  })

  test('is not refunded from what a bank took back, and last of all from what it may take back yet', async () => {
    const payer = await makePayer(api)
    const { customerId } = payer
    const id = await order(customerId, { autopay: false })
    const body = orderBody(merchant, { customerId, autopay: false, notes: 'Begun.' })
    const invoiceId = (await api.put<Record<string, unknown>>(`subscriptions/${id}`, body)).body
      .initialInvoiceId
    const disputed = await saleOf(payer, 10)
    await create(api, 'disputes', disputeBody(disputed.id))
    const paid = await saleOf(payer, 9.9, { invoiceIds: [invoiceId] })
    await create(api, 'disputes', disputeBody(paid.id, { status: 'lost', amount: 6 }))
    const free = await saleOf(payer, 4)
    const memo = await credit(customerId, 5, { invoiceId })
    expect(await api.post(`credit-memos/${memo.id}/refund`, undefined)).toMatchObject({ status: 200 })
    const refunds = async () => [await refundsOf(paid), await refundsOf(free), await refundsOf(disputed)]
    expect(await refunds()).toMatchObject([[{ amount: 3.9 }], [{ amount: 1.1 }], []])
    const rest = await credit(customerId, 5)
    expect(await api.post(`credit-memos/${rest.id}/refund`, undefined)).toMatchObject({ status: 200 })
    const [, ofFree, ofDisputed] = await refunds()
    expect(ofFree?.map(({ amount }) => amount).toSorted()).toEqual([1.1, 2.9])
    expect(ofDisputed).toMatchObject([{ amount: 2.1 }])
  })

  test('takes its amount again when a refund that counted as canceled is approved late, as far as it is left', async () => {
    const payer = await makePayer(api)
    const sale = await saleOf(payer, 20)
    const memo = await credit(payer.customerId, 12)
    await api.post(`credit-memos/${memo.id}/refund`, undefined)
    const [refund] = await refundsOf(sale)
    await resultOf(refund?.id, 'canceled')
    expect(await memoOf(memo)).toMatchObject({ status: 'issued', unusedAmount: 12 })
    const invoice = await begin(await order(payer.customerId), payer.customerId)
    expect(invoice).toMatchObject({ status: 'paid', creditMemoAllocations: [{ amount: 9.9 }] })
    await resultOf(refund?.id, 'approved')
    expect(await memoOf(memo)).toMatchObject({
      status: 'applied',
      unusedAmount: 0,
      allocations: { invoices: [{ amount: 9.9 }], transactions: [{ amount: 2.1 }] },
    })
    const entries = await read<{ message: string }[]>(`credit-memos/${memo.id}/timeline`)
    expect(entries.map(({ message }) => message).join()).toContain('9.9 EUR of it had been used already')
  })

  test('moves to the other customer when customers are merged', async () => {
    const [duplicate, target] = [await customer(), await customer()]
    const memo = await credit(duplicate, 4)
    expect((await api.delete(`customers/${duplicate}?targetCustomerId=${target}`)).status).toBe(204)
    expect(await memoOf(memo)).toMatchObject({ customerId: target })
    expect(await balanceOf(target)).toEqual([{ currency: 'EUR', unallocatedAmount: 4 }])
  })

  test('for an invoice that does not exist or fit is refused: 422, and nothing is written', async () => {
    const [customerId, other] = [await customer(), await customer()]
    const invoice = await begin(await order(other), other)
    const members = { items: [{ unitPrice: 1, quantity: 1 }], currency: 'EUR', customerId }
    for (const [fields, body] of [
      [['invoiceId'], { invoiceId: 'none' }],
      [['invoiceId'], { invoiceId: invoice.id }],
      [['invoiceId'], { customerId: other, currency: 'USD', invoiceId: invoice.id }],
      [['customerId'], { customerId: 'none' }],
    ] as const) {
      const refused = await api.post('credit-memos', { ...members, ...body })
      expect(expectProblem(refused, 422, 'validation-error')).toEqual(fields)
    }
    expect(await balanceOf(customerId)).toEqual([])
    expectProblem(await api.get('customers/none/credit-balance'), 404, 'not-found')
  })

  test.each([
    ['nothing', {}, ['currency', 'customerId']],
    ['nothing to credit', { items: [] }, ['items']],
    ['items of no price', { items: [{ unitPrice: 0, quantity: 3 }] }, ['items']],
    ['a negative price', { items: [{ unitPrice: -1, quantity: 1 }] }, ['items.0.unitPrice']],
    [
      'more decimals than its currency has',
      { items: [{ unitPrice: 1.005, quantity: 1 }] },
      ['items.0.unitPrice'],
    ],
    ['half a unit', { items: [{ unitPrice: 1, quantity: 0.5 }] }, ['items.0.quantity']],
    ['an unknown reason', { reason: 'because' }, ['reason']],
    [
      'allocations of its own',
      { allocations: { invoices: [{ invoiceId: 'in_1', amount: 1 }] } },
      ['allocations.invoices'],
    ],
    [
      'a tax of half a cent',
      { items: [{ unitPrice: 1, quantity: 1, tax: { amount: 0.005, description: 'VAT' } }] },
      ['items.0.tax.amount'],
    ],
    [
      'a tax without a name',
      { items: [{ unitPrice: 1, quantity: 1, tax: { amount: 1 } }] },
      ['items.0.tax.description'],
    ],
  ])('is refused with %s: 422', async (name, body, fields) => {
    const valid = { customerId: merchant.customerId, currency: 'EUR', items: [{ unitPrice: 1, quantity: 1 }] }
    const response = await api.post('credit-memos', name === 'nothing' ? body : { ...valid, ...body })
    expect(expectProblem(response, 422, 'validation-error')).toEqual(fields)
  })
})

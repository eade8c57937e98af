/** A payment was returned twice: refunded, and as credit for the unused time of the same invoice. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { inquireTransaction } from '../../activities/inquire-transaction.ts'
import { reverseRefund } from '../../commands/payments/record-foreign-refund.ts'
import { activityDependencies } from '../support/activities.ts'
import type { ApiClient } from '../support/api-client.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { create } from '../support/create.ts'
import { type Payments, type PlacedOrder, placeCharged, startPayments } from '../support/payments.ts'

const DAY = 86_400_000

describe('credit for unused time', () => {
  let payments: Payments
  let api: ApiClient
  beforeAll(async () => {
    payments = await startPayments()
    api = payments.merchant.api
  })
  afterAll(() => payments.stop())

  const plan = (price: number) => ({
    name: `Plan for ${price}`,
    currency: 'EUR',
    pricing: { formula: 'flat-rate', price },
    recurringInterval: { unit: 'day', length: 30 },
  })
  const read = async (path: string) => (await api.get<Record<string, unknown>>(path)).body
  const near = (amount: number) => ({
    asymmetricMatch: (value: unknown) => Math.abs(Number(value) - amount) <= 0.01,
  })
  /** An order of 20 in the middle of its period, which is unpaid. */
  const unpaid = async (): Promise<PlacedOrder> => {
    const order = await placeCharged(payments.merchant, TEST_CARDS.approves, {
      autopay: false,
      items: [{ plan: plan(20) }],
      startTime: new Date(Date.now() - 15 * DAY).toISOString(),
    })
    await activityDependencies(payments.service).orders.advance(payments.input(order.id))
    return order
  }
  const paid = async (): Promise<PlacedOrder & { saleId: unknown }> => {
    const order = await unpaid()
    const { customerId, invoiceId, paymentInstrumentId } = order
    const sale = await create(api, 'transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount: 20,
      paymentInstruction: { paymentInstrumentId },
      invoiceIds: [invoiceId],
    })
    return { ...order, saleId: sale.id }
  }
  const refund = (saleId: unknown) => create(api, `transactions/${saleId}/refund`, {})
  const queued = async ({ id }: PlacedOrder) => (await read(`subscriptions/${id}`)).lineItemSubtotal
  const balance = async ({ customerId }: PlacedOrder) =>
    (await read(`customers/${customerId}/credit-balance`)).balances
  const cancel = ({ id }: PlacedOrder) =>
    create(api, 'subscription-cancellations', { subscriptionId: id, prorated: true })

  test('is taken back by a refund of its invoice', async () => {
    const order = await paid()
    const change = { items: [{ plan: plan(10) }], renewalPolicy: 'retain', prorated: true }
    await create(api, `subscriptions/${order.id}/change-items`, change)
    expect(await queued(order)).toEqual({ currency: 'EUR', amount: near(-5) })
    await refund(order.saleId)
    expect(await read(`invoices/${order.invoiceId}`)).toMatchObject({ status: 'refunded' })
    expect(await queued(order)).toEqual({ currency: 'EUR', amount: 0 })
  })

  test('of a canceled order is used by its refunded invoice', async () => {
    const order = await paid()
    await cancel(order)
    expect(await balance(order)).toEqual([{ currency: 'EUR', unallocatedAmount: near(10) }])
    await refund(order.saleId)
    expect(await balance(order)).toEqual([])
    expect(await read(`invoices/${order.invoiceId}`)).toMatchObject({
      status: 'refunded',
      creditMemoAllocations: [{ amount: near(10) }],
    })
  })

  test('is given where all that was paid has gone back for a credit memo of the merchant', async () => {
    const order = await paid()
    const memo = await create(api, 'credit-memos', {
      customerId: order.customerId,
      currency: 'EUR',
      items: [{ description: 'Goodwill', unitPrice: 20, quantity: 1 }],
    })
    expect((await api.post(`credit-memos/${memo.id}/refund`, undefined)).status).toBe(200)
    const [refunded] = (await read(`transactions/${order.saleId}`)).childTransactions as string[]
    const dependencies = activityDependencies(payments.service, { gateway: payments.gateway })
    await inquireTransaction(dependencies, payments.input(String(refunded)))
    expect(await read(`invoices/${order.invoiceId}`)).toMatchObject({ status: 'refunded' })
    await cancel(order)
    expect(await balance(order)).toEqual([{ currency: 'EUR', unallocatedAmount: near(10) }])
  })

  test('that went with an abandoned invoice is not given again by a refund that pays another memo back', async () => {
    const order = await unpaid()
    const { customerId, invoiceId, paymentInstrumentId } = order
    await create(api, 'transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount: 15,
      paymentInstruction: { paymentInstrumentId },
      invoiceIds: [invoiceId],
    })
    await cancel(order)
    expect(await balance(order)).toEqual([{ currency: 'EUR', unallocatedAmount: near(10) }])
    expect((await api.post(`invoices/${invoiceId}/abandon`, undefined)).status).toBe(201)
    expect(await balance(order)).toEqual([])
    const goodwill = await create(api, 'credit-memos', {
      customerId,
      currency: 'EUR',
      items: [{ description: 'Goodwill', unitPrice: 4, quantity: 1 }],
    })
    const paidBack = await api.post<Record<string, unknown>>(`credit-memos/${goodwill.id}/refund`, undefined)
    expect(paidBack.status).toBe(200)
    const [allocation] = (paidBack.body.allocations as { transactions: { transactionId: string }[] })
      .transactions
    const dependencies = activityDependencies(payments.service, { gateway: payments.gateway })
    await inquireTransaction(dependencies, payments.input(String(allocation?.transactionId)))
    expect(await read(`transactions/${allocation?.transactionId}`)).toMatchObject({ result: 'approved' })
    expect(await balance(order)).toEqual([])
    expect(await queued(order)).toEqual({ currency: 'EUR', amount: 0 })
  })

  const memoOf = async ({ customerId }: PlacedOrder) => {
    const [memo] = (await api.get<{ id: string }[]>(`credit-memos?filter=customerId:${customerId}`)).body
    return memo
  }
  const eventsOf = async (id: unknown) =>
    (await api.get<{ type: string }[]>(`credit-memos/${id}/timeline?sort=occurredTime`)).body.map(
      ({ type }) => type,
    )

  test('of a canceled order goes when the unpaid invoice of its last period is voided', async () => {
    const order = await unpaid()
    await cancel(order)
    const memo = await memoOf(order)
    expect(await balance(order)).toEqual([{ currency: 'EUR', unallocatedAmount: near(10) }])
    expect((await api.post(`invoices/${order.invoiceId}/void`, undefined)).status).toBe(201)
    expect(await balance(order)).toEqual([])
    expect(await read(`credit-memos/${memo?.id}`)).toMatchObject({
      status: 'voided',
      totalAmount: near(10),
      unusedAmount: 0,
    })
    expect(await eventsOf(memo?.id)).toEqual(['credit-memo-created', 'credit-memo-voided'])
    expect(await queued(order)).toEqual({ currency: 'EUR', amount: 0 })
  })

  test('of an unpaid change goes with its invoice, and its memo keeps the rest', async () => {
    const order = await paid()
    const change = { items: [{ plan: plan(60) }], renewalPolicy: 'retain', prorated: true }
    await create(api, `subscriptions/${order.id}/change-items`, change)
    const { recentInvoiceId } = await read(`subscriptions/${order.id}`)
    await cancel(order)
    expect(await balance(order)).toEqual([{ currency: 'EUR', unallocatedAmount: near(30) }])
    expect((await api.post(`invoices/${recentInvoiceId}/void`, undefined)).status).toBe(201)
    expect(await balance(order)).toEqual([{ currency: 'EUR', unallocatedAmount: near(10) }])
    const memo = await memoOf(order)
    expect(memo).toMatchObject({ status: 'issued', totalAmount: near(10), items: [{ unitPrice: near(10) }] })
    expect(await eventsOf(memo?.id)).toEqual(['credit-memo-created', 'credit-memo-modified'])
  })

  test('that returns from an invoice voided after the end of service is a memo, and its sale waits', async () => {
    const order = await paid()
    const sale = { name: 'Installation', currency: 'EUR', pricing: { formula: 'fixed-fee', price: 49 } }
    const changeTo = (items: unknown[], prorated: boolean) =>
      create(api, `subscriptions/${order.id}/change-items`, { items, renewalPolicy: 'retain', prorated })
    await changeTo([{ plan: plan(10) }], true)
    await changeTo([{ plan: plan(10) }, { plan: sale }], false)
    const interim = await create(api, `subscriptions/${order.id}/interim-invoice`, {})
    expect(interim).toMatchObject({ status: 'unpaid', amount: near(44) })
    await create(api, 'subscription-cancellations', { subscriptionId: order.id })
    expect(await balance(order)).toEqual([])
    expect((await api.post(`invoices/${interim.id}/void`, undefined)).status).toBe(201)
    expect(await queued(order)).toEqual({ currency: 'EUR', amount: 49 })
    expect(await balance(order)).toEqual([{ currency: 'EUR', unallocatedAmount: near(5) }])
    const memo = await memoOf(order)
    expect(memo).toMatchObject({ status: 'issued', totalAmount: near(5), reason: 'order-cancellation' })
    expect(await eventsOf(memo?.id)).toEqual(['credit-memo-created'])
  })

  test('whose memo the merchant voids is not billed by a later refund', async () => {
    const order = await paid()
    await cancel(order)
    const memo = await memoOf(order)
    expect((await api.post(`credit-memos/${memo?.id}/void`, undefined)).status).toBe(201)
    await refund(order.saleId)
    expect(await queued(order)).toEqual({ currency: 'EUR', amount: 0 })
    await create(api, 'subscription-reactivations', { subscriptionId: order.id })
    const { recentInvoiceId } = await read(`subscriptions/${order.id}`)
    expect(await read(`invoices/${recentInvoiceId}`)).toMatchObject({ amount: 20 })
  })

  test.each(['PUT', 'PATCH'])(
    'whose memo the merchant lowers by %s is taken back as far as it stands',
    async (method) => {
      const order = await paid()
      await cancel(order)
      const memo = await memoOf(order)
      const items = [{ description: 'Unused time', unitPrice: 4, quantity: 1 }]
      const path = `credit-memos/${memo?.id}`
      const given = method === 'PUT' ? { ...(await read(path)), items } : { items }
      const headers = { 'Content-Type': 'application/json' }
      const lowered = await api.send(method, path, { body: JSON.stringify(given), headers })
      expect(lowered).toMatchObject({ status: 200, body: { unusedAmount: 4 } })
      await refund(order.saleId)
      expect(await read(`invoices/${order.invoiceId}`)).toMatchObject({
        creditMemoAllocations: [{ amount: 4 }],
      })
      expect(await balance(order)).toEqual([])
      expect(await queued(order)).toEqual({ currency: 'EUR', amount: 0 })
    },
  )

  test('that a refund took back is credited again if it fails after the memo of the rest was voided', async () => {
    const order = await paid()
    const change = { items: [{ plan: plan(10) }], renewalPolicy: 'retain', prorated: true }
    await create(api, `subscriptions/${order.id}/change-items`, change)
    const inPart = await create(api, 'transactions', {
      type: 'refund',
      parentTransactionId: order.saleId,
      amount: 16,
    })
    expect(inPart).toMatchObject({ result: 'approved' })
    await cancel(order)
    const memo = await memoOf(order)
    expect(memo).toMatchObject({ totalAmount: near(4) })
    expect((await api.post(`credit-memos/${memo?.id}/void`, undefined)).status).toBe(201)
    await payments.inUnit((unit) => reverseRefund(unit, String(inPart.id), { result: 'declined', raw: '{}' }))
    expect(await balance(order)).toEqual([{ currency: 'EUR', unallocatedAmount: near(1) }])
    expect(await queued(order)).toEqual({ currency: 'EUR', amount: 0 })
  })

  test('that is paid back by a refund takes nothing of a refund of the rest', async () => {
    const order = await paid()
    await cancel(order)
    const memo = await memoOf(order)
    expect((await api.post(`credit-memos/${memo?.id}/refund`, undefined)).status).toBe(200)
    const [first] = (await read(`transactions/${order.saleId}`)).childTransactions as string[]
    const dependencies = activityDependencies(payments.service, { gateway: payments.gateway })
    await inquireTransaction(dependencies, payments.input(String(first)))
    await refund(order.saleId)
    expect(await read(`invoices/${order.invoiceId}`)).toMatchObject({
      status: 'refunded',
      creditMemoAllocations: [],
    })
    expect(await queued(order)).toEqual({ currency: 'EUR', amount: 0 })
  })
})

/** A payment was returned twice: refunded, and as credit for the unused time of the same invoice. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { inquireTransaction } from '../../activities/inquire-transaction.ts'
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
  /** An order of 20 in the middle of its period, which is paid. */
  const paid = async (): Promise<PlacedOrder & { saleId: unknown }> => {
    const order = await placeCharged(payments.merchant, TEST_CARDS.approves, {
      autopay: false,
      items: [{ plan: plan(20) }],
      startTime: new Date(Date.now() - 15 * DAY).toISOString(),
    })
    await activityDependencies(payments.service).orders.advance(payments.input(order.id))
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

  test('that is paid back by a refund takes nothing of a refund of the rest', async () => {
    const order = await paid()
    await cancel(order)
    const [memo] = (await api.get<{ id: string }[]>(`credit-memos?filter=customerId:${order.customerId}`))
      .body
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

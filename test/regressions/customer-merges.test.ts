/** A merge of customers locks records in the order of all commands, and leaves nothing of the duplicate behind. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { advanceDispute, lockDispute } from '../../commands/disputes/save-dispute.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import type { ApiClient, ApiResponse } from '../support/api-client.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { makePayer } from '../support/payments.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

type Body = Record<string, unknown>

describe('while a customer is merged', () => {
  let service: TestService
  let merchant: Catalogue
  let api: ApiClient

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
    api = merchant.api
  })
  afterAll(() => service.stop())

  const customer = async () => String((await create(api, 'customers', {})).id)
  const merge = (id: string, targetId: string) => api.delete(`customers/${id}?targetCustomerId=${targetId}`)
  const read = async (path: string): Promise<Body> => (await api.get<Body>(path)).body
  const later = (customerId: string) =>
    create(
      api,
      'subscriptions',
      orderBody(merchant, { customerId, startTime: new Date(Date.now() + 86_400_000).toISOString() }),
    )
  const redeemed = async (customerId: string) => {
    const coupon = await create(api, 'coupons', { discount: { type: 'percent', value: 50 } })
    return { couponId: String(coupon.id), customerId }
  }

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: service.databaseUrl })
    await client.connect()
    await client.query('begin')
    return client
  }
  const waiting = async (count: number) =>
    await waitFor(`${count} to wait for a lock`, async () => {
      const [row] = await service.database.orm.em
        .fork()
        .getConnection()
        .execute<{ count: number }[]>(
          `select count(*)::int as count from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
        )
      return row?.count === count ? true : null
    })

  /** Holds a row until all requests wait, each begun once those before it do. Returns the responses' statuses. */
  const behind = async (
    [table, id]: readonly [string, unknown],
    requests: readonly (() => Promise<ApiResponse>)[],
  ): Promise<number[]> => {
    const client = await connect()
    try {
      await client.query(`select from ${table} where id = $1 for update`, [id])
      const responses: Promise<ApiResponse>[] = []
      for (const request of requests) {
        responses.push(request())
        await waiting(responses.length)
      }
      await client.query('commit')
      return (await Promise.all(responses)).map(({ status }) => status)
    } finally {
      await client.end()
    }
  }

  test('a refund of its credit memo and the merge do not wait for each other', async () => {
    const [{ customerId, paymentInstrumentId }, target] = [await makePayer(api), await customer()]
    const sale = await create(api, 'transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount: 9.9,
      paymentInstruction: { paymentInstrumentId },
    })
    expect(sale.result).toBe('approved')
    const memo = await create(api, 'credit-memos', {
      customerId,
      currency: 'EUR',
      items: [{ description: 'Goodwill', unitPrice: 5, quantity: 1 }],
    })
    const statuses = await behind(
      ['transactions', sale.id],
      [() => merge(customerId, target), () => api.post(`credit-memos/${memo.id}/refund`, {})],
    )
    expect(statuses).toEqual([204, 200])
    expect(await read(`credit-memos/${memo.id}`)).toMatchObject({
      customerId: target,
      allocations: { transactions: [{ amount: 5 }] },
    })
    const refunds = await api.get<Body[]>(`transactions?filter=parentTransactionId:${sale.id}`)
    expect(refunds.body).toMatchObject([{ type: 'refund', amount: 5, customerId: target }])
  })

  test.each([
    ['renamed', 'PATCH', 200, ['Whale']],
    ['deleted', 'DELETE', 204, []],
  ])('a tag that is %s meanwhile is so in the target', async (_, method, status, names) => {
    const [id, target] = [await customer(), await customer()]
    const tag = await create(api, 'tags', { name: 'Big spender', type: 'customer' })
    expect((await api.send('POST', `tags/${tag.id}/customers/${id}`)).status).toBe(204)
    const statuses = await behind(
      ['customers', id],
      [
        () => merge(id, target),
        () =>
          api.send(
            method,
            `tags/${tag.id}`,
            method === 'PATCH'
              ? { body: '{"name":"Whale"}', headers: { 'Content-Type': 'application/json' } }
              : {},
          ),
      ],
    )
    expect(statuses).toEqual([204, status])
    const { tags } = await read(`customers/${target}`)
    expect((tags as { name: string }[]).map(({ name }) => name)).toEqual(names)
  })

  const disputed = async () => {
    const customerId = await customer()
    const order = await create(api, 'subscriptions', orderBody(merchant, { customerId, autopay: false }))
    const sale = await create(api, 'transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount: 9.9,
      paymentInstruction: { method: 'external' },
      invoiceIds: [order.initialInvoiceId],
    })
    const deadlineTime = new Date(Date.now() + 30_000).toISOString()
    const body = disputeBody(String(sale.id), { status: 'response-needed', deadlineTime })
    const { id } = await create(api, 'disputes', body)
    return { customerId, order, body, path: `disputes/${id}`, id: String(id) }
  }

  test('a change of its dispute and the merge do not wait for each other', async () => {
    const [{ customerId, order, body, path }, target] = [await disputed(), await customer()]
    const change = () => api.put(path, { ...body, status: 'under-review' })
    const statuses = await behind(['subscriptions', order.id], [() => merge(customerId, target), change])
    expect(statuses).toEqual([204, 200])
    expect(await read(path)).toMatchObject({ customerId: target, status: 'under-review' })
  })

  test('a new dispute and the merge do not wait for each other', async () => {
    const [{ customerId, order, body }, target] = [await disputed(), await customer()]
    let made: ApiResponse<Body> | undefined
    const dispute = async () => {
      made = await api.post<Body>('disputes', body)
      return made
    }
    expect(await behind(['subscriptions', order.id], [() => merge(customerId, target), dispute])).toEqual([
      204, 201,
    ])
    expect(made?.body.customerId).toBe(target)
  })

  test('the deadline of its dispute and the merge do not wait for each other', async () => {
    const [{ customerId, order, path, id }, target] = [await disputed(), await customer()]
    const instant = Date.now() + 60_000
    const lose = async () => {
      await inUnitOfWork(
        service.database.orm.em.fork(),
        { organizationId: merchant.organizationId, baseUrl: service.baseUrl, now: new Date() },
        async (unit) => {
          const dispute = await lockDispute(unit, id)
          if (dispute !== null) await advanceDispute(unit, dispute, instant)
        },
      )
      return await api.get(path)
    }
    const statuses = await behind(['subscriptions', order.id], [() => merge(customerId, target), lose])
    expect(statuses).toEqual([204, 200])
    expect(await read(path)).toMatchObject({ customerId: target, status: 'lost' })
  })

  test('and its target after it, a new dispute is one of the last customer', async () => {
    const [first, second, last] = [await customer(), await customer(), await customer()]
    const saleId = await externalSale(api, first)
    const [one, other] = [await connect(), await connect()]
    try {
      await one.query('select from customers where id = $1 for update', [first])
      await one.query('update transactions set customer_id = $2 where id = $1', [saleId, second])
      await one.query('delete from customers where id = $1', [first])
      await other.query('select from customers where id = $1 for update', [second])
      const moving = other.query('update transactions set customer_id = $2 where id = $1', [saleId, last])
      await waiting(1)
      const response = api.post<Body>('disputes', disputeBody(saleId))
      await waiting(2)
      await one.query('commit')
      await moving
      await waiting(1)
      await other.query('update disputes set customer_id = $2 where customer_id = $1', [second, last])
      await other.query('delete from customers where id = $1', [second])
      await other.query('commit')
      const { status, body } = await response
      expect({ status, customerId: body.customerId }).toEqual({ status: 201, customerId: last })
    } finally {
      for (const client of [one, other]) await client.end()
    }
  })

  test('an invoice that is past due, and is charged to the instrument of the target, is reported once', async () => {
    const [{ customerId }, target] = [await makePayer(api), await makePayer(api)]
    const order = await create(api, 'subscriptions', orderBody(merchant, { customerId }))
    await api.put(`subscriptions/${order.id}`, { ...order, notes: 'Begun.' })
    const sql = (text: string) =>
      service.database.orm.em.fork().getConnection().execute<Body[]>(text, [order.initialInvoiceId])
    await sql(`update invoices set charge_time = null, declined_time = created_time,
                      due_time = created_time - interval '30 days' where id = ?`)
    await create(api, 'coupons-redemptions', await redeemed(target.customerId))
    expect((await merge(customerId, target.customerId)).status).toBe(204)
    const events = await sql('select type from events where entity_id = ? order by position')
    expect(events.filter(({ type }) => type === 'invoice-past-due')).toHaveLength(1)
    expect(await read(`invoices/${order.initialInvoiceId}`)).toMatchObject({
      status: 'past-due',
      autopayScheduledTime: expect.any(String),
    })
  })

  describe('the drafts of its orders', () => {
    const discountsOf = async ({ initialInvoiceId }: Body) =>
      (await read(`invoices/${initialInvoiceId}`)).discounts

    test('are not discounted by a redemption that is canceled meanwhile', async () => {
      const [customerId, target] = [await customer(), await customer()]
      const order = await later(customerId)
      const redemption = await create(api, 'coupons-redemptions', await redeemed(customerId))
      expect(await discountsOf(order)).toHaveLength(1)
      const cancel = () => api.post(`coupons-redemptions/${redemption.id}/cancel`, undefined)
      const statuses = await behind(['customers', target], [() => merge(customerId, target), cancel])
      expect(statuses).toEqual([204, 201])
      expect(await read(`coupons-redemptions/${redemption.id}`)).toMatchObject({
        customerId: target,
        canceledTime: expect.any(String),
        revision: 3,
      })
      expect(await discountsOf(order)).toEqual([])
    })

    test('are discounted by what the target redeems meanwhile', async () => {
      const [customerId, target] = [await customer(), await customer()]
      const order = await later(customerId)
      const given = await redeemed(target)
      const redeem = () => api.post('coupons-redemptions', given)
      const statuses = await behind(['customers', target], [() => merge(customerId, target), redeem])
      expect(statuses).toEqual([204, 201])
      expect(await discountsOf(order)).toHaveLength(1)
    })

    test('are discounted by what the target has redeemed for all of its orders, and its own by what the duplicate has', async () => {
      for (const ofTarget of [true, false]) {
        const [customerId, target] = [await customer(), await customer()]
        const [redeemer, owner] = ofTarget ? [target, customerId] : [customerId, target]
        const order = await later(owner)
        await create(api, 'coupons-redemptions', await redeemed(redeemer))
        expect((await merge(customerId, target)).status).toBe(204)
        expect(await discountsOf(order)).toHaveLength(1)
        const path = `subscriptions/${order.id}`
        expect(await read(path)).toMatchObject({ customerId: target })
        const invoice = await read(`invoices/${order.initialInvoiceId}`)
        expect(invoice).toMatchObject({ customerId: target, amount: 4.95, revision: 2 })
      }
    })
  })
})

/** Commands lock orders, customers and transactions in one order, so that no deadlock arises. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { applyTransaction } from '../../commands/invoices/apply-transaction.ts'
import { advanceOrder, lockSubscription } from '../../commands/orders/advance-order.ts'
import { startOrderCall } from '../../commands/orders/start-order-call.ts'
import { lockInvoices, withApplied } from '../../commands/payments/apply-payment.ts'
import { recordForeignRefund } from '../../commands/payments/record-foreign-refund.ts'
import { recordResult } from '../../commands/payments/record-result.ts'
import { Transaction } from '../../db/entities/index.ts'
import { inUnitOfWork, type UnitOfWork } from '../../db/unit-of-work.ts'
import type { ApiResponse } from '../support/api-client.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { disputeBody } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { makePayer } from '../support/payments.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

describe('at the same time', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const owing = async () => {
    const { body: customer } = await merchant.api.post('customers', {
      paymentToken: await makeToken(merchant.api),
    })
    const { body: order } = await merchant.api.post(
      'subscriptions',
      orderBody(merchant, { customerId: customer.id, autopay: false }),
    )
    return { customer, order, invoiceId: String(order.initialInvoiceId) }
  }
  const sale = (customerId: unknown, invoiceId: string, paymentInstruction: object, amount = 1) =>
    merchant.api.post('transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount,
      paymentInstruction,
      invoiceIds: [invoiceId],
    })

  const unusedSale = async (customerId: unknown, amount = 9.9) => {
    const { body } = await merchant.api.post('transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount,
      paymentInstruction: { method: 'external' },
    })
    return body
  }
  const statusOf = async (invoiceId: unknown) => (await merchant.api.get(`invoices/${invoiceId}`)).body.status
  const inUnit = <T>(work: (unit: UnitOfWork) => Promise<T>, now = new Date()) =>
    inUnitOfWork(
      service.database.orm.em.fork(),
      { organizationId: merchant.organizationId, baseUrl: service.baseUrl, now },
      work,
    )
  const isWaiting = async () => {
    const found = await service.database.orm.em
      .fork()
      .getConnection()
      .execute(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
    return found.length === 0 ? null : true
  }

  /** Makes a request wait for a row, and returns the rows that it has locked meanwhile. */
  const heldMeanwhile = async (
    [awaited, awaitedId]: readonly [table: string, id: unknown],
    request: () => Promise<ApiResponse>,
    rows: readonly (readonly [table: string, id: unknown])[],
  ): Promise<{ held: string[]; status: number }> => {
    const client = new pg.Client({ connectionString: service.databaseUrl })
    await client.connect()
    try {
      await client.query('begin')
      await client.query(`select from ${awaited} where id = $1 for update`, [awaitedId])
      const response = request()
      await waitFor('the request to wait for the row', async () => {
        const { rowCount } = await client.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return rowCount === 0 ? null : true
      })
      const held: string[] = []
      for (const [table, id] of rows) {
        const { rowCount } = await client.query(`select from ${table} where id = $1 for update skip locked`, [
          id,
        ])
        if (rowCount === 0) held.push(table)
      }
      await client.query('rollback')
      return { held, status: (await response).status }
    } finally {
      await client.end()
    }
  }

  test('a sale waits for the order of its invoice without holding its customer', async () => {
    const { customer, order, invoiceId } = await owing()
    const request = () => sale(customer.id, invoiceId, { method: 'external' })
    expect(await heldMeanwhile(['subscriptions', order.id], request, [['customers', customer.id]])).toEqual({
      held: [],
      status: 201,
    })
  })

  test('an order has one record, also where a sale was applied to another of its invoices meanwhile', async () => {
    const { order, invoiceId } = await owing()
    const path = `subscriptions/${order.id}`
    await merchant.api.put(path, { ...order, notes: 'Begun.' })
    const issued = await merchant.api.post<{ id: string }>(`${path}/upcoming-invoice/issue`, {})
    expect(issued.status).toBe(201)
    const upcomingId = issued.body.id
    const { id } = await unusedSale(order.customerId)
    const records = await inUnit(async (unit) => {
      const instantOf = () => unit.now.getTime()
      const locked = await lockInvoices(unit, [invoiceId], instantOf)
      const sale = await unit.em.findOneOrFail(Transaction, {
        organizationId: merchant.organizationId,
        id: String(id),
      })
      const applied = Object.assign(Object.create(sale), {
        invoiceIds: [invoiceId, upcomingId],
      }) as Transaction
      return (await withApplied(unit, applied, locked, instantOf)).map((one) => [one.id, one.record] as const)
    })
    expect(records.map(([invoice]) => invoice)).toEqual([invoiceId, upcomingId])
    expect(new Set(records.map(([, record]) => record)).size).toBe(1)
  })

  test('an order that is due has one revision, also where its sale was applied to the invoice of another meanwhile', async () => {
    const { customer, order, invoiceId } = await owing()
    await merchant.api.put(`subscriptions/${order.id}`, { ...order, notes: 'Begun.' })
    const { body: other } = await merchant.api.post(
      'subscriptions',
      orderBody(merchant, { customerId: customer.id, autopay: false }),
    )
    const paid = await unusedSale(customer.id, 25)
    expect(
      await merchant.api.post(`invoices/${invoiceId}/transaction`, { transactionId: paid.id }),
    ).toMatchObject({ body: { status: 'paid' } })
    const before = (await merchant.api.get(`subscriptions/${order.id}`)).body
    const [applied, committed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const applying = inUnit(async (unit) => {
      const rest = { transactionId: String(paid.id), amount: null }
      await applyTransaction(unit, String(other.initialInvoiceId), rest)
      await unit.em.flush()
      applied.resolve()
      await committed.promise
    })
    await Promise.race([applied.promise, applying])
    const refund = { requestId: 'elsewhere/re_1', refundId: 're_1', amount: '25', rawResponse: '{}' }
    const refunding = inUnit(
      (unit) => recordForeignRefund(unit, String(paid.id), refund),
      new Date(Date.now() + 40 * 86_400_000),
    )
    await Promise.race([refunding, waitFor('the refund to wait for the sale', isWaiting)])
    committed.resolve()
    await Promise.all([applying, refunding])
    expect(await statusOf(invoiceId)).toBe('refunded')
    expect(await statusOf(other.initialInvoiceId)).toBe('refunded')
    const { body: after } = await merchant.api.get(`subscriptions/${order.id}`)
    expect([before.rebillNumber, after.rebillNumber]).toEqual([1, 2])
    expect(Number(after.revision) - Number(before.revision)).toBe(1)
  })

  test('a dispute waits for the order that was paid without holding the sale', async () => {
    const { customer, order, invoiceId } = await owing()
    const { body: paid } = await sale(customer.id, invoiceId, { method: 'external' })
    const request = () => merchant.api.post('disputes', disputeBody(String(paid.id)))
    expect(await heldMeanwhile(['subscriptions', order.id], request, [['transactions', paid.id]])).toEqual({
      held: [],
      status: 201,
    })
  })

  test('a sale, a dispute and a change of items wait for the customer without holding its credit memos', async () => {
    const { customer, order, invoiceId } = await owing()
    await merchant.api.put(`subscriptions/${order.id}`, { ...order, notes: 'Begun.' })
    const { body: paid } = await sale(customer.id, invoiceId, { method: 'external' })
    const { body: memo } = await merchant.api.post('credit-memos', {
      customerId: customer.id,
      currency: 'EUR',
      items: [{ description: 'Goodwill', unitPrice: 1, quantity: 1 }],
    })
    expect(memo.unusedAmount).toBe(1)
    const path = `subscriptions/${order.id}`
    const change = { renewalPolicy: 'retain', prorated: false }
    const items = (quantity: number) => [{ plan: { id: merchant.planId }, quantity }]
    for (const [status, request] of [
      [201, () => sale(customer.id, invoiceId, { method: 'external' })],
      [201, () => merchant.api.post('disputes', disputeBody(String(paid.id)))],
      [200, () => merchant.api.put(path, { ...order, items: items(2) })],
      [201, () => merchant.api.post(`${path}/change-items`, { ...change, items: items(3) })],
    ] as const) {
      const held = await heldMeanwhile(['customers', customer.id], request, [['credit_memos', memo.id]])
      expect(held).toEqual({ held: [], status })
    }
  })

  test('a sale for invoices of two orders locks credit memos in the order of their ids', async () => {
    const { customer } = await owing()
    const orders = []
    for (const _ of [1, 2]) {
      const members = { customerId: customer.id, autopay: false }
      orders.push(await create(merchant.api, 'subscriptions', orderBody(merchant, members)))
    }
    const [first, second] = orders.toSorted((one, other) => (String(one.id) < String(other.id) ? -1 : 1))
    const credit = async (id: string, invoiceId: unknown) => {
      const items = [{ description: 'Goodwill', unitPrice: 2, quantity: 1 }]
      const members = { customerId: customer.id, currency: 'EUR', items, invoiceId }
      expect((await merchant.api.put(`credit-memos/${id}`, members)).status).toBe(201)
      return id
    }
    // That of the later order comes first, and has nothing left for the other.
    const used = await credit(`${customer.id}_1`, second?.initialInvoiceId)
    const unused = await credit(`${customer.id}_2`, null)
    const request = () =>
      merchant.api.post('transactions', {
        type: 'sale',
        customerId: customer.id,
        currency: 'EUR',
        amount: 1,
        paymentInstruction: { method: 'external' },
        invoiceIds: [first?.initialInvoiceId, second?.initialInvoiceId],
      })
    expect(await heldMeanwhile(['credit_memos', used], request, [['credit_memos', unused]])).toEqual({
      held: [],
      status: 201,
    })
  })

  const coupon = async () =>
    String((await create(merchant.api, 'coupons', { discount: { type: 'percent', value: 50 } })).id)

  test('a redemption waits for the orders that it names without holding their customer', async () => {
    const { customer, order } = await owing()
    const members = { customerId: customer.id, autopay: false }
    const other = await create(merchant.api, 'subscriptions', orderBody(merchant, members))
    for (const one of [order, other]) {
      await merchant.api.put(`subscriptions/${one.id}`, { ...one, notes: 'Begun.' })
    }
    const given = { couponId: await coupon(), customerId: customer.id }
    const restriction = { type: 'restrict-to-subscriptions', subscriptionIds: [order.id, other.id] }
    const redeem = () =>
      merchant.api.post('coupons-redemptions', { ...given, additionalRestrictions: [restriction] })
    for (const { id } of [order, other]) {
      expect(await heldMeanwhile(['subscriptions', id], redeem, [['customers', customer.id]])).toEqual({
        held: [],
        status: 201,
      })
    }
  })

  test('a redemption and its end wait for credit memos without holding the coupon', async () => {
    const customer = await create(merchant.api, 'customers', {})
    const startTime = new Date(Date.now() + 86_400_000).toISOString()
    const members = { customerId: customer.id, startTime }
    await create(merchant.api, 'subscriptions', orderBody(merchant, members))
    const memo = await create(merchant.api, 'credit-memos', {
      customerId: customer.id,
      currency: 'EUR',
      items: [{ description: 'Goodwill', unitPrice: 1, quantity: 1 }],
    })
    const couponId = await coupon()
    const redemptions = () =>
      merchant.api.get<{ id: string }[]>(`coupons-redemptions?filter=couponId:${couponId}`)
    const redeem = () => merchant.api.post('coupons-redemptions', { couponId, customerId: customer.id })
    const end = async () => {
      const [redemption] = (await redemptions()).body
      return await merchant.api.post(`coupons-redemptions/${redemption?.id}/cancel`, undefined)
    }
    for (const request of [redeem, end]) {
      expect(await heldMeanwhile(['credit_memos', memo.id], request, [['coupons', couponId]])).toEqual({
        held: [],
        status: 201,
      })
    }
  })

  test('sales, changes of the order and changes of its customer are all answered', async () => {
    const { customer, order, invoiceId } = await owing()
    const instruction = customer.defaultPaymentInstrument as { paymentInstrumentId: string }
    const { paymentInstrumentId } = instruction
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, turn) => [
        sale(customer.id, invoiceId, { paymentInstrumentId }, 0.1),
        merchant.api.put(`customers/${customer.id}`, {
          firstName: `Ada ${turn}`,
          defaultPaymentInstrument: instruction,
        }),
        merchant.api.put(`subscriptions/${order.id}`, {
          ...order,
          paymentInstrumentId: turn % 2 === 0 ? paymentInstrumentId : null,
        }),
      ]).flat(),
    )
    expect(responses.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
  })

  test('refunds and disputes of a sale that paid an invoice are all answered', async () => {
    const { customer, invoiceId } = await owing()
    const { paymentInstrumentId } = customer.defaultPaymentInstrument as { paymentInstrumentId: string }
    const { body: paid } = await sale(customer.id, invoiceId, { paymentInstrumentId }, 9.9)
    expect(paid.result).toBe('approved')
    const responses = await Promise.all(
      Array.from({ length: 12 }, () => [
        merchant.api.post('transactions', { type: 'refund', parentTransactionId: paid.id, amount: 0.1 }),
        merchant.api.post('disputes', disputeBody(String(paid.id))),
      ]).flat(),
    )
    expect(responses.map(({ status }) => status)).toEqual(Array(24).fill(201))
    expect((await merchant.api.get(`invoices/${invoiceId}`)).body.status).toBe('disputed')
  })

  test('an invoice that is paid from what a sale has left is disputed by a dispute of the sale', async () => {
    const { customer, invoiceId } = await owing()
    const unused = await unusedSale(customer.id)
    const applied = Promise.withResolvers<void>()
    const committed = Promise.withResolvers<void>()
    const applying = inUnit(async (unit) => {
      await applyTransaction(unit, invoiceId, { transactionId: String(unused.id), amount: null })
      await unit.em.flush()
      applied.resolve()
      await committed.promise
    })
    await applied.promise
    const responded = merchant.api.post('disputes', disputeBody(String(unused.id)))
    await Promise.race([responded, waitFor('the dispute to wait for the sale', isWaiting)])
    committed.resolve()
    await applying
    expect((await responded).status).toBe(201)
    expect((await merchant.api.get(`invoices/${invoiceId}`)).body.status).toBe('disputed')
  })

  test('a sale outside of the service that is disputed makes what it pays later disputed', async () => {
    const { customer, invoiceId } = await owing()
    const unused = await unusedSale(customer.id)
    await merchant.api.post('disputes', disputeBody(String(unused.id)))
    const { body } = await merchant.api.post(`invoices/${invoiceId}/transaction`, {
      transactionId: unused.id,
    })
    expect(body.status).toBe('disputed')
  })

  test('an order is advanced for a command on several before any sale is locked: a sale that is refunded waits for no order', async () => {
    const { body: customer } = await merchant.api.post('customers', {
      paymentToken: await makeToken(merchant.api),
    })
    const customerId = customer.id
    const { body: first } = await merchant.api.post('subscriptions', orderBody(merchant, { customerId }))
    const { body: second } = await merchant.api.post(
      'subscriptions',
      orderBody(merchant, { customerId, autopay: false }),
    )
    const call = await inUnit((unit) => startOrderCall(unit, String(first.id), Date.now()))
    const declined = { result: 'declined', raw: '{}' } as const
    await inUnit((unit) => recordResult(unit, String(call?.transactionId), declined, Date.now()))
    const { paymentInstrumentId } = customer.defaultPaymentInstrument as { paymentInstrumentId: string }
    const { body: paid } = await merchant.api.post('transactions', {
      type: 'sale',
      customerId,
      currency: 'EUR',
      amount: 12,
      paymentInstruction: { paymentInstrumentId },
      invoiceIds: [second.initialInvoiceId, first.initialInvoiceId],
    })
    expect(paid.result).toBe('approved')
    const sql = (text: string) => service.database.orm.em.fork().getConnection().execute(text, [first.id])
    await sql("update subscriptions set abandon_time = now() - interval '1 second' where id = ?")
    const request = () => merchant.api.post('disputes', disputeBody(String(paid.id)))
    expect(await heldMeanwhile(['subscriptions', second.id], request, [['transactions', paid.id]])).toEqual({
      held: [],
      status: 201,
    })
    expect((await merchant.api.get(`subscriptions/${first.id}`)).body.status).toBe('abandoned')
    const back = await merchant.api.get(`transactions?filter=parentTransactionId:${paid.id}`)
    expect(back.body).toMatchObject([{ type: 'refund', amount: 2.1 }])
  })

  test('what is charged to a new default is advanced before any sale is locked: a sale that is refunded waits for no credit memo', async () => {
    const { body: customer } = await merchant.api.post('customers', {
      paymentToken: await makeToken(merchant.api),
    })
    const customerId = customer.id
    const place = () => create(merchant.api, 'subscriptions', orderBody(merchant, { customerId }))
    const [first, second] = [await place(), await place()]
    const call = await inUnit((unit) => startOrderCall(unit, String(first.id), Date.now()))
    const declined = { result: 'declined', raw: '{}' } as const
    await inUnit((unit) => recordResult(unit, String(call?.transactionId), declined, Date.now()))
    const { paymentInstrumentId } = customer.defaultPaymentInstrument as { paymentInstrumentId: string }
    const { body: paid } = await sale(
      customerId,
      String(first.initialInvoiceId),
      { paymentInstrumentId },
      2.1,
    )
    expect(paid.result).toBe('approved')
    const memo = await create(merchant.api, 'credit-memos', {
      customerId,
      currency: 'EUR',
      items: [{ description: 'Goodwill', unitPrice: 2, quantity: 1 }],
      invoiceId: second.initialInvoiceId,
    })
    const path = `subscriptions/${second.id}`
    await merchant.api.put(path, { ...(await merchant.api.get(path)).body, notes: 'Begun.' })
    const { id: other } = await create(merchant.api, 'payment-instruments', {
      customerId,
      token: await makeToken(merchant.api),
    })
    const sql = (text: string) => service.database.orm.em.fork().getConnection().execute(text, [first.id])
    await sql("update subscriptions set abandon_time = now() - interval '1 second' where id = ?")
    const request = () => merchant.api.put(`customers/${customerId}`, { defaultPaymentInstrumentId: other })
    expect(await heldMeanwhile(['credit_memos', memo.id], request, [['transactions', paid.id]])).toEqual({
      held: [],
      status: 200,
    })
    expect((await merchant.api.get(`subscriptions/${first.id}`)).body.status).toBe('abandoned')
    const back = await merchant.api.get(`transactions?filter=parentTransactionId:${paid.id}`)
    expect(back.body).toMatchObject([{ type: 'refund', amount: 2.1 }])
  })

  describe('a renewal invoice that is issued while its customer', () => {
    const nobody = async () => String((await create(merchant.api, 'customers', {})).id)
    const renewing = async (customerId: string, members: object = {}) => {
      const { id } = await create(
        merchant.api,
        'subscriptions',
        orderBody(merchant, { customerId, ...members }),
      )
      const order = await inOrder(String(id), Date.now())
      await sale(customerId, String(order.initialInvoiceId), { method: 'external' }, 9.9)
      const path = `subscriptions/${id}`
      const { body } = await merchant.api.get(path)
      const renewalTime = Date.now() + 200
      const moved = await merchant.api.put(path, {
        ...body,
        renewalTime: new Date(renewalTime).toISOString(),
      })
      expect(moved.status).toBe(200)
      await waitFor('the renewal', () => Date.now() > renewalTime || null)
      return { customerId, id: String(id) }
    }
    /** Advances an order as a worker does; `meanwhile` happens before that is committed. */
    const inOrder = async (id: string, at: number, meanwhile = async () => {}) => {
      await inUnit(async (unit) => {
        const row = await lockSubscription(unit, id)
        if (row === null) throw new Error('no order')
        await advanceOrder(unit, row, at)
        await unit.em.flush()
        await meanwhile()
      })
      return (await merchant.api.get(`subscriptions/${id}`)).body
    }
    const isChargedAfter = async (
      { id }: { readonly id: string },
      request: () => Promise<ApiResponse>,
    ): Promise<void> => {
      let responded: Promise<ApiResponse> | undefined
      const order = await inOrder(id, Date.now(), async () => {
        responded = request()
        await Promise.race([responded, waitFor('the request to wait', isWaiting)])
      })
      expect((await responded)?.status).toBeLessThan(300)
      const { body: invoice } = await merchant.api.get(`invoices/${order.recentInvoiceId}`)
      expect(invoice).toMatchObject({ type: 'renewal', autopayScheduledTime: expect.any(String) })
    }

    test('is given a default instrument is charged', async () => {
      const order = await renewing(await nobody())
      const paymentToken = await makeToken(merchant.api)
      await isChargedAfter(order, () => merchant.api.put(`customers/${order.customerId}`, { paymentToken }))
    })

    test('takes the default instrument of a merged customer is charged', async () => {
      const order = await renewing(await nobody())
      const duplicate = await create(merchant.api, 'customers', {
        paymentToken: await makeToken(merchant.api),
      })
      await isChargedAfter(order, () =>
        merchant.api.delete(`customers/${duplicate.id}?targetCustomerId=${order.customerId}`),
      )
    })

    test('gets a backup of the deactivated instrument of the order is charged', async () => {
      const { customerId, paymentInstrumentId } = await makePayer(merchant.api)
      const order = await renewing(customerId, { paymentInstrumentId })
      const path = `payment-instruments/${paymentInstrumentId}/deactivation`
      expect((await merchant.api.post(path, undefined)).status).toBe(201)
      const token = await makeToken(merchant.api)
      await isChargedAfter(order, () =>
        merchant.api.post('payment-instruments', { customerId, token, useAsBackup: true }),
      )
    })
  })

  test('of two that wait for each other the one that PostgreSQL undoes gets a conflict, and has done nothing', async () => {
    const { customer, order, invoiceId } = await owing()
    const { body: later } = await merchant.api.post(
      'subscriptions',
      orderBody(merchant, { customerId: customer.id, autopay: false }),
    )
    const clients = [0, 1].map(() => new pg.Client({ connectionString: service.databaseUrl }))
    const [holder, other] = clients
    if (holder === undefined || other === undefined) throw new Error('no clients')
    const lock = 'select from subscriptions where id = $1 for update'
    const waiting = (count: number) =>
      waitFor(`${count} to wait`, async () => {
        const { rowCount } = await holder.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return rowCount === count ? true : null
      })
    try {
      for (const client of clients) await client.connect()
      // Only the request checks for a deadlock, so it is the one that is undone.
      await other.query("set deadlock_timeout = '1h'")
      for (const client of clients) await client.query('begin')
      await other.query(lock, [later.id])
      await holder.query(lock, [order.id])
      const request = merchant.api.post('transactions', {
        type: 'sale',
        customerId: customer.id,
        currency: 'EUR',
        amount: 12,
        paymentInstruction: { method: 'external' },
        invoiceIds: [invoiceId, later.initialInvoiceId],
      })
      await waiting(1)
      const ring = other.query(lock, [order.id])
      await waiting(2)
      await holder.query('rollback')
      const response = await request
      await ring
      expectProblem(response, 503, 'unavailable')
      expect(response.headers.get('retry-after')).toBe('1')
      expect((await merchant.api.get(`invoices/${invoiceId}`)).body.amountDue).toBe(9.9)
    } finally {
      for (const client of clients) await client.end()
    }
  })
})

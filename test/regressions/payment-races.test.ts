/** Commands that meet at the same orders, customers and transactions lock them in one order: none waits for another in a ring. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import type { ApiAnswer } from '../rig/api-client.ts'
import { makeToken } from '../rig/cards.ts'
import { type Catalogue, catalogue, orderBody } from '../rig/catalogue.ts'
import { disputeBody } from '../rig/dispute.ts'
import { startService, type TestService } from '../rig/service.ts'
import { waitFor } from '../rig/wait-for.ts'

describe('at the same time', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  /** An order that is active and owes its first invoice, as a command finds it. */
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

  /** Runs a request that comes to wait for the order, and gives what it waits with: rows nobody else can lock then. */
  const heldMeanwhile = async (
    orderId: unknown,
    request: () => Promise<ApiAnswer>,
    rows: readonly (readonly [table: string, id: unknown])[],
  ): Promise<{ held: string[]; status: number }> => {
    const client = new pg.Client({ connectionString: service.databaseUrl })
    await client.connect()
    try {
      await client.query('begin')
      await client.query('select from subscriptions where id = $1 for update', [orderId])
      const answer = request()
      await waitFor('the request to wait for the order', async () => {
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
      return { held, status: (await answer).status }
    } finally {
      await client.end()
    }
  }

  test('a sale waits for the order of its invoice without holding its customer', async () => {
    const { customer, order, invoiceId } = await owing()
    const request = () => sale(customer.id, invoiceId, { method: 'external' })
    expect(await heldMeanwhile(order.id, request, [['customers', customer.id]])).toEqual({
      held: [],
      status: 201,
    })
  })

  test('a dispute waits for the order that was paid without holding the sale', async () => {
    const { customer, order, invoiceId } = await owing()
    const { body: paid } = await sale(customer.id, invoiceId, { method: 'external' })
    const request = () => merchant.api.post('disputes', disputeBody(String(paid.id)))
    expect(await heldMeanwhile(order.id, request, [['transactions', paid.id]])).toEqual({
      held: [],
      status: 201,
    })
  })

  test('sales, changes of the order and changes of its customer are all answered', async () => {
    const { customer, order, invoiceId } = await owing()
    const instruction = customer.defaultPaymentInstrument as { paymentInstrumentId: string }
    const { paymentInstrumentId } = instruction
    const answers = await Promise.all(
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
    expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
  })

  test('refunds and disputes of a sale that paid an invoice are all answered', async () => {
    const { customer, invoiceId } = await owing()
    const { paymentInstrumentId } = customer.defaultPaymentInstrument as { paymentInstrumentId: string }
    const { body: paid } = await sale(customer.id, invoiceId, { paymentInstrumentId }, 9.9)
    expect(paid.result).toBe('approved')
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => [
        merchant.api.post('transactions', { type: 'refund', parentTransactionId: paid.id, amount: 0.1 }),
        merchant.api.post('disputes', disputeBody(String(paid.id))),
      ]).flat(),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(24).fill(201))
    expect((await merchant.api.get(`invoices/${invoiceId}`)).body.status).toBe('disputed')
  })
})

/** What payments, refunds and disputes mean for the invoices they are about, where several meet. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { recordAnswer } from '../../db/commands/record-answer.ts'
import { lockSubscription, settleSubscription } from '../../db/commands/settle-subscription.ts'
import { startSale } from '../../db/commands/start-transaction.ts'
import { newId } from '../../db/ids.ts'
import { inUnitOfWork, type UnitOfWork } from '../../db/unit-of-work.ts'
import { createGateway } from '../../gateways/gateways.ts'
import type { Gateway } from '../../gateways/port.ts'
import { makeToken } from '../rig/cards.ts'
import { type Catalogue, catalogue, orderBody } from '../rig/catalogue.ts'
import { disputeBody } from '../rig/dispute.ts'
import { startService, type TestService } from '../rig/service.ts'

type Body = Record<string, unknown>

describe('invoices', () => {
  let service: TestService
  let merchant: Catalogue
  let gateway: Gateway

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
    gateway = createGateway('sandbox', service.databaseUrl)
  })
  afterAll(async () => {
    await gateway?.close()
    await service.stop()
  })

  const sql = <T>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const inUnit = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
    inUnitOfWork(
      service.database.orm.em.fork(),
      { organizationId: merchant.organizationId, baseUrl: service.baseUrl, now: new Date() },
      work,
    )
  const make = async (path: string, body: object): Promise<Body> => {
    const answer = await merchant.api.post(path, body)
    if (answer.status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const get = async (path: string): Promise<Body> => (await merchant.api.get(path)).body
  /** A customer with a card; gives its id and the card's. */
  const payer = async () => {
    const { id, defaultPaymentInstrument } = await make('customers', {
      paymentToken: await makeToken(merchant.api),
    })
    const { paymentInstrumentId } = defaultPaymentInstrument as { paymentInstrumentId: string }
    return { customerId: String(id), paymentInstruction: { paymentInstrumentId } }
  }
  type Payer = Awaited<ReturnType<typeof payer>>
  /** An order that is active and owes its first invoice. */
  const owing = async ({ customerId }: Payer, members: object = {}): Promise<Body> =>
    await make('subscriptions', orderBody(merchant, { customerId, autopay: false, ...members }))
  /** A sale that the gateway has not answered yet; gives its id. */
  const unanswered = async (from: Payer, invoiceIds: string[], amount: number): Promise<string> => {
    const id = newId('txn')
    const path = { vault: service.database.vault, gateway }
    const sale = { ...from, currency: 'EUR', amount, invoiceIds }
    await inUnit((unit) => startSale(unit, path, id, sale))
    return id
  }
  const answer = (id: string, result: 'approved' | 'declined' | 'unknown', instant = Date.now()) =>
    inUnit((unit) => recordAnswer(unit, id, { result, raw: '{}' }, instant))

  test.each([
    ['pending', []],
    ['unknown', ['unknown']],
  ] as const)(
    'a dispute of a sale that is %s shows on its invoice once the sale is approved',
    async (_, answers) => {
      const from = await payer()
      const invoiceId = String((await owing(from)).initialInvoiceId)
      const id = await unanswered(from, [invoiceId], 9.9)
      for (const result of answers) await answer(id, result)
      const dispute = await make('disputes', disputeBody(id))
      expect(await get(`invoices/${invoiceId}`)).toMatchObject({ status: 'unpaid' })
      await answer(id, 'approved')
      expect(await get(`invoices/${invoiceId}`)).toMatchObject({ status: 'disputed', amountDue: 0 })
      await merchant.api.put(`disputes/${dispute.id}`, { ...dispute, status: 'won' })
      expect(await get(`invoices/${invoiceId}`)).toMatchObject({ status: 'paid' })
    },
  )

  test('an invoice whose first part is disputed is disputed, and not paid, when the rest has come', async () => {
    const from = await payer()
    const invoiceId = String((await owing(from)).initialInvoiceId)
    const pay = (amount: number) =>
      make('transactions', { type: 'sale', ...from, currency: 'EUR', amount, invoiceIds: [invoiceId] })
    const { id } = await pay(4)
    await make('disputes', disputeBody(String(id)))
    expect(await get(`invoices/${invoiceId}`)).toMatchObject({ status: 'partially-paid' })
    await pay(5.9)
    expect(await get(`invoices/${invoiceId}`)).toMatchObject({ status: 'disputed', amountDue: 0 })
  })

  test('the events of a dispute belong to the website of the first invoice of its sale', async () => {
    const website = await make('websites', { name: 'Other shop' })
    const from = await payer()
    const { websiteId } = await get(`customers/${from.customerId}`)
    expect(websiteId).not.toBe(website.id)
    const invoiceId = String((await owing(from, { websiteId: website.id })).initialInvoiceId)
    const id = await unanswered(from, [invoiceId], 9.9)
    await answer(id, 'approved')
    const refund = await make('transactions', { type: 'refund', parentTransactionId: id, amount: 1 })
    for (const about of [id, refund.id]) {
      const dispute = await make('disputes', disputeBody(String(about)))
      await merchant.api.put(`disputes/${dispute.id}`, { ...dispute, status: 'lost' })
      const found = await sql(
        'select type, website_id from events where payload::jsonb ->> ? = ? order by id',
        ['disputeId', dispute.id],
      )
      expect(found).toEqual([
        { type: 'dispute-created', website_id: website.id },
        { type: 'dispute-modified', website_id: website.id },
      ])
    }
  })

  test('a transaction that is asked about at another time than it showed has another revision', async () => {
    const from = await payer()
    const id = await unanswered(from, [], 5)
    await answer(id, 'unknown')
    const before = await merchant.api.get(`transactions/${id}`)
    await answer(id, 'unknown', Date.now() + 6 * 60_000)
    const after = await merchant.api.send('GET', `transactions/${id}`, {
      headers: { 'If-None-Match': String(before.headers.get('etag')) },
    })
    expect(after.status).toBe(200)
    expect(after.body.nextInquiryTime).not.toBe(before.body.nextInquiryTime)
    expect(after.body.revision).toBe(Number(before.body.revision) + 1)
  })

  describe('of which one is for a period that does not come', () => {
    const HOUR = 3_600_000

    /** Sale of an invoice that is served, A, and of one that is not going to be, B; in the order asked for. */
    const paidAhead = async (inOrder: (a: string, b: string) => string[]) => {
      const from = await payer()
      const plan = await make('plans', {
        name: 'Ahead',
        currency: 'EUR',
        pricing: { formula: 'fixed-fee', price: 10 },
        recurringInterval: { unit: 'day', length: 1 },
        invoiceTimeShift: { issueTimeShift: { chronology: 'before', duration: 23, unit: 'hour' } },
      })
      const startTime = new Date(Date.now() - 2 * HOUR).toISOString()
      const { id } = await owing(from, { items: [{ plan: { id: plan.id } }], startTime })
      await inUnit(async (unit) => {
        const row = await lockSubscription(unit, String(id))
        if (row !== null) await settleSubscription(unit, row, Date.now())
      })
      const { initialInvoiceId, recentInvoiceId } = await get(`subscriptions/${id}`)
      const [a, b] = [String(initialInvoiceId), String(recentInvoiceId)]
      expect(a).not.toBe(b)
      const invoiceIds = inOrder(a, b)
      const sale = await make('transactions', {
        type: 'sale',
        ...from,
        currency: 'EUR',
        amount: 20,
        invoiceIds,
      })
      const refunds = async () => {
        const { body } = await merchant.api.get<Body[]>(
          `transactions?filter=parentTransactionId:${sale.id}&sort=id`,
        )
        return body.map(({ id, amount }) => ({ id: String(id), amount }))
      }
      const cancel = () => make('subscription-cancellations', { subscriptionId: id })
      const status = async (invoiceId: string) => (await get(`invoices/${invoiceId}`)).status
      return { a, b, sale, refunds, cancel, status }
    }

    test('gives back no more of it than is left of it', async () => {
      const { a, b, sale, refunds, cancel, status } = await paidAhead((a, b) => [a, b])
      await make('transactions', { type: 'refund', parentTransactionId: sale.id, amount: 4 })
      expect(await status(b)).toBe('partially-refunded')
      await cancel()
      const [, back, ...others] = await refunds()
      expect([back?.amount, others]).toEqual([6, []])
      await answer(String(back?.id), 'approved')
      expect([await status(a), await status(b)]).toEqual(['paid', 'voided'])
      // What is left is that of the invoice that is served.
      await make('transactions', { type: 'refund', parentTransactionId: sale.id })
      expect((await refunds())[2]?.amount).toBe(10)
      expect(await status(a)).toBe('refunded')
    })

    test('marks the one that is served neither when it was paid last nor while the refund is under way', async () => {
      const { a, b, sale, refunds, cancel, status } = await paidAhead((a, b) => [b, a])
      await cancel()
      const [back, ...others] = await refunds()
      expect([back?.amount, others]).toEqual([10, []])
      // Before that one is answered, another part goes back: of what is served, since the other is spoken for.
      await make('transactions', { type: 'refund', parentTransactionId: sale.id, amount: 3 })
      expect(await status(a)).toBe('partially-refunded')
      await answer(String(back?.id), 'approved')
      expect([await status(a), await status(b)]).toEqual(['partially-refunded', 'voided'])
    })
  })
})

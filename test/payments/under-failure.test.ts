/** What has ended is never charged for, what was not sent is sent, what is owed is refunded. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { callGateway } from '../../activities/call-gateway.ts'
import type { ActivityDependencies } from '../../activities/dependencies.ts'
import { inquireTransaction } from '../../activities/inquire-transaction.ts'
import { REFUND_WAITS } from '../../billing/refund-schedule.ts'
import { startOrderCall } from '../../commands/orders/start-order-call.ts'
import { recordResult } from '../../commands/payments/record-result.ts'
import { startRefund, startSale } from '../../commands/payments/start-transaction.ts'
import { newId } from '../../db/new-id.ts'
import { freePort } from '../../dev/services/ports.ts'
import { type Gateway, NotSentError } from '../../gateways/port.ts'
import { createTestGateway } from '../../gateways/test-gateway.ts'
import { wakeLateRecords } from '../../worker/sweep.ts'
import { activityDependencies } from '../support/activities.ts'
import { TEST_CARDS } from '../support/cards.ts'
import type { Catalogue } from '../support/catalogue.ts'
import fc from '../support/fast-check.ts'
import { type Payments, type PlacedOrder, placeCharged, startPayments } from '../support/payments.ts'
import type { TestService } from '../support/service.ts'
import { NO_CARDS } from '../support/stored-card.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

interface Row {
  readonly id: string
  readonly type: 'sale' | 'refund'
  readonly status: string
  readonly result: string | null
  readonly amount: string
  readonly requestId: string
  readonly owedAmount: string
  readonly nextRefundTime: string | null
}

describe('money under failure', () => {
  let payments: Payments
  let service: TestService
  let merchant: Catalogue
  let gateway: Gateway
  let sql: Payments['sql']
  let inUnit: Payments['inUnit']
  let input: Payments['input']

  beforeAll(async () => {
    payments = await startPayments()
    ;({ service, merchant, gateway, sql, inUnit, input } = payments)
  })
  afterAll(() => payments.stop())

  let alerts = 0
  const logged: string[] = []
  const dependencies = (by: Gateway = gateway): ActivityDependencies =>
    activityDependencies(service, {
      gateway: by,
      logged,
      unpaidRefunds: {
        inc() {
          alerts += 1
        },
      },
    })
  const advanceOrder = ({ orders }: ActivityDependencies, of: Parameters<typeof orders.advance>[0]) =>
    orders.advance(of)
  /** Its first charge is due. */
  const place = async (pan: string = TEST_CARDS.approves, members: object = {}) => {
    const placed = await placeCharged(merchant, pan, members)
    await advanceOrder(dependencies(), input(placed.id))
    return placed
  }
  /** As if the process dies right after it has begun the order's own charge. */
  const begin = ({ id }: PlacedOrder) => inUnit((unit) => startOrderCall(unit, id, Date.now()))
  const transactionsOf = ({ customerId }: Pick<PlacedOrder, 'customerId'>) =>
    sql<Row>(
      `select id, type, status, result, amount, request_id as "requestId", owed_amount as "owedAmount",
              next_refund_time as "nextRefundTime"
         from transactions where customer_id = ? order by id`,
      [customerId],
    )
  const ledgerOf = ({ customerId }: Pick<PlacedOrder, 'customerId'>) =>
    sql<{ kind: string; result: string; request_id: string }>(
      `select kind, ledger.result, request_id from test_gateway.ledger
         join transactions using (organization_id, request_id) where customer_id = ? order by ledger.created_time`,
      [customerId],
    )
  const refundAll = async (placed: PlacedOrder, by: Gateway = gateway, ahead = 0) => {
    for (const one of await transactionsOf(placed)) {
      if (one.type === 'refund' && one.status === 'pending') {
        await inquireTransaction(dependencies(by), input(one.id, ahead))
      }
    }
  }
  const voidOrder = async ({ id }: PlacedOrder) => {
    expect((await merchant.api.post(`subscriptions/${id}/void`, {})).status).toBe(201)
  }
  const lost = (): Gateway => ({
    ...gateway,
    charge: async (charge) => {
      await gateway.charge(charge)
      throw new Error('the answer was lost')
    },
  })

  describe('what has ended', () => {
    test('is not charged for, where its charge had begun and was not sent', async () => {
      const placed = await place()
      await begin(placed)
      await voidOrder(placed)
      await callGateway(dependencies(), input(placed.id))
      expect(await ledgerOf(placed)).toEqual([])
      expect(await transactionsOf(placed)).toMatchObject([{ status: 'never-sent', result: 'canceled' }])
      expect((await advanceOrder(dependencies(), input(placed.id, HOUR))).gatewayCallDue).toBe(false)
    })

    test('is not charged for by a sale of a caller that was not sent', async () => {
      const placed = await place(TEST_CARDS.approves, { autopay: false })
      const id = newId('txn')
      const { customerId, invoiceId, paymentInstrumentId } = placed
      await inUnit((unit) =>
        startSale(
          unit,
          NO_CARDS,
          { id, requestId: id },
          {
            customerId,
            currency: 'EUR',
            amount: '9.9',
            paymentInstruction: { paymentInstrumentId },
            invoiceIds: [invoiceId],
          },
        ),
      )
      expect((await merchant.api.post(`invoices/${invoiceId}/void`, {})).status).toBe(201)
      await inquireTransaction(dependencies(), input(id, 2 * MINUTE))
      expect(await ledgerOf(placed)).toEqual([])
      expect(await transactionsOf(placed)).toMatchObject([{ status: 'never-sent', result: 'canceled' }])
    })

    test('is asked after where a charge may have been sent, and what is found goes back', async () => {
      const placed = await place()
      await callGateway(dependencies(lost()), input(placed.id))
      await voidOrder(placed)
      await callGateway(dependencies(), input(placed.id, 2 * MINUTE))
      await refundAll(placed)
      expect(await ledgerOf(placed)).toMatchObject([
        { kind: 'charge', result: 'approved' },
        { kind: 'refund', result: 'approved' },
      ])
      const [sale] = await transactionsOf(placed)
      expect(sale).toMatchObject({ result: 'approved', nextRefundTime: null })
      expect(Number(sale?.owedAmount)).toBe(0)
    })

    test('is refunded also where the charge was long on its way, and counted as never sent', async () => {
      const placed = await place()
      const call = await begin(placed)
      await voidOrder(placed)
      await callGateway(dependencies(), input(placed.id))
      const [sale] = await transactionsOf(placed)
      // A process that had stood still since before the order ended sends it now.
      const charge = { organizationId: merchant.organizationId, requestId: String(sale?.requestId) }
      const [card] = await sql<{ reference: string }>(
        'select gateway_reference as reference from transactions where id = ?',
        [sale?.id],
      )
      const response = await gateway.charge({
        ...charge,
        reference: String(card?.reference),
        amount: '9.9',
        currency: 'EUR',
        customer: null,
      })
      await inUnit((unit) => recordResult(unit, String(call?.transactionId), response, Date.now()))
      await refundAll(placed)
      expect((await ledgerOf(placed)).map(({ kind }) => kind)).toEqual(['charge', 'refund'])
    })
  })

  test('a call returns what the order then waits for, unless it is due again or its clock was moved', async () => {
    const placed = await place(TEST_CARDS.lacksFunds)
    const first = await callGateway(dependencies(), input(placed.id))
    const [{ next }] = (await sql<{ next: string }>(
      'select next_deadline as next from subscriptions where id = ?',
      [placed.id],
    )) as [{ next: string }]
    expect(first).toMatchObject({ next: Date.parse(next), gatewayCallDue: false })
    expect(first?.next).toBeGreaterThan(Date.now() + HOUR)
    expect(first).toEqual(await advanceOrder(dependencies(), input(placed.id)))
    expect(await callGateway(dependencies(), input(placed.id, (first?.next ?? 0) - Date.now() - 1))).toEqual(
      first,
    )

    await sql('update subscriptions set clock_offset = 1 where id = ?', [placed.id])
    expect(await callGateway(dependencies(), input(placed.id))).toBeNull()
  })

  describe('a request id', () => {
    test("of an order's own charge is derived from order, invoice and attempt", async () => {
      const placed = await place(TEST_CARDS.declines)
      await callGateway(dependencies(), input(placed.id))
      await callGateway(dependencies(), input(placed.id, 25 * HOUR))
      expect((await transactionsOf(placed)).map(({ requestId }) => requestId)).toEqual([
        `${placed.id}.1.1`,
        `${placed.id}.1.2`,
      ])
    })

    test('under an Idempotency-Key is derived from the request: what was lost here is not charged again', async () => {
      const { customerId, paymentInstrumentId } = await place(TEST_CARDS.approves, { autopay: false })
      const body = {
        type: 'sale',
        customerId,
        currency: 'EUR',
        amount: 3,
        paymentInstruction: { paymentInstrumentId },
      }
      const post = () => merchant.api.post('transactions', body, { 'Idempotency-Key': `lost-${customerId}` })
      const first = await post()
      // As on a standby that has not got the last commits.
      await sql('delete from transactions where id = ?', [first.body.id])
      await sql("delete from idempotency_records where key like 'lost-%'")
      const again = await post()
      expect(again.body).toMatchObject({ result: 'approved', requestId: first.body.requestId })
      expect(await ledgerOf({ customerId })).toHaveLength(1)
      await sql("delete from idempotency_records where key like 'lost-%'")
      expect((await post()).body.id).toBe(again.body.id)
    })

    test('is sent no more once its window has passed, and the charge is made as another attempt', async () => {
      const placed = await place()
      await begin(placed)
      const forgetful: Gateway = { ...gateway, idempotencyWindow: 0 }
      await callGateway(dependencies(forgetful), input(placed.id))
      expect(await ledgerOf(placed)).toEqual([])
      await callGateway(dependencies(), input(placed.id))
      expect(await ledgerOf(placed)).toMatchObject([{ request_id: `${placed.id}.1.2`, result: 'approved' }])
      expect((await merchant.api.get(`subscriptions/${placed.id}`)).body).toMatchObject({
        status: 'active',
        billingStatus: 'paid',
      })
    })
  })

  describe('what was certainly not sent', () => {
    const unreachable = (times: number): Gateway => {
      let left = times
      return {
        ...gateway,
        async charge(charge) {
          left -= 1
          if (left >= 0) throw new NotSentError('refused')
          return await gateway.charge(charge)
        },
      }
    }

    test('is sent again at once, and nothing is unknown', async () => {
      const placed = await place()
      await callGateway(dependencies(unreachable(3)), input(placed.id))
      expect(await transactionsOf(placed)).toMatchObject([{ result: 'approved' }])
    })

    test('for longer is asked about as any other', async () => {
      const placed = await place()
      await callGateway(dependencies(unreachable(4)), input(placed.id))
      expect(await transactionsOf(placed)).toMatchObject([{ status: 'pending', result: 'unknown' }])
      await callGateway(dependencies(), input(placed.id, 2 * MINUTE))
      expect(await ledgerOf(placed)).toMatchObject([{ request_id: `${placed.id}.1.1`, result: 'approved' }])
    })

    test('is known of the test gateway where no connection to it is made', async () => {
      const away = createTestGateway(`postgres://nobody@127.0.0.1:${await freePort()}/none`, {
        baseUrl: service.baseUrl,
      })
      const charge = {
        organizationId: 'o',
        requestId: 'r',
        amount: '1',
        currency: 'EUR',
        reference: 'x',
        customer: null,
      }
      await expect(away.charge(charge)).rejects.toBeInstanceOf(NotSentError)
      await away.close()
    })
  })

  describe('a refund that is owed', () => {
    const refusing = (): Gateway => ({
      ...gateway,
      refund: async () => ({ result: 'declined', raw: '{}' }),
    })
    const owing = async () => {
      const placed = await place()
      await callGateway(dependencies(lost()), input(placed.id))
      await voidOrder(placed)
      await callGateway(dependencies(), input(placed.id, 2 * MINUTE))
      const saleId = String((await transactionsOf(placed))[0]?.id)
      const sale = async () => (await transactionsOf(placed)).find(({ id }) => id === saleId)
      return { placed, saleId, sale }
    }

    test('is begun again under another id after every decline, then an operator is called, and the debt stays', async () => {
      const { placed, saleId, sale } = await owing()
      const before = alerts
      await refundAll(placed, refusing())
      for (const wait of REFUND_WAITS) {
        const due = Date.parse(String((await sale())?.nextRefundTime))
        expect(Math.abs(due - Date.now() - wait)).toBeLessThan(MINUTE)
        await inquireTransaction(dependencies(), input(saleId, wait - MINUTE))
        await inquireTransaction(dependencies(), input(saleId, wait + MINUTE))
        await refundAll(placed, refusing())
      }
      expect(alerts).toBe(before)
      await inquireTransaction(dependencies(), input(saleId))
      expect(alerts).toBe(before + 1)
      expect(JSON.parse(logged.at(-1) ?? '')).toMatchObject({ level: 50, transactionId: saleId })
      expect(await sale()).toMatchObject({ nextRefundTime: null, owedAmount: '9.900000' })
      const refunds = (await transactionsOf(placed)).filter(({ type }) => type === 'refund')
      expect(refunds.map(({ result }) => result)).toEqual(Array(REFUND_WAITS.length + 1).fill('declined'))
      expect(refunds.map(({ requestId }) => requestId)).toEqual(
        refunds.map((_, index) => `${placed.id}.1.1/rest/${index + 1}`),
      )
      const { body } = await merchant.api.post('transactions', {
        type: 'refund',
        parentTransactionId: saleId,
      })
      expect(body.result).toBe('approved')
      expect(Number((await sale())?.owedAmount)).toBe(0)
    })

    test('is not forgotten where a refund of the merchant that would have paid a part of it is declined', async () => {
      const { body: plan } = await merchant.api.post('plans', {
        name: 'Billed a period ahead',
        currency: 'EUR',
        pricing: { formula: 'fixed-fee', price: 9.9 },
        recurringInterval: { unit: 'day', length: 1 },
        invoiceTimeShift: { issueTimeShift: { chronology: 'before', duration: 1, unit: 'day' } },
      })
      const placed = await place(TEST_CARDS.approves, { autopay: false, items: [{ plan: { id: plan.id } }] })
      await advanceOrder(dependencies(), input(placed.id))
      const { body: order } = await merchant.api.get(`subscriptions/${placed.id}`)
      expect(order.recentInvoiceId).not.toBe(order.initialInvoiceId)
      const { body: sale } = await merchant.api.post('transactions', {
        type: 'sale',
        customerId: placed.customerId,
        currency: 'EUR',
        amount: 9.9,
        paymentInstruction: { paymentInstrumentId: placed.paymentInstrumentId },
        invoiceIds: [order.recentInvoiceId],
      })
      const parentTransactionId = String(sale.id)
      const part = newId('txn')
      await inUnit((unit) =>
        startRefund(
          unit,
          { id: part, requestId: part },
          { parentTransactionId, amount: '4', currency: null, customerId: null },
        ),
      )
      const canceled = await merchant.api.post('subscription-cancellations', { subscriptionId: placed.id })
      expect(canceled.status).toBe(201)
      await inUnit((unit) => recordResult(unit, part, { result: 'declined', raw: '{}' }, Date.now()))
      await refundAll(placed)
      const row = async () => (await transactionsOf(placed)).find(({ id }) => id === parentTransactionId)
      expect(await row()).toMatchObject({ owedAmount: '4.000000', nextRefundTime: expect.anything() })
      await inquireTransaction(dependencies(), input(parentTransactionId, HOUR + MINUTE))
      await refundAll(placed)
      expect(await row()).toMatchObject({ owedAmount: '0.000000', nextRefundTime: null })
      const refunds = (await transactionsOf(placed)).filter(({ type }) => type === 'refund')
      expect(refunds.map(({ amount, result, requestId }) => [amount, result, requestId])).toEqual([
        ['4.000000', 'declined', part],
        ['5.900000', 'approved', `${sale.requestId}/${placed.id}.2/1`],
        ['4.000000', 'approved', `${sale.requestId}/${placed.id}.2/2`],
      ])
    })

    test('is begun again by the sweep where no timer does', async () => {
      const { placed, saleId } = await owing()
      await refundAll(placed, refusing())
      await sql("update transactions set next_refund_time = now() - interval '2 minutes' where id = ?", [
        saleId,
      ])
      await sql('delete from wake_ups')
      await wakeLateRecords(service.database.orm.em.fork(), null)
      const woken = await sql<{ record_id: string }>(
        "select record_id from wake_ups where workflow = 'transaction'",
      )
      expect(woken).toContainEqual({ record_id: saleId })
    })

    test('is paid, under way, to be begun again or told, and never paid twice, whatever comes of each', async () => {
      const step = fc.constantFrom(
        'declined',
        'declined',
        'unknown',
        'approved',
        'canceled',
        'timer',
        'timer',
        'merchant',
      )
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (transitions) => {
          const { placed, saleId, sale } = await owing()
          let told = 0
          const pending = async () =>
            (await transactionsOf(placed)).filter(
              ({ type, status }) => type === 'refund' && status === 'pending',
            )
          const paid = async () =>
            (await transactionsOf(placed))
              .filter(({ type, result }) => type === 'refund' && result === 'approved')
              .reduce((sum, { amount }) => sum + Number(amount), 0)
          const timer = async () => {
            const before = alerts
            const due = (await sale())?.nextRefundTime
            if (due != null) {
              await inquireTransaction(dependencies(), input(saleId, Date.parse(due) - Date.now()))
            }
            told += alerts - before
          }
          const take = async (one: (typeof transitions)[number]) => {
            if (one === 'timer') return await timer()
            if (one === 'merchant') {
              // A gateway of the API that responds by itself: its refund is approved at once.
              const { status } = await merchant.api.post('transactions', {
                type: 'refund',
                parentTransactionId: saleId,
                amount: 2,
              })
              return expect([201, 422]).toContain(status)
            }
            const [first] = await pending()
            if (first === undefined) return
            await inUnit((unit) => recordResult(unit, first.id, { result: one, raw: '{}' }, Date.now()))
          }
          for (const one of transitions) {
            await take(one)
            expect(await paid()).toBeLessThanOrEqual(9.9)
            const row = await sale()
            const isPaid = Number(row?.owedAmount) === 0
            const isUnderWay = (await pending()).length > 0
            expect(isPaid || isUnderWay || row?.nextRefundTime != null || told > 0).toBe(true)
            expect(Number(row?.owedAmount) + (await paid())).toBeCloseTo(9.9, 6)
          }
          // Whatever came before: once refunds are approved, the debt is paid, to the cent.
          for (let turn = 0; turn < 3 && told === 0; turn += 1) {
            for (const { id } of await pending()) {
              await inUnit((unit) => recordResult(unit, id, { result: 'approved', raw: '{}' }, Date.now()))
            }
            await timer()
          }
          if (told === 0) expect(await paid()).toBeCloseTo(9.9, 6)
        }),
        { numRuns: 20 },
      )
    }, 180_000)
  })
})

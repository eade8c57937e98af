import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { callGateway } from '../../activities/call-gateway.ts'
import { activityDependencies } from '../support/activities.ts'
import type { ApiClient } from '../support/api-client.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { create } from '../support/create.ts'
import { disputeBody } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { type Payments, placeCharged, startPayments } from '../support/payments.ts'
import { makeToken } from '../support/tokens.ts'

const DAY = 24 * 3_600_000

describe('a transaction', () => {
  let payments: Payments
  let api: ApiClient
  beforeAll(async () => {
    payments = await startPayments()
    api = payments.merchant.api
  })
  afterAll(() => payments.stop())

  const saleBody = (paymentInstruction: object, members: object = {}) => ({
    type: 'sale',
    customerId: payments.merchant.customerId,
    currency: 'EUR',
    amount: 12.5,
    paymentInstruction,
    ...members,
  })
  const sale = async (pan: string | null = TEST_CARDS.approves, members: object = {}) =>
    await create(
      api,
      'transactions',
      saleBody(pan === null ? { method: 'external' } : { token: await makeToken(api, pan) }, members),
    )
  const read = async (id: unknown, query = '') => (await api.get(`transactions/${id}${query}`)).body
  const refund = (id: unknown, body: unknown = {}, headers: Record<string, string> = {}) =>
    api.post(`transactions/${id}/refund`, body, headers)
  const query = (id: unknown) => api.post(`transactions/${id}/query`, undefined)
  const patch = (id: unknown, body: unknown, headers: Record<string, string> = {}) =>
    api.send('PATCH', `transactions/${id}`, {
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...headers },
    })
  const charge = async (id: string, ahead = 0) => {
    const dependencies = activityDependencies(payments.service, { gateway: payments.gateway })
    await dependencies.orders.advance(payments.input(id, ahead))
    await callGateway(dependencies, payments.input(id, ahead))
  }
  const chargesOf = async (customerId: string) =>
    (
      await api.get<Record<string, unknown>[]>(
        `transactions?filter=customerId:${customerId}&sort=createdTime`,
      )
    ).body

  describe('is refunded', () => {
    test('in part, then wholly, which the sale shows', async () => {
      const { id } = await sale()
      const part = await refund(id, { amount: 2.5, description: 'a scratch' })
      expect(part.status).toBe(201)
      expect(part.headers.get('location')).toContain(`/transactions/${part.body.id}`)
      expect(part.body).toMatchObject({
        type: 'refund',
        status: 'completed',
        result: 'approved',
        amount: 2.5,
        description: 'a scratch',
        parentTransactionId: id,
        isProcessedOutside: false,
      })
      const partly = await read(id)
      expect(partly).toMatchObject({ status: 'partially-refunded', childTransactions: [part.body.id] })
      const rest = await refund(id)
      expect(rest.body).toMatchObject({ amount: 10 })
      const wholly = await read(id)
      expect(wholly).toMatchObject({
        status: 'refunded',
        result: 'approved',
        childTransactions: [part.body.id, rest.body.id],
      })
      expect(Number(wholly.revision)).toBeGreaterThan(Number(partly.revision))
      const over = await refund(id, { amount: 1 })
      expect(expectProblem(over, 422, 'validation-error')).toEqual(['amount'])
      const listed = await api.get<{ id: string }[]>('transactions?filter=status:refunded')
      expect(listed.body.map((one) => one.id)).toEqual([id])
    })

    test('outside of this service where it was: no gateway moves the money', async () => {
      const { id } = await sale()
      const { status, body } = await refund(id, { amount: 5, isProcessedOutside: true })
      expect(status).toBe(201)
      expect(body).toMatchObject({ result: 'approved', gateway: null, isProcessedOutside: true })
      const moved = await payments.sql('select 1 from test_gateway.ledger where charge_request_id = ?', [id])
      expect(moved).toEqual([])
      expect(expectProblem(await refund(id, { amount: 8 }), 422, 'validation-error')).toEqual(['amount'])
      expect((await refund(id, { amount: 7.5 })).status).toBe(201)
    })

    test('once under an Idempotency-Key', async () => {
      const { id } = await sale()
      const once = () => refund(id, { amount: 1 }, { 'Idempotency-Key': 'refund-once' })
      const first = (await once()).body
      expect((await once()).body).toEqual(first)
      // As after the day for which responses are stored: the money of one request moves once.
      await payments.sql('delete from idempotency_records where key = ?', ['refund-once'])
      expect((await once()).body.id).toBe(first.id)
      expect((await read(id)).childTransactions).toEqual([first.id])
    })

    test.each([
      ['a sale that was declined', async () => (await sale(TEST_CARDS.declines)).id],
      ['a refund', async () => (await refund((await sale()).id)).body.id],
    ])('unless it is %s: 409', async (_, made) => {
      expectProblem(await refund(await made()), 409, 'conflict')
    })

    test('unless it is nothing: 404, or the body is wrong: 422', async () => {
      expectProblem(await refund('txn_none'), 404, 'not-found')
      const { id } = await sale()
      for (const [body, field] of [
        [{ amount: 0 }, 'amount'],
        [{ amount: 13 }, 'amount'],
        [{ amount: 0.001 }, 'amount'],
        [{ reason: 'x' }, 'reason'],
        [{ description: 'x'.repeat(1001) }, 'description'],
      ] as const) {
        expect(expectProblem(await refund(id, body), 422, 'validation-error')).toEqual([field])
      }
      expect(await read(id)).toMatchObject({ status: 'completed', childTransactions: [] })
    })
  })

  describe('is changed', () => {
    test('in its description and custom fields', async () => {
      const before = await sale(null, { description: 'old', customFields: { kept: 1, gone: 2 } })
      const { status, body } = await patch(before.id, {
        description: 'new',
        customFields: { gone: null, added: 3 },
      })
      expect(status).toBe(200)
      expect(body).toEqual({
        ...before,
        description: 'new',
        customFields: { kept: 1, added: 3 },
        revision: 2,
        updatedTime: expect.any(String),
      })
      expect(await read(before.id)).toEqual(body)
      expect((await patch(before.id, body)).body).toEqual(body)
      expect((await patch(before.id, { description: null })).body).toMatchObject({
        description: null,
        customFields: { kept: 1, added: 3 },
      })
    })

    test.each([
      ['amount', { amount: 1 }],
      ['currency', { currency: 'USD' }],
      ['customerId', { customerId: 'another' }],
      ['type', { type: 'refund' }],
    ])('but not in its %s: 409', async (member, body) => {
      const { id } = await sale(null)
      const response = await patch(id, body)
      expectProblem(response, 409, 'conflict')
      expect(response.body.detail).toContain(member)
    })

    test('although it pays more invoices than a transaction may: no more are applied, 409', async () => {
      const { id } = await sale(null, { amount: 101 })
      const { customerId, websiteId, organizationId, secretKey } = payments.merchant
      const apply = async () => {
        const items = [{ type: 'debit', unitPrice: 1 }]
        const invoice = await create(api, 'invoices', { customerId, websiteId, currency: 'EUR', items })
        await create(api, `invoices/${invoice.id}/issue`, {})
        return await api.post(`invoices/${invoice.id}/transaction`, { transactionId: id })
      }
      for (let number = 0; number < 100; number += 1) await apply()
      expectProblem(await apply(), 409, 'conflict')
      expect((await read(id)).invoiceIds).toHaveLength(100)
      // As an earlier release left it.
      await payments.sql(
        `update transactions set invoice_ids = invoice_ids || '["earlier"]' where organization_id = ? and id = ?`,
        [organizationId, id],
      )
      const patchAsIs = async (body: object) => {
        const url = `${payments.service.baseUrl}/organizations/${organizationId}/transactions/${id}`
        const headers = { 'SVC-APIKEY': secretKey, 'Content-Type': 'application/json' }
        const response = await fetch(url, { method: 'PATCH', headers, body: JSON.stringify(body) })
        return { status: response.status, body: (await response.json()) as Record<string, unknown> }
      }
      const patched = await patchAsIs({ description: 'x' })
      expect(patched).toMatchObject({ status: 200, body: { description: 'x' } })
      expect(patched.body.invoiceIds).toHaveLength(101)
      expect(await patchAsIs(patched.body)).toEqual(patched)
      expect((await patchAsIs({ invoiceIds: [] })).status).toBe(409)
      const more = [...(patched.body.invoiceIds as string[]), 'another']
      expect((await patchAsIs({ invoiceIds: more })).status).toBe(422)
    })

    test('under the revision that its caller has seen: 412; of nobody: 404; wrongly: 422', async () => {
      const { id } = await sale(null)
      const change = { description: 'x' }
      expectProblem(await patch(id, change, { 'If-Match': '"7"' }), 412, 'precondition-failed')
      expectProblem(await patch('txn_none', change), 404, 'not-found')
      const wrong = await patch(id, { description: 7, color: 'red' })
      expect(expectProblem(wrong, 422, 'validation-error')).toEqual(['color', 'description'])
    })
  })

  describe('is asked after', () => {
    test('and an outcome that nobody knew is recorded', async () => {
      const { id, result } = await sale(TEST_CARDS.answersLate)
      expect(result).toBe('unknown')
      const { status, body } = await query(id)
      expect(status).toBe(201)
      expect(body).toEqual({
        transactionId: id,
        result: 'approved',
        status: 'completed',
        amount: 12.5,
        currency: 'EUR',
      })
      const known = await read(id)
      expect(known).toMatchObject({ status: 'completed', result: 'approved', nextInquiryTime: null })
      const again = await query(id)
      expect(again.body).toEqual(body)
      expect(await read(id)).toEqual(known)
    })

    test('where an order waits for it: its invoice is paid', async () => {
      const placed = await placeCharged(payments.merchant, TEST_CARDS.answersLate)
      await charge(placed.id)
      const [pending] = await chargesOf(placed.customerId)
      expect(pending).toMatchObject({ status: 'pending', result: 'unknown' })
      expect((await query(pending?.id)).body).toMatchObject({ status: 'completed', result: 'approved' })
      expect((await api.get(`invoices/${placed.invoiceId}`)).body).toMatchObject({
        status: 'paid',
        amountDue: 0,
      })
    })

    test('when its gateway never received it, and it can be sent no more: its invoice can be paid again', async () => {
      const placed = await placeCharged(payments.merchant, TEST_CARDS.answersLate)
      await charge(placed.id)
      const [pending] = await chargesOf(placed.customerId)
      const { id, requestId } = pending ?? {}
      await payments.sql('delete from test_gateway.ledger where request_id = ?', [requestId])
      expect((await query(id)).body).toMatchObject({ status: 'pending', result: 'unknown' })
      await payments.sql(
        `update transactions set created_time = created_time - interval '35 days', next_inquiry_time = null where id = ?`,
        [id],
      )
      expect((await query(id)).body).toMatchObject({ status: 'never-sent', result: 'canceled' })
      expect(await read(id)).toMatchObject({ status: 'never-sent', result: 'canceled' })
      const { customerId, invoiceId } = placed
      await sale(null, { customerId, amount: 9.9, invoiceIds: [invoiceId] })
      expect((await api.get(`invoices/${invoiceId}`)).body).toMatchObject({ status: 'paid', amountDue: 0 })
    })

    test('where no gateway has it: as it is known here', async () => {
      const { id } = await sale(null)
      expect((await query(id)).body).toMatchObject({ result: 'approved', status: 'completed' })
      expectProblem(await query('txn_none'), 404, 'not-found')
    })

    test('while its gateway fails: 502, and nothing changes', async () => {
      const { id } = await sale(TEST_CARDS.answersLate)
      const before = await read(id)
      await payments.sql('alter table test_gateway.ledger rename to ledger_out_of_order')
      try {
        expectProblem(await query(id), 502, 'upstream-failed')
      } finally {
        await payments.sql('alter table test_gateway.ledger_out_of_order rename to ledger')
      }
      expect(await read(id)).toEqual(before)
    })
  })

  describe('is shown', () => {
    test('with every record that it belongs to', async () => {
      const placed = await placeCharged(payments.merchant)
      await charge(placed.id)
      const [made] = await chargesOf(placed.customerId)
      const returned = (await refund(made?.id, { amount: 1 })).body
      const dispute = await create(api, 'disputes', disputeBody(String(made?.id), { amount: 1 }))
      const names =
        'parentTransaction,childTransactions,gatewayAccount,customer,leadSource,website,invoices,organization,dispute,paymentCard,bankAccount'
      const { body } = await api.get(`transactions/${made?.id}?expand=${names}`)
      expect(body._embedded).toEqual({
        parentTransaction: null,
        childTransactions: [expect.objectContaining({ id: returned.id })],
        gatewayAccount: null,
        customer: expect.objectContaining({ id: placed.customerId }),
        leadSource: null,
        website: expect.objectContaining({ id: payments.merchant.websiteId }),
        invoices: [expect.objectContaining({ id: placed.invoiceId })],
        organization: expect.objectContaining({ id: payments.merchant.organizationId }),
        dispute: expect.objectContaining({ id: dispute.id }),
        paymentCard: expect.objectContaining({ id: placed.paymentInstrumentId }),
        bankAccount: null,
      })
      const child = await read(returned.id, '?expand=parentTransaction')
      expect(child._embedded).toMatchObject({ parentTransaction: { id: made?.id, status: 'disputed' } })
      const listed = await api.get<Record<string, unknown>[]>(
        `transactions?filter=customerId:${placed.customerId}&expand=${names}`,
      )
      expect(listed.body.find(({ id }) => id === made?.id)?._embedded).toEqual(body._embedded)
    })

    test('with its gateway account, and the lead source of its customer', async () => {
      const account = await create(api, 'gateway-accounts', {
        gatewayName: 'TestGateway',
        method: 'payment-card',
        acceptedCurrencies: ['EUR'],
        takesCardNumbers: true,
      })
      const leadSource = { source: 'a newspaper' }
      const customer = await create(api, 'customers', { leadSource })
      const { id } = await sale(TEST_CARDS.approves, { customerId: customer.id })
      expect(await read(id, '?expand=gatewayAccount,leadSource')).toMatchObject({
        gatewayAccountId: account.id,
        _embedded: { gatewayAccount: { id: account.id }, leadSource },
      })
      const found = await api.get<{ id: string }[]>(`transactions?filter=gatewayAccountId:${account.id}`)
      expect(found.body.map((one) => one.id)).toEqual([id])
      await api.post(`gateway-accounts/${account.id}/close`, {})
    })

    test('as the automatic charge of an order that it is, and how often it was tried', async () => {
      const placed = await placeCharged(payments.merchant, TEST_CARDS.lacksFunds, {
        billingAddress: { city: 'Turin' },
      })
      await charge(placed.id)
      await charge(placed.id, DAY + 60_000)
      const charges = await chargesOf(placed.customerId)
      const shared = {
        isMerchantInitiated: true,
        isRebill: false,
        rebillNumber: null,
        subscriptionIds: [placed.id],
        orderId: placed.id,
        planIds: [payments.merchant.planId],
        websiteId: payments.merchant.websiteId,
        method: 'payment-card',
        bin: '400000',
        billingAddress: expect.objectContaining({ city: 'Turin' }),
        paymentInstrument: {
          method: 'payment-card',
          paymentInstrumentId: placed.paymentInstrumentId,
        },
        result: 'declined',
        gatewayName: 'TestGateway',
        gateway: {
          response: expect.objectContaining({
            code: 'insufficient-funds',
            originalCode: 'insufficient-funds',
          }),
          avsResponse: null,
          cvvResponse: null,
        },
      }
      expect(charges).toEqual([
        expect.objectContaining({ ...shared, isRetry: false, retryNumber: 0 }),
        expect.objectContaining({ ...shared, isRetry: true, retryNumber: 1 }),
      ])
    })

    test('as the renewal that it is', async () => {
      const placed = await placeCharged(payments.merchant)
      await charge(placed.id)
      await charge(placed.id, 32 * DAY)
      const charges = await chargesOf(placed.customerId)
      expect(charges.map(({ isRebill, rebillNumber }) => [isRebill, rebillNumber])).toEqual([
        [false, null],
        [true, 2],
      ])
      const found = await api.get<{ id: string }[]>(
        `transactions?filter=isRebill:true;customerId:${placed.customerId}`,
      )
      expect(found.body.map(({ id }) => id)).toEqual([charges[1]?.id])
    })

    test('as disputed while a dispute of it is not won', async () => {
      const { id } = await sale(null)
      const made = disputeBody(String(id), { status: 'under-review' })
      const dispute = await create(api, 'disputes', made)
      expect(await read(id)).toMatchObject({
        status: 'disputed',
        isDisputed: true,
        disputeTime: dispute.postedTime,
        disputeStatus: 'under-review',
        revision: 1,
      })
      const disputed = async () =>
        (await api.get<{ id: string }[]>('transactions?filter=status:disputed')).body.map((one) => one.id)
      expect(await disputed()).toContain(id)
      await api.put(`disputes/${dispute.id}`, { ...made, status: 'won' })
      expect(await read(id)).toMatchObject({ status: 'completed', isDisputed: false, disputeStatus: 'won' })
      expect(await disputed()).not.toContain(id)
    })

    test('for the website that it names, which it keeps from deletion', async () => {
      const website = await create(api, 'websites', { name: 'Another shop' })
      const { id } = await sale(null, { websiteId: website.id })
      expect(await read(id, '?expand=website')).toMatchObject({
        websiteId: website.id,
        _embedded: { website: { name: 'Another shop' } },
      })
      expectProblem(await api.delete(`websites/${website.id}`), 409, 'conflict')
      const wrong = await api.post('transactions', saleBody({ method: 'external' }, { websiteId: 'none' }))
      expect(expectProblem(wrong, 422, 'validation-error')).toEqual(['websiteId'])
    })
  })

  test.each(['credit', 'setup', '3ds-authentication'])(
    'of the type %s is not supported yet: 422',
    async (type) => {
      const response = await api.post('transactions', { ...saleBody({ method: 'external' }), type })
      expect(expectProblem(response, 422, 'validation-error')).toEqual(['type'])
      expect(response.body.detail).toContain('not supported yet')
    },
  )
})

/** Accepted from the provider alone, stored before the response, and applied once. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { processDueNotifications } from '../../worker/notifications.ts'
import { removeExpired } from '../../worker/retention.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { type ScriptedStripe, startScriptedStripe } from '../support/scripted-stripe.ts'
import { startService, type TestService } from '../support/service.ts'
import {
  type Sending,
  type StripeEvent,
  sendEvent,
  stripeDispute,
  stripeEvent,
} from '../support/stripe-events.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

const SECRET_KEY = 'sk_test_of_the_scripted_provider'
const [SECRET, OTHER_SECRET] = ['whsec_of_the_first_merchant', 'whsec_of_the_other_merchant']
const ACCOUNT = {
  gatewayName: 'Stripe',
  method: 'payment-card',
  acceptedCurrencies: ['EUR'],
  takesCardNumbers: true,
  credentials: { secretKey: SECRET_KEY },
}
const INTENT = /^POST \/v1\/payment_intents$/
/** The provider did what was requested, and the service never learns of it. */
const LOST = { after: { status: 500, error: { type: 'api_error' } } }

describe('the notifications of a gateway account', () => {
  let provider: ScriptedStripe
  let service: TestService
  let merchant: Catalogue
  let other: Catalogue

  beforeAll(async () => {
    provider = await startScriptedStripe(SECRET_KEY)
    const stripeHost = { protocol: 'http', host: '127.0.0.1', port: provider.port } as const
    service = await startService({ worker: false, stripeHost })
    merchant = await catalogue(service)
    other = await catalogue(service)
    for (const [of, webhookSecret] of [
      [merchant, SECRET],
      [other, OTHER_SECRET],
    ] as const) {
      expect((await of.api.put('gateway-accounts/main', ACCOUNT)).status).toBe(201)
      const patched = await of.api.send('PATCH', 'gateway-accounts/main', {
        body: JSON.stringify({ credentials: { webhookSecret } }),
        headers: { 'Content-Type': 'application/json' },
      })
      expect(patched.status).toBe(200)
      expect(JSON.stringify(patched.body)).not.toContain('whsec')
    }
  }, 60_000)
  afterAll(async () => {
    await service?.stop()
    await provider?.close()
  })

  const sql = <T>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const send = async (
    event: object,
    {
      of = merchant,
      account = 'main',
      ...sending
    }: Partial<Sending> & { of?: Catalogue; account?: string } = {},
  ) =>
    await sendEvent(
      `${service.baseUrl}/organizations/${of.organizationId}/gateway-accounts/${account}/notifications`,
      event,
      { secret: SECRET, ...sending },
    )
  const processAll = async (stopping?: AbortSignal) => {
    const options = {
      em: () => service.database.orm.em.fork(),
      baseUrl: service.baseUrl,
      now: () => Date.now(),
      counter: service.metrics.notifications,
      log: { error() {} } as never,
    }
    while (await processDueNotifications(options, undefined, stopping));
  }
  const tell = async (event: StripeEvent) => {
    expect((await send(event)).status).toBe(200)
    await processAll()
  }
  const stored = async (event: StripeEvent) =>
    (
      await sql<{ status: string; failures: number; failure: string | null }>(
        'select status, failures, failure from gateway_notifications where organization_id = ? and id = ?',
        [merchant.organizationId, event.id],
      )
    )[0] ?? null
  const storedNumber = async () =>
    Number((await sql<{ n: string }>('select count(*) as n from gateway_notifications'))[0]?.n)
  const counted = async (outcome: string) =>
    (await service.metrics.notifications.get()).values.find(({ labels }) => labels.outcome === outcome)
      ?.value ?? 0
  const eventsOf = async (type: string, id: string) =>
    (
      await sql<{ payload: string }>(
        'select payload from events where type = ? and entity_id = ? order by position',
        [type, id],
      )
    ).map(({ payload }) => JSON.parse(payload) as Record<string, unknown>)

  const instrument = async (pan: string = TEST_CARDS.approves) => {
    const token = await makeToken(merchant.api, pan)
    return await create(merchant.api, 'payment-instruments', { customerId: merchant.customerId, token })
  }
  const sale = async (members: object = {}, pan?: string) =>
    await create(merchant.api, 'transactions', {
      type: 'sale',
      customerId: merchant.customerId,
      currency: 'EUR',
      amount: 12.5,
      paymentInstruction: { paymentInstrumentId: (await instrument(pan)).id },
      ...members,
    })
  const read = async (path: string) => (await merchant.api.get(path)).body
  const intentOf = (requestId: unknown) => {
    const found = provider
      .intents()
      .find(({ metadata }) => (metadata as { requestId?: string }).requestId === requestId)
    if (found === undefined) throw new Error(`the provider has no intent of ${requestId}`)
    return found
  }
  const linkTo = (body: Record<string, unknown>) =>
    (body._links as { rel: string; href: string }[]).find(({ rel }) => rel === 'approvalUrl')?.href
  const lostSale = async (pan?: string) => {
    provider.fail(INTENT, LOST)
    const made = await sale({}, pan)
    expect(made).toMatchObject({ status: 'pending', result: 'unknown' })
    return made
  }

  /** The outcome stays unknown, and the workflow is to ask for it now. */
  const expectInquiry = async (id: unknown) => {
    const rows = await sql<{ isDue: boolean }>(
      `select next_inquiry_time <= now() as "isDue" from transactions where id = ? and status = 'pending'
          and exists (select from wake_ups where workflow = 'transaction' and record_id = transactions.id and due_by <= now())`,
      [id],
    )
    expect(rows).toEqual([{ isDue: true }])
  }

  describe('are refused', () => {
    test.each<[string, Partial<Sending>]>([
      ['without a signature', { signature: null }],
      ['with a signature of nobody', { signature: 't=1,v1=00' }],
      ['with a header that is no signature', { signature: 'Bearer x' }],
      ["with another account's secret", { secret: OTHER_SECRET }],
      ['when they were signed six minutes ago', { age: 360 }],
    ])('%s: 400, and nothing is written', async (_, sending) => {
      const [before, refused] = [await storedNumber(), await counted('refused')]
      const response = await send(stripeEvent('payment_intent.succeeded', {}), sending)
      expect(response).toMatchObject({ status: 400, body: { code: 'malformed-request' } })
      expect(String(response.body.detail)).toContain('Stripe-Signature')
      expect(await storedNumber()).toBe(before)
      expect(await counted('refused')).toBe(refused + 1)
    })

    test.each([
      ['is not JSON', 'not json'],
      ['is no object', '"text"'],
      ['has no id', '{"type":"x","created":1}'],
      ['is of no time', '{"id":"evt_1","type":"x","created":-1}'],
      ['cannot be stored', '{"id":"evt_\\u0000","type":"x","created":1}'],
    ])('when the signed body %s: 400', async (_, body) => {
      const before = await storedNumber()
      expect(await send({}, { body })).toMatchObject({ status: 400, body: { code: 'malformed-request' } })
      expect(await storedNumber()).toBe(before)
    })

    test('when they are larger than 1 MiB: 413', async () => {
      const body = JSON.stringify({ ...stripeEvent('x', {}), filler: 'x'.repeat(1024 * 1024) })
      expect(await send({}, { body })).toMatchObject({ status: 413, body: { code: 'payload-too-large' } })
    })

    test('of an account that does not exist: 404', async () => {
      const event = stripeEvent('payment_intent.succeeded', {})
      expect(await send(event, { account: 'nobody' })).toMatchObject({ status: 404 })
      const nowhere = { ...other, organizationId: 'nowhere' }
      expect(await send(event, { of: nowhere })).toMatchObject({ status: 404 })
    })

    test("of another organization's account under the same id, and reach it under its own secret alone", async () => {
      const made = await lostSale()
      const event = stripeEvent('payment_intent.succeeded', intentOf(made.requestId))
      expect(await send(event, { of: other })).toMatchObject({ status: 400 })
      expect(await send(event, { of: other, secret: OTHER_SECRET })).toMatchObject({ status: 200 })
      await processAll()
      expect(await read(`transactions/${made.id}`)).toMatchObject({ status: 'pending' })
    })

    test('of an account without webhookSecret: 409 that names it', async () => {
      const test = { ...ACCOUNT, gatewayName: 'TestGateway', credentials: undefined }
      expect((await merchant.api.put('gateway-accounts/bare', ACCOUNT)).status).toBe(201)
      expect((await merchant.api.put('gateway-accounts/test', { ...test, priority: 9 })).status).toBe(201)
      for (const account of ['bare', 'test']) {
        const response = await send(stripeEvent('x', {}), { account })
        expect(response).toMatchObject({ status: 409, body: { code: 'conflict' } })
        expect(String(response.body.detail)).toContain('webhookSecret')
        expect((await merchant.api.post(`gateway-accounts/${account}/close`, {})).status).toBe(201)
      }
    })
  })

  test('take a late outcome as an inquiry does, when the process dies before it is processed too', async () => {
    const made = await lostSale()
    const event = stripeEvent('payment_intent.succeeded', intentOf(made.requestId))
    // Nothing processes here: the process that stored it is gone.
    expect(await send(event)).toEqual({
      status: 200,
      body: { id: event.id, type: event.type, isRepeated: false },
    })
    await processAll(AbortSignal.abort())
    expect(await read(`transactions/${made.id}`)).toMatchObject({ status: 'pending' })
    await processAll()
    expect(await read(`transactions/${made.id}`)).toMatchObject({
      status: 'completed',
      result: 'approved',
      nextInquiryTime: null,
      gatewayTransactionId: intentOf(made.requestId).id,
    })
    expect(await eventsOf('transaction-processed', String(made.id))).toHaveLength(1)
  })

  test('are done once, however often and at once they come', async () => {
    const made = await lostSale()
    const event = stripeEvent('payment_intent.succeeded', intentOf(made.requestId))
    const responses = await Promise.all(Array.from({ length: 8 }, () => send(event)))
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
    expect(responses.filter(({ body }) => body.isRepeated === false)).toHaveLength(1)
    await Promise.all([processAll(), processAll(), processAll()])
    const before = await read(`transactions/${made.id}`)
    expect(before).toMatchObject({ result: 'approved' })
    await tell(event)
    await tell({ ...event, id: `${event.id}again` })
    expect(await read(`transactions/${made.id}`)).toEqual(before)
    expect(await eventsOf('transaction-processed', String(made.id))).toHaveLength(1)
  })

  test('tell that a charge was declined, and why', async () => {
    const made = await lostSale(TEST_CARDS.lacksFunds)
    await tell(stripeEvent('payment_intent.payment_failed', intentOf(made.requestId)))
    expect(await read(`transactions/${made.id}`)).toMatchObject({ status: 'completed', result: 'declined' })
    const [row] = await sql<{ decline_class: string }>(
      'select decline_class from transactions where organization_id = ? and id = ?',
      [merchant.organizationId, made.id],
    )
    expect(row?.decline_class).toBe('insufficient-funds')
    expect(await eventsOf('transaction-declined', String(made.id))).toHaveLength(1)
  })

  test('tell that a charge was abandoned which nobody approved: it is so, as by an inquiry', async () => {
    const made = await sale({}, TEST_CARDS.asksAlways)
    expect(made).toMatchObject({ status: 'waiting-approval' })
    const ended = { ...intentOf(made.requestId), status: 'canceled', next_action: null }
    await tell(stripeEvent('payment_intent.canceled', { ...ended, cancellation_reason: 'abandoned' }))
    expect(await read(`transactions/${made.id}`)).toMatchObject({ status: 'completed', result: 'abandoned' })
    expect(await eventsOf('transaction-declined', String(made.id))).toHaveLength(1)
    expect(await eventsOf('offsite-payment-completed', String(made.id))).toEqual([])
  })

  test('that concern nothing of ours are ignored', async () => {
    const ours = intentOf((await sale()).requestId)
    const events = [
      stripeEvent('customer.created', { id: 'cus_1' }),
      stripeEvent('payment_intent.succeeded', { ...ours, metadata: {} }),
      stripeEvent('payment_intent.succeeded', {
        ...ours,
        metadata: { ...(ours.metadata as object), requestId: 'unknown' },
      }),
      stripeEvent('payment_intent.succeeded', { metadata: 7 }),
      stripeEvent('charge.dispute.created', { id: 'du_1', payment_intent: null }),
      stripeEvent('charge.dispute.created', { id: 'du_1', payment_intent: 'pi_x', amount: 'many' }),
      stripeEvent('payment_method.automatically_updated', {
        id: 'pm_x',
        customer: 'cus_x',
        card: { last4: '1', exp_month: 1, exp_year: 2050 },
      }),
    ]
    for (const event of events) await tell(event)
    for (const event of events) expect(await stored(event)).toMatchObject({ status: 'ignored' })
  })

  describe('of refunds', () => {
    const refundOf = (intent: unknown, members: object = {}) => ({
      id: `re_${Math.random().toString(36).slice(2)}`,
      object: 'refund',
      payment_intent: intent,
      amount: 500,
      currency: 'eur',
      status: 'succeeded',
      metadata: {},
      ...members,
    })
    const childrenOf = async (id: unknown) =>
      (
        await merchant.api.get<Record<string, unknown>[]>(
          `transactions?filter=parentTransactionId:${id}&sort=createdTime`,
        )
      ).body

    test("record once what was refunded in the provider's dashboard", async () => {
      const made = await sale()
      const refund = refundOf(made.gatewayTransactionId)
      await tell(stripeEvent('refund.created', refund))
      await tell(stripeEvent('refund.updated', refund))
      await tell(stripeEvent('charge.refund.updated', refund))
      expect(await childrenOf(made.id)).toMatchObject([
        {
          type: 'refund',
          amount: 5,
          status: 'completed',
          result: 'approved',
          gatewayTransactionId: refund.id,
        },
      ])
      const after = await read(`transactions/${made.id}`)
      expect(after).toMatchObject({ status: 'partially-refunded', childTransactions: [expect.any(String)] })
      const [child] = await childrenOf(made.id)
      expect(await eventsOf('transaction-processed', String(child?.id))).toHaveLength(1)
      const rest = await create(merchant.api, `transactions/${made.id}/refund`, {})
      expect(rest).toMatchObject({ amount: 7.5 })
    })

    test('are not taken for foreign ones where the service has made them', async () => {
      const made = await sale()
      await create(merchant.api, `transactions/${made.id}/refund`, { amount: 2 })
      await tell(stripeEvent('refund.created', { ...provider.refunds()[0], currency: 'eur' }))
      expect(await childrenOf(made.id)).toHaveLength(1)
    })

    test('return to the merchant what failed later', async () => {
      const made = await sale()
      const foreign = refundOf(made.gatewayTransactionId)
      const failed = { ...foreign, status: 'failed', failure_reason: 'lost_or_stolen_card' }
      const at = Math.floor(Date.now() / 1000)
      await tell(stripeEvent('refund.created', foreign, { created: at - 9 }))
      await tell(stripeEvent('refund.failed', failed, { created: at }))
      expect(await childrenOf(made.id)).toMatchObject([{ result: 'declined', status: 'completed' }])
      expect(await read(`transactions/${made.id}`)).toMatchObject({ status: 'completed' })
      // An older truth comes late.
      const late = stripeEvent('refund.updated', foreign, { created: at - 5 })
      await tell(late)
      expect(await stored(late)).toMatchObject({ status: 'superseded' })
      expect(await childrenOf(made.id)).toMatchObject([{ result: 'declined' }])
    })

    test('book nothing whose failure is told first', async () => {
      const made = await sale()
      const foreign = refundOf(made.gatewayTransactionId)
      const at = Math.floor(Date.now() / 1000)
      const failed = stripeEvent('refund.failed', { ...foreign, status: 'failed' }, { created: at })
      const created = stripeEvent('refund.created', foreign, { created: at - 9 })
      await tell(failed)
      await tell(created)
      expect([await stored(failed), await stored(created)]).toMatchObject([
        { status: 'applied' },
        { status: 'superseded' },
      ])
      expect(await childrenOf(made.id)).toEqual([])
      expect(await read(`transactions/${made.id}`)).toMatchObject({ status: 'completed' })
    })

    test('return to a credit memo the amount that failed later', async () => {
      const made = await sale()
      const memo = await create(merchant.api, 'credit-memos', {
        customerId: merchant.customerId,
        currency: 'EUR',
        items: [{ description: 'Goodwill', unitPrice: 5, quantity: 1 }],
      })
      expect((await merchant.api.post(`credit-memos/${memo.id}/refund`, undefined)).status).toBe(200)
      const [refund] = await childrenOf(made.id)
      const told = refundOf(made.gatewayTransactionId, {
        metadata: { organizationId: merchant.organizationId, requestId: refund?.requestId },
      })
      const at = Math.floor(Date.now() / 1000)
      await tell(stripeEvent('refund.created', told, { created: at - 9 }))
      expect(await childrenOf(made.id)).toMatchObject([{ result: 'approved', amount: 5 }])
      expect(await read(`credit-memos/${memo.id}`)).toMatchObject({ status: 'applied', unusedAmount: 0 })
      const failed = { ...told, status: 'failed', failure_reason: 'expired_or_canceled_card' }
      await tell(stripeEvent('refund.failed', failed, { created: at }))
      expect(await childrenOf(made.id)).toMatchObject([{ result: 'declined' }])
      expect(await read(`credit-memos/${memo.id}`)).toMatchObject({
        status: 'issued',
        unusedAmount: 5,
        allocations: { transactions: [] },
      })
      expect(await eventsOf('credit-memo-modified', String(memo.id))).toHaveLength(1)
      expect((await merchant.api.post(`credit-memos/${memo.id}/void`, {})).status).toBe(201)
    })

    test('in the dashboard, while one of ours is under way and then declined, are taken from the invoice', async () => {
      const { initialInvoiceId } = await create(
        merchant.api,
        'subscriptions',
        orderBody(merchant, { autopay: false }),
      )
      const made = await sale({ amount: 9.9, invoiceIds: [initialInvoiceId] })
      expect(await read(`invoices/${initialInvoiceId}`)).toMatchObject({ status: 'paid' })
      let refuse = () => {}
      const until = new Promise<void>((resolve) => {
        refuse = resolve
      })
      const error = { type: 'invalid_request_error', code: 'charge_already_refunded' }
      provider.fail(/^POST \/v1\/refunds$/, { before: { status: 400, error }, until })
      const own = merchant.api.post(`transactions/${made.id}/refund`, { amount: 6 })
      await waitFor('our refund to be pending', async () => (await childrenOf(made.id)).length > 0 || null)
      const elsewhere = provider.refund(made.gatewayTransactionId, 600)
      await tell(stripeEvent('refund.created', { ...elsewhere, currency: 'eur' }))
      expect(await childrenOf(made.id)).toMatchObject([{ status: 'pending' }, { result: 'approved' }])
      refuse()
      expect((await own).body).toMatchObject({ result: 'declined' })
      expect(await read(`transactions/${made.id}`)).toMatchObject({ status: 'partially-refunded' })
      expect(await read(`invoices/${initialInvoiceId}`)).toMatchObject({ status: 'partially-refunded' })
      const shares = await sql<{ shares: object }>(
        "select shares from transactions where organization_id = ? and parent_transaction_id = ? and result = 'approved'",
        [merchant.organizationId, made.id],
      )
      expect(shares).toEqual([{ shares: { [String(initialInvoiceId)]: '6' } }])
      const rest = await create(merchant.api, `transactions/${made.id}/refund`, {})
      expect(rest).toMatchObject({ amount: 3.9, result: 'approved' })
      expect(await read(`invoices/${initialInvoiceId}`)).toMatchObject({ status: 'refunded' })
    })

    test('that failed leave no invoice owing what was paid meanwhile; what is too much is owed', async () => {
      const { initialInvoiceId } = await create(
        merchant.api,
        'subscriptions',
        orderBody(merchant, { autopay: false }),
      )
      const part = { amount: 6, invoiceIds: [initialInvoiceId] }
      const first = await sale(part)
      const refund = await create(merchant.api, `transactions/${first.id}/refund`, { amount: 6 })
      await sale(part)
      expect(await read(`invoices/${initialInvoiceId}`)).toMatchObject({
        status: 'partially-paid',
        amountDue: 3.9,
      })
      const made = provider.refunds().find(({ id }) => id === refund.gatewayTransactionId)
      const failed = { ...made, currency: 'eur', status: 'failed', failure_reason: 'declined' }
      await tell(stripeEvent('refund.failed', failed))
      expect(await read(`invoices/${initialInvoiceId}`)).toMatchObject({ status: 'paid', amountDue: 0 })
      const [row] = await sql<{ owed_amount: string; payments: object; next_refund_time: Date | null }>(
        'select owed_amount::float8 as owed_amount, payments, next_refund_time from transactions where organization_id = ? and id = ?',
        [merchant.organizationId, first.id],
      )
      expect(row).toMatchObject({
        owed_amount: 2.1,
        payments: { [String(initialInvoiceId)]: '3.9' },
        next_refund_time: expect.anything(),
      })
    })
  })

  describe('of disputes', () => {
    test('open a dispute with all that is known of it, and nothing personal', async () => {
      const made = await sale()
      const dispute = stripeDispute(String(made.gatewayTransactionId))
      await tell(stripeEvent('charge.dispute.created', dispute))
      const shown = await read(`disputes/${dispute.id}`)
      expect(shown).toMatchObject({
        transactionId: made.id,
        customerId: merchant.customerId,
        amount: 12.5,
        currency: 'EUR',
        reasonCode: '10.4',
        reasonDescription: 'Other Fraud: Card-Absent Environment',
        category: 'fraud',
        type: 'first-chargeback',
        status: 'response-needed',
        source: 'webhook',
        caseId: dispute.id,
        resolvedTime: null,
        revision: 1,
      })
      expect(JSON.parse(String(shown.rawResponse))).toMatchObject({
        id: dispute.id,
        status: 'needs_response',
      })
      expect(await read(`transactions/${made.id}`)).toMatchObject({ status: 'disputed' })
      expect(await eventsOf('dispute-created', String(dispute.id))).toMatchObject([{ cause: 'payment' }])
      expect(
        await sql('select due_by from wake_ups where workflow = ? and record_id = ?', [
          'dispute-deadline',
          dispute.id,
        ]),
      ).toEqual([{ due_by: shown.deadlineTime }])
      const rows = await sql<{ row: string }>(
        'select to_jsonb(row)::text as row from gateway_notifications row union all select to_jsonb(row)::text from disputes row',
      )
      expect(rows.map(({ row }) => row).join()).not.toMatch(/Hopper|grace@/)
    })

    test('follow it to its end, one change each, and change nothing without one', async () => {
      const made = await sale()
      const dispute = stripeDispute(String(made.gatewayTransactionId))
      const at = Math.floor(Date.now() / 1000) - 100
      const steps = ['needs_response', 'under_review', 'under_review', 'won']
      for (const [index, status] of steps.entries()) {
        const type = index === 0 ? 'created' : index === 3 ? 'closed' : 'updated'
        await tell(stripeEvent(`charge.dispute.${type}`, { ...dispute, status }, { created: at + index }))
      }
      const shown = await read(`disputes/${dispute.id}`)
      expect(shown).toMatchObject({ status: 'won', resolvedTime: expect.any(String), revision: 3 })
      expect(await eventsOf('dispute-modified', String(dispute.id))).toHaveLength(2)
      expect(await read(`transactions/${made.id}`)).toMatchObject({ status: 'completed' })
    })

    test.each([
      ['created', 1],
      ['created', 0],
    ])('closed before they are %s (%i s apart) stay closed', async (_, apart) => {
      const made = await sale()
      const dispute = stripeDispute(String(made.gatewayTransactionId))
      const at = Math.floor(Date.now() / 1000)
      const [created, closed] = [
        stripeEvent('charge.dispute.created', dispute, { created: at - apart }),
        stripeEvent('charge.dispute.closed', { ...dispute, status: 'lost' }, { created: at }),
      ]
      await tell(closed)
      await tell(created)
      expect(await read(`disputes/${dispute.id}`)).toMatchObject({ status: 'lost', revision: 1 })
      expect([await stored(closed), await stored(created)]).toMatchObject([
        { status: 'applied' },
        { status: 'superseded' },
      ])
    })

    test.each([
      [
        { reason: 'general', status: 'warning_needs_response', payment_method_details: {} },
        {
          type: 'information-request',
          status: 'response-needed',
          category: 'uncategorized',
          reasonCode: 'general',
        },
      ],
      [
        { reason: 'debit_not_authorized', status: 'lost', payment_method_details: { type: 'sepa_debit' } },
        {
          type: 'bank-return',
          status: 'lost',
          category: 'bank-return',
          reasonCode: 'debit_not_authorized',
        },
      ],
      [
        { reason: 'product_not_received', status: 'something_new', evidence_details: { due_by: null } },
        {
          type: 'first-chargeback',
          status: 'unknown',
          category: 'fraud',
          deadlineTime: null,
        },
      ],
    ])('map %j', async (members, expected) => {
      const made = await sale()
      const dispute = stripeDispute(String(made.gatewayTransactionId), members)
      await tell(stripeEvent('charge.dispute.created', dispute))
      expect(await read(`disputes/${dispute.id}`)).toMatchObject(expected)
    })

    test('of a sale whose result is not known yet wait for it', async () => {
      const made = await lostSale()
      const intent = intentOf(made.requestId)
      const dispute = stripeDispute(intent.id)
      const event = stripeEvent('charge.dispute.created', dispute)
      await tell(event)
      expect(await stored(event)).toMatchObject({ status: 'received', failures: 1 })
      await tell(stripeEvent('payment_intent.succeeded', intent))
      await sql(
        "update gateway_notifications set due_time = now() - interval '1 second' where status = 'received'",
      )
      await processAll()
      expect(await stored(event)).toMatchObject({ status: 'applied' })
      expect(await read(`disputes/${dispute.id}`)).toMatchObject({ transactionId: made.id })
    })

    test('of a sale whose result is recorded at the same time are not lost', async () => {
      const alone = await catalogue(service)
      const account = { ...ACCOUNT, credentials: { secretKey: SECRET_KEY, webhookSecret: SECRET } }
      expect((await alone.api.put('gateway-accounts/main', account)).status).toBe(201)
      const { id: paymentInstrumentId } = await create(alone.api, 'payment-instruments', {
        customerId: alone.customerId,
        token: await makeToken(alone.api),
      })
      provider.fail(INTENT, LOST)
      const made = await create(alone.api, 'transactions', {
        type: 'sale',
        customerId: alone.customerId,
        currency: 'EUR',
        amount: 12.5,
        paymentInstruction: { paymentInstrumentId },
      })
      const dispute = stripeDispute(intentOf(made.requestId).id)
      expect((await send(stripeEvent('charge.dispute.created', dispute), { of: alone })).status).toBe(200)
      let processed: Promise<void> | null = null
      await service.database.orm.em.fork().transactional(async (em) => {
        // Whether a sale is pending is asked for with its route.
        await em.execute('lock table gateway_routes in access exclusive mode')
        processed = processAll()
        await waitFor('the notification to wait for the table', async () => {
          const waiting = await sql(
            "select 1 from pg_locks where relation = 'gateway_routes'::regclass and not granted",
          )
          return waiting.length > 0 || null
        })
        await em.execute(
          `update transactions set status = 'completed', result = 'approved', gateway_transaction_id = ? where id = ?`,
          [dispute.payment_intent, made.id],
        )
      })
      await processed
      expect((await alone.api.get(`disputes/${dispute.id}`)).body).toMatchObject({ transactionId: made.id })
    })
  })

  test('that fail are quarantined by themselves, and tried again', async () => {
    const [first, second] = [await sale(), await sale()]
    const poisoned = stripeDispute(String(first.gatewayTransactionId), { amount: 10 ** 15 })
    const at = Math.floor(Date.now() / 1000) - 10
    const event = stripeEvent('charge.dispute.created', poisoned, { created: at })
    expect((await send(event)).status).toBe(200)
    const next = stripeEvent('charge.dispute.updated', { ...poisoned, amount: 1250 }, { created: at + 1 })
    const others = stripeDispute(String(second.gatewayTransactionId))
    expect((await send(next)).status).toBe(200)
    expect((await send(stripeEvent('charge.dispute.created', others))).status).toBe(200)
    await processAll()
    expect(await stored(event)).toMatchObject({
      status: 'received',
      failures: 1,
      failure: expect.stringContaining('InvalidFieldsError'),
    })
    expect(await read(`disputes/${poisoned.id}`)).toMatchObject({ amount: 12.5 })
    expect(await read(`disputes/${others.id}`)).toMatchObject({ amount: 12.5 })
    await sql(
      "update gateway_notifications set due_time = now() - interval '1 second' where status = 'received'",
    )
    await processAll()
    expect(await stored(event)).toMatchObject({ status: 'superseded', failures: 0 })
  })

  describe('of a card that two accounts hold', () => {
    let both: Catalogue
    let card: string
    beforeAll(async () => {
      both = await catalogue(service)
      for (const [priority, id] of ['first', 'second'].entries()) {
        const credentials = { secretKey: SECRET_KEY, webhookSecret: SECRET }
        const made = await both.api.put(`gateway-accounts/${id}`, { ...ACCOUNT, priority, credentials })
        expect(made.status).toBe(201)
      }
      const token = await makeToken(both.api)
      const { id } = await create(both.api, 'payment-instruments', { customerId: both.customerId, token })
      card = String(id)
    })
    const charge = async (paymentInstrumentId: unknown = card) =>
      await create(both.api, 'transactions', {
        type: 'sale',
        customerId: both.customerId,
        currency: 'EUR',
        amount: 12.5,
        paymentInstruction: { paymentInstrumentId },
      })
    const tellOf = async (account: string, type: string, object: object) => {
      const event = stripeEvent(type, object)
      expect((await send(event, { of: both, account })).status).toBe(200)
      await processAll()
      const [row] = await sql<{ status: string; failure: string | null }>(
        'select status, failure from gateway_notifications where id = ?',
        [event.id],
      )
      return row
    }
    const now = async (id: unknown) => (await both.api.get(`transactions/${id}`)).body
    const declined = (decline_code: string) => ({
      before: { status: 402, error: { type: 'card_error', code: 'card_declined', decline_code } },
    })
    /** As Stripe tells of the first account's intent. */
    const failed = (requestId: unknown, decline_code = 'generic_decline') => ({
      id: `pi_of_the_first_${requestId}`,
      status: 'requires_payment_method',
      metadata: { organizationId: both.organizationId, requestId },
      last_payment_error: { code: 'card_declined', decline_code },
    })
    const sentOn = async () => {
      provider.fail(INTENT, declined('generic_decline'))
      provider.fail(INTENT, LOST)
      const made = await charge()
      expect(made).toMatchObject({ status: 'pending', result: 'unknown' })
      return made
    }

    test('a decline of the first does not end a charge that was sent on, which the second then approves', async () => {
      const { id, requestId } = await sentOn()
      expect(await tellOf('first', 'payment_intent.payment_failed', failed(requestId))).toMatchObject({
        status: 'ignored',
      })
      expect(await now(id)).toMatchObject({ status: 'pending', result: 'unknown' })
      const intent = intentOf(requestId)
      expect(await tellOf('second', 'payment_intent.succeeded', intent)).toMatchObject({ status: 'applied' })
      expect(await now(id)).toMatchObject({
        result: 'approved',
        gatewayAccountId: 'second',
        gatewayTransactionId: intent.id,
      })
      const refund = await both.api.post(`transactions/${id}/refund`, {})
      expect(refund.body).toMatchObject({ result: 'approved', gatewayAccountId: 'second' })
    })

    /** They share its idempotency keys, under which it compares what was sent. */
    test.each([
      ['the same descriptor', null, 'declined'],
      ['another descriptor', 'OTHER SHOP', 'unknown'],
    ])(
      'one charge is made where the second is the same at the provider, with %s',
      async (_, descriptor, result) => {
        const describeSecond = (body: object) =>
          both.api.send('PATCH', 'gateway-accounts/second', {
            body: JSON.stringify(body),
            headers: { 'Content-Type': 'application/json' },
          })
        expect((await describeSecond({ descriptor })).status).toBe(200)
        const token = await makeToken(both.api, TEST_CARDS.declines)
        const declining = await create(both.api, 'payment-instruments', {
          customerId: both.customerId,
          token,
        })
        const made = await charge(declining.id)
        expect(made).toMatchObject({ result })
        expect((await both.api.post(`transactions/${made.id}/query`, undefined)).status).toBe(201)
        expect(await now(made.id)).toMatchObject({ result: 'declined', gatewayAccountId: 'second' })
        const intents = provider
          .intents()
          .filter(({ metadata }) => (metadata as { requestId?: string }).requestId === made.requestId)
        expect(intents).toMatchObject([{ status: 'requires_payment_method' }])
        expect((await describeSecond({ descriptor: null })).status).toBe(200)
      },
    )

    test('a dispute waits for the result of a charge that was sent on', async () => {
      const { requestId } = await sentOn()
      const dispute = stripeDispute(intentOf(requestId).id)
      expect(await tellOf('second', 'charge.dispute.created', dispute)).toMatchObject({ status: 'received' })
    })

    test('a decline for now, before the charge was sent on, has the gateway asked, and ends nothing', async () => {
      provider.fail(INTENT, LOST)
      const { id, requestId } = await charge()
      await tellOf('first', 'payment_intent.payment_failed', failed(requestId))
      await expectInquiry(id)
      await tellOf('first', 'payment_intent.payment_failed', failed(requestId, 'lost_card'))
      expect(await now(id)).toMatchObject({
        status: 'completed',
        result: 'declined',
        gatewayAccountId: 'first',
      })
    })

    test('an approval after a decline is the last word, and pays', async () => {
      provider.fail(INTENT, declined('lost_card'))
      const { id, requestId } = await charge()
      expect(await now(id)).toMatchObject({ result: 'declined' })
      const approved = { ...failed(requestId), status: 'succeeded', last_payment_error: null }
      expect(await tellOf('first', 'payment_intent.succeeded', approved)).toMatchObject({ status: 'applied' })
      expect(await now(id)).toMatchObject({
        status: 'completed',
        result: 'approved',
        gatewayTransactionId: approved.id,
      })
    })

    test('an approval of the first, after it had declined and the second has charged, is shown to operators', async () => {
      const { id, requestId } = await sentOn()
      const approved = { ...failed(requestId), status: 'succeeded', last_payment_error: null }
      const early = await tellOf('first', 'payment_intent.succeeded', approved)
      expect(early).toMatchObject({ status: 'received', failure: 'what it is about is not known yet' })
      await tellOf('second', 'payment_intent.succeeded', intentOf(requestId))
      await sql(
        "update gateway_notifications set due_time = now() - interval '1 second' where status = 'received'",
      )
      const again = await tellOf('first', 'payment_intent.succeeded', { ...approved, id: 'pi_again' })
      expect(again).toMatchObject({ status: 'received', failure: expect.stringContaining(String(id)) })
    })

    test('a charge whose decline was told does not count for the limit of the day', async () => {
      const limit = (dailyLimits: object[]) =>
        both.api.send('PATCH', 'gateway-accounts/first', {
          body: JSON.stringify({ dailyLimits }),
          headers: { 'Content-Type': 'application/json' },
        })
      expect((await limit([{ currency: 'EUR', count: 1 }])).status).toBe(200)
      provider.fail(INTENT, LOST)
      const { requestId } = await charge()
      await tellOf('first', 'payment_intent.payment_failed', failed(requestId, 'lost_card'))
      expect(await charge()).toMatchObject({ result: 'approved', gatewayAccountId: 'first' })
      expect(await charge()).toMatchObject({ result: 'approved', gatewayAccountId: 'second' })
      expect((await limit([])).status).toBe(200)
    })
  })

  describe('of authorizations', () => {
    const lostCapture = async () => {
      const held = await sale({ type: 'authorize' })
      provider.fail(/capture$/, LOST)
      const body = { type: 'capture', parentTransactionId: held.id, amount: 5 }
      const capture = (await merchant.api.post('transactions', body)).body
      expect(capture).toMatchObject({ status: 'pending', result: 'unknown' })
      return { held, capture }
    }

    const query = async (id: unknown) => (await merchant.api.post(`transactions/${id}/query`, undefined)).body

    test('that its customer approved: once voided it is asked after as what it is', async () => {
      const held = await sale({ type: 'authorize' }, TEST_CARDS.asksAlways)
      provider.answer(String(linkTo(held)), true)
      expect(await query(held.id)).toMatchObject({ status: 'waiting-capture', result: 'approved' })
      await create(merchant.api, 'transactions', { type: 'void', parentTransactionId: held.id })
      expect(await query(held.id)).toMatchObject({ status: 'voided', result: 'approved' })
    })

    test('tell of one whose response was lost, and of its end by the provider', async () => {
      provider.fail(INTENT, LOST)
      const held = await sale({ type: 'authorize' })
      const intent = intentOf(held.requestId)
      // Stripe expands nothing in events, and only the charge tells until when it holds the money.
      const told = { ...intent, latest_charge: 'ch_1' }
      await tell(stripeEvent('payment_intent.amount_capturable_updated', told))
      await expectInquiry(held.id)
      expect((await merchant.api.post(`transactions/${held.id}/query`, undefined)).status).toBe(201)
      expect(await read(`transactions/${held.id}`)).toMatchObject({
        status: 'waiting-capture',
        authorizationExpiryTime: expect.any(String),
      })
      const canceled = { ...intent, status: 'canceled', cancellation_reason: 'automatic' }
      await tell(stripeEvent('payment_intent.canceled', canceled))
      expect(await read(`transactions/${held.id}`)).toMatchObject({ status: 'voided', result: 'approved' })
    })

    test('tell of a capture whose response was lost', async () => {
      const { held, capture } = await lostCapture()
      const intent = intentOf(held.requestId)
      await tell(stripeEvent('payment_intent.succeeded', intent))
      expect(await read(`transactions/${capture.id}`)).toMatchObject({ result: 'approved', amount: 5 })
      expect(await read(`transactions/${held.id}`)).toMatchObject({ status: 'completed' })
      const dispute = stripeDispute(intent.id)
      await tell(stripeEvent('charge.dispute.created', dispute))
      expect(await read(`disputes/${dispute.id}`)).toMatchObject({ transactionId: capture.id })
      expect((await read(`transactions/${held.id}`)).childTransactions).toEqual([capture.id])
    })

    /** As its owner does in the dashboard; returns what Stripe tells of it. */
    const capturedElsewhere = (held: Record<string, unknown>, amount?: number) =>
      stripeEvent('payment_intent.succeeded', {
        ...provider.capture(intentOf(held.requestId).id, amount),
        latest_charge: 'ch_1',
      })
    const refundElsewhere = (held: Record<string, unknown>, amount: number, created: number) => {
      const { id } = intentOf(held.requestId)
      return stripeEvent('refund.created', {
        id: `re_${created}_of_${id}`,
        object: 'refund',
        payment_intent: id,
        amount,
        currency: 'eur',
        status: 'succeeded',
        created,
      })
    }
    const capturesOf = async (id: unknown) =>
      (
        await merchant.api.get<Record<string, unknown>[]>(
          `transactions?filter=parentTransactionId:${id};type:capture&sort=createdTime`,
        )
      ).body
    const processAgain = async () => {
      await sql(
        "update gateway_notifications set due_time = now() - interval '1 second' where status = 'received'",
      )
      await processAll()
    }

    test("record once what was captured in the provider's dashboard, and it pays an invoice", async () => {
      const held = await sale({ type: 'authorize' })
      const event = capturedElsewhere(held, 500)
      await Promise.all([send(event), send({ ...event, id: `${event.id}again` })])
      await Promise.all([processAll(), processAll()])
      const [capture, ...others] = await capturesOf(held.id)
      expect(others).toEqual([])
      expect(capture).toMatchObject({
        type: 'capture',
        amount: 5,
        status: 'completed',
        result: 'approved',
        customerId: merchant.customerId,
        gatewayAccountId: 'main',
        gatewayTransactionId: intentOf(held.requestId).id,
        nextInquiryTime: null,
      })
      expect(await read(`transactions/${held.id}`)).toMatchObject({
        status: 'completed',
        childTransactions: [capture?.id],
      })
      expect(await eventsOf('transaction-processed', String(capture?.id))).toHaveLength(1)
      const timelineOf = async (id: unknown) =>
        (await merchant.api.get<{ type: string }[]>(`transactions/${id}/timeline`)).body.map(
          ({ type }) => type,
        )
      expect(await timelineOf(capture?.id)).toEqual(['transaction-approved'])
      expect(await timelineOf(held.id)).toContain('transaction-captured')
      expect(await query(capture?.id)).toMatchObject({ status: 'completed', result: 'approved', amount: 5 })
      for (const type of ['capture', 'void']) {
        const again = await merchant.api.post('transactions', { type, parentTransactionId: held.id })
        expect(again.status).toBe(422)
      }
      const { initialInvoiceId } = await create(
        merchant.api,
        'subscriptions',
        orderBody(merchant, { autopay: false }),
      )
      const pays = { transactionId: capture?.id, amount: 4 }
      expect((await merchant.api.post(`invoices/${initialInvoiceId}/transaction`, pays)).status).toBe(200)
      expect(await read(`invoices/${initialInvoiceId}`)).toMatchObject({
        status: 'partially-paid',
        amountDue: 5.9,
      })
      expect(await create(merchant.api, `transactions/${capture?.id}/refund`, {})).toMatchObject({
        amount: 5,
        result: 'approved',
      })
    })

    test('record a capture elsewhere, of an authorization whose own response was lost', async () => {
      provider.fail(INTENT, LOST)
      const held = await sale({ type: 'authorize' })
      await tell(capturedElsewhere(held))
      expect(await read(`transactions/${held.id}`)).toMatchObject({ status: 'completed', result: 'approved' })
      expect(await capturesOf(held.id)).toMatchObject([{ amount: 12.5, result: 'approved' }])
    })

    test('of a capture elsewhere wait for the outcome of our own, which finds the money taken', async () => {
      const held = await sale({ type: 'authorize' })
      provider.fail(/capture$/, { before: LOST.after })
      const own = (await merchant.api.post('transactions', { type: 'capture', parentTransactionId: held.id }))
        .body
      expect(own).toMatchObject({ status: 'pending', result: 'unknown' })
      const event = capturedElsewhere(held, 500)
      await tell(event)
      expect(await stored(event)).toMatchObject({ status: 'received', failures: 1 })
      expect(await capturesOf(held.id)).toMatchObject([{ id: own.id, status: 'pending' }])
      expect((await merchant.api.post(`transactions/${own.id}/query`, undefined)).status).toBe(201)
      await processAgain()
      expect(await stored(event)).toMatchObject({ status: 'applied' })
      expect(await capturesOf(held.id)).toMatchObject([
        { id: own.id, result: 'declined' },
        { amount: 5, result: 'approved' },
      ])
      expect(await read(`transactions/${held.id}`)).toMatchObject({ status: 'completed' })
      // Ours, declined, has the same id at the provider.
      const { id } = intentOf(held.requestId)
      const dispute = stripeDispute(id)
      for (const told of [
        stripeEvent('charge.dispute.created', dispute),
        refundElsewhere(held, 200, event.created + 600),
      ]) {
        await tell(told)
        expect(await stored(told)).toMatchObject({ status: 'applied' })
      }
      const [, taken] = await capturesOf(held.id)
      expect(taken).toMatchObject({ childTransactions: [expect.any(String)] })
      expect(await read(`disputes/${dispute.id}`)).toMatchObject({ transactionId: taken?.id })
    })

    test.each(['capture', 'void'])(
      'end one that was canceled elsewhere, while our %s is unknown',
      async (type) => {
        const held = await sale({ type: 'authorize' })
        provider.fail(/(capture|cancel)$/, { before: LOST.after })
        const own = (await merchant.api.post('transactions', { type, parentTransactionId: held.id })).body
        expect(own).toMatchObject({ status: 'pending', result: 'unknown' })
        const intent = Object.assign(intentOf(held.requestId), {
          status: 'canceled',
          cancellation_reason: 'requested_by_customer',
        })
        await tell(stripeEvent('payment_intent.canceled', { ...intent, latest_charge: 'ch_1' }))
        expect(await read(`transactions/${held.id}`)).toMatchObject({ status: 'voided', result: 'approved' })
        expect((await merchant.api.post(`transactions/${own.id}/query`, undefined)).status).toBe(201)
        expect(await read(`transactions/${own.id}`)).toMatchObject({
          result: type === 'void' ? 'approved' : 'declined',
        })
        expect(await read(`transactions/${held.id}`)).toMatchObject({ status: 'voided' })
      },
    )

    test('of refunds and disputes of a capture elsewhere wait until it is told', async () => {
      const held = await sale({ type: 'authorize' })
      const captured = capturedElsewhere(held)
      const { id } = intentOf(held.requestId)
      const dispute = stripeDispute(id)
      const early = [
        stripeEvent('charge.dispute.created', dispute),
        refundElsewhere(held, 300, captured.created),
      ]
      for (const event of early) {
        await tell(event)
        expect(await stored(event)).toMatchObject({ status: 'received', failures: 1 })
      }
      await tell(captured)
      await processAgain()
      const [capture] = await capturesOf(held.id)
      expect(await read(`disputes/${dispute.id}`)).toMatchObject({ transactionId: capture?.id })
      expect(capture).toMatchObject({ childTransactions: [expect.any(String)] })
    })

    test('take the rest that a partial capture released for no refund, and one of that amount later for one', async () => {
      const held = await sale({ type: 'authorize' })
      const captured = capturedElsewhere(held, 700)
      const released = refundElsewhere(held, 550, captured.created)
      await tell(released)
      await tell(captured)
      await processAgain()
      expect(await stored(released)).toMatchObject({ status: 'ignored' })
      expect(await capturesOf(held.id)).toMatchObject([{ status: 'completed', childTransactions: [] }])
      await tell(refundElsewhere(held, 550, captured.created + 600))
      expect(await capturesOf(held.id)).toMatchObject([
        { status: 'partially-refunded', childTransactions: [expect.any(String)] },
      ])
    })
  })

  test('that are quarantined are listed for operators, who have them processed at once', async () => {
    const made = await sale()
    const poisoned = stripeDispute(String(made.gatewayTransactionId), { amount: 10 ** 15 })
    const event = stripeEvent('charge.dispute.created', poisoned)
    await tell(event)
    const name = `notification/${merchant.organizationId}/main/${event.id}`
    const script = fileURLToPath(new URL('../../cli/quarantine.ts', import.meta.url))
    const run = async (...args: string[]) => {
      const env = { PATH: process.env.PATH, DATABASE_URL: service.databaseUrl }
      return (await promisify(execFile)(process.execPath, [script, ...args], { env })).stdout
    }
    expect(await run()).toContain(`${name}  failed 1 times, next `)
    await sql(
      `update gateway_notifications set content = jsonb_set(content, '{amount}', '"12.5"') where id = ?`,
      [event.id],
    )
    await processAll()
    expect(await stored(event)).toMatchObject({ status: 'received' })
    expect(await run('release', name)).toBe(`Released ${name}.\n`)
    await processAll()
    expect(await stored(event)).toMatchObject({ status: 'applied', failures: 0 })
    expect(await read(`disputes/${poisoned.id}`)).toMatchObject({ amount: 12.5 })
    await expect(run('release', name)).rejects.toThrow('is not quarantined')
  })

  test('of a card that its bank renewed change the instrument, and revive one that had expired', async () => {
    const card = await instrument()
    const [row] = await sql<{ gateway_reference: string }>(
      "update payment_instruments set status = 'expired', exp_year = 2020 where organization_id = ? and id = ? returning gateway_reference",
      [merchant.organizationId, card.id],
    )
    const [, , customer, id] = String(row?.gateway_reference).split('/')
    const object = {
      id,
      object: 'payment_method',
      customer,
      card: { last4: '4242', exp_month: 3, exp_year: 2091 },
    }
    await tell(stripeEvent('payment_method.automatically_updated', object))
    await tell(stripeEvent('payment_method.automatically_updated', object))
    expect(await read(`payment-instruments/${card.id}`)).toMatchObject({
      last4: '4242',
      expMonth: 3,
      expYear: 2091,
      status: 'active',
      revision: 2,
    })
    expect(await eventsOf('payment-instrument-modified', String(card.id))).toHaveLength(1)
  })

  test("that another account has left the platform leave the platform's own as it is", async () => {
    const before = await read('gateway-accounts/main')
    const account = 'acct_connected'
    await tell(stripeEvent('account.application.deauthorized', { id: 'ca_1' }, { account }))
    expect(await read('gateway-accounts/main')).toEqual(before)
  })

  test('are kept for thirty days', async () => {
    const [old, young] = [stripeEvent('x', {}), stripeEvent('x', {})]
    for (const event of [old, young]) expect((await send(event)).status).toBe(200)
    await sql("update gateway_notifications set received_time = now() - interval '31 days' where id = ?", [
      old.id,
    ])
    await removeExpired(service.database.orm.em.fork())
    expect([await stored(old), await stored(young)]).toEqual([null, expect.anything()])
  })

  test("leave no secret in a log or a row, and the account's are never shown", async () => {
    expect(service.log.join('')).not.toContain('whsec')
    const rows = await sql<{ row: string }>('select to_jsonb(row)::text as row from gateway_accounts row')
    expect(rows.map(({ row }) => row).join()).not.toContain('whsec')
    expect(JSON.stringify(await read('gateway-accounts/main'))).not.toContain('whsec')
  })

  describe('reach the order, with a worker', () => {
    beforeAll(() => service.startWorker())
    const place = async () => {
      const paymentInstrumentId = (await instrument()).id
      const order = await create(merchant.api, 'subscriptions', orderBody(merchant, { paymentInstrumentId }))
      return `subscriptions/${order.id}`
    }
    const invoiceOf = async (order: string) =>
      (
        (await read(`${order}?expand=initialInvoice`))._embedded as {
          initialInvoice: Record<string, unknown>
        }
      ).initialInvoice
    const until = async (order: string, status: string) =>
      await waitFor(`the invoice of ${order} to be ${status}`, async () =>
        (await invoiceOf(order)).status === status ? true : null,
      )

    test('a charge whose result was lost activates it at once, before the first inquiry', async () => {
      provider.fail(INTENT, LOST)
      const order = await place()
      const requestId = `${order.split('/')[1]}.1.1`
      await waitFor('the charge to be unknown', async () => {
        const { body } = await merchant.api.get<object[]>(
          `transactions?filter=result:unknown;requestId:${requestId}`,
        )
        return body.length > 0 || null
      })
      expect((await send(stripeEvent('payment_intent.succeeded', intentOf(requestId)))).status).toBe(200)
      await waitFor('the order to be active', async () =>
        (await read(order)).status === 'active' ? true : null,
      )
      expect(await invoiceOf(order)).toMatchObject({ status: 'paid' })
    }, 60_000)

    test('its invoice shows a dispute, its end, a refund made elsewhere and the failure of that', async () => {
      const order = await place()
      await until(order, 'paid')
      const { body } = await merchant.api.get<Record<string, unknown>[]>(
        `transactions?filter=result:approved;type:sale&limit=1`,
      )
      const intent = String(body[0]?.gatewayTransactionId)
      const at = Math.floor(Date.now() / 1000) - 100
      const dispute = stripeDispute(intent, { amount: 990 })
      expect((await send(stripeEvent('charge.dispute.created', dispute, { created: at }))).status).toBe(200)
      await until(order, 'disputed')
      const won = { ...dispute, status: 'won' }
      expect((await send(stripeEvent('charge.dispute.closed', won, { created: at + 1 }))).status).toBe(200)
      await until(order, 'paid')
      const refund = {
        id: 're_dashboard',
        payment_intent: intent,
        amount: 990,
        currency: 'eur',
        status: 'succeeded',
      }
      expect((await send(stripeEvent('refund.created', refund, { created: at + 2 }))).status).toBe(200)
      await until(order, 'refunded')
      const failed = { ...refund, status: 'failed', failure_reason: 'declined' }
      expect((await send(stripeEvent('refund.failed', failed, { created: at + 3 }))).status).toBe(200)
      await until(order, 'paid')
    }, 60_000)
  })
})

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { TEST_CARDS } from '../support/cards.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { type ScriptedStripe, startScriptedStripe } from '../support/scripted-stripe.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

const SECRET_KEY = 'sk_test_of_the_scripted_provider'
const ACCOUNT = {
  gatewayName: 'Stripe',
  method: 'payment-card',
  acceptedCurrencies: ['EUR', 'USD'],
  takesCardNumbers: true,
  credentials: { secretKey: SECRET_KEY },
}

describe('a gateway account', () => {
  let provider: ScriptedStripe
  let service: TestService
  let merchant: Catalogue
  let accountId: string
  beforeAll(async () => {
    provider = await startScriptedStripe(SECRET_KEY)
    const stripeHost = { protocol: 'http', host: '127.0.0.1', port: provider.port } as const
    service = await startService({ stripeHost })
    merchant = await catalogue(service)
    accountId = String((await create(merchant.api, 'gateway-accounts', ACCOUNT)).id)
  }, 60_000)
  afterAll(async () => {
    await service?.stop()
    await provider?.close()
  })
  const saleOf = async (paymentInstruction: object, members: object = {}, of = merchant) =>
    await of.api.post('transactions', {
      type: 'sale',
      customerId: of.customerId,
      currency: 'EUR',
      amount: 12.5,
      paymentInstruction,
      ...members,
    })
  const instrument = async (of = merchant, pan: string = TEST_CARDS.approves) =>
    String(
      (
        await create(of.api, 'payment-instruments', {
          customerId: of.customerId,
          token: await makeToken(of.api, pan),
        })
      ).id,
    )
  const chargedFor = (requestId: unknown) =>
    provider.charges().filter(({ metadata }) => (metadata as { requestId?: string }).requestId === requestId)

  test('is created, read, changed and listed without its secrets', async () => {
    const made = await merchant.api.put('gateway-accounts/main', { ...ACCOUNT, descriptor: 'EXAMPLE SHOP' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ id: 'main', status: 'active', descriptor: 'EXAMPLE SHOP', priority: 0 })
    const { credentials: _, ...kept } = ACCOUNT
    const changed = await merchant.api.put('gateway-accounts/main', { ...kept, priority: 5 })
    expect(changed.body).toMatchObject({ descriptor: null, priority: 5, revision: 2 })
    const patched = await merchant.api.send('PATCH', 'gateway-accounts/main', {
      body: JSON.stringify({ acceptedCurrencies: ['GBP'] }),
      headers: { 'Content-Type': 'application/json' },
    })
    expect(patched.body).toMatchObject({ acceptedCurrencies: ['GBP'], priority: 5, takesCardNumbers: true })
    expect((await merchant.api.post('gateway-accounts/main/check-credentials', {})).status).toBe(204)
    const listed = await merchant.api.get<object[]>('gateway-accounts')
    expect(listed.body).toHaveLength(2)
    expect(JSON.stringify([made.body, listed.body])).not.toContain('sk_test')
    const rows = await service.database.orm.em
      .fork()
      .getConnection()
      .execute<{ row: string }[]>('select to_jsonb(row)::text as row from gateway_accounts row')
    expect(rows.map(({ row }) => row).join()).not.toContain('sk_test')
    expect((await merchant.api.delete('gateway-accounts/main')).status).toBe(204)
  })

  test.each([
    ['no credentials', { credentials: undefined }, ['credentials']],
    ['wrong credentials', { credentials: { secretKey: 'sk_test_of_nobody' } }, ['credentials.secretKey']],
    ['an unknown provider', { gatewayName: 'Someone' }, ['gatewayName']],
    ['no currency', { acceptedCurrencies: [] }, ['acceptedCurrencies']],
    ['an unknown currency', { acceptedCurrencies: ['XXY'] }, ['acceptedCurrencies.0']],
    ['an unknown brand', { paymentCardSchemes: ['Plastic'] }, ['paymentCardSchemes.0']],
    ['a descriptor without a letter', { descriptor: '12345' }, ['descriptor']],
    ['a feature that is not built', { threeDSecure: true }, ['threeDSecure']],
  ])('is refused with %s: 422, and nothing is written', async (_, members, fields) => {
    const before = (await merchant.api.get<object[]>('gateway-accounts')).body.length
    const response = await merchant.api.post('gateway-accounts', { ...ACCOUNT, ...members })
    expect(expectProblem(response, 422, 'validation-error')).toEqual(fields)
    expect(JSON.stringify(response.body)).not.toContain('sk_test')
    expect((await merchant.api.get<object[]>('gateway-accounts')).body).toHaveLength(before)
  })

  describe("whose provider's own form stored a card", () => {
    const adopt = (members: object) =>
      merchant.api.post('payment-instruments', { customerId: merchant.customerId, ...members })

    test('makes an instrument of it, and charges it by the account that holds it', async () => {
      const paymentMethod = provider.addPaymentMethod(TEST_CARDS.approves)
      const { status, body } = await adopt({
        referenceData: { paymentMethod },
      })
      expect(status).toBe(201)
      expect(body).toMatchObject({
        bin: null,
        last4: '1111',
        brand: 'Visa',
        expMonth: 12,
        expYear: 2090,
        status: 'active',
        referenceData: { paymentMethod },
      })
      const sale = await saleOf({ paymentInstrumentId: body.id })
      expect(sale.body).toMatchObject({ result: 'approved', gatewayAccountId: accountId, bin: null })
      expect(chargedFor(sale.body.requestId)).toHaveLength(1)
      const found = await merchant.api.get<object[]>(
        `payment-instruments?filter=referenceData.paymentMethod:${paymentMethod}`,
      )
      expect(found.body).toHaveLength(1)
      const again = await adopt({ referenceData: { paymentMethod } })
      expect(again.body).toMatchObject({ fingerprint: body.fingerprint })
    })

    test.each([
      ['neither a token nor a card of the form', {}, ['token']],
      [
        'a card that it did not store',
        { referenceData: { paymentMethod: 'pm_none' } },
        ['referenceData.paymentMethod'],
      ],
      [
        'a token beside it',
        { token: 'tok_1', referenceData: { paymentMethod: 'pm_1' } },
        ['referenceData.paymentMethod'],
      ],
    ])('refuses %s: 422', async (_, members, fields) => {
      expect(expectProblem(await adopt(members), 422, 'validation-error')).toEqual(fields)
    })

    test('refuses one that was used before without a customer: 422', async () => {
      const paymentMethod = provider.addPaymentMethod(TEST_CARDS.approves)
      const error = { type: 'invalid_request_error', message: 'It may not be used again.' }
      provider.fail(/^POST \/v1\/setup_intents$/, { before: { status: 400, error } })
      const refused = await adopt({ referenceData: { paymentMethod } })
      expect(expectProblem(refused, 422, 'validation-error')).toEqual(['referenceData.paymentMethod'])
    })
  })

  test('whose provider cannot be reached is told as its failure: 502', async () => {
    provider.fail(/^GET \/v1\/balance$/, { before: { status: 500, error: { type: 'api_error' } } })
    expectProblem(await merchant.api.post('gateway-accounts', ACCOUNT), 502, 'upstream-failed')
  })

  test('of another revision is told before the provider is asked: 412', async () => {
    const { id } = await create(merchant.api, 'gateway-accounts', ACCOUNT)
    const body = JSON.stringify({ ...ACCOUNT, credentials: { secretKey: 'sk_test_of_nobody' } })
    const headers = { 'Content-Type': 'application/json', 'If-Match': '"7"' }
    for (const method of ['PUT', 'PATCH']) {
      const response = await merchant.api.send(method, `gateway-accounts/${id}`, { body, headers })
      expectProblem(response, 412, 'precondition-failed')
    }
    expect((await merchant.api.delete(`gateway-accounts/${id}`)).status).toBe(204)
  })

  test('cannot change its provider, and once closed stays closed', async () => {
    const { id } = await create(merchant.api, 'gateway-accounts', ACCOUNT)
    const path = `gateway-accounts/${id}`
    const other = { ...ACCOUNT, gatewayName: 'TestGateway', credentials: undefined }
    expectProblem(await merchant.api.put(path, other), 409, 'conflict')
    expect((await merchant.api.post(`${path}/disable`, {})).body).toMatchObject({ status: 'inactive' })
    expect((await merchant.api.post(`${path}/enable`, {})).body).toMatchObject({ status: 'active' })
    const closed = await merchant.api.post(`${path}/close`, {})
    expect([closed.status, closed.body.status]).toEqual([201, 'closed'])
    expectProblem(await merchant.api.post(`${path}/enable`, {}), 409, 'conflict')
    expect((await merchant.api.delete(path)).status).toBe(204)
  })

  test('has a timeline that names what was changed, and no value or secret', async () => {
    const path = 'gateway-accounts/told'
    await merchant.api.put(path, ACCOUNT)
    await merchant.api.put(path, {
      ...ACCOUNT,
      credentials: undefined,
      priority: 3,
      acceptedCurrencies: ['EUR'],
    })
    await merchant.api.put(path, {
      ...ACCOUNT,
      credentials: undefined,
      priority: 3,
      acceptedCurrencies: ['EUR'],
    })
    const credentials = { ...ACCOUNT.credentials, webhookSecret: 'whsec_sk_test' }
    await merchant.api.put(path, { ...ACCOUNT, credentials, priority: 3, acceptedCurrencies: ['EUR'] })
    for (const verb of ['disable', 'disable', 'enable', 'close'])
      await merchant.api.post(`${path}/${verb}`, {})
    const comment = await merchant.api.post(`${path}/timeline`, { message: 'Replaced by another.' })
    expect(comment.status).toBe(201)
    const { body } = await merchant.api.get<{ type: string; message: string }[]>(`${path}/timeline`)
    expect(body.map(({ type }) => type)).toEqual([
      'timeline-comment-created',
      'gateway-account-closed',
      'gateway-account-enabled',
      'gateway-account-disabled',
      'gateway-account-credentials-changed',
      'gateway-account-modified',
      'gateway-account-created',
    ])
    expect(body[5]?.message).toBe('Gateway account told: acceptedCurrencies, priority changed.')
    expect(JSON.stringify(body)).not.toContain('sk_test')
    expectProblem(await merchant.api.get('gateway-accounts/none/timeline'), 404, 'not-found')
    expect((await merchant.api.delete(`${path}/timeline/${comment.body.id}`)).status).toBe(204)
    await merchant.api.delete(path)
    await merchant.api.put(path, ACCOUNT)
    expect((await merchant.api.get<object[]>(`${path}/timeline`)).body).toHaveLength(1)
    await merchant.api.delete(path)
  })

  describe('is patched', () => {
    const path = 'gateway-accounts/patched'
    const patch = (body: object) =>
      merchant.api.send('PATCH', path, {
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json' },
      })
    const SETTINGS = {
      paymentCardSchemes: ['Visa'],
      priority: 4,
      dailyLimits: [{ currency: 'EUR', count: 0, amount: null }],
      takesCardNumbers: true,
      descriptor: 'EXAMPLE SHOP',
      customFields: { a: 1 },
    }
    let made: Record<string, unknown>
    beforeEach(async () => {
      made = (await merchant.api.put(path, { ...ACCOUNT, ...SETTINGS })).body
      expect(made).toMatchObject(SETTINGS)
    })
    afterEach(() => merchant.api.delete(path))

    test('with any member that it has: what was read, and one change', async () => {
      const { status, body } = await patch({ ...made, priority: 7 })
      expect([status, body]).toEqual([
        200,
        { ...made, priority: 7, revision: 2, updatedTime: expect.any(String) },
      ])
      expect((await patch({ threeDSecure: false, status: 'closed' })).body).toEqual(body)
    })

    test('with null, which returns a member to its default', async () => {
      const nulls = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, null]))
      const { status, body } = await patch(nulls)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        paymentCardSchemes: [],
        priority: 0,
        dailyLimits: [],
        takesCardNumbers: false,
        descriptor: null,
        customFields: {},
        acceptedCurrencies: ACCOUNT.acceptedCurrencies,
        revision: 2,
      })
    })

    test('but not to another provider or method: 409', async () => {
      expectProblem(await patch({ gatewayName: 'TestGateway' }), 409, 'conflict')
      expectProblem(await patch({ gatewayName: null }), 409, 'conflict')
    })

    test.each<[string, object, string[]]>([
      ['a feature that is not built', { threeDSecure: true }, ['threeDSecure']],
      ['a member that it does not have', { colour: 'red' }, ['colour']],
      ['no currencies', { acceptedCurrencies: null }, ['acceptedCurrencies']],
      ['wrong credentials', { credentials: { secretKey: 'sk_test_of_nobody' } }, ['credentials.secretKey']],
    ])('but not to %s: 422', async (_, body, fields) => {
      expect(expectProblem(await patch(body), 422, 'validation-error')).toEqual(fields)
      expect((await merchant.api.get(path)).body).toEqual(made)
    })
  })

  test('that is sent again with the credentials it has is not changed', async () => {
    const path = 'gateway-accounts/same'
    const credentials = { ...ACCOUNT.credentials, webhookSecret: 'whsec_first' }
    const made = await merchant.api.put(path, { ...ACCOUNT, credentials })
    const secrets = () =>
      service.database.orm.em
        .fork()
        .getConnection()
        .execute("select credentials_cipher from gateway_accounts where id = 'same'")
    const before = await secrets()
    const patch = (given: object) =>
      merchant.api.send('PATCH', path, {
        body: JSON.stringify({ credentials: given }),
        headers: { 'Content-Type': 'application/json' },
      })
    const { webhookSecret } = credentials
    for (const again of [
      await merchant.api.put(path, { ...ACCOUNT, credentials }),
      await merchant.api.put(path, ACCOUNT),
      await patch({ webhookSecret }),
    ]) {
      expect([again.status, again.body]).toEqual([200, made.body])
    }
    expect(await secrets()).toEqual(before)
    expect((await merchant.api.get<object[]>(`${path}/timeline`)).body).toHaveLength(1)
    expect((await patch({ webhookSecret: 'whsec_second' })).body).toMatchObject({ revision: 2 })
    expect(await secrets()).not.toEqual(before)
    await merchant.api.delete(path)
  })

  test('stores the card of a token, charges it and gives it back', async () => {
    const paymentInstrumentId = await instrument()
    const sale = await saleOf({ paymentInstrumentId })
    expect(sale.body).toMatchObject({ status: 'completed', result: 'approved', gatewayName: 'Stripe' })
    expect(chargedFor(sale.body.requestId)).toMatchObject([{ amount: 1250, currency: 'eur' }])
    const refund = await merchant.api.post('transactions', {
      type: 'refund',
      parentTransactionId: sale.body.id,
      amount: 5,
    })
    expect(refund.body).toMatchObject({ status: 'completed', result: 'approved' })
    expect(provider.refunds()[0]).toMatchObject({ amount: 500 })
  })

  test('declines as its provider does', async () => {
    const sale = await saleOf({ paymentInstrumentId: await instrument(merchant, TEST_CARDS.lacksFunds) })
    expect(sale.body).toMatchObject({ status: 'completed', result: 'declined' })
    expect(String(sale.body.rawResponse)).toContain('insufficient_funds')
    const [row] = await service.database.orm.em
      .fork()
      .getConnection()
      .execute<{ decline_class: string; gateway_transaction_id: string }[]>(
        'select decline_class, gateway_transaction_id from transactions where organization_id = ? and id = ?',
        [merchant.organizationId, sale.body.id],
      )
    expect(row).toEqual({
      decline_class: 'insufficient-funds',
      gateway_transaction_id: expect.stringMatching(/^pi_/),
    })
  })

  test('charges an order of its customer, in time and off session', async () => {
    const paymentInstrumentId = await instrument()
    const order = await create(merchant.api, 'subscriptions', orderBody(merchant, { paymentInstrumentId }))
    await waitFor('the order to be active', async () => {
      const { body } = await merchant.api.get(`subscriptions/${order.id}`)
      return body.status === 'active' || null
    })
    const invoice = (await merchant.api.get(`subscriptions/${order.id}?expand=initialInvoice`)).body
    expect(invoice).toMatchObject({ _embedded: { initialInvoice: { status: 'paid' } } })
    expect(provider.charges()[0]).toMatchObject({ amount: 990, currency: 'eur' })
  }, 60_000)

  test('charges what it holds after another account comes first, and does not while it is disabled', async () => {
    const paymentInstrumentId = await instrument()
    const first = await create(merchant.api, 'gateway-accounts', {
      gatewayName: 'TestGateway',
      method: 'payment-card',
      acceptedCurrencies: ['EUR'],
      takesCardNumbers: true,
    })
    await merchant.api.put(`gateway-accounts/${accountId}`, { ...ACCOUNT, priority: 9 })
    const sale = await saleOf({ paymentInstrumentId })
    expect(sale.body).toMatchObject({ result: 'approved', gatewayName: 'Stripe' })
    expect(chargedFor(sale.body.requestId)).toHaveLength(1)
    const elsewhere = await saleOf({ paymentInstrumentId: await instrument() })
    expect(elsewhere.body).toMatchObject({ result: 'approved', gatewayName: 'TestGateway' })
    expect(chargedFor(elsewhere.body.requestId)).toEqual([])

    await merchant.api.post(`gateway-accounts/${accountId}/disable`, {})
    const disabled = await saleOf({ paymentInstrumentId })
    expect(disabled.body).toMatchObject({ result: 'declined' })
    expect(String(disabled.body.rawResponse)).toContain('gateway-account-inactive')
    const refund = await merchant.api.post('transactions', {
      type: 'refund',
      parentTransactionId: sale.body.id,
    })
    expect(refund.body).toMatchObject({ result: 'approved' })
    await merchant.api.post(`gateway-accounts/${accountId}/enable`, {})
    expectProblem(await merchant.api.delete(`gateway-accounts/${accountId}`), 409, 'conflict')
    await merchant.api.post(`gateway-accounts/${first.id}/close`, {})
  })

  test('takes the currencies and brands that it says, and no token is lost on it', async () => {
    const other = await catalogue(service)
    await create(other.api, 'gateway-accounts', { ...ACCOUNT, paymentCardSchemes: ['Visa'] })
    const token = await makeToken(other.api)
    const wrongCurrency = await saleOf({ token }, { currency: 'GBP' }, other)
    expect(expectProblem(wrongCurrency, 422, 'validation-error')).toEqual(['paymentInstruction.token'])
    expect((await saleOf({ token }, {}, other)).body).toMatchObject({ result: 'approved' })
    const mastercard = await makeToken(other.api, TEST_CARDS.approvesToo)
    const wrongBrand = await other.api.post('payment-instruments', {
      customerId: other.customerId,
      token: mastercard,
    })
    expect(expectProblem(wrongBrand, 422, 'validation-error')).toEqual(['token'])
    const inPounds = await saleOf(
      { paymentInstrumentId: await instrument(other) },
      { currency: 'GBP' },
      other,
    )
    expect(inPounds.body).toMatchObject({ result: 'declined' })
    expect(String(inPounds.body.rawResponse)).toContain('currency-not-accepted')
  })

  test('makes a live deployment take cards; the test gateway does not exist there', async () => {
    const stripeHost = { protocol: 'http', host: '127.0.0.1', port: provider.port } as const
    const live = await startService({ worker: false, settings: { ENVIRONMENT: 'live' }, stripeHost })
    try {
      const shop = await catalogue(live)
      const test = { ...ACCOUNT, gatewayName: 'TestGateway' }
      expect(expectProblem(await shop.api.post('gateway-accounts', test), 422, 'validation-error')).toEqual([
        'gatewayName',
      ])
      await create(shop.api, 'gateway-accounts', ACCOUNT)
      const sale = await saleOf({ token: await makeToken(shop.api) }, {}, shop)
      expect(sale.body).toMatchObject({ result: 'approved', gatewayName: 'Stripe' })
    } finally {
      await live.stop()
    }
  })

  test('leaves no secret in a log', () => {
    expect(service.log.length).toBeGreaterThan(0)
    expect(service.log.join('')).not.toContain('sk_test')
  })
})

/** Each operation reaches the customer's own records only, and shows nothing that is the merchant's alone. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { ROUTES } from '../../api/routes.ts'
import { responseSchema } from '../../api/schemas/body-and-response.ts'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { customerBrowser } from '../support/customer-browser.ts'
import { externalSale } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken, tokenBody } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

/** The value of every member that customers must not see. */
const INTERNAL = 'for-the-merchant-alone'
const OWN_PLAN = {
  name: 'Set-up',
  currency: 'EUR',
  pricing: { formula: 'fixed-fee', price: 1 },
  customFields: { note: INTERNAL },
}
const RISK = {
  ipAddress: '198.51.100.7',
  fingerprint: INTERNAL,
  extraData: { kountFraudSessionId: INTERNAL },
}

const STOREFRONT = ROUTES.filter(({ path }) => path.startsWith('storefront/'))
const named = (routes: typeof STOREFRONT) => routes.map((route) => [route.operationId, route] as const)
const ONE = STOREFRONT.filter(({ method, path }) => method === 'GET' && path.endsWith('/{id}'))
const MANY = STOREFRONT.filter(({ returns: responses }) => responses === 'many')
/** Groups whose records belong to a customer; those of others belong to the organization. */
const OWNED = ['orders', 'invoices', 'payment-instruments', 'transactions']
const groupOf = (path: string) => path.split('/')[1] ?? ''

type Records = Readonly<Record<string, string>>

const VOLATILE = [
  'storefront/invoices/{id}',
  'storefront/payment-instruments/{id}',
  'storefront/transactions/{id}',
]

describe('the storefront', () => {
  let service: TestService
  let merchant: Catalogue
  /** Another organization, which has every record of the merchant under the same id. */
  let twin: Catalogue
  let ada: Records & { readonly customerId: string }
  let bob: Records & { readonly customerId: string }
  let asAda: ApiClient
  let asBob: ApiClient
  let asTwin: ApiClient

  const sql = <T = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)

  async function customerWithRecords(name: string) {
    const { api } = merchant
    const { id: customerId } = await create(api, 'customers', {
      firstName: name,
      email: `${name}@example.com`,
      customFields: { note: INTERNAL },
      leadSource: { medium: INTERNAL },
    })
    const token = await create(api, 'tokens', tokenBody(undefined, { riskMetadata: RISK }))
    const instrument = await create(api, 'payment-instruments', { customerId, token: token.id })
    const order = await create(
      api,
      'subscriptions',
      orderBody(merchant, {
        customerId,
        riskMetadata: RISK,
        customFields: { note: INTERNAL },
        poNumber: name,
        items: [{ plan: { id: merchant.planId } }, { plan: OWN_PLAN }],
      }),
    )
    return {
      customerId: String(customerId),
      orders: String(order.id),
      invoices: String(order.initialInvoiceId),
      'payment-instruments': String(instrument.id),
      transactions: await externalSale(api, String(customerId)),
    }
  }

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
    await create(merchant.api, 'products', { name: 'Seat', customFields: { note: INTERNAL } })
    const website = await create(merchant.api, 'websites', {
      name: 'Other',
      customFields: { note: INTERNAL },
    })
    expect(website.customFields).toEqual({ note: INTERNAL })
    ada = await customerWithRecords('ada')
    bob = await customerWithRecords('bob')
    await sql('update transactions set raw_response = ?, request_id = ? || id, gateway = ?', [
      INTERNAL,
      INTERNAL,
      INTERNAL,
    ])
    await sql("update invoices set status = 'unpaid', issued_time = now()")
    const { organizationId, secretKey, api } = await service.organization()
    for (const table of [
      'customers',
      'websites',
      'products',
      'plans',
      'subscriptions',
      'invoices',
      'payment_instruments',
      'transactions',
    ]) {
      await sql(
        `insert into ${table} select (jsonb_populate_record(null::${table},
           to_jsonb(row) || jsonb_build_object('organization_id', ?::text, 'revision', 77))).*
           from ${table} row where organization_id = ?`,
        [organizationId, merchant.organizationId],
      )
    }
    twin = { ...merchant, organizationId, secretKey, api }
    asAda = await customerBrowser(service, { ...merchant, customerId: ada.customerId })
    asBob = await customerBrowser(service, { ...merchant, customerId: bob.customerId })
    asTwin = await customerBrowser(service, { ...twin, customerId: ada.customerId })
  })
  afterAll(() => service.stop())

  async function idOf(records: Records, path: string): Promise<string> {
    const group = groupOf(path)
    if (OWNED.includes(group)) return String(records[group])
    const { body } = await merchant.api.get<{ id: string }[]>(group)
    return String(body[0]?.id)
  }
  /** An event is listed once no older transaction of the server can still commit. */
  const eventsOf = (eventType: string) =>
    waitFor(eventType, async () => {
      const { body } = await merchant.api.get<object[]>(`events?filter=eventType:${eventType}`)
      return body.length > 0 ? body : null
    })
  const init = (takesBody: boolean): RequestInit =>
    takesBody ? { body: '{}', headers: { 'Content-Type': 'application/json' } } : {}

  test('has every operation of the contract, by names that permissions can have', () => {
    expect(STOREFRONT.map(({ operationId, method, path }) => `${operationId} ${method} ${path}`)).toEqual(
      expect.arrayContaining([
        'StorefrontGetAccount GET storefront/account',
        'StorefrontPutAccount PUT storefront/account',
        'StorefrontGetOrderCollection GET storefront/orders',
        'StorefrontGetOrder GET storefront/orders/{id}',
        'StorefrontGetInvoiceCollection GET storefront/invoices',
        'StorefrontGetInvoice GET storefront/invoices/{id}',
        'StorefrontGetPaymentInstrumentCollection GET storefront/payment-instruments',
        'StorefrontPostPaymentInstrument POST storefront/payment-instruments',
        'StorefrontGetPaymentInstrument GET storefront/payment-instruments/{id}',
        'StorefrontPatchPaymentInstrument PATCH storefront/payment-instruments/{id}',
        'StorefrontPostPaymentInstrumentDeactivation POST storefront/payment-instruments/{id}/deactivation',
        'StorefrontGetTransactionCollection GET storefront/transactions',
        'StorefrontGetTransaction GET storefront/transactions/{id}',
        'StorefrontGetPlanCollection GET storefront/plans',
        'StorefrontGetPlan GET storefront/plans/{id}',
        'StorefrontGetProductCollection GET storefront/products',
        'StorefrontGetProduct GET storefront/products/{id}',
        'StorefrontGetWebsiteCollection GET storefront/websites',
        'StorefrontGetWebsite GET storefront/websites/{id}',
      ]),
    )
  })

  test.each(named(STOREFRONT))('%s refuses every key: 403', async (_, { method, path, takesBody }) => {
    const at = path.replace('{id}', await idOf(ada, path))
    const publishable = apiClient(service.baseUrl, merchant.organizationId, {
      Authorization: merchant.publishableKey,
    })
    for (const api of [merchant.api, publishable]) {
      expectProblem(await api.send(method, at, init(takesBody)), 403, 'forbidden')
    }
  })

  test.each(named(STOREFRONT))(
    '%s is open where the acl names it, and nowhere else',
    async (operationId, { method, path, takesBody }) => {
      const at = path.replace('{id}', await idOf(ada, path))
      const others = STOREFRONT.map((route) => route.operationId).filter((one) => one !== operationId)
      const owner = { ...merchant, customerId: String((await create(merchant.api, 'customers', {})).id) }
      const without = await customerBrowser(service, owner, ['PostToken', ...others])
      expectProblem(await without.send(method, at, init(takesBody)), 403, 'forbidden')
      const holder = await customerBrowser(service, owner, [operationId])
      expect([200, 404, 422]).toContain((await holder.send(method, at, init(takesBody))).status)
    },
  )

  test.each(named(ONE))('%s reaches the own record, and nobody else’s', async (_, { path, resource }) => {
    const own = path.replace('{id}', await idOf(ada, path))
    const found = await asAda.get(own)
    expect(found.status).toBe(200)
    expect(found.headers.get('access-control-allow-origin')).toBe('*')
    const { required = [] } = responseSchema(resource) as { required?: string[] }
    expect(Object.keys(found.body).sort()).toEqual(required.toSorted())
    const text = JSON.stringify(found.body)
    expect(text).not.toContain(INTERNAL)
    expect(text).not.toContain(RISK.ipAddress)
    expect(text).not.toContain(bob.customerId)
    const same = await asAda.get(own, { 'If-None-Match': String(found.headers.get('etag')) })
    // What changes without its revision, by a payment for example, is never left out.
    expect(same.status).toBe(VOLATILE.includes(path) ? 200 : 304)

    const namesake = await asTwin.get(own)
    expect([namesake.status, namesake.body.revision]).toEqual([200, 77])
    expect(JSON.stringify(namesake.body)).not.toContain(merchant.organizationId)

    expectProblem(await asAda.get(path.replace('{id}', 'none')), 404, 'not-found')
    if (!OWNED.includes(groupOf(path))) return
    const foreign = path.replace('{id}', await idOf(bob, path))
    for (const api of [asAda, asTwin]) expectProblem(await api.get(foreign), 404, 'not-found')
    expect((await asBob.get(foreign)).status).toBe(200)
  })

  test.each(named(MANY))('%s lists the own records, and nobody else’s', async (_, { path }) => {
    type Listed = { id: string; customerId?: string; revision: number }
    const { body, headers } = await asAda.get<Listed[]>(path)
    expect(body.map(({ id }) => id)).toContain(await idOf(ada, path))
    expect(headers.get('pagination-total')).toBe(String(body.length))
    expect(headers.get('access-control-expose-headers')).toContain('Pagination-Total')
    const text = JSON.stringify(body)
    for (const foreign of [INTERNAL, bob.customerId, twin.organizationId]) expect(text).not.toContain(foreign)
    for (const one of body) expect(one.customerId ?? ada.customerId).toBe(ada.customerId)
    const namesakes = await asTwin.get<Listed[]>(path)
    expect(namesakes.body.map(({ id }) => id).sort()).toEqual(body.map(({ id }) => id).sort())
    for (const { revision } of namesakes.body) expect(revision).toBe(77)
    // No query reaches further than the list itself.
    for (const query of [`q=${INTERNAL}`, `q=${bob.customerId}`, `filter=id:${await idOf(bob, path)}`]) {
      const found = await asAda.get<Listed[]>(`${path}?${query}`)
      expect(found.status).toBe(200)
      for (const { id } of found.body) expect(body.map((one) => one.id)).toContain(id)
      if (query.startsWith('q=')) expect(found.body).toEqual([])
    }
    for (const name of ['riskMetadata.fingerprint', 'customFields.note', 'rawResponse', 'requestId']) {
      const filtered = await asAda.get(`${path}?filter=${name}:${INTERNAL}`)
      expect(expectProblem(filtered, 400, 'malformed-request')).toEqual(['filter'])
      const sorted = await asAda.get(`${path}?sort=${name}`)
      expect(expectProblem(sorted, 400, 'malformed-request')).toEqual(['sort'])
    }
    for (const query of ['expand=customer', 'fields=riskMetadata', 'fields=customFields']) {
      expectProblem(await asAda.get(`${path}?${query}`), 400, 'malformed-request')
    }
  })

  test('links lead to where the customer may go', async () => {
    const { body } = await asAda.get<{ _links: { rel: string; href: string }[] }>(
      `storefront/orders/${ada.orders}`,
    )
    const own = `${service.baseUrl}/organizations/${merchant.organizationId}/storefront`
    expect(body._links).toEqual([
      { rel: 'self', href: `${own}/orders/${ada.orders}` },
      { rel: 'customer', href: `${own}/account` },
      { rel: 'website', href: `${own}/websites/${merchant.websiteId}` },
      { rel: 'initialInvoice', href: `${own}/invoices/${ada.invoices}` },
      { rel: 'recentInvoice', href: `${own}/invoices/${ada.invoices}` },
    ])
    for (const { href } of body._links) {
      expect((await asAda.get(href.slice(service.baseUrl.length))).status).toBe(200)
    }
  })

  test('an invoice is shown once it is issued', async () => {
    await sql("update invoices set status = 'draft' where organization_id = ? and id = ?", [
      merchant.organizationId,
      bob.invoices,
    ])
    expectProblem(await asBob.get(`storefront/invoices/${bob.invoices}`), 404, 'not-found')
    expect((await asBob.get('storefront/invoices')).body).toEqual([])
    await sql("update invoices set status = 'unpaid' where organization_id = ? and id = ?", [
      merchant.organizationId,
      bob.invoices,
    ])
    expect((await asBob.get('storefront/invoices')).body).toHaveLength(1)
  })

  test('lists invoices in a few statements, however many they are', async () => {
    const customer = await customerWithRecords('carol')
    const asCarol = await customerBrowser(service, { ...merchant, customerId: customer.customerId })
    await sql(
      `insert into invoices select (jsonb_populate_record(null::invoices, to_jsonb(row)
         || jsonb_build_object('id', row.id || '_' || number, 'sequence', 1000 + number))).*
         from invoices row, generate_series(0, 19) as number where organization_id = ? and id = ?`,
      [merchant.organizationId, customer.invoices],
    )
    await sql("update invoices set status = 'unpaid', issued_time = now() where customer_id = ?", [
      customer.customerId,
    ])
    const statements = jest.spyOn(pg.Client.prototype, 'query')
    expect((await asCarol.get('storefront/invoices?limit=1000')).body).toHaveLength(21)
    // With some of the log of requests and others beside it.
    expect(statements.mock.calls.length).toBeLessThan(10)
    statements.mockRestore()
  })

  test('a plan that is no longer offered is shown to whoever has ordered it', async () => {
    const { body: plan } = await merchant.api.get(`plans/${merchant.planId}`)
    const stranger = await create(merchant.api, 'customers', {})
    const asStranger = await customerBrowser(service, { ...merchant, customerId: String(stranger.id) })
    const path = `storefront/plans/${merchant.planId}`
    expect((await asStranger.get(path)).status).toBe(200)
    await merchant.api.put(`plans/${merchant.planId}`, { ...plan, isActive: false })
    expectProblem(await asStranger.get(path), 404, 'not-found')
    expect((await asStranger.get('storefront/plans')).body).toEqual([])
    expect((await asAda.get(path)).body).toMatchObject({ id: merchant.planId, isActive: false })
    expect((await asAda.get('storefront/plans')).body).toHaveLength(1)
    await merchant.api.put(`plans/${merchant.planId}`, { ...plan, isActive: true })
  })

  describe('has an account', () => {
    test('which shows the customer, and nothing that the merchant knows beside', async () => {
      const { status, body, headers } = await asAda.get('storefront/account')
      expect(status).toBe(200)
      expect(body).toEqual({
        id: ada.customerId,
        email: 'ada@example.com',
        firstName: 'ada',
        lastName: null,
        websiteId: null,
        primaryAddress: null,
        defaultPaymentInstrument: null,
        revision: 1,
        createdTime: expect.any(String),
        updatedTime: expect.any(String),
        _links: [
          {
            rel: 'self',
            href: `${service.baseUrl}/organizations/${merchant.organizationId}/storefront/account`,
          },
        ],
      })
      const current = await asAda.get('storefront/account', { 'If-None-Match': String(headers.get('etag')) })
      // The account shows figures that change without its revision.
      expect(current.status).toBe(200)
      expect((await asTwin.get('storefront/account')).body).toMatchObject({
        id: ada.customerId,
        revision: 77,
      })
      expect((await asBob.get('storefront/account')).body).toMatchObject({ id: bob.customerId })
    })

    test('which the customer changes, and in which what is the merchant’s stays', async () => {
      const owner = await customerWithRecords('eve')
      const asEve = await customerBrowser(service, { ...merchant, customerId: owner.customerId })
      const { body: before } = await merchant.api.get(`customers/${owner.customerId}`)
      const { body: account } = await asEve.get('storefront/account')
      const unchanged = await asEve.put('storefront/account', account)
      expect([unchanged.status, unchanged.body]).toEqual([200, account])

      const changed = await asEve.put('storefront/account', {
        ...account,
        id: bob.customerId,
        websiteId: merchant.websiteId,
        revision: 99,
        firstName: 'Eve',
        lastName: 'Adams',
        email: 'eve@elsewhere.example',
        primaryAddress: { city: 'Utrecht', country: 'NL' },
        defaultPaymentInstrument: {
          method: 'payment-card',
          paymentInstrumentId: owner['payment-instruments'],
        },
      })
      expect(changed.status).toBe(200)
      expect(changed.headers.get('etag')).toBe('"2"')
      const { body: after } = await merchant.api.get(`customers/${owner.customerId}`)
      expect(after).toEqual({
        ...before,
        firstName: 'Eve',
        lastName: 'Adams',
        email: 'eve@elsewhere.example',
        primaryAddress: expect.objectContaining({ city: 'Utrecht', country: 'NL' }),
        defaultPaymentInstrument: {
          method: 'payment-card',
          paymentInstrumentId: owner['payment-instruments'],
        },
        defaultPaymentInstrumentId: owner['payment-instruments'],
        revision: 2,
        updatedTime: expect.any(String),
      })
      expect((await merchant.api.get(`customers/${bob.customerId}`)).body).toMatchObject({ revision: 1 })
      expect(await eventsOf('customer-updated')).toEqual([
        expect.objectContaining({ entityId: owner.customerId }),
      ])
      const timeline = await merchant.api.get<{ type: string; message: string }[]>(
        `customers/${owner.customerId}/timeline?filter=type:primary-address-changed,default-payment-instrument-changed,customer-updated`,
      )
      expect(timeline.body.map(({ type }) => type).sort()).toEqual([
        'customer-updated',
        'default-payment-instrument-changed',
        'primary-address-changed',
      ])
      expect(timeline.body.find(({ type }) => type === 'customer-updated')?.message).toBe(
        `Customer ${owner.customerId}: changed email, firstName, lastName.`,
      )
      const stale = await asEve.put('storefront/account', account, { 'If-Match': '"1"' })
      expectProblem(stale, 412, 'precondition-failed')
    })

    test.each([
      ['a lead source', { leadSource: { medium: 'x' } }, ['leadSource']],
      ['fields of the merchant', { customFields: { note: 'x' } }, ['customFields']],
      ['an address that is none', { email: 'nobody' }, ['email']],
      [
        'the card of somebody else',
        { defaultPaymentInstrument: { method: 'payment-card', paymentInstrumentId: 'bob' } },
        ['defaultPaymentInstrument.paymentInstrumentId'],
      ],
    ])('which refuses %s: 422', async (_, members, fields) => {
      const given = JSON.parse(
        JSON.stringify(members).replace('"bob"', JSON.stringify(bob['payment-instruments'])),
      )
      const response = await asAda.put('storefront/account', given)
      expect(expectProblem(response, 422, 'validation-error')).toEqual(fields)
      expect((await asAda.get('storefront/account')).body).toMatchObject({ revision: 1 })
    })
  })

  describe('adds a card', () => {
    test('of the customer, whoever else is named', async () => {
      const token = await makeToken(asAda)
      const body = { token, customerId: bob.customerId }
      const made = await asAda.post('storefront/payment-instruments', body)
      expect(made.status).toBe(201)
      expect(made.headers.get('location')).toBe(
        `${service.baseUrl}/organizations/${merchant.organizationId}/storefront/payment-instruments/${made.body.id}`,
      )
      expect(made.body).toMatchObject({ customerId: ada.customerId, last4: '1111', status: 'active' })
      const known = await merchant.api.get(`payment-instruments/${made.body.id}`)
      expect(known.body).toMatchObject({ customerId: ada.customerId })
      const again = await asAda.post('storefront/payment-instruments', body)
      expect(expectProblem(again, 422, 'validation-error')).toEqual(['token'])
      const without = await asAda.post('storefront/payment-instruments', {})
      expect(expectProblem(without, 422, 'validation-error')).toEqual(['token'])
    })

    test('with a billing address', async () => {
      const billingAddress = { firstName: 'Ada', city: 'London', country: 'GB' }
      const body = { token: await makeToken(asAda), billingAddress }
      const made = await asAda.post('storefront/payment-instruments', body)
      expect(made).toMatchObject({ status: 201, body: { billingAddress } })
      const shown = await asAda.get(`storefront/payment-instruments/${made.body.id}`)
      expect(shown.body).toMatchObject({ billingAddress })
    })

    test('once under an Idempotency-Key, which is the customer’s own', async () => {
      const add = async (api: ApiClient, token: string) =>
        api.post('storefront/payment-instruments', { token }, { 'Idempotency-Key': 'one card' })
      const token = await makeToken(asAda)
      const [first, repeated] = [await add(asAda, token), await add(asAda, token)]
      expect([first.status, repeated.body]).toEqual([201, first.body])
      const other = await add(asBob, await makeToken(asBob))
      expect([other.status, other.body.customerId]).toEqual([201, bob.customerId])
    })
  })

  describe('changes a card', () => {
    const at = (id: unknown) => `storefront/payment-instruments/${id}`
    const patch = (api: ApiClient, id: unknown, body: object, headers = {}) =>
      api.send('PATCH', at(id), {
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json', ...headers },
      })
    const stored = async (id: unknown) => (await merchant.api.get(`payment-instruments/${id}`)).body
    const newCard = async (api: ApiClient) =>
      String((await api.post('storefront/payment-instruments', { token: await makeToken(api) })).body.id)

    test('of the customer: expiry and address, and leaves what is the merchant’s', async () => {
      const customFields = { note: INTERNAL }
      const { id } = await create(merchant.api, 'payment-instruments', {
        customerId: ada.customerId,
        token: await makeToken(asAda),
        useAsBackup: true,
        customFields,
      })
      const changes = { expMonth: 11, expYear: 2091, billingAddress: { city: 'Berlin' } }
      const changed = await patch(asAda, id, changes)
      expect(changed).toMatchObject({ status: 200, body: { ...changes, id, last4: '1111', revision: 2 } })
      expect(JSON.stringify(changed.body)).not.toContain(INTERNAL)
      expect(await stored(id)).toMatchObject({ ...changes, useAsBackup: true, customFields, revision: 2 })
      expect(await eventsOf('payment-instrument-modified')).toEqual([
        expect.objectContaining({ entityId: id }),
      ])
      const outdated = await patch(asAda, id, { expMonth: 10 }, { 'If-Match': '"1"' })
      expectProblem(outdated, 412, 'precondition-failed')
      const ignored = await patch(asAda, id, {
        status: 'inactive',
        last4: '9999',
        customerId: bob.customerId,
      })
      expect(ignored).toMatchObject({ status: 200, body: changed.body })
      expect(expectProblem(await patch(asAda, id, { expYear: 2020 }), 422, 'validation-error')).toEqual([
        'expYear',
      ])
      const foreign = await patch(asAda, id, { customFields: { note: 'x' }, useAsBackup: true })
      expect(expectProblem(foreign, 422, 'validation-error')).toEqual(['customFields', 'useAsBackup'])
    })

    test('and deactivates one, which is the default no more: 409 the second time', async () => {
      const id = await newCard(asAda)
      const account = (await asAda.get('storefront/account')).body
      const defaultPaymentInstrument = { method: 'payment-card', paymentInstrumentId: id }
      await asAda.put('storefront/account', { ...account, defaultPaymentInstrument })
      const done = await asAda.post(`${at(id)}/deactivation`, {})
      expect(done).toMatchObject({ status: 201, body: { id, status: 'deactivated' } })
      expect((await asAda.get('storefront/account')).body).toMatchObject({ defaultPaymentInstrument: null })
      expectProblem(await asAda.post(`${at(id)}/deactivation`, {}), 409, 'conflict')
    })

    test('of nobody else, in this organization or in another: 404, and nothing changes', async () => {
      const id = await newCard(asBob)
      const before = await stored(id)
      for (const api of [asAda, asTwin]) {
        for (const body of [{ expYear: 2092 }, { expYear: 2020 }, {}]) {
          expectProblem(await patch(api, id, body), 404, 'not-found')
        }
        expectProblem(await patch(api, id, { expYear: 2092 }, { 'If-Match': '"9"' }), 404, 'not-found')
        expectProblem(await api.post(`${at(id)}/deactivation`, {}), 404, 'not-found')
        const outdated = await api.post(`${at(id)}/deactivation`, {}, { 'If-Match': '"9"' })
        expectProblem(outdated, 404, 'not-found')
      }
      expect(await stored(id)).toEqual(before)
      // The namesake's card of the same id is another record.
      const own = ada['payment-instruments']
      expect((await patch(asTwin, own, { expYear: 2093 })).status).toBe(200)
      expect((await asTwin.post(`${at(own)}/deactivation`, {})).body.status).toBe('deactivated')
      const untouched = await stored(own)
      expect([untouched.status, untouched.expYear === 2093]).toEqual(['active', false])
    })
  })

  describe('takes the whole shape as client libraries send it', () => {
    /** Values of the merchant's members that say nothing: those of a record without them. */
    const EMPTY: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
      account: {
        customFields: {},
        leadSource: null,
        locale: '',
        taxNumbers: [],
        paymentToken: null,
        defaultPaymentInstrumentId: null,
        company: null,
        personId: null,
        notificationEmails: [],
        preferredPayoutInstrumentId: null,
        tags: [{ id: 'tag_1', name: 'vip', type: 'customer' }],
        paymentCount: 3,
        hasFulfilledKyc: true,
      },
      instrument: {
        customFields: [],
        useAsBackup: false,
        referenceData: {},
        isPayoutable: false,
        digitalWallet: null,
        fingerprint: 'x',
        lastPaymentTime: null,
      },
    }
    const meaning = ({ account, instrument }: typeof EMPTY) => ({
      account: { ...account, customFields: { note: 'x' }, locale: 'en', leadSource: { medium: 'x' } },
      instrument: { ...instrument, customFields: { note: 'x' }, useAsBackup: true },
    })
    const newCustomer = async () => {
      const { id } = await create(merchant.api, 'customers', {
        firstName: 'Zoe',
        locale: 'nl',
        customFields: { note: INTERNAL },
      })
      const customerId = String(id)
      return { customerId, browser: await customerBrowser(service, { ...merchant, customerId }) }
    }

    test('and what is the merchant’s stays, if the body says nothing of it', async () => {
      const { customerId, browser } = await newCustomer()
      const { body: before } = await merchant.api.get(`customers/${customerId}`)
      const account = (await browser.get('storefront/account')).body
      const put = await browser.put('storefront/account', { ...account, ...EMPTY.account })
      expect(put).toMatchObject({ status: 200, body: account })
      expect((await merchant.api.get(`customers/${customerId}`)).body).toEqual(before)

      const token = await makeToken(browser)
      const made = await browser.post('storefront/payment-instruments', { ...EMPTY.instrument, token })
      expect(made.status).toBe(201)
      const patched = await browser.send('PATCH', `storefront/payment-instruments/${made.body.id}`, {
        body: JSON.stringify({ ...EMPTY.instrument, expYear: 2094 }),
        headers: { 'Content-Type': 'application/json' },
      })
      expect(patched).toMatchObject({ status: 200, body: { expYear: 2094 } })
      for (const name of Object.keys({ ...EMPTY.account, ...EMPTY.instrument })) {
        expect({ ...put.body, ...made.body, ...patched.body }).not.toHaveProperty(name)
      }
    })

    test('but no value of it: 422, and nothing changes', async () => {
      const { customerId, browser } = await newCustomer()
      const { account, instrument } = meaning(EMPTY)
      const put = await browser.put('storefront/account', account)
      expect(expectProblem(put, 422, 'validation-error')).toEqual(['customFields', 'leadSource', 'locale'])
      expect(JSON.stringify(put.body)).toContain('locale cannot be set by customers')
      const body = { ...instrument, token: await makeToken(browser) }
      const made = await browser.post('storefront/payment-instruments', body)
      expect(expectProblem(made, 422, 'validation-error')).toEqual(['customFields', 'useAsBackup'])
      expect((await merchant.api.get(`customers/${customerId}`)).body).toMatchObject({ revision: 1 })
    })
  })

  test('a customer who is deleted reaches nothing any more', async () => {
    const customerId = String((await create(merchant.api, 'customers', {})).id)
    const browser = await customerBrowser(service, { ...merchant, customerId })
    expect((await browser.get('storefront/account')).status).toBe(200)
    expect((await merchant.api.delete(`customers/${customerId}`)).status).toBe(204)
    expectProblem(await browser.get('storefront/account'), 401, 'unauthorized')
    expectProblem(await browser.get('storefront/plans'), 401, 'unauthorized')
  })
})

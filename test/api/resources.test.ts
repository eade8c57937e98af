import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { externalSale } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const DAY = 86_400_000

describe('supporting resources', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const make = async (path: string, body: object) => String((await create(merchant.api, path, body)).id)
  const plan = (members: object = {}) => ({
    name: 'Plan',
    currency: 'EUR',
    pricing: { formula: 'fixed-fee', price: 1 },
    ...members,
  })
  const draft = (members: object = {}) => ({
    customerId: merchant.customerId,
    websiteId: merchant.websiteId,
    currency: 'EUR',
    items: [{ type: 'debit', unitPrice: 1, ...members }],
  })

  describe('the organization', () => {
    const DEFAULTS = {
      billing: {
        pendingOrderTtl: null,
        reminders: { renewal: [], trialEnd: [], abandon: [] },
        autopayRetries: ['P1D', 'P3D', 'P5D'],
        paydays: [],
        declinedRenewalsLimit: 3,
        orderDelinquencyPeriod: null,
        subtractRecurringDiscountsFromMrr: false,
        subtractOneTimeDiscountsFromMrr: false,
      },
      documents: { logo: null },
      defaultTaxCalculator: null,
      taxLocations: [],
      notifications: {
        notifyOnUserAccessChanges: false,
        notifyOnApiKeyAccessChanges: false,
        notificationEmailAddresses: [],
      },
      annualComplianceScreening: { enabled: false, monthDay: null },
      payoutRequestAllocationOrder: null,
    }

    test('shows its settings, the defaults where none was made', async () => {
      const { api, organizationId } = await service.organization()
      const { status, body, headers } = await api.get('')
      expect(status).toBe(200)
      expect(body).toEqual({
        id: organizationId,
        name: organizationId,
        website: null,
        address: null,
        address2: null,
        city: null,
        region: null,
        country: null,
        postalCode: null,
        phoneNumbers: [],
        emails: [],
        taxDescriptor: null,
        taxNumbers: null,
        invoiceTimeZone: 'UTC',
        reportCurrency: null,
        questionnaire: null,
        settings: DEFAULTS,
        features: [],
        replayOrganizationId: null,
        revision: 1,
        createdTime: expect.any(String),
        updatedTime: expect.any(String),
        _links: [{ rel: 'self', href: `${service.baseUrl}/organizations/${organizationId}` }],
      })
      expect(headers.get('etag')).toBe('"1"')
      expect((await api.get('', { 'If-None-Match': '"1"' })).status).toBe(304)
    })

    test('takes a PUT whole: what is absent returns to its default, what is the same raises nothing', async () => {
      const { api } = await service.organization()
      const settings = {
        billing: {
          pendingOrderTtl: 'P14D',
          reminders: { renewal: ['P7D', 'P1D'], trialEnd: ['P3D'], abandon: ['PT1H'] },
          autopayRetries: ['PT12H', 'P2D'],
          paydays: [1, 15],
          declinedRenewalsLimit: null,
        },
      }
      const put = await api.put('', { name: 'Ada & Co', settings }, { 'If-Match': '"1"' })
      expect({ status: put.status, body: put.body }).toMatchObject({
        status: 200,
        body: { name: 'Ada & Co', settings, revision: 2 },
      })
      const again = await api.put('', put.body)
      expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: put.body })
      expectProblem(await api.put('', { name: 'Late' }, { 'If-Match': '"1"' }), 412, 'precondition-failed')
      const part = await api.put('', { name: 'Ada', settings: { billing: { autopayRetries: [] } } })
      expect(part.body.settings).toEqual({
        ...DEFAULTS,
        billing: { ...DEFAULTS.billing, autopayRetries: [] },
      })
      expect((await api.put('', { name: 'Ada' })).body).toMatchObject({ settings: DEFAULTS, revision: 4 })
    })

    const MEMBERS = {
      website: 'https://ada.example',
      address: '12 St James Square',
      address2: 'First floor',
      city: 'London',
      region: 'Greater London',
      country: 'GB',
      postalCode: 'SW1Y 4JH',
      phoneNumbers: [{ label: 'main', value: '+44 20 7946 0000', primary: true }],
      emails: [{ label: 'billing', value: 'billing@ada.example', primary: false }],
      taxDescriptor: 'VAT is included',
      taxNumbers: [{ type: 'eu-vat', value: 'GB123456789', isDefault: true, isValid: null }],
      invoiceTimeZone: 'Europe/London',
      reportCurrency: 'GBP',
      questionnaire: {
        role: 'founder',
        monthlyTransactions: '1000',
        products: ['billing'],
        integrationType: 'api',
        launchTiming: null,
      },
    }

    test('keeps its address, tax and contact members, which PATCH merges', async () => {
      const { api } = await service.organization()
      const put = await api.put('', { name: 'Ada & Co', ...MEMBERS })
      expect(put.body).toMatchObject({ ...MEMBERS, revision: 2 })
      const patch = (body: object, headers = {}) =>
        api.send('PATCH', '', {
          body: JSON.stringify(body),
          headers: { 'Content-Type': 'application/json', ...headers },
        })
      const changed = await patch({
        city: 'Ockham',
        region: null,
        questionnaire: { role: 'countess' },
        settings: { billing: { pendingOrderTtl: 'P14D' } },
      })
      expect(changed).toMatchObject({
        status: 200,
        body: {
          ...MEMBERS,
          name: 'Ada & Co',
          city: 'Ockham',
          region: null,
          questionnaire: { ...MEMBERS.questionnaire, role: 'countess' },
          settings: { billing: { ...DEFAULTS.billing, pendingOrderTtl: 'P14D' } },
          revision: 3,
        },
      })
      const same = await patch(changed.body)
      expect(same.body).toEqual(changed.body)
      expect((await patch({})).body).toEqual(changed.body)
      expect((await api.get('')).body).toEqual(changed.body)
      expect((await patch({ taxNumbers: [] })).body).toMatchObject({ taxNumbers: [], revision: 4 })
      expectProblem(await patch({ city: 'Late' }, { 'If-Match': '"1"' }), 412, 'precondition-failed')
      expectProblem(await patch({ name: null }), 422, 'validation-error')
      const wrong = { invoiceTimeZone: 'Mars/Olympus', country: 'Britain', taxNumbers: [{ type: 'moon' }] }
      expect(expectProblem(await patch(wrong), 422, 'validation-error')).toEqual([
        'country',
        'taxNumbers.0.type',
        'taxNumbers.0.value',
      ])
      expect(
        expectProblem(await patch({ invoiceTimeZone: 'Mars/Olympus' }), 422, 'validation-error'),
      ).toEqual(['invoiceTimeZone'])
    })

    test('is the only one that its key lists, at the host', async () => {
      const { api, organizationId } = await service.organization()
      await service.organization()
      await api.put('', { name: 'Ada & Co', ...MEMBERS })
      const own = [(await api.get('')).body]
      for (const query of ['', '?limit=1', '?filter=city:london', '?q=ada', '?sort=-createdTime']) {
        const { status, body, headers } = await api.get(`/organizations${query}`)
        expect({ query, status, body }).toEqual({ query, status: 200, body: own })
        expect(headers.get('pagination-total')).toBe('1')
      }
      for (const query of ['?filter=city:paris', '?q=nobody', '?offset=1', `?filter=id:!${organizationId}`]) {
        expect((await api.get(`/organizations${query}`)).body).toEqual([])
      }
      const { publishableKey } = await service.organization()
      const others = await fetch(`${service.baseUrl}/organizations`, {
        headers: { Authorization: publishableKey },
      })
      expect(others.status).toBe(403)
      expect((await fetch(`${service.baseUrl}/organizations`)).status).toBe(401)
    })

    test.each([
      ['no name', { settings: {} }, ['name']],
      ['an empty name', { name: '' }, ['name']],
      [
        'a time to live of nothing',
        { billing: { pendingOrderTtl: 'P0D' } },
        ['settings.billing.pendingOrderTtl'],
      ],
      [
        'a time to live in words',
        { billing: { pendingOrderTtl: '2 days' } },
        ['settings.billing.pendingOrderTtl'],
      ],
      [
        'a retry in days',
        { billing: { autopayRetries: ['P1D', '3'] } },
        ['settings.billing.autopayRetries.1'],
      ],
      ['a payday after the month', { billing: { paydays: [1, 32] } }, ['settings.billing.paydays.1']],
      ['a payday twice', { billing: { paydays: [1, 1] } }, ['settings.billing.paydays']],
      [
        'a limit of no declined renewal',
        { billing: { declinedRenewalsLimit: 0 } },
        ['settings.billing.declinedRenewalsLimit'],
      ],
      ['retries of nothing', { billing: { autopayRetries: [null] } }, ['settings.billing.autopayRetries.0']],
      [
        'a reminder before nothing',
        { billing: { reminders: { renewal: ['-P1D'] } } },
        ['settings.billing.reminders.renewal.0'],
      ],
      [
        'reminders of something else',
        { billing: { reminders: { birthday: [] } } },
        ['settings.billing.reminders.birthday'],
      ],
      ['a setting it does not have', { colour: 'red' }, ['settings.colour']],
    ])('refuses %s: 422', async (_, given, fields) => {
      const body = 'name' in given || 'settings' in given ? given : { name: 'Ada', settings: given }
      expect(expectProblem(await merchant.api.put('', body), 422, 'validation-error')).toEqual(fields)
    })

    test('gives pending orders a time to live, from the later of creation and start; an order keeps its own', async () => {
      const other = await catalogue(service)
      const { api } = other
      await api.put('', { name: 'Hurried', settings: { billing: { pendingOrderTtl: 'P2D' } } })
      const place = async (members: object) =>
        (await api.post('subscriptions', orderBody(other, members))).body
      const ended = (text: unknown) => new Date(Date.parse(String(text)) + 2 * DAY).toISOString()

      const startTime = new Date(Date.now() + 3 * DAY).toISOString()
      expect(await place({ startTime })).toMatchObject({ abandonTime: ended(startTime) })
      const now = await place({})
      expect(now).toMatchObject({ abandonTime: ended(now.createdTime) })
      const past = await place({ startTime: new Date(Date.now() - DAY).toISOString(), abandonTime: null })
      expect(past).toMatchObject({ abandonTime: ended(past.createdTime) })
      const abandonTime = new Date(Date.now() + 9 * DAY).toISOString()
      const own = await place({ startTime, abandonTime })
      expect(own).toMatchObject({ abandonTime })

      for (const [name, members] of Object.entries({ absent: {}, null: { abandonTime: null } })) {
        const put = await api.put(`subscriptions/${own.id}`, orderBody(other, { startTime, ...members }))
        expect({ name, status: put.status, body: put.body }).toMatchObject({
          name,
          status: 200,
          body: { abandonTime, revision: own.revision },
        })
      }
    })

    test('with a time to live that never ends lets orders wait for good', async () => {
      const other = await catalogue(service)
      await other.api.put('', { name: 'Patient', settings: { billing: { pendingOrderTtl: 'P9000Y' } } })
      const { status, body } = await other.api.post('subscriptions', orderBody(other))
      expect({ status, abandonTime: body.abandonTime }).toEqual({ status: 201, abandonTime: null })
    })
  })

  test('a product is made, read, listed, changed and deleted', async () => {
    const given = { name: 'Seat', unitLabel: 'seat', description: 'A chair.', customFields: { a: [1] } }
    const made = await merchant.api.post('products', given)
    expect({ status: made.status, body: made.body }).toMatchObject({
      status: 201,
      body: { ...given, revision: 1 },
    })
    const path = `products/${made.body.id}`
    expect(made.headers.get('location')).toBe(
      `${service.baseUrl}/organizations/${merchant.organizationId}/${path}`,
    )
    expect((await merchant.api.get(path)).body).toEqual(made.body)
    expect((await merchant.api.get<object[]>('products?filter=unitLabel:seat&q=chair')).body).toEqual([
      made.body,
    ])
    const changed = await merchant.api.put(path, { name: 'Chair' })
    expect(changed.body).toMatchObject({
      name: 'Chair',
      unitLabel: null,
      description: null,
      customFields: {},
      revision: 2,
    })
    const response = await merchant.api.put('products/new', {
      name: 'x'.repeat(256),
      description: 'y'.repeat(1001),
    })
    expect(expectProblem(response, 422, 'validation-error')).toEqual(['description', 'name'])
    expect((await merchant.api.delete(path)).status).toBe(204)
    expectProblem(await merchant.api.get(path), 404, 'not-found')
  })

  test('a plan names the product it gives a price; an unknown one is refused', async () => {
    const productId = await make('products', { name: 'Seat' })
    const made = await merchant.api.post('plans', plan({ productId }))
    expect(made.body).toMatchObject({ productId })
    expect((await merchant.api.put(`plans/${made.body.id}`, made.body)).body).toEqual(made.body)
    expect((await merchant.api.get<object[]>(`plans?filter=productId:${productId}`)).body).toEqual([
      made.body,
    ])
    expect((await merchant.api.put(`plans/${made.body.id}`, plan())).body).toMatchObject({ productId: null })
    for (const path of ['plans/new', `plans/${made.body.id}`]) {
      const response = await merchant.api.put(path, plan({ productId: 'none' }))
      expect(expectProblem(response, 422, 'validation-error')).toEqual(['productId'])
    }
  })

  test.each<[string, () => Promise<readonly [resource: string, referrer: () => Promise<unknown>]>]>([
    [
      'website of a customer',
      async () => {
        const websiteId = await make('websites', { name: 'Shop' })
        const customer = `customers/${await make('customers', { websiteId })}`
        return [`websites/${websiteId}`, () => merchant.api.put(customer, {})]
      },
    ],
    [
      'website of a webhook',
      async () => {
        const websiteId = await make('websites', { name: 'Shop' })
        const webhook = await make('webhooks', { url: 'https://receiver.example/', websiteId })
        return [`websites/${websiteId}`, () => merchant.api.delete(`webhooks/${webhook}`)]
      },
    ],
    [
      'plan of an order',
      async () => {
        const planId = await make('plans', plan())
        const startTime = new Date(Date.now() + DAY).toISOString()
        const items = [{ plan: { id: merchant.planId } }]
        const order = await make(
          'subscriptions',
          orderBody(merchant, { startTime, items: [{ plan: { id: planId } }] }),
        )
        return [
          `plans/${planId}`,
          () => merchant.api.put(`subscriptions/${order}`, orderBody(merchant, { items })),
        ]
      },
    ],
    [
      'product of a plan',
      async () => {
        const productId = await make('products', { name: 'Seat' })
        const path = `plans/${await make('plans', plan({ productId }))}`
        return [`products/${productId}`, () => merchant.api.put(path, plan())]
      },
    ],
    [
      'product of an order whose plan has another now',
      async () => {
        const productId = await make('products', { name: 'Seat' })
        const planId = await make('plans', plan({ productId }))
        const startTime = new Date(Date.now() + DAY).toISOString()
        const placed = orderBody(merchant, { startTime, items: [{ plan: { id: planId } }] })
        const order = `subscriptions/${await make('subscriptions', placed)}`
        expect((await merchant.api.put(`plans/${planId}`, plan())).body).toMatchObject({ productId: null })
        return [`products/${productId}`, () => merchant.api.put(order, orderBody(merchant))]
      },
    ],
    [
      'product of a draft',
      async () => {
        const productId = await make('products', { name: 'Seat' })
        const invoice = await make('invoices', draft({ productId }))
        return [`products/${productId}`, () => merchant.api.post(`invoices/${invoice}/issue`, {})]
      },
    ],
    [
      'plan of a draft',
      async () => {
        const planId = await make('plans', plan())
        const invoice = await make('invoices', draft({ planId }))
        return [`plans/${planId}`, () => merchant.api.put(`invoices/${invoice}`, draft())]
      },
    ],
  ])('a %s cannot be deleted until nothing refers to it: 409', async (_, arrange) => {
    const [path, release] = await arrange()
    expectProblem(await merchant.api.delete(path), 409, 'conflict')
    expect((await merchant.api.get(path)).status).toBe(200)
    await release()
    expectProblem(await merchant.api.delete(path, { 'If-Match': '"9"' }), 412, 'precondition-failed')
    expect((await merchant.api.delete(path)).status).toBe(204)
    expectProblem(await merchant.api.get(path), 404, 'not-found')
    expectProblem(await merchant.api.delete(path), 404, 'not-found')
  })

  test('a customer, a website and a plan of an order, or of a payment, stay for good: 409', async () => {
    const other = await catalogue(service)
    const payer = String((await other.api.post('customers', {})).body.id)
    await externalSale(other.api, payer)
    const startTime = new Date(Date.now() + DAY).toISOString()
    const { body } = await other.api.post('subscriptions', orderBody(other, { startTime }))
    await other.api.post(`subscriptions/${body.id}/void`, {})
    const paths = ['customers', 'websites', 'plans'].map(
      (path, index) => `${path}/${[other.customerId, other.websiteId, other.planId][index]}`,
    )
    for (const path of [...paths, `customers/${payer}`]) {
      expectProblem(await other.api.delete(path), 409, 'conflict')
    }
  })

  describe('a deletion and what begins to refer to the same', () => {
    /** Requests that wait for a row another transaction holds. */
    const waiting = (count: number) =>
      waitFor(`${count} to wait for a lock`, async () => {
        const rows = await service.database.orm.em
          .fork()
          .getConnection()
          .execute<unknown[]>(
            `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        return rows.length === count ? true : null
      })
    /** Runs `during` while another transaction has done `statement`, and is about to commit. */
    const whileOpen = async <T>(
      statement: string,
      values: unknown[],
      during: () => Promise<T>,
    ): Promise<Promise<T>> => {
      const client = new pg.Client({ connectionString: service.databaseUrl })
      await client.connect()
      try {
        await client.query('begin')
        await client.query(statement, values)
        const response = during()
        await waiting(1)
        await client.query('commit')
        return response
      } finally {
        await client.end()
      }
    }

    test('the deletion waits for a reference that is being made, and is refused by it', async () => {
      const websiteId = await make('websites', { name: 'Shop' })
      const values = [merchant.organizationId, websiteId]
      const held = `with held as (select * from websites where organization_id = $1 and id = $2 for key share)
        insert into customers (organization_id, id, website_id, created_time, updated_time)
        select organization_id, 'held', id, now(), now() from held`
      const response = await whileOpen(held, values, () => merchant.api.delete(`websites/${websiteId}`))
      expectProblem(response, 409, 'conflict')
    })

    test.each<[string, (ids: { websiteId: string; planId: string; customerId: string }) => Promise<number>]>([
      [
        'websites',
        async (ids) => (await merchant.api.post('customers', { websiteId: ids.websiteId })).status,
      ],
      [
        'plans',
        async ({ planId }) =>
          (
            await merchant.api.post(
              'subscriptions',
              orderBody(merchant, { items: [{ plan: { id: planId } }] }),
            )
          ).status,
      ],
      [
        'customers',
        async ({ customerId }) =>
          (await merchant.api.post('subscriptions', { ...orderBody(merchant), customerId })).status,
      ],
    ])(
      'a reference waits for a deletion that is under way, and is refused by it: %s',
      async (table, refer) => {
        const ids = {
          websiteId: await make('websites', { name: 'Shop' }),
          planId: await make('plans', plan()),
          customerId: await make('customers', {}),
        }
        const id = { websites: ids.websiteId, plans: ids.planId, customers: ids.customerId }[table]
        const gone = `delete from ${table} where organization_id = $1 and id = $2`
        expect(await whileOpen(gone, [merchant.organizationId, id], () => refer(ids))).toBe(422)
      },
    )

    test('in any race: never an order without its website, customer and plan', async () => {
      for (let round = 0; round < 10; round += 1) {
        const ids = {
          websiteId: await make('websites', { name: 'Shop' }),
          planId: await make('plans', plan()),
          customerId: await make('customers', {}),
        }
        const body = {
          ...orderBody(merchant),
          ...ids,
          items: [{ plan: { id: ids.planId } }],
          planId: undefined,
        }
        const paths = [`websites/${ids.websiteId}`, `plans/${ids.planId}`, `customers/${ids.customerId}`]
        const place = () => merchant.api.post('subscriptions', body)
        const [first, ...rest] = await Promise.all([
          place(),
          ...paths.map((path) => merchant.api.delete(path)),
          place(),
        ])
        const second = rest.pop()
        const orders = [first, second].filter((response) => response?.status === 201)
        for (const answer of [first, second]) expect([201, 422]).toContain(answer?.status)
        for (const [index, path] of paths.entries()) {
          const there = (await merchant.api.get(path)).status
          expect({ deleted: rest[index]?.status, there }).toEqual(
            there === 200 ? { deleted: 409, there } : { deleted: 204, there: 404 },
          )
          if (orders.length > 0) expect(there).toBe(200)
        }
      }
    })
  })
})

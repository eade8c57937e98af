import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { ENDED_TABLES, MOVED_TABLES } from '../../commands/catalog/merge-customers.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

type Body = Record<string, unknown>

describe('customers', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const sql = <T = Body>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const make = async (path: string, body: object): Promise<Body> => {
    const response = await merchant.api.post<Body>(path, body)
    expect({ path, status: response.status, body: response.status === 201 ? null : response.body }).toEqual({
      path,
      status: 201,
      body: null,
    })
    return response.body
  }
  const customer = async (body: object = {}): Promise<string> => String((await make('customers', body)).id)
  const read = async (id: string, query = ''): Promise<Body> =>
    (await merchant.api.get<Body>(`customers/${id}${query}`)).body
  const instrument = async (customerId: string): Promise<string> =>
    String((await make('payment-instruments', { customerId, token: await makeToken(merchant.api) })).id)
  const sale = async (customerId: string, amount: number, currency = 'EUR'): Promise<string> => {
    const paymentInstruction = { method: 'external' }
    const body = { type: 'sale', customerId, currency, amount, paymentInstruction }
    return String((await make('transactions', body)).id)
  }
  const eventsOf = async (id: string): Promise<{ type: string; payload: Body }[]> =>
    (
      await sql<{ type: string; payload: string }>(
        'select type, payload from events where entity_id = ? order by position',
        [id],
      )
    ).map(({ type, payload }) => ({ type, payload: JSON.parse(payload) }))

  test('have every member that clients know: stored, counted or at its neutral value', async () => {
    const given = {
      email: 'grace@example.com',
      locale: 'fr-CA',
      taxNumbers: [
        { type: 'eu-vat', value: 'DE123456789', isDefault: true },
        { type: 'other', value: '42' },
      ],
    }
    const body = await make('customers', {
      ...given,
      company: null,
      personId: null,
      notificationEmails: [],
      preferredPayoutInstrumentId: null,
      hasFulfilledKyc: true,
      paymentCount: 7,
      tags: [{ id: 'x', name: 'y', type: 'customer' }],
    })
    const none = { currency: null, amount: 0, amountUsd: 0 }
    expect(body).toMatchObject({
      ...given,
      taxNumbers: [
        { type: 'eu-vat', value: 'DE123456789', isDefault: true, isValid: null },
        { type: 'other', value: '42', isDefault: false, isValid: null },
      ],
      organizationId: merchant.organizationId,
      defaultPaymentInstrumentId: null,
      tags: [],
      paymentCount: 0,
      lastPaymentTime: null,
      lifetimeRevenue: none,
      averageValue: none,
      invoiceCount: 0,
      hasFulfilledKyc: false,
      company: null,
      personId: null,
      notificationEmails: [],
      preferredPayoutInstrumentId: null,
    })
    const path = `customers/${body.id}`
    expect((await merchant.api.get(path)).body).toEqual(body)
    const again = await merchant.api.put(path, body)
    expect({ status: again.status, body: again.body }).toEqual({ status: 200, body })
    const cleared = await merchant.api.put(path, {})
    expect(cleared.body).toMatchObject({ locale: null, taxNumbers: null, revision: 2 })
  })

  test.each([
    ['a company', { company: { name: 'Acme' } }, ['company']],
    ['e-mails of notifications', { notificationEmails: ['a@example.com'] }, ['notificationEmails']],
    ['a locale in words', { locale: 'French, Canadian' }, ['locale']],
    ['a tax number of another kind', { taxNumbers: [{ type: 'vat', value: '1' }] }, ['taxNumbers.0.type']],
    [
      'two default tax numbers',
      {
        taxNumbers: [
          { type: 'other', value: '1', isDefault: true },
          { type: 'other', value: '2', isDefault: true },
        ],
      },
      ['taxNumbers'],
    ],
    ['an instrument of nobody', { defaultPaymentInstrumentId: 'nothing' }, ['defaultPaymentInstrumentId']],
    [
      'an instrument of nobody, as an object',
      { defaultPaymentInstrument: { method: 'payment-card', paymentInstrumentId: 'nothing' } },
      ['defaultPaymentInstrument.paymentInstrumentId'],
    ],
  ])('are refused with %s: 422', async (_, body, fields) => {
    expect(expectProblem(await merchant.api.post('customers', body), 422, 'validation-error')).toEqual(fields)
  })

  test('name their default instrument in two members: the one that was changed counts', async () => {
    const id = await customer()
    const [one, two, three] = [await instrument(id), await instrument(id), await instrument(id)]
    const put = (body: object) => merchant.api.put<Body>(`customers/${id}`, body)
    const shown = async (body: object) => {
      const response = await put(body)
      expect(response.status).toBe(200)
      const { defaultPaymentInstrumentId, defaultPaymentInstrument } = response.body
      const expected =
        defaultPaymentInstrumentId === null
          ? null
          : { method: 'payment-card', paymentInstrumentId: defaultPaymentInstrumentId }
      expect(defaultPaymentInstrument).toEqual(expected)
      return defaultPaymentInstrumentId
    }
    const asObject = (paymentInstrumentId: string) => ({
      defaultPaymentInstrument: { method: 'payment-card', paymentInstrumentId },
    })
    expect(await shown({ defaultPaymentInstrumentId: one })).toBe(one)
    expect(await shown({ ...(await read(id)), defaultPaymentInstrumentId: two })).toBe(two)
    expect(await shown({ ...(await read(id)), ...asObject(three) })).toBe(three)
    expect(await shown({ ...asObject(one), defaultPaymentInstrumentId: one })).toBe(one)
    expect(await shown({ ...(await read(id)), defaultPaymentInstrument: null })).toBeNull()
    expect(await shown({ ...asObject(one), defaultPaymentInstrumentId: null })).toBe(one)
    expect(await shown({})).toBeNull()
    const both = await put({ ...asObject(one), defaultPaymentInstrumentId: two })
    expect(expectProblem(both, 422, 'validation-error')).toEqual(['defaultPaymentInstrumentId'])
  })

  describe('are counted:', () => {
    test('approved payments less refunds, in their one currency', async () => {
      const id = await customer()
      await sale(id, 10, 'USD')
      const parentTransactionId = await sale(id, 5.01, 'USD')
      await make('transactions', { type: 'refund', parentTransactionId, amount: 1 })
      const shown = await read(id)
      expect(shown).toMatchObject({
        paymentCount: 2,
        lastPaymentTime: expect.stringMatching(/Z$/),
        lifetimeRevenue: { currency: 'USD', amount: 14.01, amountUsd: 14.01 },
        averageValue: { currency: 'USD', amount: 7.51, amountUsd: 7.51 },
      })
      expect(shown.revision).toBe(1)
      const put = await merchant.api.put<Body>(`customers/${id}`, shown)
      expect(put.body).toEqual(shown)
      const listed = await merchant.api.get<Body[]>(`customers?filter=id:${id}`)
      expect(listed.body).toEqual([shown])
    })

    test('in another currency without a value in dollars, and in several not at all', async () => {
      const id = await customer()
      await sale(id, 10, 'EUR')
      expect(await read(id)).toMatchObject({
        lifetimeRevenue: { currency: 'EUR', amount: 10, amountUsd: null },
      })
      await sale(id, 10, 'JPY')
      const unknown = { currency: null, amount: null, amountUsd: null }
      expect(await read(id)).toMatchObject({
        paymentCount: 2,
        lifetimeRevenue: unknown,
        averageValue: unknown,
      })
    })

    test('issued invoices, and not drafts; declined payments do not count', async () => {
      const id = await customer()
      await make('subscriptions', orderBody(merchant, { customerId: id, startTime: '2090-01-01T00:00:00Z' }))
      expect(await read(id)).toMatchObject({ invoiceCount: 0 })
      const order = await make('subscriptions', orderBody(merchant, { customerId: id }))
      await waitFor('the first invoice to be issued', async () => {
        // A command advances the order to its instant, and with it its first invoice.
        await merchant.api.put(`subscriptions/${order.id}`, { ...order, notes: String(Math.random()) })
        return (await read(id)).invoiceCount === 1 ? true : null
      })
      expect(await read(id)).toMatchObject({ paymentCount: 0, invoiceCount: 1 })
    })

    test('and lists filter and sort by the numbers', async () => {
      const other = await catalogue(service)
      const [paid, idle] = [merchant.customerId, 'idle']
      expect((await other.api.put(`customers/${idle}`, {})).status).toBe(201)
      await externalSale(other.api, other.customerId)
      const ids = async (query: string) =>
        (await other.api.get<{ id: string }[]>(`customers?${query}`)).body.map(({ id }) => id)
      expect(await ids('filter=paymentCount:1..')).toEqual([other.customerId])
      expect(await ids('filter=lastPaymentTime:null')).toEqual([idle])
      expect(await ids('sort=-paymentCount')).toEqual([other.customerId, idle])
      expect(await ids('filter=invoiceCount:0&sort=paymentCount')).toEqual([idle, other.customerId])
      expect(paid).not.toBe(other.customerId)
    })

    test('a read after a payment is never answered with 304', async () => {
      const id = await customer()
      const same = { 'If-None-Match': '"1"' }
      expect((await merchant.api.get(`customers/${id}`, same)).status).toBe(304)
      await sale(id, 1)
      expect((await merchant.api.get(`customers/${id}`, same)).status).toBe(200)
    })
  })

  test('expand to their default instrument, lead source and website', async () => {
    const id = await customer({ websiteId: merchant.websiteId, leadSource: { medium: 'email' } })
    const expand = '?expand=defaultPaymentInstrument,leadSource,website'
    expect((await read(id, expand))._embedded).toMatchObject({
      defaultPaymentInstrument: null,
      leadSource: { medium: 'email', original: { medium: 'email' } },
      website: { id: merchant.websiteId, name: 'Shop' },
    })
    const defaultPaymentInstrumentId = await instrument(id)
    await merchant.api.put(`customers/${id}`, { defaultPaymentInstrumentId })
    expect((await read(id, expand))._embedded).toMatchObject({
      defaultPaymentInstrument: { id: defaultPaymentInstrumentId },
      leadSource: null,
      website: null,
    })
    const wrong = await merchant.api.get(`customers/${id}?expand=orders`)
    expect(expectProblem(wrong, 400, 'malformed-request')).toEqual(['expand'])
  })

  test('are embedded whole in what refers to them', async () => {
    const id = await customer()
    await make(`tags`, { name: 'whole', type: 'customer' })
    await merchant.api.post(`tags/whole/customers/${id}`, {})
    const transactionId = await sale(id, 3)
    const dispute = await make('disputes', disputeBody(transactionId))
    const { body } = await merchant.api.get<Body>(`disputes/${dispute.id}?expand=customer`)
    expect(body._embedded).toMatchObject({
      customer: { id, paymentCount: 1, tags: [{ name: 'whole' }], lifetimeRevenue: { amount: 3 } },
    })
  })

  describe('have a lead source of their own path', () => {
    test('which is set, shown with the first one ever, and deleted', async () => {
      const id = await customer()
      const path = `customers/${id}/lead-source`
      expectProblem(await merchant.api.get(path), 404, 'not-found')
      expectProblem(await merchant.api.delete(path), 404, 'not-found')
      const first = await merchant.api.put<Body>(path, {
        medium: 'email',
        referrer: `https://${'x'.repeat(2075)}`,
      })
      expect(first.status).toBe(201)
      const url = `${service.baseUrl}/organizations/${merchant.organizationId}/customers/${id}`
      expect(first.headers.get('location')).toBe(`${url}/lead-source`)
      expect(first.headers.get('etag')).toBe('"2"')
      expect(first.body).toMatchObject({
        medium: 'email',
        term: null,
        original: { medium: 'email', term: null },
        _links: [
          { rel: 'self', href: `${url}/lead-source` },
          { rel: 'customer', href: url },
        ],
      })
      const second = await merchant.api.put<Body>(path, { medium: 'search' })
      expect(second).toMatchObject({
        status: 201,
        body: {
          medium: 'search',
          referrer: null,
          original: { medium: 'email' },
          createdTime: first.body.createdTime,
        },
      })
      const shown = await merchant.api.get<Body>(path)
      expect(shown.body).toEqual(second.body)
      expect((await merchant.api.get(path, { 'If-None-Match': '"3"' })).status).toBe(304)
      expect((await merchant.api.get<Body>(`${path}?fields=medium`)).body).toEqual({ medium: 'search' })
      const back = await merchant.api.put<Body>(path, second.body)
      expect(back.headers.get('etag')).toBe('"3"')
      expect((await merchant.api.delete(path)).status).toBe(204)
      expectProblem(await merchant.api.get(path), 404, 'not-found')
      expect(await read(id)).toMatchObject({ leadSource: null, revision: 4 })
      const third = await merchant.api.put<Body>(path, { medium: 'radio' })
      expect(third.body).toMatchObject({ original: { medium: 'email' } })
      expect((await eventsOf(id)).map(({ type }) => type)).toEqual([
        'customer-created',
        ...Array(4).fill('lead-source-changed'),
      ])
    })

    test.each([
      ['a member of 2,084 characters', { path: 'x'.repeat(2084) }, ['path']],
      ['an unknown member', { colour: 'red' }, ['colour']],
      ['a number', { medium: 7 }, ['medium']],
    ])('which is refused with %s: 422', async (_, body, fields) => {
      const path = `customers/${await customer()}/lead-source`
      expect(expectProblem(await merchant.api.put(path, body), 422, 'validation-error')).toEqual(fields)
    })

    test('of nobody: 404; at an outdated revision: 412', async () => {
      for (const send of [
        merchant.api.get('customers/nobody/lead-source'),
        merchant.api.put('customers/nobody/lead-source', {}),
        merchant.api.delete('customers/nobody/lead-source'),
      ]) {
        expectProblem(await send, 404, 'not-found')
      }
      const path = `customers/${await customer({ leadSource: {} })}/lead-source`
      const outdated = { 'If-Match': '"7"' }
      expectProblem(await merchant.api.put(path, {}, outdated), 412, 'precondition-failed')
      expectProblem(await merchant.api.delete(path, outdated), 412, 'precondition-failed')
    })
  })

  describe('are merged by DELETE with a target:', () => {
    const merge = (id: string, targetId: string, headers = {}) =>
      merchant.api.delete(`customers/${id}?targetCustomerId=${targetId}`, headers)

    test('every record moves, its revision rises, and the customer ends', async () => {
      const [duplicate, target] = [await customer({ email: 'one@example.com' }), await customer()]
      const card = await instrument(duplicate)
      await merchant.api.put(`customers/${duplicate}`, { defaultPaymentInstrumentId: card })
      for (const [name, of] of [
        ['vip', [duplicate, target]],
        ['new', [duplicate]],
      ] as const) {
        await make('tags', { name, type: 'customer' })
        expect((await merchant.api.post(`tags/${name}/customers`, { customerIds: of })).status).toBe(204)
      }
      const order = await make('subscriptions', orderBody(merchant, { customerId: duplicate }))
      const transactionId = await sale(duplicate, 12)
      const refund = await make('transactions', {
        type: 'refund',
        parentTransactionId: transactionId,
        amount: 2,
      })
      const dispute = await make('disputes', disputeBody(transactionId))
      await make(`customers/${duplicate}/timeline`, { message: 'Seems to be the same person.' })
      const token = await make('authentication-tokens', { mode: 'passwordless', customerId: duplicate })
      await make(`authentication-tokens/${token.token}/exchange`, { acl: [], invalidate: false })

      const { revision: before } = (await merchant.api.get<Body>(`transactions/${transactionId}`)).body
      const transactionRevision = Number(before)

      const response = await merge(duplicate, target)
      expect({ status: response.status, body: response.body }).toEqual({ status: 204, body: '' })
      expectProblem(await merchant.api.get(`customers/${duplicate}`), 404, 'not-found')
      const invoiceId = String((order as { initialInvoiceId: string }).initialInvoiceId)
      for (const [path, revision] of [
        [`subscriptions/${order.id}`, Number(order.revision) + 1],
        [`invoices/${invoiceId}`, 2],
        [`payment-instruments/${card}`, 2],
        [`transactions/${transactionId}`, transactionRevision + 1],
        [`transactions/${refund.id}`, 2],
        [`disputes/${dispute.id}`, 2],
      ] as const) {
        const { body } = await merchant.api.get<Body>(path)
        expect({ path, customerId: body.customerId, revision: body.revision }).toEqual({
          path,
          customerId: target,
          revision,
        })
      }
      const merged = await read(target)
      expect(merged).toMatchObject({
        email: null,
        defaultPaymentInstrumentId: card,
        tags: [{ name: 'vip' }, { name: 'new' }],
        paymentCount: 1,
        lifetimeRevenue: { currency: 'EUR', amount: 10 },
      })
      const messages = await merchant.api.get<{ type: string; message: string }[]>(
        `customers/${target}/timeline?limit=1000`,
      )
      expect(messages.body.map(({ type }) => type)).toEqual(
        expect.arrayContaining([
          'customer-merged',
          'order-created',
          'transaction-approved',
          'transaction-disputed',
        ]),
      )
      expect(messages.body.map(({ message }) => message)).toContain('Seems to be the same person.')
      expectProblem(await merchant.api.get(`authentication-tokens/${token.token}`), 404, 'not-found')
      for (const table of [...MOVED_TABLES, ...ENDED_TABLES]) {
        const left = await sql(`select 1 from ${table} where customer_id = ?`, [duplicate])
        expect({ table, left }).toEqual({ table, left: [] })
      }
      const event = (await eventsOf(target)).at(-1)
      expect(event).toMatchObject({
        type: 'customer-merged',
        payload: {
          customerId: target,
          duplicateCustomerId: duplicate,
          _embedded: { customer: { id: target, revision: merged.revision, paymentCount: 1 } },
        },
      })
    })

    test('the target keeps its own default instrument', async () => {
      const [duplicate, target] = [await customer(), await customer()]
      const [other, own] = [await instrument(duplicate), await instrument(target)]
      await merchant.api.put(`customers/${duplicate}`, { defaultPaymentInstrumentId: other })
      await merchant.api.put(`customers/${target}`, { defaultPaymentInstrumentId: own })
      expect((await merge(duplicate, target)).status).toBe(204)
      expect(await read(target)).toMatchObject({ defaultPaymentInstrumentId: own })
      expect((await merchant.api.get<Body>(`payment-instruments/${other}`)).body.customerId).toBe(target)
    })

    test.each([
      ['target owes is charged to the default instrument that it takes', [true, false]],
      ['duplicate owes is charged to the default instrument of the target', [false, true]],
    ])('what the %s', async (_, [ofDuplicate, ofTarget]) => {
      const [duplicate, target] = [await customer(), await customer()]
      const owing = ofDuplicate ? target : duplicate
      const startTime = new Date(Date.now() - 86_400_000).toISOString()
      const order = await make('subscriptions', orderBody(merchant, { customerId: owing, startTime }))
      const path = `subscriptions/${order.id}`
      // A command advances the order to its instant first, and issues its invoice.
      await merchant.api.put(path, { ...order, notes: 'as agreed' })
      const own = { customerId: owing, websiteId: merchant.websiteId, currency: 'EUR' }
      const items = [{ type: 'debit', unitPrice: 5 }]
      const ownInvoice = await make('invoices', {
        ...own,
        items,
        autopayScheduledTime: '2026-01-01T00:00:00Z',
      })
      await make(`invoices/${ownInvoice.id}/issue`, {})
      await sql('update invoices set charge_time = null, declined_time = now() where id = ?', [ownInvoice.id])
      const scheduled = async () => {
        const invoices = [order.initialInvoiceId, ownInvoice.id].map((id) =>
          merchant.api.get(`invoices/${id}`),
        )
        return (await Promise.all(invoices)).map(({ body }) => [
          body.status,
          body.autopayScheduledTime !== null,
        ])
      }
      expect(await scheduled()).toEqual(Array(2).fill(['unpaid', false]))
      const payer = ofTarget ? target : duplicate
      await merchant.api.put(`customers/${payer}`, { defaultPaymentInstrumentId: await instrument(payer) })
      expect(await scheduled()).toEqual(Array(2).fill(['unpaid', false]))
      const revisions = async () => {
        const paths = [path, `invoices/${order.initialInvoiceId}`, `invoices/${ownInvoice.id}`]
        const found = await Promise.all(paths.map((one) => merchant.api.get<Body>(one)))
        return found.map(({ body }) => Number(body.revision))
      }
      const before = await revisions()
      expect((await merge(duplicate, target)).status).toBe(204)
      expect(await scheduled()).toEqual(Array(2).fill(['unpaid', true]))
      const rises = (await revisions()).map((revision, index) => revision - (before[index] ?? 0))
      // What the target owes is charged, and not moved: the order itself shows nothing else.
      expect(rises).toEqual(ofDuplicate ? [0, 1, 1] : [1, 1, 1])
    })

    test('into itself or into nobody: 422, and nothing moves; a customer that is not there: 404', async () => {
      const id = await customer()
      await sale(id, 1)
      const field = ['targetCustomerId']
      expect(expectProblem(await merge(id, id), 422, 'validation-error')).toEqual(field)
      expect(expectProblem(await merge(id, 'nobody'), 422, 'validation-error')).toEqual(field)
      const other = await catalogue(service)
      expect(expectProblem(await merge(id, other.customerId), 422, 'validation-error')).toEqual(field)
      expectProblem(await merge('nobody', id), 404, 'not-found')
      expectProblem(await merge(id, merchant.customerId, { 'If-Match': '"7"' }), 412, 'precondition-failed')
      expect(await read(id)).toMatchObject({ paymentCount: 1, revision: 1 })
    })

    test('without a target a customer with records is kept, and its timeline ends with it otherwise', async () => {
      const id = await customer()
      await sale(id, 1)
      expectProblem(await merchant.api.delete(`customers/${id}`), 409, 'conflict')
      const idle = await customer()
      expect((await merchant.api.delete(`customers/${idle}`)).status).toBe(204)
      expect(await sql('select 1 from timeline_entries where customer_id = ?', [idle])).toEqual([])
    })

    test('in any race no record is left with a customer that is gone', async () => {
      for (let round = 0; round < 8; round += 1) {
        const [duplicate, target] = [await customer(), await customer()]
        const transactionId = await sale(duplicate, 5)
        const paymentInstruction = { method: 'external' }
        const body = { type: 'sale', customerId: duplicate, currency: 'EUR', amount: 1, paymentInstruction }
        const results = await Promise.all([
          merge(duplicate, target),
          merchant.api.post('disputes', disputeBody(transactionId)),
          merchant.api.post('subscriptions', orderBody(merchant, { customerId: duplicate })),
          merchant.api.post('transactions', body),
          merchant.api.post('transactions', {
            type: 'refund',
            parentTransactionId: transactionId,
            amount: 1,
          }),
          merge(target, duplicate),
        ])
        for (const { status } of results) expect([201, 204, 404, 422, 503]).toContain(status)
      }
      for (const table of MOVED_TABLES) {
        const lost = await sql(
          `select row.customer_id from ${table} row
            where row.organization_id = ? and row.customer_id is not null and not exists (select from customers
              where customers.organization_id = row.organization_id and customers.id = row.customer_id)`,
          [merchant.organizationId],
        )
        expect({ table, lost }).toEqual({ table, lost: [] })
      }
    })

    /** Runs statements in another transaction; `during` begins after the first and must wait for its commit. */
    const whileOpen = async <T>(statements: readonly [string, unknown[]][], during: () => Promise<T>) => {
      const client = new pg.Client({ connectionString: service.databaseUrl })
      await client.connect()
      try {
        await client.query('begin')
        let response: Promise<T> | undefined
        for (const [text, values] of statements) {
          await client.query(text, values)
          response ??= during()
          await waitFor('the other transaction to wait', async () => {
            const [row] = await sql<{ count: number }>(
              `select count(*)::int as count from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'`,
            )
            return row?.count === 1 ? true : null
          })
        }
        await client.query('commit')
        return await response
      } finally {
        await client.end()
      }
    }

    test('a dispute that is created meanwhile waits, and is one of the target', async () => {
      const [duplicate, target] = [await customer(), await customer()]
      const transactionId = await sale(duplicate, 5)
      const { organizationId } = merchant
      const response = await whileOpen(
        [
          [
            'select from customers where organization_id = $1 and id = $2 for update',
            [organizationId, duplicate],
          ],
          [
            'update transactions set customer_id = $3 where organization_id = $1 and customer_id = $2',
            [organizationId, duplicate, target],
          ],
          ['delete from customers where organization_id = $1 and id = $2', [organizationId, duplicate]],
        ],
        () => merchant.api.post<Body>('disputes', disputeBody(transactionId)),
      )
      expect({ status: response?.status, customerId: response?.body.customerId }).toEqual({
        status: 201,
        customerId: target,
      })
    })

    test('an instrument that is deactivated meanwhile is not left as the default of the target', async () => {
      const [duplicate, target] = [await customer(), await customer()]
      const card = await instrument(duplicate)
      const { organizationId } = merchant
      const response = await whileOpen(
        [
          [
            'select from customers where organization_id = $1 and id in ($2, $3) order by id for update',
            [organizationId, duplicate, target],
          ],
          [
            'update payment_instruments set customer_id = $3 where organization_id = $1 and id = $2',
            [organizationId, card, target],
          ],
          [
            'update customers set default_payment_instrument_id = $3 where organization_id = $1 and id = $2',
            [organizationId, target, card],
          ],
          ['delete from customers where organization_id = $1 and id = $2', [organizationId, duplicate]],
        ],
        () => merchant.api.post<Body>(`payment-instruments/${card}/deactivation`, {}),
      )
      expect(response?.body).toMatchObject({ status: 'deactivated', customerId: target })
      const shown = await read(target)
      expect(shown.defaultPaymentInstrumentId).toBeNull()
      expect((await merchant.api.put(`customers/${target}`, shown)).status).toBe(200)
      expect((await eventsOf(target)).map(({ type }) => type)).toContain('customer-updated')
    })

    test('a refund that is started meanwhile, under the lock of its sale, is moved too', async () => {
      const [duplicate, target] = [await customer(), await customer()]
      const transactionId = await sale(duplicate, 5)
      const named = [merchant.organizationId, transactionId]
      const response = await whileOpen(
        [
          ['select from transactions where organization_id = $1 and id = $2 for update', named],
          [
            `insert into transactions select (jsonb_populate_record(null::transactions, to_jsonb(row)
               || jsonb_build_object('id', 'refund-' || row.id, 'type', 'refund', 'parent_transaction_id', row.id))).*
               from transactions row where organization_id = $1 and id = $2`,
            named,
          ],
        ],
        () => merge(duplicate, target),
      )
      expect(response?.status).toBe(204)
      const { body } = await merchant.api.get<Body>(`transactions/refund-${transactionId}`)
      expect(body.customerId).toBe(target)
    })

    test('every table that refers to a customer is moved or ended', async () => {
      const found = await sql<{ name: string }>(
        `select table_name as name from information_schema.columns
          where table_schema = 'public' and column_name = 'customer_id' order by 1`,
      )
      const known: string[] = [...MOVED_TABLES, ...ENDED_TABLES]
      expect(found.map(({ name }) => name)).toEqual(known.toSorted())
    })
  })
})

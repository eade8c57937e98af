/** What comes back can be sent back, races end in one of the sent states, revisions count changes. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ROUTES } from '../../api/routes.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import fc from '../support/fast-check.ts'
import { startService, type TestService } from '../support/service.ts'

describe('an upsert', () => {
  let service: TestService
  let merchant: Catalogue
  let transactionId: string

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service, { webhook: 'https://receiver.example/hook' })
    transactionId = await externalSale(merchant.api, merchant.customerId)
    const made = [
      await merchant.api.post('disputes', disputeBody(transactionId, { amount: 10.5, caseId: 'c' })),
      await merchant.api.post('api-keys', {
        description: 'restricted',
        acl: [{ permissions: ['GetDispute'], scope: { organizationId: [merchant.organizationId] } }],
        allowedIps: ['198.51.100.*'],
      }),
      await merchant.api.post('websites', {
        name: 'Full',
        url: 'https://shop.example/',
        customFields: { b: 1, a: { deep: [1.5, 'x', null] } },
      }),
      await merchant.api.post('products', { name: 'Seat', unitLabel: 'seat', customFields: { z: 1, a: 2 } }),
      await merchant.api.post('customers', { email: 'a@b.example', customFields: { z: 1, a: 2 } }),
      await merchant.api.post('gateway-accounts', {
        gatewayName: 'TestGateway',
        method: 'payment-card',
        acceptedCurrencies: ['EUR'],
      }),
      await merchant.api.post(
        'subscriptions',
        orderBody(merchant, { customFields: { a: 1 }, startTime: '2999-01-01T00:00:00Z' }),
      ),
      await merchant.api.post('invoices', {
        customerId: merchant.customerId,
        websiteId: merchant.websiteId,
        currency: 'EUR',
        items: [
          { type: 'debit', description: 'Work', unitPrice: 80.5, quantity: 2 },
          { type: 'credit', unitPrice: 3, periodStartTime: '2026-01-01T00:00:00Z' },
        ],
        shipping: { amount: 4.9 },
        billingAddress: { firstName: 'Ada', emails: [{ value: 'ada@example.com' }] },
        dueTime: '2999-01-01T00:00:00Z',
      }),
      await merchant.api.post('shipping-rates', { name: 'Standard', price: 4.9, currency: 'EUR' }),
      await merchant.api.post('coupons', {
        description: 'Spring',
        discount: { type: 'percent', value: 10 },
        restrictions: [{ type: 'minimum-order-amount', amount: 5, currency: 'EUR' }],
      }),
    ]
    const { body: creditor } = await merchant.api.post('customers', {})
    made.push(
      await merchant.api.post('credit-memos', {
        customerId: creditor.id,
        currency: 'EUR',
        reason: 'return',
        items: [{ description: 'Goodwill', unitPrice: 5, quantity: 1 }],
      }),
    )
    const credential = { username: 'ada', password: 'a secret', customerId: merchant.customerId }
    made.push(await merchant.api.post('credentials', credential))
    const { body: order } = await merchant.api.post('subscriptions', orderBody(merchant))
    const pause = { subscriptionId: order.id, effectiveTime: '2999-01-01T00:00:00Z' }
    made.push(await merchant.api.post('subscription-pauses', pause))
    const startTime = '2999-01-01T00:00:00Z'
    for (const members of [{ status: 'draft' }, { churnTime: '2999-01-01T00:00:00Z' }, {}]) {
      const began = 'status' in members ? { startTime } : {}
      const { body: canceled } = await merchant.api.post('subscriptions', orderBody(merchant, began))
      const cancellation = { subscriptionId: canceled.id, reason: 'other', ...members }
      made.push(await merchant.api.post('subscription-cancellations', cancellation))
    }
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
  })
  afterAll(() => service.stop())

  const eventCount = async (): Promise<string> => {
    const [row] = await service.database.orm.em
      .fork()
      .getConnection()
      .execute<{ count: string }[]>('select count(*) from events')
    return row?.count ?? ''
  }

  // Resources that another record or a definition has one of are shown by their own tests.
  const putPaths = ROUTES.filter(({ method, path }) => method === 'PUT' && path.endsWith('/{id}')).map(
    ({ path }) => path.replace('/{id}', ''),
  )

  test.each(putPaths)('of what GET gives, changes nothing and emits nothing: %s', async (path) => {
    const all = await merchant.api.get<Record<string, unknown>[]>(path)
    expect(all.body.length).toBeGreaterThan(0)
    const before = await eventCount()
    for (const resource of all.body) {
      const response = await merchant.api.put(`${path}/${resource.id}`, resource)
      expect({ status: response.status, body: response.body }).toEqual({ status: 200, body: resource })
      expect(response.headers.get('etag')).toBe(`"${resource.revision}"`)
    }
    expect(await eventCount()).toBe(before)
  })

  test('ignores read-only members, links and embedded objects, whatever they hold', async () => {
    const { body } = await merchant.api.post('disputes', disputeBody(transactionId))
    const response = await merchant.api.put(`disputes/${body.id}`, {
      ...body,
      id: 'another',
      customerId: 7,
      category: 'nonsense',
      source: 'manual',
      revision: -1,
      createdTime: 'never',
      rawResponse: {},
      reasonDescription: 'told',
      resolvedTime: 'never',
      updatedTime: 'never',
      _links: 'none',
      _embedded: { transaction: null },
    })
    expect({ status: response.status, body: response.body }).toEqual({ status: 200, body })
  })

  test('drops nothing silently: an unknown member is 422, nested ones too', async () => {
    const dispute = await merchant.api.post('disputes', disputeBody(transactionId, { amuont: 1 }))
    expect(expectProblem(dispute, 422, 'validation-error')).toEqual(['amuont'])
    const key = await merchant.api.post('api-keys', {
      description: 'k',
      acl: [{ permissions: [], scoop: {} }],
    })
    expect(expectProblem(key, 422, 'validation-error')).toEqual(['acl.0.scoop'])
    const order = await merchant.api.post(
      'subscriptions',
      orderBody(merchant, { items: [{ id: 'read only', plan: { id: merchant.planId, nmae: 1 } }] }),
    )
    expect(expectProblem(order, 422, 'validation-error')).toEqual(['items.0.plan.nmae'])
  })

  test('takes times with any offset and answers them in UTC with milliseconds', async () => {
    const { body } = await merchant.api.post(
      'disputes',
      disputeBody(transactionId, { postedTime: '2026-03-01T01:30:00.5+05:30' }),
    )
    expect(body.postedTime).toBe('2026-02-28T20:00:00.500Z')
  })

  test.each([
    ['a'.repeat(51), 422],
    ['has space', 422],
    ['slash%2Fed', 422],
    ['nul%00', 422],
    ['a'.repeat(50), 201],
    ['Az09_@~.-', 201],
  ])('under the id %s: %i', async (id, status) => {
    const path = `websites/${id.includes('%') ? id : encodeURIComponent(id)}`
    const response = await merchant.api.put(path, { name: 'Shop' })
    expect(response.status).toBe(status)
    expect((await merchant.api.get(path)).status).toBe(status === 201 ? 200 : 404)
  })

  test('racing for a new id: one 201, the others 200, and each change a revision', async () => {
    const bodies = Array.from({ length: 8 }, (_, index) => ({ name: `Racer ${index}` }))
    const responses = await Promise.all(bodies.map((body) => merchant.api.put('websites/raced', body)))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201])
    expect(responses.map(({ body }) => body.revision).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect((await merchant.api.get('websites/raced')).body).toMatchObject({ revision: 8 })
  })

  test('in any race ends in one of the sent states, with a revision for each real change', async () => {
    let round = 0
    const sent = fc.array(
      fc.record({
        amount: fc.constantFrom(1, 2.5, 3),
        status: fc.constantFrom('won', 'under-review', 'unknown'),
        caseId: fc.constantFrom(null, 'a', 'b'),
      }),
      { minLength: 1, maxLength: 6 },
    )
    await fc.assert(
      fc.asyncProperty(sent, async (states) => {
        round += 1
        const path = `disputes/race-${round}`
        const responses = await Promise.all(
          states.map((state) => merchant.api.put(path, disputeBody(transactionId, state))),
        )
        const statuses = responses.map(({ status }) => status).sort()
        expect(statuses).toEqual([...states.slice(1).map(() => 200), 201])
        const last = (await merchant.api.get(path)).body
        const member = ({ amount, status, caseId }: Record<string, unknown>) => ({ amount, status, caseId })
        expect(states).toContainEqual(member(last))
        // What was shown under one revision is one state, and neighbouring ones differ.
        const shown = new Map<number, object>()
        for (const { body } of responses) {
          const revision = Number(body.revision)
          expect(shown.get(revision) ?? member(body)).toEqual(member(body))
          shown.set(revision, member(body))
        }
        expect([...shown.keys()].sort((one, other) => one - other)).toEqual(
          Array.from({ length: Number(last.revision) }, (_, index) => index + 1),
        )
        for (let revision = 2; revision <= shown.size; revision += 1) {
          expect(shown.get(revision)).not.toEqual(shown.get(revision - 1))
        }
        const events = await service.database.orm.em
          .fork()
          .getConnection()
          .execute<{ type: string }[]>('select type from events where entity_id = ? order by id', [
            `race-${round}`,
          ])
        expect(events).toHaveLength(shown.size)
      }),
      { numRuns: 40 },
    )
  }, 60_000)

  test('racing with deletions never fails', async () => {
    const put = () =>
      merchant.api.put('webhooks/fleeting', { url: 'https://receiver.example/', status: 'inactive' })
    const remove = () => merchant.api.delete('webhooks/fleeting')
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, index) => (index % 3 ? put() : remove())),
    )
    for (const { status } of responses) expect([200, 201, 204, 404]).toContain(status)
  })
})

describe('conditions', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const put = (id: string, name: string, headers: Record<string, string> = {}) =>
    merchant.api.put(`websites/${id}`, { name }, headers)

  test('If-Match lets a change through at that revision only', async () => {
    expect((await put('matched', 'One')).headers.get('etag')).toBe('"1"')
    expect((await put('matched', 'Two', { 'If-Match': '"1"' })).headers.get('etag')).toBe('"2"')
    expectProblem(await put('matched', 'Three', { 'If-Match': '"1"' }), 412, 'precondition-failed')
    expect((await put('matched', 'Three', { 'If-Match': '"1", "2"' })).status).toBe(200)
    expect((await put('matched', 'Four', { 'If-Match': '*' })).status).toBe(200)
  })

  test('If-Match on an id that is absent: 412, and nothing is made', async () => {
    for (const tag of ['"1"', '*']) {
      expectProblem(await put('absent', 'One', { 'If-Match': tag }), 412, 'precondition-failed')
    }
    expectProblem(await merchant.api.get('websites/absent'), 404, 'not-found')
  })

  test('If-None-Match: * only creates', async () => {
    expect((await put('created', 'One', { 'If-None-Match': '*' })).status).toBe(201)
    expectProblem(await put('created', 'Two', { 'If-None-Match': '*' }), 412, 'precondition-failed')
  })

  test('of racers with the same If-Match one gets through', async () => {
    await put('contended', 'One')
    const responses = await Promise.all(
      ['A', 'B', 'C', 'D'].map((name) => put('contended', name, { 'If-Match': '"1"' })),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412])
  })

  test('a condition is checked before the body', async () => {
    await put('checked', 'One')
    const response = await merchant.api.put('websites/checked', { nonsense: 1 }, { 'If-Match': '"7"' })
    expectProblem(response, 412, 'precondition-failed')
  })

  test('If-Match on DELETE', async () => {
    await merchant.api.put('webhooks/w', { url: 'https://receiver.example/' })
    expectProblem(await merchant.api.delete('webhooks/w', { 'If-Match': '"2"' }), 412, 'precondition-failed')
    expect((await merchant.api.delete('webhooks/w', { 'If-Match': '"1"' })).status).toBe(204)
    expectProblem(await merchant.api.delete('webhooks/w'), 404, 'not-found')
  })

  test('If-None-Match on GET and HEAD: 304 without a body while nothing changed', async () => {
    await put('cached', 'One')
    const same = await merchant.api.get<string>('websites/cached', { 'If-None-Match': '"1"' })
    expect([same.status, same.body, same.headers.get('etag')]).toEqual([304, '', '"1"'])
    const head = await merchant.api.send('HEAD', 'websites/cached', { headers: { 'If-None-Match': '"1"' } })
    expect(head.status).toBe(304)
    await put('cached', 'Two')
    expect((await merchant.api.get('websites/cached', { 'If-None-Match': '"1"' })).status).toBe(200)
  })
})

/** Two organizations with the same ids: neither sees, changes or counts for the other, on any route. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isOfHost, ROUTES } from '../../api/routes.ts'
import { apiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

/** Rows of limits, stored responses and requests belong to the caller. */
const NOT_RECORDS = ['idempotency_records', 'api_requests']

describe('organizations with equal ids', () => {
  let service: TestService
  let mine: Catalogue
  let theirs: Catalogue
  let tables: string[]

  const sql = <T = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    theirs = await catalogue(service, { webhook: 'https://receiver.example/hook' })
    const transactionId = await externalSale(theirs.api, theirs.customerId)
    const made = [
      await theirs.api.post('disputes', disputeBody(transactionId)),
      await theirs.api.post('subscriptions', orderBody(theirs)),
      await theirs.api.post('products', { name: 'Seat' }),
      await theirs.api.post('tags', { name: 'VIP', type: 'customer' }),
      await theirs.api.post(`tags/VIP/customers/${theirs.customerId}`, {}),
      await theirs.api.put('custom-fields/customers/size', { type: 'integer' }),
      await theirs.api.put(`customers/${theirs.customerId}/lead-source`, { medium: 'email' }),
      await theirs.api.post('service-credentials/webhook', { host: 'a.example', auth: { type: 'none' } }),
    ]
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201, 204, 201, 201, 201])
    const { organizationId, secretKey, api } = await service.organization()
    mine = { ...theirs, organizationId, secretKey, api }
    tables = (
      await sql<{ name: string }>(
        `select table_name as name from information_schema.columns
          where table_schema = 'public' and column_name = 'organization_id' order by 1`,
      )
    )
      .map(({ name }) => name)
      .filter((name) => !NOT_RECORDS.includes(name))
    // The same rows under the same ids, distinguished by their revision.
    for (const table of tables.filter((name) => name !== 'api_keys')) {
      // An exclusion constraint that is checked at the commit cannot be the target of conflicts.
      const target = table === 'invoices' ? '(organization_id, id)' : ''
      await sql(
        `insert into ${table} select (jsonb_populate_record(null::${table},
           replace(to_jsonb(row)::text, ?, ?)::jsonb || '{"revision": 77}')).*
           from ${table} row where organization_id = ? on conflict ${target} do nothing`,
        [theirs.organizationId, organizationId, theirs.organizationId],
      )
    }
    await sql(
      `insert into api_keys select (jsonb_populate_record(null::api_keys,
         to_jsonb(row) || jsonb_build_object('organization_id', ?::text, 'revision', 77, 'key_hash', md5(id)))).*
         from api_keys row where organization_id = ?`,
      [organizationId, theirs.organizationId],
    )
  })
  afterAll(() => service.stop())

  async function theirRecords(): Promise<unknown[]> {
    const all: unknown[] = []
    for (const table of tables) {
      all.push(
        await sql(
          `select to_jsonb(row) as row from ${table} row where organization_id = ? order by row::text`,
          [theirs.organizationId],
        ),
      )
    }
    return all
  }
  /** What no list shows: the resource of a custom field, and the customer of a tag. */
  const KNOWN: Readonly<Record<string, () => string>> = {
    '{resource}': () => 'customers',
    '{customerId}': () => theirs.customerId,
  }
  /** Ids under which both organizations have records; any id where they have none. */
  async function sharedPath(path: string): Promise<string> {
    const segments: string[] = []
    for (const segment of path.split('/')) {
      const [known, collection] = [KNOWN[segment]?.(), segments.join('/')]
      segments.push(segment.startsWith('{') ? (known ?? (await sharedId(collection))) : segment)
    }
    return segments.join('/')
  }
  async function sharedId(collection: string): Promise<string> {
    const { status, body } = await theirs.api.get<{ id?: string; name?: string }[]>(collection)
    const [first] = status === 200 && Array.isArray(body) ? body : []
    return first?.id ?? first?.name ?? 'none'
  }
  const init = (takesBody: boolean, body: unknown): RequestInit =>
    takesBody ? { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } } : {}

  // A route of the host is about the credential's organization, and a signed one takes no key.
  const named = ROUTES.filter((route) => !isOfHost(route) && route.accepts.length > 0)

  test.each(named.map((route) => [route.operationId, route] as const))(
    "%s refuses the other's key, and changes nothing of either",
    async (_, { method, path, takesBody, accepts }) => {
      const trespasser = apiClient(service.baseUrl, theirs.organizationId, { 'SVC-APIKEY': mine.secretKey })
      const nowhere = apiClient(service.baseUrl, 'no-such-organization', { 'SVC-APIKEY': mine.secretKey })
      const at = await sharedPath(path)
      const before = await theirRecords()
      const response = await trespasser.send(method, at, init(takesBody, {}))
      const same = await nowhere.send(method, at, init(takesBody, {}))
      if (accepts.includes('secret')) expectProblem(response, 403, 'forbidden')
      expect([same.status, same.body.code, same.body.detail]).toEqual([
        response.status,
        response.body.code,
        response.body.detail,
      ])
      expect(await theirRecords()).toEqual(before)
    },
  )

  const withId = ROUTES.filter(({ path, accepts }) => /\{\w+\}$/.test(path) && accepts.includes('secret'))

  test.each(withId.map((route) => [route.operationId, route] as const))(
    "%s under an equal id reaches one's own alone",
    async (_, { method, path, takesBody }) => {
      const at = await sharedPath(path)
      const before = await theirRecords()
      const own = await mine.api.get<Record<string, unknown>>(at)
      const response = await mine.api.send<Record<string, unknown>>(method, at, init(takesBody, own.body))
      expect(response.status).toBeLessThan(500)
      const text = JSON.stringify(response.body ?? '')
      expect(text).not.toContain(theirs.organizationId)
      if (method === 'GET' && response.status === 200) {
        expect(text).toContain(mine.organizationId)
        if ('revision' in response.body) expect(response.body.revision).toBeGreaterThanOrEqual(77)
      }
      expect(await theirRecords()).toEqual(before)
    },
  )

  const lists = ROUTES.filter(
    ({ returns: responses, path, accepts }) =>
      responses === 'many' && !path.includes('{') && accepts.includes('secret'),
  )

  test.each(lists.map(({ path }) => path))("the list of %s holds one's own alone", async (path) => {
    const { body, headers } = await mine.api.get<Record<string, unknown>[]>(`${path}?limit=1000`)
    // What this organization sent to the other one's path, and was refused, is its own request.
    const listed = path === 'tracking/api' ? body.map(({ organizationId }) => organizationId) : body
    expect(JSON.stringify(listed)).not.toContain(theirs.organizationId)
    expect(headers.get('pagination-total')).toBe(String(body.length))
  })

  test('an id that only the other has is absent, and a reference to it is refused', async () => {
    const website = await theirs.api.post('websites', { name: 'Only theirs' })
    const transactionId = await externalSale(theirs.api, theirs.customerId)
    expectProblem(await mine.api.get(`websites/${website.body.id}`), 404, 'not-found')
    const customer = await mine.api.post('customers', { websiteId: website.body.id })
    expect(expectProblem(customer, 422, 'validation-error')).toEqual(['websiteId'])
    const dispute = await mine.api.post('disputes', disputeBody(transactionId))
    expect(expectProblem(dispute, 422, 'validation-error')).toEqual(['transactionId'])
  })
})

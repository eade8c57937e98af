/** What each key may do and from where, who may make which, and who sees their values. */
import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type ApiClient, type ApiResponse, apiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

const MASTER_KEY = randomBytes(32).toString('base64')

describe('API keys', () => {
  let service: TestService
  /** Behind a proxy: another process over the same database. */
  let proxied: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    const settings = { MASTER_KEY, RATE_LIMIT: '1000000' }
    service = await startService({ worker: false, settings })
    proxied = await startService({
      worker: false,
      databaseUrl: service.databaseUrl,
      settings: { ...settings, TRUST_PROXY: 'true' },
    })
    merchant = await catalogue(service)
  })
  afterAll(async () => {
    await proxied.stop()
    await service.stop()
  })

  const make = async (members: object = {}): Promise<Record<string, unknown>> => {
    const { status, body } = await merchant.api.post('api-keys', { description: 'a key', ...members })
    expect({ status, body }).toMatchObject({ status: 201 })
    return body
  }
  const as = (key: Record<string, unknown>, on: TestService = service): ApiClient =>
    apiClient(on.baseUrl, merchant.organizationId, { 'SVC-APIKEY': String(key.secretKey) })
  const holding = async (...permissions: string[]): Promise<ApiClient> =>
    as(await make({ acl: [{ permissions }] }))

  test('a new one is secret and unrestricted unless it says otherwise, and works at once', async () => {
    const { status, body, headers } = await merchant.api.post('api-keys', { description: 'plain' })
    expect(status).toBe(201)
    const self = `${service.baseUrl}/organizations/${merchant.organizationId}/api-keys/${body.id}`
    expect(body).toEqual({
      id: expect.stringMatching(/^api_key_[0-9A-Z]{26}$/),
      description: 'plain',
      type: 'secret',
      acl: null,
      allowedIps: null,
      apiUser: expect.any(String),
      // 192 random bits.
      secretKey: expect.stringMatching(/^sk_sandbox_[A-Za-z0-9_-]{32}$/),
      revision: 1,
      createdTime: expect.any(String),
      updatedTime: body.createdTime,
      _links: [{ rel: 'self', href: self }],
    })
    expect(headers.get('location')).toBe(self)
    expect((await as(body).get(`api-keys/${body.id}`)).body).toEqual(body)
    expect((await make({ type: 'publishable' })).secretKey).toMatch(/^pk_sandbox_[A-Za-z0-9_-]{32}$/)
  })

  test('what it says wrong is named', async () => {
    const response = await merchant.api.post('api-keys', {
      type: 'private',
      acl: [
        { permissions: ['getDispute', 'Everything', 'GetDispute', 'StorefrontGetAccount'] },
        { scope: { organizationId: ['another'] }, permissions: [] },
        {},
      ],
      allowedIps: ['nowhere'],
    })
    expect(expectProblem(response, 422, 'validation-error')).toEqual(
      ['acl.0.permissions.0', 'acl.0.permissions.1', 'acl.2.permissions', 'description', 'type'].sort(),
    )
    const rules = await merchant.api.post('api-keys', {
      description: 'k',
      acl: [{ scope: { organizationId: ['another'] }, permissions: [] }],
      allowedIps: ['198.51.100.7', 'nowhere'],
    })
    expect(expectProblem(rules, 422, 'validation-error')).toEqual([
      'acl.0.scope.organizationId',
      'allowedIps.1',
    ])
  })

  test('a description has at most 1000 characters', async () => {
    expect((await make({ description: 'd'.repeat(1000) })).description).toHaveLength(1000)
    const response = await merchant.api.post('api-keys', { description: 'd'.repeat(1001) })
    expect(expectProblem(response, 422, 'validation-error')).toEqual(['description'])
  })

  test('PUT makes one under its id and then changes it; read-only members are ignored', async () => {
    const made = await merchant.api.put('api-keys/chosen', { description: 'one' })
    expect([made.status, made.body.id]).toEqual([201, 'chosen'])
    const changed = await merchant.api.put('api-keys/chosen', {
      ...made.body,
      description: 'two',
      secretKey: 'sk_sandbox_mine',
      apiUser: 'me',
    })
    expect(changed.body).toEqual({
      ...made.body,
      description: 'two',
      revision: 2,
      updatedTime: expect.any(String),
    })
  })

  test('the id is read-only: POST makes one of its own, PUT keeps that of the path, whatever is sent', async () => {
    const posted = await make({ id: 'wanted' })
    expect(posted.id).toMatch(/^api_key_[0-9A-Z]{26}$/)
    expectProblem(await merchant.api.get('api-keys/wanted'), 404, 'not-found')
    const put = await merchant.api.put(`api-keys/${posted.id}`, { description: 'renamed', id: 'wanted' })
    expect(put.body).toMatchObject({ id: posted.id, description: 'renamed' })
    const created = await merchant.api.put('api-keys/of-the-path', { description: 'new', id: 'wanted' })
    expect([created.status, created.body.id]).toEqual([201, 'of-the-path'])
    expectProblem(await merchant.api.get('api-keys/wanted'), 404, 'not-found')
  })

  test('lists page, sort and filter, and are not searched', async () => {
    for (const description of ['list a', 'list c', 'list b']) await make({ description })
    const all = await merchant.api.get<{ description: string }[]>('api-keys?sort=-description')
    const descriptions = all.body.map(({ description }) => description)
    expect(descriptions.filter((one) => one.startsWith('list '))).toEqual(['list c', 'list b', 'list a'])
    const { body, headers } = await merchant.api.get<{ description: string }[]>(
      'api-keys?sort=-description&limit=2&offset=1',
    )
    expect(body.map(({ description }) => description)).toEqual(descriptions.slice(1, 3))
    expect(headers.get('pagination-total')).toBe(String(descriptions.length))
    const named = await merchant.api.get<{ description: string }[]>(
      'api-keys?filter=type:secret;description:list a,list b&sort=description',
    )
    expect(named.body.map(({ description }) => description)).toEqual(['list a', 'list b'])
    expectProblem(await merchant.api.get('api-keys?q=list'), 400, 'malformed-request')
  })

  describe('permissions', () => {
    test('only what the list names is permitted', async () => {
      const reader = await holding('GetWebsite', 'GetWebsiteCollection')
      expect((await reader.get(`websites/${merchant.websiteId}`)).status).toBe(200)
      expect((await reader.send('HEAD', `websites/${merchant.websiteId}`)).status).toBe(200)
      expect((await reader.get('websites')).status).toBe(200)
      expectProblem(await reader.get(`customers/${merchant.customerId}`), 403, 'forbidden')
      expectProblem(await reader.post('websites', { name: 'Mine' }), 403, 'forbidden')
    })

    test('an empty list permits nothing, * everything', async () => {
      const nobody = as(await make({ acl: [] }))
      expectProblem(await nobody.get('websites'), 403, 'forbidden')
      expect((await (await holding('*')).get('websites')).status).toBe(200)
    })

    test('a name that this release lacks is kept and permits nothing', async () => {
      const acl = [{ permissions: ['StorefrontGetKycDocumentCollection', 'PostFile', 'GetWebsite'] }]
      const key = await make({ acl })
      expect(key.acl).toEqual(acl)
      expect((await as(key).get(`websites/${merchant.websiteId}`)).status).toBe(200)
      expectProblem(await as(key).get('customers'), 403, 'forbidden')
    })

    test('a rule holds where its scope names this organization', async () => {
      const scope = { organizationId: [merchant.organizationId, 'another'] }
      const key = await make({ acl: [{ scope, permissions: ['GetWebsiteCollection'] }] })
      expect((await as(key).get('websites')).status).toBe(200)
    })

    test('all rules have a thousand permissions and organizations at most; a longer list of earlier stays', async () => {
      const permissions = Array<string>(501).fill('GetWebsite')
      const scope = { organizationId: [merchant.organizationId, ...Array<string>(500).fill('another')] }
      for (const rule of [{ permissions }, { permissions: ['GetWebsite'], scope }]) {
        const refused = await merchant.api.post('api-keys', { description: 'k', acl: [rule, rule] })
        expect(expectProblem(refused, 422, 'validation-error')).toEqual(['acl'])
      }
      const key = await make({ acl: [{ permissions, scope }] })
      const acl = [{ permissions, scope }, { permissions }]
      await service.database.orm.em
        .fork()
        .getConnection()
        .execute('update api_keys set acl = ?::jsonb where id = ?', [JSON.stringify(acl), key.id])
      const path = `api-keys/${key.id}`
      expect((await as(key).get(`websites/${merchant.websiteId}`)).status).toBe(200)
      const { body } = await merchant.api.put(path, { description: 'left' })
      expect(body).toMatchObject({ description: 'left', acl })
      expect((await merchant.api.put(path, body)).status).toBe(200)
      const longer = await merchant.api.put(path, { ...body, acl: [...acl, { permissions: ['GetPlan'] }] })
      expect(expectProblem(longer, 422, 'validation-error')).toEqual(['acl'])
    })

    test('a PUT without acl and allowedIps leaves them, null removes them', async () => {
      const key = await make({ acl: [{ permissions: ['GetWebsite'] }], allowedIps: ['198.51.100.7'] })
      const path = `api-keys/${key.id}`
      const left = await merchant.api.put(path, { description: 'left' })
      expect(left.body).toMatchObject({ description: 'left', acl: key.acl, allowedIps: key.allowedIps })
      const opened = await merchant.api.put(path, { description: 'left', allowedIps: null })
      expect(opened.body).toMatchObject({ acl: key.acl, allowedIps: null })
      const free = await merchant.api.put(path, { description: 'left', acl: null })
      expect(free.body).toMatchObject({ acl: null, allowedIps: null })
    })
  })

  describe('addresses', () => {
    const PUBLIC = [
      '198.51.100.7',
      '203.0.113.0/24',
      '198.51.*.*',
      '8.8.*.*',
      '2001:db8::7',
      '2001:db8:1::/48',
      '::ffff:198.51.100.9',
    ]

    test('are taken in each of the five forms, and returned as they were', async () => {
      expect((await make({ allowedIps: PUBLIC })).allowedIps).toEqual(PUBLIC)
    })

    test.each([
      '10.0.0.1',
      '172.16.5.0/24',
      '192.168.*.*',
      '192.*.*.*',
      '127.0.0.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0/0',
      '::1',
      'fe80::1',
      'fd00::/8',
      '::/0',
      '::ffff:10.0.0.1',
      '::ffff:127.0.0.1',
      '::ffff:192.168.0.0/112',
      '::ffff:0:0/96',
      '1.2.3',
      '1.2.3.4/33',
      '1.2.*.4',
      '*',
      '*.*.*.*',
      '010.1.1.1',
      '0x7f.1.1.1',
      '256.1.1.1',
      '2130706433',
      'example.com',
      '',
      ' 198.51.100.7',
    ])('%p is refused', async (entry) => {
      const response = await merchant.api.post('api-keys', {
        description: 'k',
        allowedIps: ['8.8.8.8', entry],
      })
      expect(expectProblem(response, 422, 'validation-error')).toEqual(['allowedIps.1'])
    })

    test('are those of the peer; what a header claims counts for nothing', async () => {
      const key = await make({ allowedIps: ['198.51.100.7'] })
      expectProblem(await as(key).get('websites'), 403, 'forbidden')
      const claimed = await as(key).get('websites', { 'X-Forwarded-For': '198.51.100.7' })
      expectProblem(claimed, 403, 'forbidden')
    })

    test.each([
      ['198.51.100.7', 200],
      ['203.0.113.255', 200],
      ['198.51.77.1', 200],
      ['2001:db8::7', 200],
      ['2001:db8:1:ffff::1', 200],
      ['::ffff:198.51.100.9', 200],
      ['192.0.2.1, 198.51.100.7', 200],
      ['203.0.114.1', 403],
      ['2001:db8:2::1', 403],
      ['198.51.100.7, 192.0.2.1', 403],
      ['unknown', 403],
      ['', 403],
    ])('behind a proxy they are what the proxy says, last: %p: %i', async (forwarded, status) => {
      const key = await make({ allowedIps: PUBLIC })
      const response = await as(key, proxied).get('websites', { 'X-Forwarded-For': forwarded })
      expect(response.status).toBe(status)
    })
  })

  describe('no key permits more than the one that makes or changes it', () => {
    const OWN = ['PostApiKey', 'PutApiKey', 'GetApiKey', 'GetApiKeyCollection', 'GetWebsite']

    test('permissions', async () => {
      const key = await make({ acl: [{ permissions: OWN }] })
      const limited = as(key)
      for (const acl of [undefined, null, [{ permissions: ['*'] }], [{ permissions: ['GetCustomer'] }]]) {
        const body = { description: 'more', ...(acl === undefined ? {} : { acl }) }
        expectProblem(await limited.post('api-keys', body), 403, 'forbidden')
        expectProblem(await limited.put('api-keys/more', body), 403, 'forbidden')
      }
      expectProblem(
        await limited.put(`api-keys/${key.id}`, { description: 'free', acl: null }),
        403,
        'forbidden',
      )
      const wrong = { description: 'more', acl: [{ permissions: ['*'] }], allowedIps: ['not an address'] }
      expectProblem(await limited.post('api-keys', wrong), 403, 'forbidden')
      const fewer = { description: 'fewer', acl: [{ permissions: ['GetWebsite'] }] }
      expect((await limited.post('api-keys', fewer)).status).toBe(201)
    })

    test('what another key may do already is no excuse', async () => {
      const limited = as(await make({ acl: [{ permissions: OWN }] }))
      const strong = await make({ description: 'strong' })
      const renamed = await limited.put(`api-keys/${strong.id}`, { description: 'mine' })
      expectProblem(renamed, 403, 'forbidden')
      expect((await merchant.api.get(`api-keys/${strong.id}`)).body.description).toBe('strong')
    })

    test('a stronger key cannot be lowered to what one may do, and its value read then', async () => {
      const limited = as(await make({ acl: [{ permissions: OWN }] }))
      const strong = await make({ description: 'strong' })
      const path = `api-keys/${strong.id}`
      const lowered = await limited.put(path, { description: 'mine', acl: [{ permissions: OWN }] })
      expectProblem(lowered, 403, 'forbidden')
      expect((await merchant.api.get(path)).body).toEqual(strong)
      expect((await limited.get(path)).body.secretKey).not.toBe(strong.secretKey)
    })

    test('addresses', async () => {
      const allowedIps = ['198.51.100.0/24']
      const limited = as(await make({ allowedIps }), proxied)
      const from = { 'X-Forwarded-For': '198.51.100.7' }
      for (const wider of [null, ['8.8.8.8'], ['198.51.0.0/16'], ['198.51.100.7', '8.8.8.8']]) {
        const response = await limited.post('api-keys', { description: 'wider', allowedIps: wider }, from)
        expectProblem(response, 403, 'forbidden')
      }
      const within = { description: 'within', allowedIps: ['198.51.100.*', '198.51.100.128/25'] }
      expect((await limited.post('api-keys', within, from)).status).toBe(201)
    })

    test('an answer kept for a stronger key is not given to it', async () => {
      const body = { description: 'kept', acl: [{ permissions: OWN }] }
      const key = { 'Idempotency-Key': 'shared' }
      const first = await merchant.api.post('api-keys', body, key)
      const limited = as(await make({ acl: [{ permissions: ['PostApiKey'] }] }))
      const response = await limited.post('api-keys', body, key)
      expectProblem(response, 422, 'idempotency-key-reused')
      expect(response.body.detail).toContain('permissions or allowed addresses')
      expect(JSON.stringify(response.body)).not.toContain(first.body.secretKey)
    })
  })

  test('the type never changes', async () => {
    const key = await make()
    const path = `api-keys/${key.id}`
    const response = await merchant.api.put(path, { description: 'x', type: 'publishable' })
    expectProblem(response, 409, 'conflict')
    expect((await merchant.api.put(path, { description: 'x', type: 'secret' })).status).toBe(200)
    expect((await merchant.api.put(path, { description: 'y' })).body.type).toBe('secret')
  })

  describe('the last secret key without restrictions', () => {
    test('can be neither deleted nor restricted', async () => {
      const { api } = await service.organization()
      const { body } = await api.get<Record<string, unknown>[]>('api-keys')
      const last = body.find(({ type, acl }) => type === 'secret' && acl === null)
      const path = `api-keys/${last?.id}`
      expectProblem(await api.delete(path), 409, 'conflict')
      const restrictions = [{ acl: [] }, { acl: [{ permissions: ['*'] }] }, { allowedIps: ['198.51.100.7'] }]
      for (const members of restrictions) {
        expectProblem(await api.put(path, { description: 'restricted', ...members }), 409, 'conflict')
      }
      expect((await api.put(path, { description: 'renamed' })).status).toBe(200)
      expect((await api.put('api-keys/second', { description: 'second' })).status).toBe(201)
      expect((await api.delete(path)).status).toBe(204)
    })

    test('is there after any race', async () => {
      const { api } = await service.organization()
      const { body } = await api.get<Record<string, unknown>[]>('api-keys')
      const first = String(body.find(({ type }) => type === 'secret')?.id)
      for (let round = 0; round < 5; round += 1) {
        for (const id of ['a', 'b']) await api.put(`api-keys/${id}`, { description: id, acl: null })
        // All three go, or are restricted, at once; the one that is left decides nothing but its own request.
        const changes: Promise<ApiResponse>[] = [
          api.delete('api-keys/a'),
          api.put('api-keys/b', { description: 'b', acl: [] }),
          api.put(`api-keys/${first}`, { description: 'first', allowedIps: ['198.51.100.7'] }),
        ]
        const statuses = (await Promise.all(changes)).map(({ status }) => status)
        const [row] = await service.database.orm.em
          .fork()
          .getConnection()
          .execute<{ count: number; api: number }[]>(
            `select count(*)::int as count from api_keys
              where organization_id = (select organization_id from api_keys where id = ? limit 1)
                and type = 'secret' and acl is null and allowed_ips is null`,
            [first],
          )
        expect(row?.count).toBeGreaterThanOrEqual(1)
        expect(statuses.some((status) => status === 409 || status === 403)).toBe(true)
        await service.database.orm.em
          .fork()
          .getConnection()
          .execute('update api_keys set allowed_ips = null where id = ?', [first])
      }
    })
  })

  test('a value is shown to who could do as much without it, to others only its ends', async () => {
    const strong = await make({ acl: [{ permissions: ['GetApiKey', 'GetCustomer'] }] })
    const weak = await make({ acl: [{ permissions: ['GetApiKey'] }] })
    const shownTo = async (reader: ApiClient, key: Record<string, unknown>) =>
      String((await reader.get(`api-keys/${key.id}`)).body.secretKey)
    const value = String(strong.secretKey)
    expect(await shownTo(merchant.api, strong)).toBe(value)
    expect(await shownTo(as(strong), strong)).toBe(value)
    expect(await shownTo(as(strong), weak)).toBe(weak.secretKey)
    const masked = await shownTo(as(weak), strong)
    expect(masked.startsWith(value.slice(0, 11)) && masked.endsWith(value.slice(-4))).toBe(true)
    expect(masked.length).toBeLessThan(value.length)
  })

  test('a change holds from the next request on, in every process', async () => {
    const key = await make()
    const [here, there] = [as(key), as(key, proxied)]
    const path = `api-keys/${key.id}`
    for (let round = 0; round < 10; round += 1) {
      expect((await there.get('websites')).status).toBe(200)
      await merchant.api.put(path, { description: 'x', acl: [] })
      expect([(await here.get('websites')).status, (await there.get('websites')).status]).toEqual([403, 403])
      await merchant.api.put(path, { description: 'x', acl: null })
    }
    expect((await merchant.api.delete(path)).status).toBe(204)
    expect([(await here.get('websites')).status, (await there.get('websites')).status]).toEqual([401, 401])
  })

  test('values stand nowhere in the database or in the log', async () => {
    const secrets = [merchant.secretKey, merchant.publishableKey, String((await make()).secretKey)]
    await merchant.api.post('api-keys', { description: 'kept' }, { 'Idempotency-Key': 'kept value' })
    const connection = service.database.orm.em.fork().getConnection()
    const tables = await connection.execute<{ name: string }[]>(
      `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
    )
    let text = ''
    for (const { name } of tables) {
      text += JSON.stringify(await connection.execute(`select to_jsonb(t) as row from ${name} t`))
    }
    expect(text).toContain('kept value')
    expect(text).not.toMatch(/[sp]k_sandbox_[A-Za-z0-9_-]{8}/)
    const log = [...service.log, ...proxied.log].join('')
    for (const secret of secrets) {
      expect(text).not.toContain(secret.slice(11))
      // A keyed hash: nobody can make it of a guess.
      for (const algorithm of ['sha256', 'sha512', 'sha1', 'md5']) {
        const hash = createHash(algorithm).update(secret)
        expect(text).not.toContain(hash.copy().digest('hex'))
        expect(text).not.toContain(hash.digest('base64url'))
      }
      expect(log).not.toContain(secret.slice(11))
    }
  })
})

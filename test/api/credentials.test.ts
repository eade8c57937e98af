import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createPasswordHasher } from '../../access/password-hash.ts'
import { type CheckedCredential, checkSignIn, lockChecked } from '../../commands/access/sign-in.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import { removeExpired } from '../../worker/retention.ts'
import { type ApiClient, type ApiResponse, apiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

const PASSWORD = 'a Secret that nobody else has 1'
const MINUTE = 60_000

describe('a customer with a password', () => {
  let service: TestService
  let merchant: Catalogue
  let browser: ApiClient
  let count = 0
  const settings = {
    MASTER_KEY: randomBytes(32).toString('base64'),
    RATE_LIMIT: '1000000',
    TRUST_PROXY: 'true',
  }

  beforeAll(async () => {
    service = await startService({ worker: false, settings })
    merchant = await catalogue(service)
    browser = holding(merchant.publishableKey)
  })
  afterAll(() => service.stop())

  function holding(authorization: string): ApiClient {
    return apiClient(service.baseUrl, merchant.organizationId, { Authorization: authorization })
  }
  const sql = <T = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const name = () => {
    count += 1
    return `ada.${count}@example.com`
  }
  const newCustomer = async (api = merchant.api) => String((await create(api, 'customers', {})).id)
  const credential = async (members: object = {}) => {
    const body = { username: name(), password: PASSWORD, customerId: await newCustomer(), ...members }
    const { id, username, customerId } = await create(merchant.api, 'credentials', body)
    return { id: String(id), username: String(username), customerId: String(customerId) }
  }
  const signIn = (
    username: string,
    password = PASSWORD,
    { api = browser, from = '203.0.113.1', key }: { api?: ApiClient; from?: string; key?: string } = {},
  ): Promise<ApiResponse> =>
    api.post(
      'authentication-tokens',
      { mode: 'password', username, password },
      { 'X-Forwarded-For': from, ...(key === undefined ? {} : { 'Idempotency-Key': key }) },
    )
  const exchange = (token: unknown) =>
    browser.post(`authentication-tokens/${token}/exchange`, { acl: [{ permissions: ['*'] }] })
  const setPassword = (
    { id, username, customerId }: { id: string; username: string; customerId: string },
    password: string,
  ) => merchant.api.put(`credentials/${id}`, { username, customerId, password })

  describe('has options of the organization', () => {
    const DEFAULTS = {
      passwordPattern: null,
      credentialTtl: 0,
      authTokenTtl: 3600,
      resetTokenTtl: 3600,
      otpRequired: false,
    }

    test('which are there from the beginning, and replaced as a whole', async () => {
      const { api } = await catalogue(service)
      const before = await api.get('authentication-options')
      expect(before.status).toBe(200)
      expect(before.body).toMatchObject({ ...DEFAULTS, revision: 1 })
      expect(before.headers.get('etag')).toBe('"1"')
      const same = await api.put('authentication-options', before.body)
      expect([same.status, same.body]).toEqual([200, before.body])

      const given = {
        passwordPattern: '^.{8,}$',
        credentialTtl: 86_400,
        authTokenTtl: 60,
        resetTokenTtl: 120,
      }
      const set = await api.put('authentication-options', { ...given, otpRequired: false })
      expect([set.status, set.body]).toEqual([200, expect.objectContaining({ ...given, revision: 2 })])
      expect((await api.get('authentication-options')).body).toEqual(set.body)
      const current = await api.get('authentication-options', { 'If-None-Match': '"2"' })
      expect(current.status).toBe(304)
      const stale = await api.put('authentication-options', {}, { 'If-Match': '"1"' })
      expectProblem(stale, 412, 'precondition-failed')
      const reset = await api.put('authentication-options', { passwordPattern: null }, { 'If-Match': '"2"' })
      expect(reset.body).toMatchObject({ ...DEFAULTS, revision: 3 })
      expect((await merchant.api.get('authentication-options')).body).toMatchObject({
        ...DEFAULTS,
        revision: 1,
      })
    })

    test.each([
      ['a pattern that is none', { passwordPattern: '(' }, ['passwordPattern']],
      ['a pattern without text', { passwordPattern: '' }, ['passwordPattern']],
      ['a negative lifetime', { credentialTtl: -1 }, ['credentialTtl']],
      ['tokens of no lifetime', { authTokenTtl: 0, resetTokenTtl: 59 }, ['authTokenTtl', 'resetTokenTtl']],
      ['tokens that live for long', { authTokenTtl: 86_401 }, ['authTokenTtl']],
      ['a part of a second', { resetTokenTtl: 60.5 }, ['resetTokenTtl']],
      ['one-time passwords', { otpRequired: true }, ['otpRequired']],
    ])('which refuse %s: 422', async (_, body, fields) => {
      const response = await merchant.api.put('authentication-options', body)
      expect(expectProblem(response, 422, 'validation-error')).toEqual(fields)
    })

    test('whose pattern holds for each new password, and for no older one', async () => {
      const { api, customerId } = await catalogue(service)
      const given = { username: 'ada', password: 'short', customerId }
      const { id } = await create(api, 'credentials', given)
      await api.put('authentication-options', { passwordPattern: '^(?=.*\\d).{8,}$' })
      const second = await api.post('credentials', { ...given, username: 'eve', customerId: 'none' })
      expect(expectProblem(second, 422, 'validation-error')).toEqual(['customerId', 'password'])
      const changed = await api.put(`credentials/${id}`, { ...given, password: 'other' })
      expect(expectProblem(changed, 422, 'validation-error')).toEqual(['password'])
      expect(JSON.stringify(changed.body)).not.toContain('other')
      expect((await signIn('ada', 'short', { api })).status).toBe(201)
      const kept = await api.put(`credentials/${id}`, { ...given, username: 'ada.lovelace' })
      expect([kept.status, kept.body.username]).toEqual([200, 'ada.lovelace'])
      expect((await signIn('ada.lovelace', 'short', { api })).status).toBe(201)
      expect((await api.put(`credentials/${id}`, { ...given, password: 'long enough 1' })).status).toBe(200)
    })

    test('whose pattern costs a moment at most, whatever it is', async () => {
      const { api, customerId } = await catalogue(service)
      await api.put('authentication-options', { passwordPattern: '^(a+)+$' })
      const given = { username: 'ada', password: `${'a'.repeat(254)}!`, customerId }
      const started = performance.now()
      const response = await api.post('credentials', given)
      expect(performance.now() - started).toBeLessThan(5_000)
      expect(expectProblem(response, 422, 'validation-error')).toEqual(['password'])
    })
  })

  describe('has a credential', () => {
    test('that is created, read, listed, changed and deleted, and never shows its password', async () => {
      const username = 'Ada.Lovelace@Example.com'
      const customerId = await newCustomer()
      const made = await merchant.api.post('credentials', { username, password: PASSWORD, customerId })
      const path = `credentials/${made.body.id}`
      expect([made.status, made.headers.get('etag')]).toEqual([201, '"1"'])
      const url = `${service.baseUrl}/organizations/${merchant.organizationId}`
      expect(made.headers.get('location')).toBe(`${url}/${path}`)
      expect(made.body).toEqual({
        id: expect.stringMatching(/^cred_/),
        username,
        customerId,
        expiredTime: null,
        revision: 1,
        createdTime: expect.any(String),
        updatedTime: expect.any(String),
        _links: [
          { rel: 'self', href: `${url}/${path}` },
          { rel: 'customer', href: `${url}/customers/${customerId}` },
        ],
      })
      expect((await merchant.api.get(path)).body).toEqual(made.body)
      const listed = await merchant.api.get<{ id: string }[]>('credentials?limit=1')
      expect(listed.body).toEqual([made.body])
      expect((await merchant.api.put(path, made.body)).body).toEqual(made.body)
      expect((await signIn(username)).status).toBe(201)

      const changed = await merchant.api.put(path, { username: 'ada', customerId })
      expect([changed.status, changed.body]).toEqual([
        200,
        expect.objectContaining({ username: 'ada', revision: 2 }),
      ])
      expectProblem(await signIn(username), 401, 'unauthorized')
      expect((await signIn('ada')).status).toBe(201)
      const again = await merchant.api.put(path, { username: 'ada', customerId, password: PASSWORD })
      expect(again.body).toMatchObject({ revision: 2 })
      const stale = await merchant.api.put(path, { username: 'eve', customerId }, { 'If-Match': '"1"' })
      expectProblem(stale, 412, 'precondition-failed')

      expect((await merchant.api.delete(path)).status).toBe(204)
      expectProblem(await merchant.api.get(path), 404, 'not-found')
      expectProblem(await merchant.api.delete(path), 404, 'not-found')
      expectProblem(await signIn('ada'), 401, 'unauthorized')
    })

    test('that a PUT creates under its id', async () => {
      const body = { username: name(), password: PASSWORD, customerId: await newCustomer() }
      const made = await merchant.api.put('credentials/of-ada', body)
      expect([made.status, made.body.id]).toEqual([201, 'of-ada'])
      const missing = { username: name(), customerId: body.customerId }
      const without = await merchant.api.put('credentials/of-nobody', missing)
      expect(expectProblem(without, 422, 'validation-error')).toEqual(['password'])
    })

    test.each([
      ['no member at all', {}, ['customerId', 'username']],
      ['no password', { password: undefined }, ['password']],
      ['an empty username and password', { username: '', password: '' }, ['password', 'username']],
      ['a customer that is not there', { customerId: 'none' }, ['customerId']],
      ['an end in the past', { expiredTime: '2020-01-01T00:00:00Z' }, ['expiredTime']],
      ['a member that is not there', { passwort: 'x' }, ['passwort']],
    ])('that is not created with %s: 422', async (_, members, fields) => {
      const complete = { username: name(), password: PASSWORD, customerId: merchant.customerId }
      const body = Object.keys(members).length === 0 ? {} : { ...complete, ...members }
      const response = await merchant.api.post('credentials', body)
      expect(expectProblem(response, 422, 'validation-error')).toEqual(fields)
    })

    test('whose username is unique in the organization, whatever its case and notation', async () => {
      const one = await credential({ username: 'Zo\u00e9' })
      const other = await credential()
      const { customerId } = other
      const taken = await merchant.api.post('credentials', {
        username: 'ZOE\u0301',
        password: PASSWORD,
        customerId,
      })
      expect(expectProblem(taken, 422, 'validation-error')).toEqual(['username'])
      const renamed = await merchant.api.put(`credentials/${other.id}`, { username: 'zo\u00e9', customerId })
      expect(expectProblem(renamed, 422, 'validation-error')).toEqual(['username'])
      expect((await signIn('zO\u00c9')).body).toMatchObject({ username: 'Zo\u00e9', credentialId: one.id })
      const elsewhere = await catalogue(service)
      await create(elsewhere.api, 'credentials', {
        username: 'Zo\u00e9',
        password: 'another',
        customerId: elsewhere.customerId,
      })
      expectProblem(await signIn('Zo\u00e9', 'another'), 401, 'unauthorized')
    })

    test('of which one of many at once has the username', async () => {
      const username = name()
      const body = { username, password: PASSWORD, customerId: merchant.customerId }
      const made = await Promise.all([
        ...Array.from({ length: 3 }, () => merchant.api.post('credentials', body)),
        ...Array.from({ length: 3 }, (_, index) => merchant.api.put(`credentials/raced-${index}`, body)),
      ])
      expect(made.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422, 422, 422])
    })

    test('whose customer stays', async () => {
      const { id, username } = await credential()
      const moved = await merchant.api.put(`credentials/${id}`, { username, customerId: await newCustomer() })
      expectProblem(moved, 409, 'conflict')
    })

    test('that lives as long as the options say, or as long as it says itself', async () => {
      const { api, customerId } = await catalogue(service)
      await api.put('authentication-options', { credentialTtl: 3600 })
      const given = { password: PASSWORD, customerId }
      const now = Date.now()
      const byDefault = await create(api, 'credentials', { ...given, username: 'a' })
      const ends = Date.parse(String(byDefault.expiredTime))
      expect(ends).toBeGreaterThanOrEqual(now + 60 * MINUTE)
      expect(ends).toBeLessThanOrEqual(Date.now() + 60 * MINUTE)
      const never = await create(api, 'credentials', { ...given, username: 'b', expiredTime: null })
      expect(never.expiredTime).toBeNull()
      const path = `credentials/${byDefault.id}`
      const without = await api.put(path, { username: 'a', customerId })
      expect(without.body).toMatchObject({ expiredTime: byDefault.expiredTime, revision: 1 })
      const cleared = await api.put(path, { username: 'a', customerId, expiredTime: null })
      expect(cleared.body).toMatchObject({ expiredTime: null, revision: 2 })
    })

    test('whose end comes back without its milliseconds: it is the same, and no token ends', async () => {
      const expiredTime = '2090-01-31T00:00:00.123Z'
      const { id, username, customerId } = await credential({ expiredTime })
      const { body } = await signIn(username)
      const whole = { username, customerId, expiredTime: '2090-01-31T00:00:00Z' }
      const put = await merchant.api.put(`credentials/${id}`, whole)
      expect(put.body).toMatchObject({ expiredTime, revision: 1 })
      expect((await merchant.api.get(`authentication-tokens/${body.token}`)).status).toBe(200)
      const sooner = { ...whole, expiredTime: '2090-01-30T00:00:00Z' }
      expect((await merchant.api.put(`credentials/${id}`, sooner)).body).toMatchObject({ revision: 2 })
      expectProblem(await merchant.api.get(`authentication-tokens/${body.token}`), 404, 'not-found')
    })

    test('whose password comes back as it is: it is the same, and no token ends', async () => {
      const { id, username, customerId } = await credential()
      const { body } = await signIn(username)
      const whole = { username, customerId, password: PASSWORD }
      expect((await merchant.api.put(`credentials/${id}`, whole)).body).toMatchObject({ revision: 1 })
      expect((await merchant.api.get(`authentication-tokens/${body.token}`)).status).toBe(200)
      const other = { ...whole, password: `${PASSWORD}!` }
      expect((await merchant.api.put(`credentials/${id}`, other)).body).toMatchObject({ revision: 2 })
      expectProblem(await merchant.api.get(`authentication-tokens/${body.token}`), 404, 'not-found')
    })

    test('that ends with its customer', async () => {
      const { username, customerId, id } = await credential()
      const { body } = await signIn(username)
      const reset = await create(merchant.api, 'password-tokens', { username })
      expect((await merchant.api.delete(`customers/${customerId}`)).status).toBe(204)
      expectProblem(await merchant.api.get(`credentials/${id}`), 404, 'not-found')
      expectProblem(await merchant.api.get(`password-tokens/${reset.token}`), 404, 'not-found')
      expectProblem(await exchange(body.token), 404, 'not-found')
      expectProblem(await signIn(username), 401, 'unauthorized')
    })
  })

  describe('signs in', () => {
    test('from a browser or through the merchant, and exchanges the token for a JWT', async () => {
      const { id, username, customerId } = await credential()
      const signedIn = await signIn(username.toUpperCase())
      expect([signedIn.status, signedIn.headers.get('location')]).toEqual([201, null])
      expect(signedIn.headers.get('access-control-allow-origin')).toBe('*')
      expect(signedIn.body).toEqual({
        username,
        customerId,
        credentialId: id,
        token: expect.stringMatching(/^at_sandbox_[\w-]{43}$/),
        otpRequired: false,
        expiredTime: expect.any(String),
        revision: 1,
        createdTime: expect.any(String),
        updatedTime: expect.any(String),
        _links: [expect.objectContaining({ rel: 'customer' })],
      })
      const read = await merchant.api.get(`authentication-tokens/${signedIn.body.token}`)
      expect(read.body).toEqual(signedIn.body)
      const { status, body } = await exchange(signedIn.body.token)
      expect([status, body.customerId]).toEqual([201, customerId])
      const account = await holding(`Bearer ${body.token}`).get('storefront/account')
      expect([account.status, account.body.id]).toEqual([200, customerId])
      expect((await signIn(username, PASSWORD, { api: merchant.api })).status).toBe(201)
      const { token } = await create(browser, 'authentication-tokens', { username, password: PASSWORD })
      expect(token).toBeDefined()
    })

    test('for as long as the options and the credential allow', async () => {
      const own = await catalogue(service)
      await own.api.put('authentication-options', { authTokenTtl: 60 })
      const given = { password: PASSWORD, customerId: own.customerId }
      const soon = new Date(Date.now() + 20_000).toISOString()
      await create(own.api, 'credentials', { ...given, username: 'long' })
      const short = await create(own.api, 'credentials', { ...given, username: 'short', expiredTime: soon })
      const now = Date.now()
      const ends = async (username: string) =>
        Date.parse(String((await signIn(username, PASSWORD, { api: own.api })).body.expiredTime))
      expect((await ends('long')) - now).toBeGreaterThanOrEqual(MINUTE)
      expect((await ends('long')) - Date.now()).toBeLessThanOrEqual(MINUTE)
      expect(await ends('short')).toBe(Date.parse(soon))
      const ofOwn = apiClient(service.baseUrl, own.organizationId, { Authorization: own.publishableKey })
      const jwt = async () => {
        const { token } = (await signIn('short', PASSWORD, { api: own.api })).body
        const expiredTime = new Date(Date.now() + 60 * MINUTE).toISOString()
        const given = { acl: [{ permissions: ['*'] }], expiredTime }
        return await create(ofOwn, `authentication-tokens/${token}/exchange`, given)
      }
      const held = await jwt()
      expect(held.expiredTime).toBe(soon)
      const account = apiClient(service.baseUrl, own.organizationId, {
        Authorization: `Bearer ${held.token}`,
      })
      expect((await account.get('storefront/account')).status).toBe(200)
      const sooner = new Date(Date.parse(soon) - 5_000).toISOString()
      const path = `credentials/${short.id}`
      const shortened = { username: 'short', customerId: own.customerId, expiredTime: sooner }
      expect((await own.api.put(path, shortened)).status).toBe(200)
      expect((await account.get('storefront/account')).status).toBe(401)
      const passwordless = { mode: 'passwordless', customerId: own.customerId }
      const { expiredTime } = await create(own.api, 'authentication-tokens', passwordless)
      expect(Date.parse(String(expiredTime)) - Date.now()).toBeLessThanOrEqual(MINUTE)
    })

    test('and without a password only by the word of a secret key', async () => {
      const { customerId } = await credential()
      for (const body of [{ mode: 'passwordless', customerId }, { customerId }]) {
        expectProblem(await browser.post('authentication-tokens', body), 403, 'forbidden')
        expect((await merchant.api.post('authentication-tokens', body)).status).toBe(201)
      }
    })

    test('not with what is wrong, and learns nothing from the refusal: 401', async () => {
      const { username, id } = await credential()
      const refusals = [await signIn(username, 'wrong'), await signIn('nobody', PASSWORD)]
      await sql("update customer_credentials set expired_time = now() - interval '1 second' where id = ?", [
        id,
      ])
      refusals.push(await signIn(username))
      for (const response of refusals) {
        expectProblem(response, 401, 'unauthorized')
        expect(response.body.detail).toBe('The username or the password is wrong.')
      }
    })

    test.each([
      ['no password', { username: 'ada' }, ['password']],
      ['nothing', {}, ['password', 'username']],
      ['a one-time password', { username: 'a', password: 'b', otpRequired: true }, ['otpRequired']],
      ['a typo', { username: 'a', password: 'b', pasword: 'c' }, ['pasword']],
    ])('not with %s: 422', async (_, body, fields) => {
      const response = await browser.post('authentication-tokens', body)
      expect(expectProblem(response, 422, 'validation-error')).toEqual(fields)
    })
  })

  describe('who fails five times within fifteen minutes', () => {
    const failTimes = async (username: string, times: number, from = '203.0.113.1') => {
      for (let index = 0; index < times; index += 1) {
        expectProblem(await signIn(username, `wrong ${index}`, { from }), 401, 'unauthorized')
      }
    }

    test('is blocked with that username from that address, even with the right password', async () => {
      const { username } = await credential()
      await failTimes(username, 5)
      const blocked = await signIn(username.toUpperCase())
      expectProblem(blocked, 429, 'rate-limit-exceeded')
      const wait = Number(blocked.headers.get('retry-after'))
      expect(wait).toBeGreaterThan(14 * 60)
      expect(wait).toBeLessThanOrEqual(15 * 60)
      const until = Number(blocked.headers.get('x-ratelimit-retry-after')) * 1000
      expect(until).toBeGreaterThan(Date.now() + 14 * MINUTE)
      // Refusals do not prolong it, others may sign in, and so may the customer from elsewhere.
      const later = await signIn(username, 'wrong')
      expect(Number(later.headers.get('retry-after'))).toBeLessThanOrEqual(wait)
      expect((await signIn(username, PASSWORD, { from: '203.0.113.2' })).status).toBe(201)
      expect((await signIn((await credential()).username)).status).toBe(201)
    })

    test('is free again when the oldest failure is fifteen minutes old', async () => {
      const { username } = await credential()
      const older = (interval: string) =>
        sql(`update sign_in_failures set failed_time = failed_time - interval '${interval}'`)
      await failTimes(username, 2)
      await older('10 minutes')
      await failTimes(username, 3)
      expectProblem(await signIn(username), 429, 'rate-limit-exceeded')
      // Not quite fifteen minutes: the test itself takes a while.
      await older('3 minutes')
      expectProblem(await signIn(username), 429, 'rate-limit-exceeded')
      await older('2 minutes')
      expect((await signIn(username)).status).toBe(201)
      // Three of the five are younger.
      await failTimes(username, 2)
      expectProblem(await signIn(username), 429, 'rate-limit-exceeded')
    })

    test('has failed as often if the guesses come at once', async () => {
      const { username } = await credential()
      const guesses = await Promise.all(
        Array.from({ length: 12 }, (_, index) => signIn(username, `guess ${index}`)),
      )
      expect(guesses.map(({ status }) => status).sort()).toEqual([
        ...Array.from({ length: 5 }, () => 401),
        ...Array.from({ length: 7 }, () => 429),
      ])
    })

    test('is blocked for a username that nobody has too, so that it reveals nothing', async () => {
      await failTimes('nobody at all', 5)
      expectProblem(await signIn('nobody at all'), 429, 'rate-limit-exceeded')
    })

    test('is blocked in every process', async () => {
      const { username } = await credential()
      await failTimes(username, 5)
      const { databaseUrl } = service
      const second = await startService({ worker: false, databaseUrl, settings })
      const api = apiClient(second.baseUrl, merchant.organizationId, {
        Authorization: merchant.publishableKey,
      })
      const blocked = await signIn(username, PASSWORD, { api })
      const elsewhere = await signIn(username, PASSWORD, { api, from: '203.0.113.2' })
      await second.stop()
      expectProblem(blocked, 429, 'rate-limit-exceeded')
      expect(elsewhere.status).toBe(201)
    })

    test('does not fail by signing in', async () => {
      const { username } = await credential()
      await failTimes(username, 4)
      for (let index = 0; index < 3; index += 1) expect((await signIn(username)).status).toBe(201)
      await failTimes(username, 1)
      expectProblem(await signIn(username), 429, 'rate-limit-exceeded')
    })

    test('guesses no password more under the Idempotency-Key of a sign-in', async () => {
      const { username } = await credential()
      const first = await signIn(username, PASSWORD, { key: 'signed-in' })
      const repeated = await signIn(username, PASSWORD, { key: 'signed-in' })
      expect([repeated.status, repeated.body]).toEqual([201, first.body])
      for (let index = 0; index < 5; index += 1) {
        const guess = await signIn(username, `guess ${index}`, { key: 'signed-in' })
        expectProblem(guess, 401, 'unauthorized')
      }
      const blocked = await signIn(username, PASSWORD, { key: 'signed-in' })
      expectProblem(blocked, 429, 'rate-limit-exceeded')
    })
  })

  describe('who has forgotten the password', () => {
    test('gets a new one by a token, which is created, read, listed and deleted', async () => {
      const { id, username } = await credential()
      const made = await merchant.api.post('password-tokens', { username: username.toUpperCase() })
      expect([made.status, made.headers.get('location')]).toEqual([201, null])
      expect(made.body).toEqual({
        token: expect.stringMatching(/^pt_sandbox_[\w-]{43}$/),
        username,
        credentialId: id,
        expiredTime: expect.any(String),
        revision: 1,
        createdTime: expect.any(String),
        updatedTime: expect.any(String),
        _links: [expect.objectContaining({ rel: 'customer' })],
      })
      const life = Date.parse(String(made.body.expiredTime)) - Date.now()
      expect(life).toBeLessThanOrEqual(60 * MINUTE)
      expect(life).toBeGreaterThan(59 * MINUTE)
      const path = `password-tokens/${made.body.token}`
      expect((await merchant.api.get(path)).body).toEqual(made.body)
      expect((await merchant.api.get<object[]>('password-tokens?limit=1')).body).toEqual([made.body])
      const named = await merchant.api.post('password-tokens', { username, credentialId: id })
      expect(named.status).toBe(201)
      expect((await merchant.api.delete(path)).status).toBe(204)
      expectProblem(await merchant.api.get(path), 404, 'not-found')
      expectProblem(await merchant.api.delete(path), 404, 'not-found')
    })

    test.each([
      ['a username that nobody has', { username: 'nobody' }, ['username']],
      ['the credential of somebody else', { credentialId: 'other' }, ['credentialId']],
      ['no username', { username: undefined }, ['username']],
    ])('gets none for %s: 422', async (_, members, fields) => {
      const { username } = await credential()
      const response = await merchant.api.post('password-tokens', { username, ...members })
      expect(expectProblem(response, 422, 'validation-error')).toEqual(fields)
    })

    test('has one password by one token: it ends the others, and every token of the customer', async () => {
      const owner = await credential()
      const stranger = await credential()
      const tokenOf = async ({ username }: { username: string }) =>
        String((await create(merchant.api, 'password-tokens', { username })).token)
      const [used, other, foreign] = [await tokenOf(owner), await tokenOf(owner), await tokenOf(stranger)]
      const [word, spare] = [await signIn(owner.username), await signIn(owner.username)]
      const theirs = await signIn(stranger.username)
      const jwt = String((await exchange(word.body.token)).body.token)
      const account = () => holding(`Bearer ${jwt}`).get('storefront/account')
      expect((await account()).status).toBe(200)

      expect((await setPassword(owner, 'a new one')).status).toBe(200)
      for (const token of [used, other]) {
        expectProblem(await merchant.api.get(`password-tokens/${token}`), 404, 'not-found')
      }
      expectProblem(await account(), 401, 'unauthorized')
      expectProblem(await exchange(spare.body.token), 404, 'not-found')
      expectProblem(await signIn(owner.username), 401, 'unauthorized')
      expect((await signIn(owner.username, 'a new one')).status).toBe(201)
      expect((await merchant.api.get(`password-tokens/${foreign}`)).status).toBe(200)
      expect((await exchange(theirs.body.token)).status).toBe(201)
    })

    test('has used the token also by the password of before, and stays signed in', async () => {
      const owner = await credential()
      const { token } = await create(merchant.api, 'password-tokens', { username: owner.username })
      const signedIn = await signIn(owner.username)
      expect((await setPassword(owner, PASSWORD)).body).toMatchObject({ revision: 1 })
      expectProblem(await merchant.api.get(`password-tokens/${token}`), 404, 'not-found')
      expect((await exchange(signedIn.body.token)).status).toBe(201)
    })

    test('has used the token once, of many at once that delete it', async () => {
      const { username } = await credential()
      const { token } = await create(merchant.api, 'password-tokens', { username })
      const deleted = await Promise.all(
        Array.from({ length: 5 }, () => merchant.api.delete(`password-tokens/${token}`)),
      )
      expect(deleted.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404])
    })

    test('gets nothing for the old one that was right when it was compared', async () => {
      const owner = await credential()
      const { orm } = service.database
      const scope = { organizationId: merchant.organizationId, baseUrl: service.baseUrl }
      const compare = async (password: string) => {
        const given = { username: owner.username, password, address: '203.0.113.1' }
        const found = await checkSignIn(
          orm.em.fork(),
          scope.organizationId,
          createPasswordHasher(),
          given,
          new Date(),
        )
        return found.outcome === 'accepted' ? found.credential : null
      }
      const lock = (checked: CheckedCredential) =>
        inUnitOfWork(orm.em.fork(), { ...scope, now: new Date() }, async (unit) =>
          (await lockChecked(unit, checked)) === null ? 'nothing' : 'a token',
        )
      const checked = await compare(PASSWORD)
      if (checked === null) throw new Error('the password is right')
      expect(await lock(checked)).toBe('a token')
      await setPassword(owner, 'a new one')
      expect(await lock(checked)).toBe('nothing')
      expect(await compare(PASSWORD)).toBeNull()
      const fresh = await compare('a new one')
      if (fresh === null) throw new Error('the new password is right')
      await sql("update customer_credentials set expired_time = now() - interval '1 second' where id = ?", [
        owner.id,
      ])
      expect(await lock(fresh)).toBe('nothing')
    })

    test('has as long as the options say', async () => {
      const own = await catalogue(service)
      await own.api.put('authentication-options', { resetTokenTtl: 120 })
      await create(own.api, 'credentials', {
        username: 'ada',
        password: PASSWORD,
        customerId: own.customerId,
      })
      const { token, expiredTime } = await create(own.api, 'password-tokens', { username: 'ada' })
      const life = Date.parse(String(expiredTime)) - Date.now()
      expect(life).toBeLessThanOrEqual(2 * MINUTE)
      expect(life).toBeGreaterThan(MINUTE)
      const elsewhere = await merchant.api.get(`password-tokens/${token}`)
      expectProblem(elsewhere, 404, 'not-found')
      expectProblem(await merchant.api.delete(`password-tokens/${token}`), 404, 'not-found')
      await sql(
        "update password_tokens set expired_time = now() - interval '1 second' where organization_id = ?",
        [own.organizationId],
      )
      expectProblem(await own.api.get(`password-tokens/${token}`), 404, 'not-found')
      expect((await own.api.get('password-tokens')).body).toEqual([])
    })

    test('is listed without the value of the token to whoever could not create one', async () => {
      const { username } = await credential()
      const { token } = await create(merchant.api, 'password-tokens', { username })
      const { secretKey } = await create(merchant.api, 'api-keys', {
        description: 'reads',
        acl: [{ permissions: ['GetPasswordTokenCollection'] }],
      })
      const reader = apiClient(service.baseUrl, merchant.organizationId, { 'SVC-APIKEY': String(secretKey) })
      const listed = JSON.stringify((await reader.get('password-tokens')).body)
      expect(listed).toContain(username)
      expect(listed).not.toContain(token)
    })
  })

  test('has no password or token in any row or log in the clear, and what has expired is removed', async () => {
    const { username } = await credential()
    const { token } = await create(merchant.api, 'password-tokens', { username })
    const signedIn = await signIn(username, PASSWORD, { key: 'in the clear?' })
    await signIn(username, 'a wrong password')
    const tables = await sql<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    )
    for (const { name: table } of tables) {
      const rows = JSON.stringify(await sql(`select to_jsonb(row) as row from "${table}" row`))
      for (const secret of [PASSWORD, 'a wrong password', token, signedIn.body.token]) {
        expect(rows).not.toContain(secret)
      }
    }
    const log = service.log.join('')
    for (const secret of [PASSWORD, 'a wrong password', token, signedIn.body.token]) {
      expect(log).not.toContain(secret)
    }
    const [row] = await sql<{ password_hash: string }>(
      'select password_hash from customer_credentials limit 1',
    )
    expect(row?.password_hash).toMatch(/^\$scrypt\$/)

    await sql("update password_tokens set expired_time = now() - interval '3 days'")
    await sql("update sign_in_failures set failed_time = now() - interval '2 days'")
    await removeExpired(service.database.orm.em.fork())
    expect(await sql('select 1 from password_tokens union all select 1 from sign_in_failures')).toEqual([])
  })
})

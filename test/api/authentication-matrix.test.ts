/** Every operation against every kind of credential: exactly those are let in that the row names. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { SignJWT } from 'jose'
import type { KeyForm } from '../../api/http/authentication.ts'
import { isOfHost, ROUTES, type Route } from '../../api/routes.ts'
import { currentSigningKey } from '../../delivery/signing-keys.ts'
import { apiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { startService, type TestService } from '../support/service.ts'

type Headers = Readonly<Record<string, string>>
type Expected = 'accepted' | 401 | 403

describe('every operation', () => {
  let service: TestService
  let merchant: Catalogue
  const credentials: Record<string, (route: Route) => Headers> = {}
  const ELSEWHERE = ['198.51.100.7']

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service, {})
    const { api, publishableKey, secretKey, customerId } = merchant
    const other = await service.organization()
    const keyWith = async (members: object) =>
      String((await create(api, 'api-keys', { description: 'of the matrix', ...members })).secretKey)
    const jwt = async (members: object = {}) => {
      const { token } = await create(api, 'authentication-tokens', { mode: 'passwordless', customerId })
      const acl = [{ permissions: ['*'] }]
      const exchanged = await create(api, `authentication-tokens/${token}/exchange`, { acl, ...members })
      return { word: String(token), token: String(exchanged.token), id: String(exchanged.id) }
    }
    const [valid, ended, expired, powerless] = [await jwt(), await jwt(), await jwt(), await jwt({ acl: [] })]
    await api.delete(`authentication-tokens/${ended.word}`)
    const sql = (text: string, values: unknown[]) =>
      service.database.orm.em.fork().getConnection().execute(text, values)
    await sql("update customer_tokens set expired_time = now() - interval '1 second' where id = ?", [
      expired.id,
    ])
    const none = await keyWith({ acl: [] })
    const elsewhere = await keyWith({ allowedIps: ELSEWHERE })
    const { kid, privateKey } = await currentSigningKey(
      service.database.orm.em.fork(),
      service.database.vault,
      new Date(),
    )
    const signature = await new SignJWT({ requestBodyHash: 'x', jti: valid.id, sub: customerId })
      .setProtectedHeader({ alg: 'RS256', kid })
      .setIssuer(`${service.baseUrl}/`)
      .setAudience(merchant.organizationId)
      .setExpirationTime('5m')
      .sign(privateKey)
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const [, claims] = valid.token.split('.')
    const key = (value: string) => () => ({ 'SVC-APIKEY': value })
    const authorization = (value: string) => () => ({ Authorization: value })
    Object.assign(credentials, {
      'no credential': () => ({}),
      'an unknown key': key('sk_sandbox_unknownunknownunknown'),
      'a key of the other environment': key(secretKey.replace('sk_sandbox_', 'sk_live_')),
      "another organization's key": key(other.secretKey),
      'a secret key': key(secretKey),
      'a secret key in Authorization': authorization(secretKey),
      'a publishable key': authorization(publishableKey),
      'a publishable key in SVC-APIKEY': key(publishableKey),
      "a customer's JWT": authorization(`Bearer ${valid.token}`),
      "a customer's JWT in SVC-APIKEY": key(valid.token),
      'a JWT that permits nothing': authorization(`Bearer ${powerless.token}`),
      'an expired JWT': authorization(`Bearer ${expired.token}`),
      'an ended JWT': authorization(`Bearer ${ended.token}`),
      'an unsigned JWT': authorization(`Bearer ${part({ alg: 'none', typ: 'customer+jwt' })}.${claims}.`),
      'the signature of a webhook': authorization(`Bearer ${signature}`),
      'a key that permits nothing': key(none),
      'a key from a refused address': key(elsewhere),
      'two credentials': () => ({ 'SVC-APIKEY': secretKey, Authorization: publishableKey }),
    })
  }, 60_000)
  afterAll(() => service.stop())

  const form = (route: Route, one: KeyForm): Expected => (route.accepts.includes(one) ? 'accepted' : 403)
  const EXPECTED: Readonly<Record<string, (route: Route) => Expected>> = {
    'no credential': () => 401,
    'an unknown key': () => 401,
    'a key of the other environment': () => 401,
    "another organization's key": (route) => (isOfHost(route) ? 'accepted' : 403),
    'a secret key': (route) => form(route, 'secret'),
    'a secret key in Authorization': (route) =>
      route.secretInAuthorization === true ? form(route, 'secret') : 401,
    'a publishable key': (route) => form(route, 'publishable'),
    'a publishable key in SVC-APIKEY': () => 401,
    "a customer's JWT": (route) => form(route, 'customer'),
    "a customer's JWT in SVC-APIKEY": () => 401,
    'a JWT that permits nothing': () => 403,
    'an expired JWT': () => 401,
    'an ended JWT': () => 401,
    'an unsigned JWT': () => 401,
    'the signature of a webhook': () => 401,
    'a key that permits nothing': () => 403,
    'a key from a refused address': () => 403,
    'two credentials': () => 401,
  }

  async function outcome(route: Route, headers: Headers): Promise<Expected> {
    const path = route.path.replaceAll(/\{\w+\}/g, 'none')
    const api = apiClient(service.baseUrl, merchant.organizationId, headers)
    // No body: an accepted request that takes one ends in 415, and changes nothing.
    const { status } = await api.send(route.method, path)
    if (status === 401 || status === 403) return status
    return 'accepted'
  }

  test.each(Object.keys(EXPECTED))('lets in who its row names, by %s', async (kind) => {
    const routes = ROUTES.filter(({ operationId }) => operationId !== 'DeleteApiKey')
    const given = credentials[kind]
    const expected = EXPECTED[kind]
    if (given === undefined || expected === undefined) throw new Error(`no credential for ${kind}`)
    const [was, should]: [Record<string, Expected>, Record<string, Expected>] = [{}, {}]
    for (const route of routes) {
      was[route.operationId] = await outcome(route, given(route))
      // A signature in place of a credential: no credential is checked.
      should[route.operationId] = route.accepts.length === 0 ? 'accepted' : expected(route)
    }
    expect(was).toEqual(should)
  })

  test('lets in a key that names it, and not one that names every other', async () => {
    const secret = ROUTES.filter(({ accepts }) => accepts.includes('secret'))
    const names = secret.map(({ operationId }) => operationId)
    const wrong: string[] = []
    const { api } = merchant
    for (const route of secret) {
      const keyOf = async (permissions: string[]) => {
        const { secretKey } = await create(api, 'api-keys', { description: 'narrow', acl: [{ permissions }] })
        return { 'SVC-APIKEY': String(secretKey) }
      }
      const own = await keyOf([route.operationId])
      const others = await keyOf(names.filter((name) => name !== route.operationId))
      if ((await outcome(route, own)) !== 'accepted') wrong.push(`${route.operationId} refuses its name`)
      if ((await outcome(route, others)) !== 403) wrong.push(`${route.operationId} takes other names`)
    }
    expect(wrong).toEqual([])
  }, 120_000)

  test('refuses in the words of a problem, with what to send', async () => {
    const api = apiClient(service.baseUrl, merchant.organizationId, { 'SVC-APIKEY': merchant.publishableKey })
    const response = await api.get('customers')
    expect(response.body).toMatchObject({ code: 'unauthorized' })
    expect(String(response.body.detail)).toContain('Authorization')
  })
})

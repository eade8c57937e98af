/** Passwords are compared two at a time by a process, for all organizations: a burst of one must not hold up the others. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type ApiClient, type ApiResponse, apiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

describe('while customers of one organization sign in, more at once than their passwords can be compared', () => {
  let service: TestService
  let busy: Catalogue
  let quiet: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    busy = await catalogue(service)
    quiet = await catalogue(service)
  })
  afterAll(() => service.stop())

  const browser = (merchant: Catalogue) =>
    apiClient(service.baseUrl, merchant.organizationId, { Authorization: merchant.publishableKey })
  const signIn = (api: ApiClient, username: string, password: string, signal: AbortSignal | null = null) =>
    api.send('POST', 'authentication-tokens', {
      body: JSON.stringify({ mode: 'password', username, password }),
      headers: { 'Content-Type': 'application/json' },
      signal,
    })

  test('one of another signs in soon, and those that are refused have not failed', async () => {
    const given = { username: 'grace', password: 'correct horse' }
    await create(quiet.api, 'credentials', { ...given, customerId: quiet.customerId })
    const [busyBrowser, quietBrowser] = [browser(busy), browser(quiet)]
    const done: ApiResponse[] = []
    const over = new AbortController()
    const burst = Array.from({ length: 100 }, async (_, index) => {
      const response = await signIn(busyBrowser, `nobody.${index}`, 'wrong', over.signal)
      done.push(response)
    })
    const withStatus = (wanted: number) => done.filter(({ status }) => status === wanted)
    await Promise.race(burst)
    expect((await signIn(quietBrowser, given.username, given.password)).status).toBe(201)
    expect(withStatus(401).length).toBeLessThan(25)

    const refused = await waitFor('refusals', async () => {
      const some = withStatus(429)
      return some.length > 0 ? some : null
    })
    for (const one of refused) {
      expectProblem(one, 429, 'rate-limit-exceeded')
      expect(one.headers.get('Retry-After')).toBe('10')
    }
    const failures = await service.database.orm.em
      .fork()
      .getConnection()
      .execute('select 1 from sign_in_failures where organization_id = ?', [busy.organizationId])
    expect(failures.length).toBeLessThanOrEqual(burst.length - refused.length)
    over.abort()
    await Promise.allSettled(burst)
  })
})

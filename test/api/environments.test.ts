/** Sandbox and live are two deployments that know nothing of each other. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loadConfig } from '../../config/config.ts'
import { apiClient } from '../support/api-client.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

describe('a sandbox and a live deployment', () => {
  let sandbox: TestService
  let live: TestService

  beforeAll(async () => {
    sandbox = await startService({ worker: false })
    live = await startService({ worker: false, settings: { ENVIRONMENT: 'live' } })
  })
  afterAll(async () => {
    await sandbox?.stop()
    await live?.stop()
  })

  test('share no organization, no key and no record, even under equal ids', async () => {
    const here = await sandbox.organization('org_both')
    const there = await live.organization('org_both')
    expect([here.secretKey, there.publishableKey]).toEqual([
      expect.stringMatching(/^sk_sandbox_/),
      expect.stringMatching(/^pk_live_/),
    ])
    await here.api.put('', { name: 'Rehearsal' })
    await here.api.put('websites/shop', { name: 'Rehearsed' })
    expectProblem(await there.api.get('websites/shop'), 404, 'not-found')
    await there.api.put('websites/shop', { name: 'Real' })
    expect((await here.api.get('websites/shop')).body).toMatchObject({ name: 'Rehearsed', revision: 1 })
    expect((await there.api.get('')).body).toMatchObject({ id: 'org_both', name: 'org_both' })
    for (const [service, keys] of [
      [live, here],
      [sandbox, there],
    ] as const) {
      const stranger = apiClient(service.baseUrl, 'org_both', { 'SVC-APIKEY': keys.secretKey })
      expectProblem(await stranger.get('websites/shop'), 401, 'unauthorized')
    }
  })

  test('have a database, a namespace and an address of their own, and the same limit unless told otherwise', async () => {
    const live = { ENVIRONMENT: 'live', BASE_URL: 'https://live.example', DATABASE_URL: 'postgres://db/live' }
    const rehearsal = { BASE_URL: 'https://sandbox.example', DATABASE_URL: 'postgres://db/sandbox' }
    const [here, there] = [loadConfig(rehearsal), loadConfig(live)]
    expect([here.environment, there.environment]).toEqual(['sandbox', 'live'])
    expect(here.temporalNamespace).not.toBe(there.temporalNamespace)
    expect([here.databaseUrl, there.databaseUrl]).toEqual(['postgres://db/sandbox', 'postgres://db/live'])
    expect([here.baseUrl, there.baseUrl]).toEqual(['https://sandbox.example', 'https://live.example'])
    expect([here.rateLimit, there.rateLimit]).toEqual([3000, 3000])
  })

  test('never poll for the work of each other', () => {
    expect(sandbox.taskQueue).not.toBe(live.taskQueue)
  })

  test('sign with keys of their own', async () => {
    const kids = async (service: TestService) => {
      const host = apiClient(service.baseUrl, 'none', {})
      const { body } = await host.get<{ keys: { kid: string }[] }>('/.well-known/keys')
      return body.keys.map(({ kid }) => kid)
    }
    const [here, there] = [await kids(sandbox), await kids(live)]
    expect(here).toHaveLength(1)
    expect(here).not.toEqual(there)
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { bootstrap } from '../../commands/access/bootstrap.ts'
import { apiClient } from '../support/api-client.ts'
import { startService, type TestService } from '../support/service.ts'

describe('the organization that configuration asks for', () => {
  let service: TestService

  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterAll(() => service.stop())

  const config = (bootstrapSecretKey: string) => ({
    environment: 'sandbox' as const,
    baseUrl: service.baseUrl,
    bootstrapOrganizationId: 'acme',
    bootstrapSecretKey,
  })
  const reads = async (key: string): Promise<number> =>
    (await apiClient(service.baseUrl, 'acme', { 'SVC-APIKEY': key }).get('websites')).status

  test('is made once with its key, by however many processes that start together', async () => {
    const key = 'sk_sandbox_abcdefghijklmnopqrstuvwxyz'
    await Promise.all(Array.from({ length: 4 }, () => bootstrap(service.database, config(key), new Date())))
    expect(await reads(key)).toBe(200)
  })

  test('keeps its keys when another is configured, and learns that one', async () => {
    const another = 'sk_sandbox_zyxwvutsrqponmlkjihgfedcba'
    await bootstrap(service.database, config(another), new Date())
    expect(await reads(another)).toBe(200)
    expect(await reads('sk_sandbox_abcdefghijklmnopqrstuvwxyz')).toBe(200)
  })
})

/** Connections that died in a transaction once stayed lent out: the pool ran dry and never closed. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ worker: false })
})
afterAll(() => service.stop())

test('more transactions than the pool has places may lose their connection, and the service goes on', async () => {
  const { api } = await service.organization()
  for (let died = 0; died < 20; died += 1) {
    const transaction = service.database.orm.em.fork().transactional(async (em) => {
      await em
        .getConnection()
        .execute('select pg_terminate_backend(pg_backend_pid())', [], 'run', em.getTransactionContext())
    })
    await expect(transaction).rejects.toThrow()
  }
  expect((await api.post('websites', { name: 'Still here' })).status).toBe(201)
})

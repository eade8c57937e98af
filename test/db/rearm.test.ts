import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { rearm } from '../../db/rearm.ts'
import { catalogue, orderBody } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

const YEAR = 365 * 24 * 3_600_000

let service: TestService
const sql = <T>(text: string) => service.database.orm.em.fork().getConnection().execute<T[]>(text)

beforeAll(async () => {
  service = await startService({ worker: false })
})
afterAll(() => service.stop())

test('records whose wake-ups are gone get executions that sleep until their deadlines', async () => {
  const merchant = await catalogue(service)
  const startTime = new Date(Date.now() + YEAR).toISOString()
  const { body: order } = await merchant.api.post('subscriptions', orderBody(merchant, { startTime }))
  const token = await makeToken(merchant.api)
  // As after a restored backup whose executions lived in another namespace.
  await sql('delete from wake_ups')

  const script = fileURLToPath(new URL('../../cli/rearm.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script], {
    env: { PATH: process.env.PATH, DATABASE_URL: service.databaseUrl },
  })
  expect(stdout).toContain('subscription: 1 wake-ups written')
  expect(stdout).toContain('token-expiry: 1 wake-ups written')
  expect(await rearm(service.database.orm.em.fork(), 'subscription')).toBe(0)

  service.startWorker()
  for (const id of [
    `subscription/${merchant.organizationId}/${order.id}`,
    `token-expiry/${merchant.organizationId}/${token}`,
  ]) {
    const execution = await waitFor(`${id} to be armed`, () =>
      service.temporal.workflow
        .getHandle(id)
        .describe()
        .catch(() => null),
    )
    expect(execution.status.name).toBe('RUNNING')
    expect(execution.historyLength).toBe(1)
  }
  await service.stopWorker()
})

test('more records than a batch are all found, and the same id of two organizations is two', async () => {
  await sql('delete from wake_ups')
  const template = await sql<{ columns: string }>(`
    select string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
     where table_schema = 'public' and table_name = 'payment_tokens' and column_name not in ('organization_id', 'id')`)
  const columns = template[0]?.columns
  await sql(`
    insert into payment_tokens (organization_id, id, ${columns})
    select 'org_' || (number % 3), 'tok_' || (number / 3), ${columns}
      from (select * from payment_tokens where card_cipher is not null limit 1) one, generate_series(1, 25) number`)
  const [{ count = 0 } = {}] = await sql<{ count: number }>(
    'select count(*)::int as count from payment_tokens where card_cipher is not null',
  )
  expect(count).toBeGreaterThan(25)
  expect(await rearm(service.database.orm.em.fork(), 'token-expiry', 4)).toBe(count)
  const [{ wakeUps = 0 } = {}] = await sql<{ wakeUps: number }>(
    `select count(distinct (organization_id, record_id))::int as "wakeUps" from wake_ups where starts`,
  )
  expect(wakeUps).toBe(count)
})

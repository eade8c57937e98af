/** docs/card-data.md, done as it says: what backups have of card data, and how destroying a key closes it. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { SEALED } from '../../db/reseal.ts'
import { createVault, VaultError } from '../../db/vault.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { catalogue } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'

const page = readFileSync(new URL('../../docs/card-data.md', import.meta.url), 'utf8')
const key = (): string => randomBytes(32).toString('base64')
const [old, fresh] = [key(), key()]

async function reseal(databaseUrl: string, masterKeys: string): Promise<string> {
  const script = fileURLToPath(new URL('../../cli/reseal-keys.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script], {
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, MASTER_KEY: masterKeys },
  })
  return stdout
}

describe('the page about card data', () => {
  let service: TestService
  const sql = <T>(text: string) => service.database.orm.em.fork().getConnection().execute<T[]>(text)

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { MASTER_KEY: old } })
  })
  afterAll(() => service.stop())

  test('what the page says of backups holds: they keep what was erased, until the key is destroyed', async () => {
    const merchant = await catalogue(service)
    const { api } = merchant
    const id = await makeToken(api)
    const [backup] = await sql<{ card_cipher: string }>(
      `select card_cipher from payment_tokens where id = '${id}'`,
    )
    await api.post('payment-instruments', { customerId: merchant.customerId, token: id })
    expect(await sql(`select card_cipher from payment_tokens where id = '${id}'`)).toEqual([
      { card_cipher: null },
    ])

    const kept = backup?.card_cipher ?? ''
    expect(kept).not.toContain(TEST_CARDS.approves)
    expect(JSON.parse(await createVault([old]).open(kept))).toMatchObject({ pan: TEST_CARDS.approves })
    await expect(createVault([fresh]).open(kept)).rejects.toThrow(VaultError)
    for (const place of ['`VACUUM`', 'write-ahead log', 'replicas', 'base backup', 'npm run keys:reseal']) {
      expect(page).toContain(place)
    }
  })

  test('its steps end with a service that needs the new key alone, and nobody notices', async () => {
    const merchant = await catalogue(service)
    const { api } = merchant
    const waiting = await makeToken(api)
    await api.post('service-credentials/webhook', {
      host: 'receiver.example',
      auth: { type: 'basic', username: 'ada', password: 'not to be lost' },
    })
    await api.post('customers', { id: 'kept' }, { 'Idempotency-Key': 'once' })
    expect(await reseal(service.databaseUrl, `${fresh},${old}`)).toMatch(/^Sealed [1-9]\d* records anew/)
    expect(await reseal(service.databaseUrl, `${fresh},${old}`)).toMatch(/^Sealed 0 records anew/)

    const { databaseUrl } = service
    const after = await startService({ worker: false, databaseUrl, settings: { MASTER_KEY: fresh } })
    const response = await fetch(
      `${after.baseUrl}/organizations/${merchant.organizationId}/payment-instruments`,
      {
        method: 'POST',
        headers: { 'SVC-APIKEY': merchant.secretKey, 'Content-Type': 'application/json' },
        body: JSON.stringify({ customerId: merchant.customerId, token: waiting }),
      },
    )
    expect([response.status, ((await response.json()) as { last4: string }).last4]).toEqual([201, '1111'])
    await after.stop()
  })

  test('every column that holds something sealed is sealed anew', async () => {
    const columns = await sql<{ place: string }>(
      `select table_name || '.' || column_name as place from information_schema.columns
        where table_schema = 'public' and column_name like '%\\_cipher' order by 1`,
    )
    const listed = SEALED.map(({ table, column }) => `${table}.${column}`).filter((place) =>
      place.endsWith('_cipher'),
    )
    expect(listed.sort()).toEqual(columns.map(({ place }) => place))
  })
})

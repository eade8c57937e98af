/** Services are searched likewise when they stop, responses when they come, files when the run ends. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { CARD_DATA, filesWithCardData, holdsCardData, tablesWithCardData } from '../support/card-data.ts'
import { TEST_CARDS, TEST_CVV } from '../support/cards.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'
import { skipTime } from '../support/time-skipping.ts'
import { makeToken, tokenBody } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

describe('what payments leave behind', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService()
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  test('holds no card data: rows, histories, logs, answers', async () => {
    const { api } = merchant
    for (const pan of Object.values(TEST_CARDS)) {
      await api.post('payment-instruments', {
        customerId: merchant.customerId,
        token: await makeToken(api, pan),
      })
      await api.post('transactions', {
        type: 'sale',
        customerId: merchant.customerId,
        currency: 'EUR',
        amount: 1,
        paymentInstruction: { token: await makeToken(api, pan) },
      })
      const refused = [
        await api.post('tokens', { ...tokenBody(pan), method: pan }),
        await api.post('tokens', { ...tokenBody(pan), [pan]: TEST_CVV }),
        await api.post('payment-instruments', { customerId: pan, token: pan }),
        await api.get(`tokens/${pan}`),
        await api.get(`tokens?limit=${pan}`),
        await api.send('POST', 'tokens', {
          headers: { 'Content-Type': 'application/json' },
          body: `{"paymentInstrument": {"pan": "${pan}", "cvv": "${TEST_CVV}"`,
        }),
      ]
      for (const { status, body } of refused) {
        expect(status).toBeGreaterThanOrEqual(400)
        expect(holdsCardData(JSON.stringify(body))).toBe(false)
      }
    }
    const expiring = `token-expiry/${merchant.organizationId}/${await makeToken(api)}`
    const execution = service.temporal.workflow.getHandle(expiring)
    await waitFor('the execution', () => execution.describe().catch(() => null))
    await skipTime(service.temporal, expiring, 3_600_000)
    await execution.result()

    expect(holdsCardData(service.log.join(''))).toBe(false)
    expect(service.log.length).toBeGreaterThan(10)
    expect(await tablesWithCardData(service.databaseUrl)).toEqual([])
    expect(holdsCardData(JSON.stringify(await execution.fetchHistory()))).toBe(false)
  })

  test('would be found to hold some', async () => {
    for (const text of [
      TEST_CARDS.approves,
      `{"cvv":"${TEST_CVV}"}`,
      `(1,"{""cvv"": ""${TEST_CVV}""}")`,
      `"{\\"cvv\\": \\"${TEST_CVV}\\"}"`,
    ]) {
      expect(text).toMatch(CARD_DATA)
    }
    expect(holdsCardData(`the code ${TEST_CVV}`)).toBe(true)
    expect(holdsCardData('411111 and 1111')).toBe(false)

    // Not card data: those would stay in the write-ahead log, which the end of the run searches.
    const planted = /planted-[a-z]+/
    const sql = (text: string) => service.database.orm.em.fork().getConnection().execute(text)
    await sql(`create table test_gateway.leak as select '{"note": "planted-note"}'::jsonb as note`)
    expect(await tablesWithCardData(service.databaseUrl, planted)).toEqual(['test_gateway.leak'])
    const directory = mkdtempSync(join(tmpdir(), 'billing-left-'))
    const file = join(directory, 'segment')
    writeFileSync(file, Buffer.concat([Buffer.from([0, 255, 195]), Buffer.from('planted-note')]))
    writeFileSync(join(directory, 'clean'), 'nothing')
    expect(filesWithCardData(directory, planted)).toEqual([file])
    rmSync(directory, { recursive: true })
  })
})

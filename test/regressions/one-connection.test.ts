/** Requests that hold a connection and wait for a second one would stop the API for everybody: each makes do with one. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'
import { tokenBody } from '../support/tokens.ts'

describe('with one connection to the database', () => {
  let service: TestService
  let merchant: Catalogue
  beforeAll(async () => {
    service = await startService({ worker: false, apiPoolSize: 1 })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  test('a payment token is created', async () => {
    expect(await merchant.api.post('tokens', tokenBody())).toMatchObject({ status: 201 })
  })
})

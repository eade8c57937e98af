/** The database itself refuses a second live invoice of a period, whatever else goes wrong. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'

describe('an invoice of a period', () => {
  let service: TestService
  let merchant: Catalogue
  let client: pg.Client
  let orderId: string

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
    const { body } = await merchant.api.post('subscriptions', orderBody(merchant, { autopay: false }))
    orderId = String(body.id)
    client = new pg.Client({ connectionString: service.databaseUrl })
    await client.connect()
    await client.query('update invoices set period_number = 1, status = $2 where subscription_id = $1', [
      orderId,
      'unpaid',
    ])
  })
  afterAll(async () => {
    await client.end()
    await service.stop()
  })

  let sequence = 1
  const copy = async (status: string): Promise<void> => {
    sequence += 1
    await client.query(
      `insert into invoices
       select (jsonb_populate_record(invoice, jsonb_build_object('id', 'in_' || $2, 'sequence', $2::int, 'status', $3::text))).*
         from invoices invoice where subscription_id = $1 and sequence = 1`,
      [orderId, String(sequence), status],
    )
  }
  const end = (status: string) =>
    client.query('update invoices set status = $2 where subscription_id = $1 and sequence = 1', [
      orderId,
      status,
    ])

  test.each(['draft', 'unpaid', 'past-due', 'partially-paid', 'paid', 'refunded', 'disputed'])(
    'has no second beside it that is %s',
    async (status) => {
      await expect(copy(status)).rejects.toMatchObject({
        code: '23P01',
        constraint: 'invoices_live_period_exclude',
      })
    },
  )

  test.each(['voided', 'abandoned'])('can stand beside one that is %s', async (status) => {
    await copy(status)
  })

  test('can take the place of one that ends in the same transaction, in either order', async () => {
    for (const work of [
      [() => copy('unpaid'), () => end('voided')],
      [() => end('abandoned'), () => copy('unpaid')],
    ]) {
      await client.query('begin')
      for (const step of work) await step()
      await client.query('set constraints all immediate')
      await client.query('rollback')
    }
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'

const DAY = 86_400_000

describe('the wake-up', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const wakeUps = async (recordId: unknown) =>
    (
      await service.database.orm.em
        .fork()
        .getConnection()
        .execute<{ starts: boolean; gateway_call: boolean; due_by: string; attributes: object | null }[]>(
          'select starts, gateway_call, due_by, attributes from wake_ups where record_id = ? order by id',
          [recordId],
        )
    ).map((row) => ({ ...row, due_by: new Date(row.due_by).toISOString() }))
  const made = (path: string, body: object) => create(merchant.api, path, body)

  test('of an order carries its start, and later its next deadline', async () => {
    const startTime = new Date(Date.now() + DAY).toISOString()
    const order = await made('subscriptions', orderBody(merchant, { startTime }))
    const later = new Date(Date.now() + 2 * DAY).toISOString()
    await merchant.api.put(`subscriptions/${order.id}`, { ...order, startTime: later })
    const attributes = { status: 'pending', customerId: merchant.customerId }
    expect(await wakeUps(order.id)).toEqual([
      { starts: true, gateway_call: false, due_by: startTime, attributes },
      { starts: false, gateway_call: false, due_by: later, attributes: null },
    ])
  })

  test('of an order that is charged at once says so', async () => {
    const { id: customerId } = await made('customers', { paymentToken: await makeToken(merchant.api) })
    const order = await made('subscriptions', orderBody(merchant, { customerId }))
    expect(await wakeUps(order.id)).toMatchObject([{ starts: true, gateway_call: true }])
    const later = { customerId, startTime: new Date(Date.now() + DAY).toISOString() }
    const waiting = await made('subscriptions', orderBody(merchant, later))
    expect(await wakeUps(waiting.id)).toMatchObject([{ starts: true, gateway_call: false }])
  })

  test('of a token carries its expiry', async () => {
    const token = await merchant.api.get(`tokens/${await makeToken(merchant.api)}`)
    const { id, expirationTime } = token.body
    expect(await wakeUps(id)).toMatchObject([{ starts: true, due_by: expirationTime }])
  })

  test('of a dispute carries its deadline, and there is none where it has no deadline', async () => {
    const transactionId = await externalSale(merchant.api, merchant.customerId)
    const deadlineTime = new Date(Date.now() + DAY).toISOString()
    const open = await made(
      'disputes',
      disputeBody(transactionId, { status: 'response-needed', deadlineTime }),
    )
    expect(await wakeUps(open.id)).toMatchObject([{ starts: true, due_by: deadlineTime }])
    const won = await made('disputes', disputeBody(transactionId, { status: 'won' }))
    expect(await wakeUps(won.id)).toEqual([])
  })
})

/** Receivers order events of a record by its revisions: their times never contradict that. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { advanceOrder, lockSubscription } from '../../commands/orders/advance-order.ts'
import { startOrderCall } from '../../commands/orders/start-order-call.ts'
import { recordResult } from '../../commands/payments/record-result.ts'
import { orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { makePayer, type Payments, startPayments } from '../support/payments.ts'

let payments: Payments
beforeAll(async () => {
  payments = await startPayments()
})
afterAll(() => payments.stop())

test('the result of a charge that is recorded after a change has no earlier time than the change', async () => {
  const { merchant, inUnit, sql } = payments
  const { customerId } = await makePayer(merchant.api)
  const order = await create(merchant.api, 'subscriptions', orderBody(merchant, { customerId }))
  const id = String(order.id)
  await inUnit(async (unit) => {
    const row = await lockSubscription(unit, id)
    if (row !== null) await advanceOrder(unit, row, Date.now())
  })
  const call = await inUnit((unit) => startOrderCall(unit, id, Date.now()))
  if (call === null) throw new Error('no charge was due')
  const { body } = await merchant.api.get(`subscriptions/${id}`)
  expect((await merchant.api.put(`subscriptions/${id}`, { ...body, notes: 'Changed' })).status).toBe(200)
  // It counts as of the charge, which was before the change.
  await inUnit((unit) =>
    recordResult(unit, call.transactionId, { result: 'approved', raw: '{}' }, call.instant),
  )
  const events = await sql<{ type: string; revision: number; time: string }>(
    `select type, (payload::jsonb #>> '{_embedded,subscription,revision}')::int as revision,
            payload::jsonb ->> 'eventTime' as time
       from events where payload::jsonb ->> 'subscriptionId' = ? order by revision, id`,
    [id],
  )
  expect(events.map(({ type }) => type)).toEqual([
    'subscription-created',
    'subscription-modified',
    'subscription-activated',
  ])
  const times = events.map(({ time }) => time)
  expect(times).toEqual([...times].sort())
  expect((await merchant.api.get(`subscriptions/${id}`)).body.activationTime).toBe(body.startTime)
})

/** Receivers order events of a record by its revisions: their times never contradict that. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { tagCustomers } from '../../commands/catalog/tag-customers.ts'
import { advanceDispute, lockDispute, updateDispute } from '../../commands/disputes/save-dispute.ts'
import { advanceOrder, lockSubscription } from '../../commands/orders/advance-order.ts'
import { changeSubscriptionItems } from '../../commands/orders/change-items.ts'
import { createRedemption } from '../../commands/orders/order-redemptions.ts'
import { startOrderCall } from '../../commands/orders/start-order-call.ts'
import { recordResult } from '../../commands/payments/record-result.ts'
import { changeRow } from '../../db/change-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { emitDisputeEvent } from '../../events/dispute-events.ts'
import { orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
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

interface Told {
  readonly type: string
  readonly revision: number
  readonly time: string
}

/** Events of one record, by its revisions. */
const eventsOf = (record: string, id: unknown): Promise<Told[]> =>
  payments.sql<Told>(
    `select type, (payload::jsonb #>> ?::text[])::int as revision, payload::jsonb ->> 'eventTime' as time
       from events where payload::jsonb #>> ?::text[] = ? order by revision, id`,
    [`{_embedded,${record},revision}`, `{_embedded,${record},id}`, id],
  )

async function expectInOrder(record: string, id: unknown, revisions: number): Promise<Told[]> {
  const events = await eventsOf(record, id)
  expect(new Set(events.map(({ revision }) => revision)).size).toBe(revisions)
  const times = events.map(({ time }) => time)
  expect(times).toEqual(times.toSorted())
  return events
}

describe('a command that began before another, and waited for it, has no earlier time', () => {
  /** Its transaction has this time, and the lock only now. */
  const BEFORE = -30_000
  const placed = async () => {
    const { merchant } = payments
    const { customerId } = await makePayer(merchant.api)
    const startTime = new Date(Date.now() + 86_400_000).toISOString()
    const { id } = await create(merchant.api, 'subscriptions', orderBody(merchant, { customerId, startTime }))
    return { customerId, id: String(id) }
  }
  const customer = async () => String((await create(payments.merchant.api, 'customers', {})).id)

  test('that changes the items of an order', async () => {
    const { merchant, inUnit } = payments
    const { id } = await placed()
    await inUnit(async (unit) => {
      const row = await lockSubscription(unit, id)
      if (row === null) throw new Error('no order')
      const [item] = row.items
      if (item === undefined) throw new Error('no item')
      const items = [{ ...item, quantity: 3, ownTerms: null }]
      await changeSubscriptionItems(unit, row, { items, prorated: false, renewalPolicy: 'retain' })
    }, BEFORE)
    await expectInOrder('subscription', id, 2)
    const { body } = await merchant.api.get(`subscriptions/${id}`)
    expect(String(body.updatedTime) >= String(body.createdTime)).toBe(true)
  })

  test('that redeems a coupon for an order', async () => {
    const { merchant, inUnit } = payments
    const { customerId, id } = await placed()
    const discount = { type: 'percent', context: 'items', value: 10 }
    const coupon = await create(merchant.api, 'coupons', {
      discount,
      issuedTime: new Date(Date.now() - 86_400_000).toISOString(),
    })
    await inUnit(async (unit) => {
      await createRedemption(unit, `redemption_${id}`, {
        couponId: String(coupon.id),
        customerId,
        additionalRestrictions: [{ type: 'restrict-to-subscriptions', subscriptionIds: [id] }],
      })
    }, BEFORE)
    await expectInOrder('subscription', id, 2)
    await expectInOrder('coupon', coupon.id, 2)
  })

  test('that tags a customer', async () => {
    const { merchant, inUnit } = payments
    const id = await customer()
    const tag = await create(merchant.api, 'tags', { name: id, type: 'customer' })
    const given = { id: String(tag.id), name: id }
    await inUnit(
      (unit) => tagCustomers(unit, given as Parameters<typeof tagCustomers>[1], [id], true),
      BEFORE,
    )
    await expectInOrder('customer', id, 2)
    const { body } = await merchant.api.get(`customers/${id}`)
    expect(String(body.updatedTime) >= String(body.createdTime)).toBe(true)
  })

  test('that changes a dispute', async () => {
    const { merchant, inUnit } = payments
    const transactionId = await externalSale(merchant.api, await customer())
    const { id } = await create(merchant.api, 'disputes', disputeBody(transactionId))
    await inUnit(async (unit) => {
      const dispute = await lockDispute(unit, String(id))
      if (dispute === null) throw new Error('no dispute')
      const { customerId: _, ...values } = { ...dispute, amount: 13 }
      await changeRow(unit, dispute, () =>
        updateDispute(unit, dispute, values as unknown as Parameters<typeof updateDispute>[2]),
      )
      await emitDisputeEvent(unit, dispute, 'dispute-modified')
    }, BEFORE)
    await expectInOrder('dispute', id, 2)
  })
})

describe('a dispute whose deadline has passed', () => {
  const lose = (id: unknown) =>
    payments.inUnit(async (unit: UnitOfWork) => {
      const dispute = await lockDispute(unit, String(id))
      if (dispute !== null) await advanceDispute(unit, dispute, Date.now())
    })
  const passed = new Date(Date.now() - 86_400_000).toISOString()

  test('when it is created is lost after its creation', async () => {
    const { merchant } = payments
    const transactionId = await externalSale(merchant.api, merchant.customerId)
    const given = disputeBody(transactionId, { status: 'response-needed', deadlineTime: passed })
    const { id, createdTime } = await create(merchant.api, 'disputes', given)
    await lose(id)
    const [, lost] = await expectInOrder('dispute', id, 2)
    expect(lost?.time).toBe(createdTime)
    expect((await merchant.api.get(`disputes/${id}`)).body).toMatchObject({
      status: 'lost',
      resolvedTime: createdTime,
      deadlineTime: passed,
    })
  })

  test('when it is set is lost after that', async () => {
    const { merchant } = payments
    const transactionId = await externalSale(merchant.api, merchant.customerId)
    const { id } = await create(merchant.api, 'disputes', disputeBody(transactionId))
    const given = disputeBody(transactionId, { status: 'response-needed', deadlineTime: passed })
    const { body } = await merchant.api.put(`disputes/${id}`, given)
    await lose(id)
    const [, , lost] = await expectInOrder('dispute', id, 3)
    expect(lost?.time).toBe(body.updatedTime)
  })
})

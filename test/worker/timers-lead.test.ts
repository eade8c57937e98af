/** The sweep finds nothing while Temporal is well. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

const ORDERS = 20
/** Milliseconds: before that, nothing but a timer does anything. */
const LATE = 5_000

const lateness = async (service: TestService) =>
  service.database.orm.em
    .fork()
    .getConnection()
    .execute<{ late: number }[]>(
      `select extract(epoch from created_time - event_time)::float8 * 1000 as late from events
        where type = 'subscription-activated'`,
    )

describe('while Temporal is well', () => {
  let service: TestService
  let merchant: Catalogue
  beforeAll(async () => {
    service = await startService()
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const sql = <T>(text: string, values: readonly unknown[]) =>
    service.database.orm.em
      .fork()
      .getConnection()
      .execute<T[]>(text, [...values])

  test('orders, tokens, disputes and retries are all taken care of by their timers, and the sweep counts none', async () => {
    const receiver = await startReceiver()
    try {
      const soon = () => new Date(Date.now() + 3_000).toISOString()
      const tokens = [await makeToken(merchant.api), await makeToken(merchant.api)]
      const transactionId = await externalSale(merchant.api, merchant.customerId)
      const { body: dispute } = await merchant.api.post(
        'disputes',
        disputeBody(transactionId, { status: 'response-needed', deadlineTime: soon() }),
      )
      const orders = await Promise.all(
        Array.from({ length: ORDERS }, () =>
          merchant.api.post('subscriptions', orderBody(merchant, { startTime: soon() })),
        ),
      )
      await waitFor('all orders to start', async () => {
        const statuses = await Promise.all(
          orders.map(async ({ body }) => (await merchant.api.get(`subscriptions/${body.id}`)).body.status),
        )
        return statuses.every((status) => status === 'active') ? true : null
      })
      await waitFor('the dispute to be lost', async () =>
        (await merchant.api.get(`disputes/${dispute.id}`)).body.status === 'lost' ? true : null,
      )
      // Half an hour is too long to wait for, so the deadline is moved near.
      for (const id of tokens) {
        await sql("update payment_tokens set expiration_time = now() + interval '2 seconds' where id = ?", [
          id,
        ])
        await service.temporal.workflow.signalWithStart('token-expiry', {
          workflowId: `token-expiry/${merchant.organizationId}/${id}`,
          taskQueue: service.taskQueue,
          args: [{ organizationId: merchant.organizationId, recordId: id }],
          signal: 'changed',
        })
      }
      await waitFor('the erasures', async () => {
        const held = await sql('select 1 from payment_tokens where card_cipher is not null', [])
        return held.length === 0 ? true : null
      })
      for (const { late } of await lateness(service)) expect(late).toBeLessThan(LATE)
      const { values } = await service.metrics.late.get()
      expect(values.filter(({ value }) => value > 0)).toEqual([])
    } finally {
      await receiver.close()
    }
  })
})

describe('while Temporal cannot be reached', () => {
  test('no poll takes its place: orders start when they are five seconds late, by the sweep, which counts them', async () => {
    const service = await startService({ temporalAddress: '127.0.0.1:1' })
    try {
      const merchant = await catalogue(service)
      const { body } = await merchant.api.post('subscriptions', orderBody(merchant))
      await waitFor('the order to start', async () =>
        (await merchant.api.get(`subscriptions/${body.id}`)).body.status === 'active' ? true : null,
      )
      for (const { late } of await lateness(service)) expect(late).toBeGreaterThanOrEqual(LATE)
      await waitFor('the count', async () => {
        const { values } = await service.metrics.late.get()
        return values.some(({ labels, value }) => labels.workflow === 'subscription' && value > 0)
          ? true
          : null
      })
    } finally {
      await service.stop()
    }
  })
})

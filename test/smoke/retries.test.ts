import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { defaultPayloadConverter } from '@temporalio/common'
import type { AdvanceInput } from '../../workflows/contract.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { skipTime } from '../support/time-skipping.ts'
import { waitFor } from '../support/wait-for.ts'

const HOUR = 3_600_000
/** Written out: taken from the code, they would agree with whatever it says. */
const RETRY_WAITS = [HOUR / 2, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 16 * HOUR]
const TOTAL = RETRY_WAITS.reduce((sum, wait) => sum + wait, 0)

interface AttemptRow {
  attempt: number
  initiated_time: string
  duration: number
  status: number | null
  failure: string | null
}

describe('a delivery whose receiver fails', () => {
  let service: TestService
  let failing: Receiver
  let watching: Receiver
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService()
    failing = await startReceiver()
    watching = await startReceiver()
    merchant = await catalogue(service, { webhook: failing.url })
    const watcher = { url: watching.url, eventsFilter: ['webhook-delivery-exhausted'] }
    expect((await merchant.api.post('webhooks', watcher)).status).toBe(201)
  })
  afterAll(async () => {
    await failing.close()
    await watching.close()
    await service.stop()
  })

  const sql = <T>(text: string, values: unknown[]) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const attemptsOf = (deliveryId: string) =>
    sql<AttemptRow>('select * from delivery_attempts where delivery_id = ? order by attempt', [deliveryId])

  /** Returns the id of the delivery's workflow once it has begun. */
  async function workflowOf(deliveryId: string): Promise<string> {
    const workflowId = `webhook-delivery/${merchant.organizationId}/${deliveryId}`
    await waitFor('the workflow of the delivery', () =>
      service.temporal.workflow
        .getHandle(workflowId)
        .describe()
        .catch(() => null),
    )
    return workflowId
  }

  async function failedDelivery(): Promise<{ id: string; eventId: string; workflowId: string }> {
    const startTime = new Date(Date.now() + 86_400_000 * 20).toISOString()
    const { body } = await merchant.api.post('subscriptions', orderBody(merchant, { startTime }))
    const [delivery] = await waitFor('the failed first attempt', async () => {
      const rows = await sql<{ id: string; event_id: string }>(
        `select delivery.id, delivery.event_id from deliveries delivery
           join events event on event.organization_id = delivery.organization_id and event.id = delivery.event_id
          where event.entity_id = ? and delivery.status = 'retrying'`,
        [body.id],
      )
      return rows.length > 0 ? rows : null
    })
    if (delivery === undefined) throw new Error('unreachable')
    const workflowId = await workflowOf(delivery.id)
    return { id: delivery.id, eventId: delivery.event_id, workflowId }
  }

  /** The clocks that the workflow passed to the activity of each retry. */
  async function retryClocks(workflowId: string): Promise<number[]> {
    const { events } = await service.temporal.workflow.getHandle(workflowId).fetchHistory()
    return (events ?? []).flatMap((event) => {
      const payload = event.activityTaskScheduledEventAttributes?.input?.payloads?.[0]
      return payload == null ? [] : [defaultPayloadConverter.fromPayload<AdvanceInput>(payload).clock]
    })
  }

  test('is tried again after 30 minutes, 1, 2, 4, 8 and 16 hours, each from the end of the attempt before, then no more', async () => {
    failing.respondWith(500)
    const delivery = await failedDelivery()
    await skipTime(service.temporal, delivery.workflowId, TOTAL + 60_000)
    const attempts = await waitFor('seven attempts', async () => {
      const rows = await attemptsOf(delivery.id)
      return rows.length === 7 ? rows : null
    })
    await service.temporal.workflow.getHandle(delivery.workflowId).result()
    expect(attempts.map(({ status, failure }) => [status, failure])).toEqual(Array(7).fill([500, 'status']))

    const [first, ...retries] = attempts
    if (first === undefined) throw new Error('unreachable')
    const clocks = (await retryClocks(delivery.workflowId)).slice(-retries.length)
    let endOfAttempt = Date.parse(first.initiated_time) + first.duration
    for (const [index, retry] of retries.entries()) {
      const clock = clocks[index] ?? Number.NaN
      const late = clock - (endOfAttempt + (RETRY_WAITS[index] ?? Number.NaN))
      expect(late).toBeGreaterThanOrEqual(0)
      expect(late).toBeLessThan(5_000)
      endOfAttempt = clock + retry.duration
    }

    const [row] = await sql<{ status: string; next_attempt_time: null }>(
      'select * from deliveries where id = ?',
      [delivery.id],
    )
    expect(row).toMatchObject({ status: 'exhausted', next_attempt_time: null })
    const [exhausted] = await watching.until(({ event }) => event.deliveryId === delivery.id)
    expect(exhausted?.event).toMatchObject({
      eventType: 'webhook-delivery-exhausted',
      webhookId: merchant.webhookId,
    })
  })

  test('of the event that another one is exhausted is exhausted without an event', async () => {
    failing.respondWith(500)
    watching.respondWith(500)
    const delivery = await failedDelivery()
    await skipTime(service.temporal, delivery.workflowId, TOTAL + 60_000)
    await service.temporal.workflow.getHandle(delivery.workflowId).result()
    const [report] = await waitFor('the failed delivery of the event', async () => {
      const rows = await sql<{ id: string }>(
        `select delivery.id from deliveries delivery
           join events event on event.organization_id = delivery.organization_id and event.id = delivery.event_id
          where event.payload::jsonb ->> 'deliveryId' = ? and delivery.status = 'retrying'`,
        [delivery.id],
      )
      return rows.length > 0 ? rows : null
    })
    if (report === undefined) throw new Error('unreachable')
    const workflowId = await workflowOf(report.id)
    await skipTime(service.temporal, workflowId, TOTAL + 60_000)
    await service.temporal.workflow.getHandle(workflowId).result()
    const [row] = await sql<{ status: string }>('select * from deliveries where id = ?', [report.id])
    expect(row?.status).toBe('exhausted')
    expect(await sql("select id from events where payload::jsonb ->> 'deliveryId' = ?", [report.id])).toEqual(
      [],
    )
    watching.respondWith(200)
  })

  test('sends the same bytes and event id under a fresh signature on every attempt', async () => {
    failing.respondWith(503)
    const delivery = await failedDelivery()
    failing.respondWith(200)
    await skipTime(service.temporal, delivery.workflowId, TOTAL)
    const sent = await failing.until(({ headers }) => headers['webhook-id'] === delivery.eventId, 2)
    expect(sent).toHaveLength(2)
    expect(sent[0]?.body.equals(sent[1]?.body ?? Buffer.alloc(0))).toBe(true)
    expect(sent[0]?.headers['security-signature']).not.toBe(sent[1]?.headers['security-signature'])
  })

  test('ends with the first success', async () => {
    failing.respondWith(500)
    const delivery = await failedDelivery()
    await skipTime(service.temporal, delivery.workflowId, 45 * 60_000)
    await waitFor('two attempts', async () => ((await attemptsOf(delivery.id)).length === 2 ? true : null))
    failing.respondWith(200)
    await skipTime(service.temporal, delivery.workflowId, TOTAL)
    await service.temporal.workflow.getHandle(delivery.workflowId).result()
    expect((await attemptsOf(delivery.id)).map(({ status }) => status)).toEqual([500, 500, 200])
    const [row] = await sql<{ status: string }>('select * from deliveries where id = ?', [delivery.id])
    expect(row?.status).toBe('delivered')
  })
})

import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { removeExpired } from '../../worker/retention.ts'
import type { ApiClient } from '../support/api-client.ts'
import { create } from '../support/create.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

interface Attempt {
  readonly id: string
  readonly attempt: number
  readonly deliveryId: string
  readonly eventId: string
  readonly failure: string | null
  readonly [member: string]: unknown
}

describe('the log of deliveries', () => {
  let service: TestService
  let receiver: Receiver
  let api: ApiClient
  let webhookId: string

  beforeAll(async () => {
    service = await startService()
    receiver = await startReceiver()
    api = (await service.organization()).api
    webhookId = await make('webhooks', {
      url: receiver.url,
      eventsFilter: ['customer-created'],
      headers: [{ name: 'Authorization', value: 'Bearer top-secret' }],
    })
  })
  afterAll(async () => {
    await receiver.close()
    await service.stop()
  })

  const sql = <T>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const make = async (path: string, body: object) => String((await create(api, path, body)).id)
  const attemptsOf = async (customerId: string) =>
    (await api.get<Attempt[]>(`tracking/webhooks?filter=entityId:${customerId}&sort=attempt`)).body
  const attempts = (customerId: string, count: number) =>
    waitFor(`${count} attempts`, async () => {
      const found = await attemptsOf(customerId)
      return found.length >= count ? found : null
    })
  const one = async (customerId: string, count = 1): Promise<Attempt> => {
    const last = (await attempts(customerId, count)).at(-1)
    if (last === undefined) throw new Error('there is no attempt')
    return last
  }
  const resend = (attempt: Attempt) => api.send('POST', `tracking/webhooks/${attempt.id}/resend`)
  const delivery = async (id: string) => {
    const [row] = await sql<{
      status: string
      attempts: number
      resends: number
      next_attempt_time: string | null
    }>('select * from deliveries where id = ?', [id])
    return row
  }

  test('has a row for each attempt with what was sent and what came back, and masks what lets in', async () => {
    receiver.respondWith(
      (_, response) => void response.writeHead(200, { 'X-Seen': 'yes' }).end('y'.repeat(20_000)),
    )
    const customerId = await make('customers', { firstName: 'Ada' })
    const attempt = await one(customerId)
    const [received] = await receiver.until(({ event }) => event.customerId === customerId)
    expect(attempt).toMatchObject({
      webhookId,
      attempt: 1,
      eventId: received?.event.eventId,
      eventType: 'customer-created',
      entityId: customerId,
      url: receiver.url,
      method: 'POST',
      status: 200,
      failure: null,
      request: received?.body.toString(),
      requestHeaders: { Authorization: '***', 'Webhook-Id': received?.event.eventId },
      responseHeaders: { 'x-seen': 'yes' },
    })
    expect(attempt.response).toBe('y'.repeat(16 * 1024))
    expect(Number(attempt.duration)).toBeGreaterThan(0)
    expect(Date.parse(String(attempt.sentTime))).toBeGreaterThanOrEqual(
      Date.parse(String(attempt.initiatedTime)),
    )
    expect((await api.get(`tracking/webhooks/${attempt.id}`)).body).toEqual(attempt)
    expect(JSON.stringify(await sql('select * from delivery_attempts'))).not.toContain('top-secret')
    expect((await api.get('tracking/webhooks/att_none')).status).toBe(404)
  })

  test('can be filtered, sorted and searched, and shows nothing of another organization', async () => {
    receiver.respondWith(500)
    const customerId = await make('customers', {})
    const attempt = await one(customerId)
    expect(attempt).toMatchObject({ status: 500, failure: 'status' })
    const { api: other } = await service.organization()
    for (const query of [`q=${attempt.eventId}`, `filter=failure:status;deliveryId:${attempt.deliveryId}`]) {
      expect((await api.get(`tracking/webhooks?${query}`)).body).toEqual([attempt])
      expect((await other.get(`tracking/webhooks?${query}`)).body).toEqual([])
    }
    expect((await other.get(`tracking/webhooks/${attempt.id}`)).status).toBe(404)
    expect((await other.send('POST', `tracking/webhooks/${attempt.id}/resend`)).status).toBe(404)
    expect((await api.get('tracking/webhooks?filter=request:x')).status).toBe(400)
  })

  test('resend makes an attempt at once and leaves the schedule where it was; its success ends the schedule', async () => {
    receiver.respondWith(500)
    const customerId = await make('customers', {})
    const first = await one(customerId)
    const before = await waitFor('the schedule', async () => {
      const row = await delivery(first.deliveryId)
      return row?.status === 'retrying' ? row : null
    })
    expect((await resend(first)).status).toBe(204)
    const second = await one(customerId, 2)
    expect(second).toMatchObject({ attempt: 2, failure: 'status', deliveryId: first.deliveryId })
    expect(await delivery(first.deliveryId)).toMatchObject({
      status: 'retrying',
      attempts: 1,
      resends: 1,
      next_attempt_time: before.next_attempt_time,
    })

    receiver.respondWith(200)
    expect((await resend(second)).status).toBe(204)
    expect(await one(customerId, 3)).toMatchObject({ attempt: 3, failure: null })
    expect(await delivery(first.deliveryId)).toMatchObject({ status: 'delivered', next_attempt_time: null })
    const sent = receiver.received.filter(({ event }) => event.customerId === customerId)
    expect(new Set(sent.map(({ body }) => body.toString())).size).toBe(1)
    expect(new Set(sent.map(({ headers }) => headers['security-signature'])).size).toBe(3)
  })

  test('resend sends once more what was delivered already', async () => {
    receiver.respondWith(200)
    const customerId = await make('customers', {})
    const first = await one(customerId)
    expect((await resend(first)).status).toBe(204)
    expect(await one(customerId, 2)).toMatchObject({ attempt: 2, failure: null })
  })

  test('resend brings what was exhausted to its receiver after all', async () => {
    receiver.respondWith(500)
    const customerId = await make('customers', {})
    const first = await one(customerId)
    await sql(
      "update deliveries set status = 'exhausted', attempts = 7, next_attempt_time = null, ended_time = now() where id = ?",
      [first.deliveryId],
    )
    receiver.respondWith(200)
    await resend(first)
    expect(await one(customerId, 2)).toMatchObject({ attempt: 8, failure: null })
    expect(await delivery(first.deliveryId)).toMatchObject({ status: 'delivered', attempts: 7, resends: 1 })
  })

  test('recover resends what failed since an instant, retried still or given up, and nothing else', async () => {
    receiver.respondWith(500)
    const earlier = await make('customers', {})
    await one(earlier)
    await delay(5)
    const since = new Date().toISOString()
    const [retried, exhausted] = [await make('customers', {}), await make('customers', {})]
    await one(retried)
    await sql(
      "update deliveries set status = 'exhausted', attempts = 7, next_attempt_time = null, ended_time = now() where id = ?",
      [(await one(exhausted)).deliveryId],
    )
    receiver.respondWith(200)
    const delivered = await make('customers', {})
    await one(delivered)
    const recovery = await api.post(`webhooks/${webhookId}/recover`, { since })
    expect([recovery.status, recovery.body]).toEqual([200, { since, deliveries: 2 }])
    expect(await one(retried, 2)).toMatchObject({ attempt: 2, failure: null })
    expect(await one(exhausted, 2)).toMatchObject({ attempt: 8, failure: null })
    expect((await api.post(`webhooks/${webhookId}/recover`, { since })).body).toEqual({
      since,
      deliveries: 0,
    })
    expect([(await attemptsOf(earlier)).length, (await attemptsOf(delivered)).length]).toEqual([1, 1])
  })

  test('recover resends what was made before the instant and failed again after it', async () => {
    receiver.respondWith(500)
    const customerId = await make('customers', {})
    const first = await one(customerId)
    await delay(5)
    const since = new Date().toISOString()
    await resend(first)
    await one(customerId, 2)
    receiver.respondWith(200)
    const recovery = await api.post(`webhooks/${webhookId}/recover`, { since })
    expect(recovery.body).toEqual({ since, deliveries: 1 })
    expect(await one(customerId, 3)).toMatchObject({ attempt: 3, failure: null })
  })

  test('recover is carried out once under an Idempotency-Key, also while it is in progress', async () => {
    const { api: own, organizationId } = await service.organization()
    const { id: webhook } = await create(own, 'webhooks', { url: receiver.url })
    const recover = () =>
      own.send('POST', `webhooks/${webhook}/recover`, {
        body: JSON.stringify({ since: '2026-01-01T00:00:00Z' }),
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'once' },
      })
    const first = await service.database.orm.em.fork().transactional(async (em) => {
      await em.execute('select from webhooks where id = ? for update', [webhook])
      const running = recover()
      await waitFor('the first to have the key', async () => {
        const found = await sql('select from idempotency_records where organization_id = ? and key = ?', [
          organizationId,
          'once',
        ])
        return found.length > 0 || null
      })
      expect((await recover()).status).toBe(409)
      return { running }
    })
    expect((await first.running).status).toBe(200)
    const replayed = await recover()
    expect([replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
  })

  test('recover resends however many failed, each once, and locks few of them at a time', async () => {
    const { api: own, organizationId } = await service.organization()
    const { id: webhook } = await create(own, 'webhooks', { url: receiver.url })
    const since = new Date(Date.now() - 3_600_000).toISOString()
    // Another process has a lease of them, so that none is attempted here, and each is due after that.
    const columns = `organization_id, id, event_id, webhook_id, status, attempts, ended_time, created_time, lease_owner, lease_until`
    const failed = (id: string, count: number, madeTime: string) =>
      sql(
        `insert into deliveries (${columns})
         select ?, '${id}' || lpad(n::text, 25, '0'), 'evt_1', ?, 'exhausted', 2, now(), ${madeTime}, 'other', now() + interval '1 day'
           from generate_series(1, ${count}) n`,
        [organizationId, webhook],
      )
    await failed('dlv_7', 5_500, `now()`)
    await failed('dlv_0', 3_000, `now() - interval '1 day'`)
    await sql(
      `insert into delivery_attempts (organization_id, id, delivery_id, webhook_id, attempt, initiated_time, created_time, duration,
           url, method, request_headers, failure)
       select organization_id, 'att_' || attempt || substr(id, 6), id, webhook_id, attempt, made, made, 1, 'https://a.example', 'POST', '{}', 'status'
         from deliveries, generate_series(1, 2) attempt, lateral (select now() - (30 - attempt) * interval '1 minute' as made) at
        where webhook_id = ? and id like 'dlv_0%'`,
      [webhook],
    )
    await sql(`create function refuse_many() returns trigger language plpgsql as $$
      begin
        if (select count(*) from changed) > 5000 then raise exception 'too many at once'; end if;
        return null;
      end $$`)
    await sql(
      `create trigger refuse_many after update on deliveries referencing new table as changed
         for each statement execute function refuse_many()`,
    )
    const recover = () =>
      own.send('POST', `webhooks/${webhook}/recover`, {
        body: JSON.stringify({ since }),
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'recovery' },
      })
    for (let repetition = 0; repetition < 2; repetition += 1) {
      const recovery = await recover()
      expect([recovery.status, recovery.body]).toEqual([200, { since, deliveries: 8_500 }])
    }
    const marked = await sql(
      `select resend_due, resend_again, count(*)::int as count from deliveries where webhook_id = ? group by 1, 2`,
      [webhook],
    )
    expect(marked).toEqual([{ resend_due: true, resend_again: true, count: 8_500 }])
    await sql('drop function refuse_many cascade')
    await sql('delete from deliveries where webhook_id = ?', [webhook])
    await sql('delete from delivery_attempts where webhook_id = ?', [webhook])
  })

  test('recover refuses an instant to come, and a webhook that is inactive, unknown or of another organization', async () => {
    const idle = await make('webhooks', { url: receiver.url, status: 'inactive' })
    const since = new Date().toISOString()
    const recover = async (id: string, body: object, by = api) =>
      (await by.post(`webhooks/${id}/recover`, body)).status
    expect(await recover(idle, { since })).toBe(409)
    expect(await recover('nobody', { since })).toBe(404)
    expect(await recover(webhookId, { since }, (await service.organization()).api)).toBe(404)
    expect(await recover(webhookId, {})).toBe(422)
    const ahead = await api.post(`webhooks/${webhookId}/recover`, { since: '2999-01-01T00:00:00Z' })
    expect(ahead.body).toMatchObject({ invalidFields: [{ field: 'since', code: 'out-of-range' }] })
  })

  test('resend to a webhook that is inactive or gone is a conflict', async () => {
    receiver.respondWith(200)
    const gone = await make('webhooks', { url: `${receiver.url}/gone`, eventsFilter: ['customer-created'] })
    const customerId = await make('customers', {})
    const attempt = await waitFor('its attempt', async () => {
      const found = (await attemptsOf(customerId)).find(({ webhookId: id }) => id === gone)
      return found ?? null
    })
    await api.send('PUT', `webhooks/${gone}`, {
      body: JSON.stringify({ url: receiver.url, status: 'inactive' }),
      headers: { 'Content-Type': 'application/json' },
    })
    expect((await resend(attempt)).status).toBe(409)
    await api.send('DELETE', `webhooks/${gone}`)
    expect((await resend(attempt)).status).toBe(409)
    await sql('delete from deliveries where id = ?', [attempt.deliveryId])
    expect((await resend(attempt)).status).toBe(404)
  })

  test('events can be listed and read by a receiver that missed them, with the outcome of each delivery', async () => {
    receiver.respondWith(200)
    const customerId = await make('customers', { firstName: 'Grace' })
    const attempt = await one(customerId)
    const [received] = await receiver.until(({ event }) => event.customerId === customerId)
    // An event is listed once no older transaction of the server can still commit.
    const listed = await waitFor('the event to be listed', async () => {
      const response = await api.get<Record<string, unknown>[]>(
        `events?filter=eventType:customer-created;entityId:${customerId}`,
      )
      return response.body.length > 0 ? response : null
    })
    expect(listed.body).toHaveLength(1)
    expect(listed.body[0]).toMatchObject({
      id: attempt.eventId,
      eventType: 'customer-created',
      entityId: customerId,
      websiteId: null,
      payload: received?.event,
      deliveries: [
        { id: attempt.deliveryId, webhookId, status: 'delivered', attempts: 1, nextAttemptTime: null },
      ],
    })
    expect((await api.get(`events/${attempt.eventId}`)).body).toEqual(listed.body[0])
    expect((await api.get(`events?q=${customerId}`)).body).toEqual(listed.body)
    expect((await api.get('events/evt_none')).status).toBe(404)
  })

  test('any success of a receiver is enough for an event of a dispute, and for no other', async () => {
    receiver.respondWith(202)
    const disputed = await make('webhooks', {
      url: `${receiver.url}/disputed`,
      eventsFilter: ['dispute-created', 'customer-created'],
    })
    const customerId = await make('customers', {})
    await make('disputes', disputeBody(await externalSale(api, customerId)))
    const statuses = await waitFor('both outcomes', async () => {
      const rows = await sql<{ type: string; status: string }>(
        `select events.type, deliveries.status from deliveries join events on events.id = event_id
          where webhook_id = ? order by events.type`,
        [disputed],
      )
      return rows.length === 2 && rows.every(({ status }) => status !== 'waiting') ? rows : null
    })
    expect(statuses).toEqual([
      { type: 'customer-created', status: 'retrying' },
      { type: 'dispute-created', status: 'delivered' },
    ])
    await api.delete(`webhooks/${disputed}`)
  })

  test('an event shows when each of its deliveries is attempted next', async () => {
    receiver.respondWith(500)
    const attempt = await one(await make('customers', {}))
    const row = await waitFor('the schedule', async () => {
      const found = await delivery(attempt.deliveryId)
      return found?.status === 'retrying' ? found : null
    })
    const { body } = await api.get<{ deliveries: object[] }>(`events/${attempt.eventId}`)
    const next = new Date(String(row.next_attempt_time))
    expect(next.getTime()).toBeGreaterThan(Date.now() + 29 * 60_000)
    expect(body.deliveries).toEqual([
      {
        id: attempt.deliveryId,
        webhookId,
        status: 'retrying',
        attempts: 1,
        nextAttemptTime: next.toISOString(),
      },
    ])
  })

  test('an event is read anew after its delivery has gone on, for a reader who has its revision', async () => {
    receiver.respondWith(500)
    const attempt = await one(await make('customers', {}))
    const before = await api.get<{ deliveries: object[] }>(`events/${attempt.eventId}`)
    expect(before.body.deliveries).not.toMatchObject([{ status: 'delivered' }])
    receiver.respondWith(200)
    await resend(attempt)
    await waitFor('the delivery', async () => {
      const row = await delivery(attempt.deliveryId)
      return row?.status === 'delivered' ? row : null
    })
    const after = await api.get<{ deliveries: object[] }>(`events/${attempt.eventId}`, {
      'If-None-Match': String(before.headers.get('etag')),
    })
    expect(after.status).toBe(200)
    expect(after.body.deliveries).toMatchObject([{ id: attempt.deliveryId, status: 'delivered' }])
  })

  test('is kept for 30 days after the end of a delivery, and goes in batches', async () => {
    receiver.respondWith(200)
    const customers = []
    for (let made = 0; made < 5; made += 1) customers.push(await make('customers', {}))
    const logged = await Promise.all(customers.map((id) => one(id)))
    const age = (ids: readonly string[], days: number) =>
      sql(
        `update deliveries set ended_time = now() - make_interval(days => ${days}) where id = any(string_to_array(?, ','))`,
        [ids.join(',')],
      )
    const ids = logged.map(({ deliveryId }) => deliveryId)
    await age(ids.slice(0, 3), 31)
    await age(ids.slice(3), 29)
    await sql("update events set created_time = now() - interval '40 days'")
    await removeExpired(service.database.orm.em.fork(), 2)
    const left = await Promise.all(customers.map(async (id) => (await attemptsOf(id)).length))
    expect(left).toEqual([0, 0, 0, 1, 1])
    const statuses = await Promise.all(
      logged.map(async ({ eventId }) => (await api.get(`events/${eventId}`)).status),
    )
    expect(statuses).toEqual([404, 404, 404, 200, 200])
  })

  test('a delivery is kept as long as one of its attempts, and an attempt without one for 30 days', async () => {
    receiver.respondWith(200)
    const [ended, lost, kept] = [
      await make('customers', {}),
      await make('customers', {}),
      await make('customers', {}),
    ]
    const attempt = await one(ended)
    const orphans = [await one(lost), await one(kept)].map(({ id, deliveryId }) => ({ id, deliveryId }))
    for (const [index, { id, deliveryId }] of orphans.entries()) {
      await sql('delete from deliveries where id = ?', [deliveryId])
      await sql(
        `update delivery_attempts set created_time = now() - interval '${31 - 2 * index} days' where id = ?`,
        [id],
      )
    }
    // Its thirty days pass between the removal of attempts and that of deliveries.
    await sql(`create function pass_thirty_days() returns trigger language plpgsql as $$
      begin
        update deliveries set ended_time = now() - interval '31 days' where id = '${attempt.deliveryId}';
        return null;
      end $$`)
    await sql(
      `create trigger pass_thirty_days after delete on delivery_attempts execute function pass_thirty_days()`,
    )
    await removeExpired(service.database.orm.em.fork())
    expect((await attemptsOf(ended)).length).toBe(1)
    expect((await resend(attempt)).status).toBe(204)
    await one(ended, 2)
    await sql('drop function pass_thirty_days cascade')
    expect([(await attemptsOf(lost)).length, (await attemptsOf(kept)).length]).toEqual([0, 1])
    await sql(`update deliveries set ended_time = now() - interval '31 days' where id = ?`, [
      attempt.deliveryId,
    ])
    await removeExpired(service.database.orm.em.fork())
    expect([await attemptsOf(ended), await delivery(attempt.deliveryId)]).toEqual([[], undefined])
  })
})

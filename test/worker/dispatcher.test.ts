import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createLog } from '../../config/log.ts'
import { createAddressGuard } from '../../delivery/address-guard.ts'
import type { Attempt } from '../../delivery/attempt.ts'
import { signingKeyCache } from '../../delivery/key-cache.ts'
import type { Resolve } from '../../delivery/names.ts'
import { createSender, type Sender } from '../../delivery/sender.ts'
import { startDispatcher } from '../../worker/dispatcher.ts'
import { afterStatement } from '../support/after-statement.ts'
import { AGREED } from '../support/agreed-clock.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

describe('the dispatcher', () => {
  let service: TestService
  let receiver: Receiver
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
    receiver = await startReceiver()
    merchant = await catalogue(service, { webhook: receiver.url })
  })
  afterAll(async () => {
    await receiver.close()
    await service.stop()
  })

  const sql = <T>(text: string) => service.database.orm.em.fork().getConnection().execute<T[]>(text)
  /** The receiver keeps every request open until the returned function is called; then it responds with 200. */
  const holdResponses = (): (() => void) => {
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
    receiver.respondWith(async (_, response) => {
      await mayAnswer
      response.writeHead(200).end()
    })
    return answer
  }
  const allDelivered = (what: string) =>
    waitFor(what, async () => {
      const [row] = await sql<{ count: number }>(
        "select count(*)::int as count from deliveries where status <> 'delivered'",
      )
      return row?.count === 0 ? true : null
    })

  test('takes no more than it has slots for, and begins with few at a receiver it does not know', async () => {
    const response = holdResponses()
    for (let made = 0; made < 60; made += 1) await merchant.api.post('customers', { firstName: `${made}` })
    service.startWorker()
    await receiver.until(() => true, 16)
    const leases = () =>
      sql<{ status: string; count: number }>(
        'select status, count(*)::int as count from deliveries where lease_until is not null group by status',
      )
    expect(await leases()).toEqual([{ status: 'waiting', count: 16 }])
    expect(receiver.received).toHaveLength(16)

    const stopped = service.stopWorker()
    response()
    await stopped
    expect(await leases()).toEqual([])
    expect(await sql('select * from worker_processes')).toEqual([])
    const [left] = await sql<{ count: number }>(
      "select count(*)::int as count from deliveries where status = 'waiting'",
    )
    expect(left?.count).toBeGreaterThan(0)

    receiver.respondWith(200)
    service.startWorker()
    await allDelivered('the rest to be delivered at once, by the next dispatcher')
    expect(new Set(receiver.received.map(({ event }) => event.eventId)).size).toBe(receiver.received.length)
  })

  test('does not begin again what it has in hand when the lease of it is lost', async () => {
    const response = holdResponses()
    const before = receiver.received.length
    await merchant.api.post('customers', { firstName: 'First' })
    await receiver.until(() => true, before + 1)
    await sql("update deliveries set lease_owner = null, lease_until = null where status = 'waiting'")
    await merchant.api.post('customers', { firstName: 'Second' })
    await receiver.until(() => true, before + 2)
    response()
    await allDelivered('both to be recorded')
    expect(receiver.received.slice(before).map(({ event }) => event._embedded.customer?.firstName)).toEqual([
      'First',
      'Second',
    ])
    expect(await sql('select 1 from deliveries where attempts <> 1')).toEqual([])
  })

  test('sends within seconds what a worker had in hand that died', async () => {
    await service.stopWorker()
    const before = receiver.received.length
    await merchant.api.post('customers', { firstName: 'Orphan' })
    // As a killed process leaves it: taken under a lease, its row no longer renewed.
    await sql(
      `insert into worker_processes (id, alive_until, in_flight) values ('wrk_dead', now() - interval '1 second', '{}')`,
    )
    await sql(
      `update deliveries set lease_owner = 'wrk_dead', lease_until = now() + interval '1 minute'
        where status = 'waiting'`,
    )
    service.startWorker()
    await receiver.until(() => true, before + 1)
    await allDelivered('what the dead worker had taken')
    expect(await sql("select * from worker_processes where id = 'wrk_dead'")).toEqual([])
  })

  test('an outcome that the database refuses holds up no other', async () => {
    await service.stopWorker()
    const before = receiver.received.length
    const refused = await merchant.api.post('customers', {})
    await merchant.api.post('customers', {})
    await sql(`create function refuse() returns trigger language plpgsql as $$ begin
                 raise exception 'unstorable' using errcode = '22021';
               end $$`)
    await sql(`create trigger refuse before insert on delivery_attempts for each row
                 when (new.entity_id = '${refused.body.id}') execute function refuse()`)
    service.startWorker()
    await receiver.until(() => true, before + 2)
    const waiting = () =>
      sql(`select entity_id from deliveries join events on events.id = event_id where status = 'waiting'`)
    await waitFor('the other to be recorded', async () => ((await waiting()).length === 1 ? true : null))
    expect(await waiting()).toEqual([{ entity_id: refused.body.id }])
    await sql('drop trigger refuse on delivery_attempts')
    await sql('update deliveries set lease_owner = null, lease_until = null')
    await allDelivered('what was refused, once it is not')
  })

  test('books no fault of our own: the delivery is released, and its attempt made again', async () => {
    await service.stopWorker()
    await merchant.api.put(`webhooks/${merchant.webhookId}`, { url: 'http://slow.example/' })
    await merchant.api.post('customers', {})
    await merchant.api.post('customers', {})
    let lookUps = 0
    // One look-up at a time, which takes its whole time limit: the other finds no place.
    const resolve: Resolve = () => {
      lookUps += 1
      return new Promise((_, fail) => setTimeout(() => fail(new Error('slow')), 600))
    }
    const sender = createSender(createAddressGuard([]), {
      names: { resolve, timeout: 500, perOrganization: 1 },
    })
    const { vault, orm } = service.database
    const em = () => orm.em.fork()
    const now = () => Date.now()
    const signingKey = signingKeyCache(em, vault, now)
    const attempts = { sender, signingKey, vault, baseUrl: service.baseUrl, now }
    const made: Attempt[] = []
    const lines: string[] = []
    const dispatcher = startDispatcher({
      clock: AGREED,
      em,
      attempts,
      log: createLog('error', { write: (line) => void lines.push(line) }),
      onAttempt: (attempt) => void made.push(attempt),
    })
    await waitFor('both to have failed', () => (made.length === 2 ? true : null))
    await dispatcher.stop()
    await sender.close()
    expect(lookUps).toBe(2)
    expect(lines.filter((line) => line.includes('by a fault of our own')).length).toBeGreaterThan(0)
    expect(made.map(({ response }) => response.failure)).toEqual(['dns', 'dns'])
    expect(
      await sql("select attempts, lease_owner from deliveries where status = 'retrying' group by 1, 2"),
    ).toEqual([{ attempts: 1, lease_owner: null }])
  })

  test('makes a resend that was requested while the record of an earlier one was repeated', async () => {
    await service.stopWorker()
    const { api } = merchant
    await api.put(`webhooks/${merchant.webhookId}`, { url: receiver.url })
    receiver.respondWith(200)
    const { body: customer } = await api.post('customers', {})
    const ofCustomer = ({ event }: Received) => event._embedded.customer?.id === customer.id
    const { vault, orm } = service.database
    const now = () => Date.now()
    const sender = createSender(createAddressGuard(['127.0.0.0/8']))
    const signingKey = signingKeyCache(() => orm.em.fork(), vault, now)
    const logged = () =>
      sql<{ id: string }>(`select id from delivery_attempts where entity_id = '${customer.id}'`)
    const requestResend = async () => {
      const [attempt] = await logged()
      expect((await api.send('POST', `tracking/webhooks/${attempt?.id}/resend`)).status).toBe(204)
    }
    let isLost = false
    const dispatcher = startDispatcher({
      clock: AGREED,
      em: () =>
        afterStatement(orm.em.fork(), 'record-outcomes', async () => {
          if (!isLost) return
          isLost = false
          await requestResend()
          throw new Error('Connection terminated')
        }),
      attempts: { sender, signingKey, vault, baseUrl: service.baseUrl, now },
      log: createLog('silent', { write() {} }),
    })
    try {
      await receiver.until(ofCustomer, 1)
      await waitFor('the record of it', async () => ((await logged()).length === 1 ? true : null))
      isLost = true
      await requestResend()
      dispatcher.nudge()
      await receiver.until(ofCustomer, 3)
      const row = () =>
        sql(`select attempts, resends, resend_due, lease_owner from deliveries
              where event_id in (select id from events where entity_id = '${customer.id}')`)
      await waitFor('the second resend', async () => {
        const [{ resends } = { resends: 0 }] = (await row()) as { resends: number }[]
        return resends === 2 ? true : null
      })
      expect(await row()).toEqual([{ attempts: 1, resends: 2, resend_due: false, lease_owner: null }])
      expect(receiver.received.filter(ofCustomer)).toHaveLength(3)
    } finally {
      await dispatcher.stop()
      await sender.close()
    }
  })

  test('records at its end what ended meanwhile, but for what the database refuses', async () => {
    await service.stopWorker()
    await sql("update deliveries set status = 'canceled' where status <> 'delivered'")
    const merchants = [
      await catalogue(service, { webhook: `${receiver.url}/first` }),
      await catalogue(service, { webhook: `${receiver.url}/poisoned` }),
      await catalogue(service, { webhook: `${receiver.url}/last` }),
    ]
    const ids = merchants.map(({ webhookId }) => String(webhookId))
    await sql("update deliveries set status = 'canceled' where status <> 'delivered'")
    await sql(`update webhooks set revision = 2147483647 where id = '${ids[1]}'`)
    for (const { api } of merchants) await api.post('customers', {})
    const [isFirst, mayRespond, isRecorded, mayGoOn] = Array.from({ length: 4 }, () =>
      Promise.withResolvers<void>(),
    )
    receiver.respondWith(async ({ path }, response) => {
      if (path.endsWith('/first')) await isFirst?.promise
      else await mayRespond?.promise
      response.writeHead(path.endsWith('/poisoned') ? 500 : 200).end()
    })
    const { vault, orm } = service.database
    const now = () => Date.now()
    const sender = createSender(createAddressGuard(['127.0.0.0/8']))
    let ended = 0
    const counting: Sender = {
      ...sender,
      send: (request) => sender.send(request).finally(() => void setImmediate(() => (ended += 1))),
    }
    const signingKey = signingKeyCache(() => orm.em.fork(), vault, now)
    const before = receiver.received.length
    const dispatcher = startDispatcher({
      clock: AGREED,
      em: () =>
        afterStatement(orm.em.fork(), 'record-outcomes', async () => {
          isRecorded?.resolve()
          await mayGoOn?.promise
        }),
      attempts: { sender: counting, signingKey, vault, baseUrl: service.baseUrl, now },
      log: createLog('silent', { write() {} }),
    })
    await receiver.until(() => true, before + 3)
    isFirst?.resolve()
    await isRecorded?.promise
    const stopped = dispatcher.stop()
    mayRespond?.resolve()
    await waitFor('the ends of all', () => (ended === 3 ? true : null))
    mayGoOn?.resolve()
    await stopped
    await sender.close()
    const outcomes = await sql<{ webhook_id: string; status: string }>(
      `select webhook_id, status from deliveries where webhook_id in ('${ids.join("', '")}') and status <> 'canceled'`,
    )
    expect(Object.fromEntries(outcomes.map(({ webhook_id, status }) => [webhook_id, status]))).toEqual({
      [String(ids[0])]: 'delivered',
      [String(ids[1])]: 'waiting',
      [String(ids[2])]: 'delivered',
    })
    await sql(`delete from webhooks where id = '${ids[1]}'`)
  })

  test('pauses a webhook whose secrets cannot be opened, and logs each pause', async () => {
    await service.stopWorker()
    const broken = await catalogue(service, { webhook: receiver.url })
    const sound = await catalogue(service, { webhook: receiver.url })
    await sql("update deliveries set status = 'delivered', ended_time = now() where status <> 'delivered'")
    const cipher = `where id = '${broken.webhookId}'`
    await sql(`update webhooks set header_values_cipher = 'unreadable' ${cipher}`)
    for (let made = 0; made < 60; made += 1) await broken.api.post('customers', {})
    const lines = () => service.log.filter((line) => line.includes('could not be made'))
    const leased = async (): Promise<number> => {
      const [row] = await sql<{ count: number }>(
        `select count(*)::int as count from deliveries
          where lease_until is not null and organization_id = '${broken.organizationId}'`,
      )
      return row?.count ?? 0
    }
    const startedAt = performance.now()
    service.startWorker()
    await waitFor('a failure', () => (lines().length > 0 ? true : null))
    const before = receiver.received.length
    await sound.api.post('customers', {})
    await receiver.until(() => true, before + 1)
    const [logged, tried] = [lines().length, await leased()]
    const rounds = 1 + Math.floor(Math.log2(1 + (performance.now() - startedAt) / 1_000))
    expect(tried).toBeLessThanOrEqual(16 * rounds)
    expect(logged).toBeLessThanOrEqual(rounds)

    await sql(`update webhooks set header_values_cipher = null ${cipher}`)
    await sql('update deliveries set lease_owner = null, lease_until = null')
    await allDelivered('all, once the secrets can be opened')
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { EVENT_TYPES } from '../../billing/event-types.ts'
import { sampleEvent } from '../../delivery/sample-event.ts'
import { createVerifier } from '../../dev/verify-webhook.ts'
import { disableFailingWebhooks } from '../../worker/disabling.ts'
import type { ApiClient } from '../support/api-client.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

describe('a receiver under test', () => {
  let service: TestService
  let receiver: Receiver
  let api: ApiClient
  let organizationId: string

  beforeAll(async () => {
    service = await startService()
    receiver = await startReceiver()
    const merchant = await service.organization()
    organizationId = merchant.organizationId
    api = merchant.api
  })
  afterAll(async () => {
    await receiver.close()
    await service.stop()
  })

  const sql = <T>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)

  describe('by a preview', () => {
    test('gets one signed sample of the first type of the filter, with headers and credential: 204', async () => {
      const { body: credential } = await api.post('service-credentials/webhook', {
        host: '127.0.0.1',
        auth: { type: 'basic', username: 'ada', password: 'secret' },
      })
      const response = await api.post('previews/webhooks', {
        url: `${receiver.url}/sample`,
        eventsFilter: ['invoice-paid', 'customer-created'],
        credentialHash: credential.hash,
        headers: [{ name: 'X-A', value: 'b' }],
      })
      expect(response.status).toBe(204)
      const sent = receiver.received.filter(({ path }) => path === '/hooks/sample')
      expect(sent).toHaveLength(1)
      const [one] = sent
      expect(one?.event).toMatchObject({ eventType: 'invoice-paid', invoiceId: 'sample-invoice' })
      expect(one?.headers).toMatchObject({ 'x-a': 'b', authorization: expect.stringMatching(/^Basic /) })
      const verifier = createVerifier({ issuer: `${service.baseUrl}/`, organizationId })
      await verifier.verify(String(one?.headers['security-signature']), one?.body ?? Buffer.alloc(0))
      expect(await sql('select 1 from webhooks where organization_id = ?', [organizationId])).toEqual([])
    })

    test('gets subscription-created where the filter is empty', async () => {
      expect((await api.post('previews/webhooks', { url: `${receiver.url}/empty` })).status).toBe(204)
      expect(receiver.received.find(({ path }) => path === '/hooks/empty')?.event.eventType).toBe(
        'subscription-created',
      )
    })

    test.each([
      ['redirects', 302, 'redirect, status 302'],
      ['fails', 500, 'status, status 500'],
      ['accepts instead of taking', 202, 'status, status 202'],
    ])('that %s is told so: 422 with the reason', async (_, status, reason) => {
      receiver.respondWith(status)
      expect(await api.post('previews/webhooks', { url: receiver.url })).toMatchObject({
        status: 422,
        body: { invalidFields: [{ field: 'url', message: expect.stringContaining(reason) }] },
      })
      receiver.respondWith(200)
    })

    test('that cannot be reached, or must not be, is told why', async () => {
      const refused = await api.post('previews/webhooks', { url: 'http://127.0.0.1:1/' })
      expect(refused.body).toMatchObject({
        invalidFields: [{ message: expect.stringContaining('connection-refused') }],
      })
      for (const url of ['http://10.0.0.1/', 'http://user@shop.example/']) {
        expect((await api.post('previews/webhooks', { url })).status).toBe(422)
      }
      const unknown = await api.post('previews/webhooks', { url: receiver.url, credentialHash: 'none' })
      expect(unknown).toMatchObject({ status: 422, body: { invalidFields: [{ field: 'credentialHash' }] } })
    })

    test('gets one sample of requests with one Idempotency-Key, also while the first is sending', async () => {
      const preview = (path: string, key: string) =>
        api.post('previews/webhooks', { url: `${receiver.url}${path}` }, { 'Idempotency-Key': key })
      const samples = (path: string) => receiver.received.filter((one) => one.path === `/hooks${path}`).length
      for (const [path, status, expected] of [
        ['/slow', 200, 204],
        ['/slow-failing', 500, 422],
      ] as const) {
        const { promise, resolve } = Promise.withResolvers<void>()
        receiver.respondWith(async (_, response) => {
          await promise
          response.writeHead(status).end()
        })
        const first = preview(path, path)
        await receiver.until((one) => one.path === `/hooks${path}`)
        expect(await preview(path, path)).toMatchObject({ status: 409, body: { code: 'conflict' } })
        expect(await preview('/elsewhere', path)).toMatchObject({
          status: 422,
          body: { code: 'idempotency-key-reused' },
        })
        resolve()
        expect((await first).status).toBe(expected)
        const repeated = await preview(path, path)
        expect([repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([expected, 'true'])
        expect([samples(path), samples('/elsewhere')]).toEqual([1, 0])
      }
      receiver.respondWith(200)
    })

    test('gets another sample once the mark of a request that never ended is old', async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      receiver.respondWith(async (_, response) => {
        await promise
        response.writeHead(200).end()
      })
      const preview = () =>
        api.post('previews/webhooks', { url: `${receiver.url}/crashed` }, { 'Idempotency-Key': 'crashed' })
      const isCrashed = ({ path }: { path: string }) => path === '/hooks/crashed'
      const first = preview()
      await receiver.until(isCrashed)
      await sql(
        `update idempotency_records set created_time = created_time - interval '2 minutes' where key = 'crashed'`,
      )
      const second = preview()
      await receiver.until(isCrashed, 2)
      resolve()
      expect([(await first).status, (await second).status]).toEqual([204, 204])
      receiver.respondWith(200)
    })

    test('can be sent every type of the list', () => {
      for (const type of EVENT_TYPES) {
        const { payload, entityId } = sampleEvent(type, new Date())
        expect(JSON.parse(payload)).toMatchObject({ eventType: type })
        expect(entityId).toMatch(/^sample-[a-zA-Z]+$/)
      }
    })
  })

  describe('by time', () => {
    const HOUR = 3_600_000
    const disable = (environment: 'sandbox' | 'live' = 'sandbox') =>
      disableFailingWebhooks({
        em: () => service.database.orm.em.fork(),
        environment,
        baseUrl: service.baseUrl,
        now: () => Date.now(),
      })
    const fail = (id: unknown, failures: number, hours: number) =>
      sql('update webhooks set consecutive_failures = ?, first_failure_time = ? where id = ?', [
        failures,
        new Date(Date.now() - hours * HOUR).toISOString(),
        id,
      ])
    async function hook(path: string, eventsFilter: string[]): Promise<string> {
      return String((await api.post('webhooks', { url: `${receiver.url}${path}`, eventsFilter })).body.id)
    }
    const shown = async (id: string) => (await api.get(`webhooks/${id}`)).body

    test('is disabled in the sandbox after 70 failures in a row and 48 hours, not before, and the others hear of it', async () => {
      const id = await hook('/failing', ['customer-created'])
      await hook('/watching', ['webhook-disabled'])
      for (const [failures, hours] of [
        [69, 100],
        [1_000, 47.9],
      ] as const) {
        await fail(id, failures, hours)
        expect(await disable()).toBe(0)
      }
      await fail(id, 69, 49)
      receiver.respondWith(
        (received, response) => void response.writeHead(received.path === '/hooks/failing' ? 500 : 200).end(),
      )
      await api.post('customers', {})
      await waitFor('the 70th failure', async () =>
        (await shown(id)).consecutiveFailures === 70 ? true : null,
      )
      expect(await disable('live')).toBe(0)
      expect(await shown(id)).toMatchObject({ status: 'active' })
      expect(await disable()).toBe(1)
      expect(await disable()).toBe(0)
      expect(await shown(id)).toMatchObject({
        status: 'inactive',
        deactivationReason: expect.stringContaining('70 consecutive attempts failed'),
      })
      const [told] = await receiver.until(({ event }) => event.webhookId === id)
      expect(told).toMatchObject({ path: '/hooks/watching', event: { eventType: 'webhook-disabled' } })
      await waitFor('what was on its way to end', async () => {
        const left = await sql("select 1 from deliveries where webhook_id = ? and status <> 'canceled'", [id])
        return left.length === 0 ? true : null
      })
    })

    test('is given another chance by a PUT, and what it missed by a resend', async () => {
      const id = await hook('/back', ['customer-created'])
      receiver.respondWith(500)
      const { body: customer } = await api.post('customers', {})
      const attempt = await waitFor('the failure', async () => {
        const { body } = await api.get<{ id: string }[]>(
          `tracking/webhooks?filter=webhookId:${id};entityId:${customer.id}`,
        )
        return body[0] ?? null
      })
      await fail(id, 70, 48)
      expect(await disable()).toBe(1)
      receiver.respondWith(200)
      const again = await api.send('PUT', `webhooks/${id}`, {
        body: JSON.stringify({ url: `${receiver.url}/back`, eventsFilter: ['customer-created'] }),
        headers: { 'Content-Type': 'application/json' },
      })
      expect(again.body).toMatchObject({
        status: 'active',
        deactivationReason: null,
        consecutiveFailures: 0,
        firstFailureTime: null,
      })
      expect((await api.send('POST', `tracking/webhooks/${attempt.id}/resend`)).status).toBe(204)
      await waitFor('the resend', async () => {
        const [row] = await sql<{ status: string }>('select status from deliveries where webhook_id = ?', [
          id,
        ])
        return row?.status === 'delivered' ? true : null
      })
    })

    test('that cannot be disabled hinders no other', async () => {
      const [poisoned, other] = [
        await hook('/poisoned', ['customer-created']),
        await hook('/other', ['customer-created']),
      ]
      await sql('update webhooks set revision = 2147483647 where id = ?', [poisoned])
      for (const id of [poisoned, other]) await fail(id, 70, 48)
      await expect(disable()).rejects.toThrow('integer out of range')
      expect(await shown(other)).toMatchObject({ status: 'inactive' })
      await sql('delete from webhooks where id = ?', [poisoned])
    })

    test('that succeeds once begins anew', async () => {
      const id = await hook('/once', ['customer-created'])
      await fail(id, 200, 100)
      await api.post('customers', {})
      await waitFor('the success', async () => ((await shown(id)).consecutiveFailures === 0 ? true : null))
      expect(await disable()).toBe(0)
    })
  })
})

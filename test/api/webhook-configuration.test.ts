import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { EVENT_TYPES } from '../../billing/event-types.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import { sealPlainHeaders } from '../../delivery/seal-headers.ts'
import type { ApiClient } from '../support/api-client.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const HOST = '127.0.0.1'
const PASSWORD = 'pass:wörd'

/** Every event type, emitted or reserved, as receivers know them. */
const LISTED = `
  subscription-created subscription-activated subscription-canceled subscription-churned
  subscription-modified subscription-renewed subscription-reactivated subscription-trial-ended
  subscription-trial-converted subscription-renewal-reminder subscription-trial-end-reminder
  subscription-items-changed subscription-upgraded subscription-downgraded order-abandoned
  order-abandon-reminder order-completed order-voided order-delinquency-reached subscription-paused
  subscription-resumed subscription-pause-created subscription-pause-modified
  subscription-pause-revoked renewal-invoice-issued invoice-created invoice-issued invoice-modified
  invoice-paid invoice-partially-paid invoice-past-due invoice-reissued invoice-voided
  invoice-refunded invoice-partially-refunded invoice-abandoned invoice-past-due-reminder
  transaction-processed transaction-declined transaction-process-requested
  transaction-timeout-resolved gateway-account-requested offsite-payment-completed risk-score-changed
  renewal-invoice-payment-declined renewal-invoice-payment-canceled dispute-created dispute-modified
  customer-created customer-updated customer-merged lead-source-changed aml-list-possibly-matched
  payment-card-created payment-card-expired payment-card-expiration-reminder
  payment-instrument-modified coupon-issued coupon-modified coupon-expired coupon-applied
  coupon-application-removed coupon-redeemed coupon-redemption-canceled kyc-request-attempted
  kyc-request-partially-fulfilled kyc-request-fulfilled kyc-request-failed kyc-document-created
  kyc-document-accepted kyc-document-rejected kyc-document-modified kyc-document-archived
  kyc-document-reviewed data-export-completed data-export-failed credit-memo-created
  credit-memo-modified credit-memo-applied credit-memo-partially-applied credit-memo-voided
  quote-created quote-issued quote-accepted quote-rejected quote-canceled quote-recalled
  quote-expired quote-updated application-instance-enabled application-instance-disabled
  balance-transaction-settled webhook-disabled webhook-delivery-exhausted
`
  .trim()
  .split(/\s+/)

describe('the configuration of webhooks', () => {
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

  const json = (method: string, path: string, body: object) =>
    api.send(method, path, { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } })
  const sql = <T>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const make = (path: string, body: object) => create(api, path, body)
  const credential = (members: object = {}) =>
    make('service-credentials/webhook', {
      host: HOST,
      auth: { type: 'basic', username: 'ada', password: PASSWORD },
      ...members,
    })
  const hook = (path: string, members: object = {}) =>
    make('webhooks', { url: `${receiver.url}${path}`, eventsFilter: ['customer-created'], ...members })
  const remove = (webhook: Record<string, unknown>) => api.send('DELETE', `webhooks/${webhook.id}`)
  const cameTo = (path: string) => (received: { path: string }) => received.path === `/hooks${path}`

  describe('service credentials', () => {
    test('are made, listed, read and switched off, and never answer a password', async () => {
      const made = await api.post('service-credentials/webhook', {
        host: 'Hooks.Example.com',
        auth: { type: 'basic', username: 'ada', password: PASSWORD },
      })
      const { hash } = made.body
      expect(made).toMatchObject({
        status: 201,
        body: {
          type: 'webhook',
          host: 'Hooks.Example.com',
          auth: { type: 'basic', username: 'ada' },
          status: 'active',
        },
      })
      expect(made.headers.get('location')).toBe(
        `${service.baseUrl}/organizations/${organizationId}/service-credentials/webhook/${hash}`,
      )
      const one = await api.get(`service-credentials/webhook/${hash}`)
      const many = await api.get('service-credentials/webhook?filter=host:hooks.example.com')
      const off = await json('PATCH', `service-credentials/webhook/${hash}`, { status: 'inactive' })
      expect(off).toMatchObject({ status: 200, body: { hash, status: 'inactive', revision: 2 } })
      expect(many.body).toEqual([one.body])
      expect(JSON.stringify([made.body, one.body, many.body, off.body])).not.toContain(PASSWORD)
    })

    test('are encrypted at rest', async () => {
      await credential()
      const rows = await sql('select * from service_credentials')
      expect(JSON.stringify(rows)).not.toMatch(/wörd|\bada\b/)
    })

    test.each([
      [{ host: 'shop.example:80', auth: { type: 'none' } }, 'host'],
      [{ host: 'https://', auth: { type: 'none' } }, 'host'],
      [{ host: `https://${'x'.repeat(254)}/` }, 'host'],
      [{ host: 'ftp://shop.example', auth: { type: 'none' } }, 'host'],
      [{ host: 'https://user:secret@shop.example' }, 'host'],
      [{ host: 'shop.example/x', auth: { type: 'none' } }, 'host'],
      [{ host: 'shop.example', auth: { type: 'basic', username: 'a:b', password: 'c' } }, 'auth.username'],
      [{ host: 'shop.example', auth: { type: 'basic', username: 'a' } }, 'auth.password'],
      [{ host: 'shop.example', auth: { type: 'bearer' } }, 'auth.type'],
      [{ host: 'shop.example', auth: { type: 'digest', username: 'a', password: 'b' } }, 'auth.type'],
    ])('%j is refused', async (body, field) => {
      expect(await api.post('service-credentials/webhook', body)).toMatchObject({
        status: 422,
        body: { invalidFields: [{ field }] },
      })
    })

    test.each([
      'https://Hooks.Example.com/path?query',
      'http://hooks.example.com:8080',
      'HTTPS://hooks.example.com',
    ])('of the host %s keep its host name', async (host) => {
      const made = await credential({ host, auth: undefined })
      expect(made).toMatchObject({ host: 'hooks.example.com', auth: { type: 'none' } })
      const url = 'https://hooks.example.com/x'
      expect(await make('webhooks', { url, credentialHash: made.hash, status: 'inactive' })).toMatchObject({
        credentialHash: made.hash,
      })
    })

    test('show when they were deactivated, and only their status can be changed', async () => {
      const { hash, ...shown } = await credential()
      const path = `service-credentials/webhook/${hash}`
      expect(shown.deactivationTime).toBeNull()
      const before = Date.now()
      const off = (await json('PATCH', path, { ...shown, status: 'deactivated' })).body
      expect(off.status).toBe('deactivated')
      expect(Date.parse(String(off.deactivationTime))).toBeGreaterThanOrEqual(before)
      const again = (await json('PATCH', path, { status: 'deactivated' })).body
      expect(again).toEqual(off)
      const on = (await json('PATCH', path, { status: 'active' })).body
      expect(on).toMatchObject({ status: 'active', deactivationTime: null, revision: 3 })
      for (const change of [{ host: 'other.example' }, { auth: { type: 'none', username: null } }]) {
        expectProblem(await json('PATCH', path, change), 409, 'conflict')
      }
      expect((await api.get(path)).body).toEqual(on)
      expectProblem(await json('PATCH', path, { status: 'gone' }), 422, 'validation-error')
      expectProblem(await json('PATCH', 'service-credentials/webhook/none', {}), 404, 'not-found')
    })

    test('of another type have no path', async () => {
      expect((await api.get('service-credentials/email')).status).toBe(404)
    })

    test('serve only webhooks of their host, whatever its port and case', async () => {
      const { hash: credentialHash } = await credential({ host: 'hooks.example.com' })
      const good = await make('webhooks', {
        url: 'https://HOOKS.example.com:8443/x',
        credentialHash,
        status: 'inactive',
      })
      expect(good.credentialHash).toBe(credentialHash)
      for (const url of ['https://example.com/', 'https://hooks.example.com.evil.example/']) {
        for (const response of [
          await api.post('webhooks', { url, credentialHash }),
          await json('PUT', `webhooks/${good.id}`, { url, credentialHash }),
        ]) {
          expect(response).toMatchObject({
            status: 422,
            body: { invalidFields: [{ field: 'credentialHash' }] },
          })
        }
      }
      expect(await api.post('webhooks', { url: 'https://a.example/', credentialHash: 'none' })).toMatchObject(
        {
          status: 422,
          body: { invalidFields: [{ field: 'credentialHash' }] },
        },
      )
    })
  })

  test('a delivery carries the active headers of one’s own and the credential, and the log masks what lets in', async () => {
    const { hash } = await credential()
    const webhook = await hook('/headers', {
      credentialHash: hash,
      headers: [
        { name: 'X-Tenant', value: 'seven' },
        { name: 'X-Off', value: 'no', status: 'inactive' },
      ],
    })
    await make('customers', {})
    const [received] = await receiver.until(cameTo('/headers'))
    expect(received?.headers).toMatchObject({
      'x-tenant': 'seven',
      authorization: `Basic ${Buffer.from(`ada:${PASSWORD}`).toString('base64')}`,
      'content-type': 'application/json; charset=utf-8',
    })
    expect(received?.headers['x-off']).toBeUndefined()
    const logged = await waitFor('the attempt', async () => {
      const rows = await sql<{ request_headers: object }>(
        `select request_headers from delivery_attempts join deliveries on deliveries.id = delivery_id where deliveries.webhook_id = ?`,
        [webhook.id],
      )
      return rows.length > 0 ? rows : null
    })
    expect(logged[0]?.request_headers).toMatchObject({ Authorization: '***', 'X-Tenant': '***' })
    await remove(webhook)
  })

  test('a credential without authentication sends none', async () => {
    const made = await credential({ auth: { type: 'none' } })
    expect(made.auth).toEqual({ type: 'none' })
    const webhook = await hook('/none', { credentialHash: made.hash })
    await make('customers', {})
    const [received] = await receiver.until(cameTo('/none'))
    expect(received?.headers.authorization).toBeUndefined()
    await remove(webhook)
  })

  test.each([
    [[{ name: 'Content-Type', value: 'text/plain' }], 'headers.0.name'],
    [[{ name: 'SECURITY-SIGNATURE', value: 'x' }], 'headers.0.name'],
    [[{ name: 'webhook-id', value: 'x' }], 'headers.0.name'],
    [[{ name: 'User-Agent', value: 'x' }], 'headers.0.name'],
    [[{ name: 'Host', value: 'x' }], 'headers.0.name'],
    [[{ name: 'Transfer-Encoding', value: 'chunked' }], 'headers.0.name'],
    [[{ name: 'X A', value: 'x' }], 'headers.0.name'],
    [[{ name: 'X-A', value: 'x\r\nHost: y' }], 'headers.0.value'],
    [
      [
        { name: 'X-A', value: 'x' },
        { name: 'x-a', value: 'y' },
      ],
      'headers.1.name',
    ],
    [[{ name: 'X-A', value: 'x', state: 'on' }], 'headers.0.state'],
  ])('headers that would replace ours, or are none, are refused: %j', async (headers, field) => {
    expect(await api.post('webhooks', { url: receiver.url, headers })).toMatchObject({
      status: 422,
      body: { invalidFields: [{ field }] },
    })
  })

  test('what GET shows can be sent back by PUT unchanged', async () => {
    const { hash } = await credential()
    const webhook = await hook('/back', { credentialHash: hash, headers: [{ name: 'X-A', value: 'b' }] })
    const shown = await api.get(`webhooks/${webhook.id}`)
    expect(shown.body).toMatchObject({
      deactivationReason: null,
      consecutiveFailures: 0,
      firstFailureTime: null,
    })
    expect(await json('PUT', `webhooks/${webhook.id}`, shown.body)).toMatchObject({
      status: 200,
      body: shown.body,
    })
    await remove(webhook)
  })

  test('a filter takes every listed event type', async () => {
    const webhook = await make('webhooks', {
      url: receiver.url,
      eventsFilter: LISTED,
      status: 'inactive',
    })
    expect(LISTED).toHaveLength(94)
    expect(webhook.eventsFilter).toEqual(LISTED)
    expect([...EVENT_TYPES].sort()).toEqual(LISTED.toSorted())
  })

  test('a filter keeps the event types of another release, which never fire, and refuses another form', async () => {
    const eventsFilter = ['customer-exploded', 'account-verification-requested', '3ds2-done']
    const webhook = await hook('/future', { eventsFilter })
    expect(webhook.eventsFilter).toEqual(eventsFilter)
    const heard = await hook('/future-too', { eventsFilter: [...eventsFilter, 'customer-created'] })
    const { id } = await make('customers', {})
    await receiver.until((one) => cameTo('/future-too')(one) && one.event.customerId === id)
    expect(receiver.received.filter(cameTo('/future'))).toEqual([])
    for (const name of ['Customer-created', 'customer_created', '-customer', 'customer--created', '']) {
      expect(await api.post('webhooks', { url: receiver.url, eventsFilter: [name] })).toMatchObject({
        status: 422,
        body: { invalidFields: [{ field: 'eventsFilter.0' }] },
      })
    }
    await remove(webhook)
    await remove(heard)
  })

  test('the values of headers are encrypted at rest, and of an earlier release once a process starts', async () => {
    const headers = [
      { name: 'X-Secret', value: 'plain-as-day', status: 'active' },
      { name: 'X-Empty', value: '', status: 'inactive' },
    ]
    const { id } = await hook('/sealed', { headers })
    const stored = () =>
      sql<{ headers: object; header_values_cipher: string }>('select * from webhooks where id = ?', [id])
    expect(JSON.stringify(await stored())).not.toContain('plain-as-day')
    const read = await api.get(`webhooks/${id}`)
    expect(read.body.headers).toEqual(headers)
    expect((await json('PUT', `webhooks/${id}`, read.body)).body).toEqual(read.body)
    await sql('update webhooks set headers = ?::jsonb, header_values_cipher = null where id = ?', [
      JSON.stringify(headers),
      id,
    ])
    expect((await api.get(`webhooks/${id}`)).body).toEqual(read.body)
    const { orm, vault } = service.database
    expect(await sealPlainHeaders(orm.em.fork(), vault)).toBe(1)
    expect(await sealPlainHeaders(orm.em.fork(), vault)).toBe(0)
    expect(JSON.stringify(await stored())).not.toContain('plain-as-day')
    expect((await api.get(`webhooks/${id}`)).body).toEqual(read.body)
    await make('customers', {})
    const [received] = await receiver.until(cameTo('/sealed'))
    expect(received?.headers['x-secret']).toBe('plain-as-day')
    expect(JSON.stringify(await sql('select * from delivery_attempts'))).not.toContain('plain-as-day')
    await remove({ id })
  })

  test('an event goes to webhooks of its website and of all; one without a website only to those of all', async () => {
    const [one, other] = [await make('websites', { name: 'One' }), await make('websites', { name: 'Other' })]
    const webhooks = [
      await hook('/all'),
      await hook('/one', { websiteId: one.id }),
      await hook('/other', { websiteId: other.id }),
      // Of the website, and of all: its filter names another type.
      await hook('/deaf', { websiteId: one.id, eventsFilter: ['customer-updated'] }),
      await hook('/deafer', { eventsFilter: ['customer-updated'] }),
    ]
    const names = async (members: object) => {
      const customer = await make('customers', members)
      const rows = await sql<{ url: string }>(
        `select webhook.url from deliveries join events on events.id = event_id join webhooks webhook on webhook.id = webhook_id
          where entity_id = ? order by webhook.url`,
        [customer.id],
      )
      return rows.map(({ url }) => url.slice(receiver.url.length))
    }
    expect(await names({ websiteId: one.id })).toEqual(['/all', '/one'])
    expect(await names({ websiteId: other.id })).toEqual(['/all', '/other'])
    expect(await names({})).toEqual(['/all'])
    for (const webhook of webhooks) await remove(webhook)
  })

  test('events of an order and of its invoices belong to the website of the order, whatever that of its customer', async () => {
    const [one, other] = [await make('websites', { name: 'One' }), await make('websites', { name: 'Other' })]
    const webhooks = [
      await hook('/one', { websiteId: one.id, eventsFilter: [] }),
      await hook('/other', { websiteId: other.id, eventsFilter: [] }),
    ]
    const customer = await make('customers', { websiteId: other.id })
    const plan = await make('plans', {
      name: 'Monthly',
      currency: 'EUR',
      pricing: { formula: 'fixed-fee', price: 9.9 },
      recurringInterval: { unit: 'month', length: 1 },
    })
    const order = await make('subscriptions', {
      orderType: 'subscription-order',
      startTime: new Date(Date.now() + 86_400_000).toISOString(),
      customerId: customer.id,
      websiteId: one.id,
      items: [{ plan: { id: plan.id } }],
    })
    const rows = await sql<{ type: string; url: string }>(
      `select events.type, webhook.url from deliveries join events on events.id = event_id
          join webhooks webhook on webhook.id = webhook_id
        where entity_id in (?, ?, ?) order by events.id`,
      [customer.id, order.id, order.initialInvoiceId],
    )
    expect(rows.map(({ type, url }) => [type, url.slice(receiver.url.length)])).toEqual([
      ['customer-created', '/other'],
      ['subscription-created', '/one'],
      ['invoice-created', '/one'],
    ])
    for (const webhook of webhooks) await remove(webhook)
  })

  test('filter and website are checked when the event happens: what waits goes out, and nothing older is added', async () => {
    const [one, other] = [await make('websites', { name: 'One' }), await make('websites', { name: 'Other' })]
    const waiting = await hook('/waiting', { websiteId: one.id, eventsFilter: ['customer-created'] })
    const customer = await make('customers', { websiteId: one.id })
    const change = { url: waiting.url, websiteId: other.id, eventsFilter: ['dispute-created'] }
    expect((await api.put(`webhooks/${waiting.id}`, change)).status).toBe(200)
    const late = await hook('/late', { websiteId: one.id, eventsFilter: ['customer-created'] })
    const rows = await sql<{ webhook_id: string; status: string }>(
      `select webhook_id, deliveries.status from deliveries join events on events.id = event_id
        where entity_id = ? and webhook_id in (?, ?)`,
      [customer.id, waiting.id, late.id],
    )
    expect(rows.map(({ webhook_id: id }) => id)).toEqual([waiting.id])
    expect(rows[0]?.status).not.toBe('canceled')
    for (const webhook of [waiting, late]) await remove(webhook)
  })

  test('25 can be active and no more, however many are made or switched on at once', async () => {
    const { api: other } = await service.organization()
    const body = JSON.stringify({ url: 'https://shop.example/' })
    const headers = { 'Content-Type': 'application/json' }
    await other.send('PUT', 'webhooks/off', {
      body: JSON.stringify({ url: 'https://a.example/', status: 'inactive' }),
      headers,
    })
    const responses = await Promise.all([
      ...Array.from({ length: 30 }, () => other.send('POST', 'webhooks', { body, headers })),
      other.send('PUT', 'webhooks/off', { body, headers }),
    ])
    const made = responses.filter(({ status }) => status < 300)
    expect(made).toHaveLength(25)
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(6)
    const active = await other.get('webhooks?filter=status:active&limit=0')
    expect(active.headers.get('pagination-total')).toBe('25')
  })

  describe('a change while a delivery waits', () => {
    async function failing(path: string, members: object = {}) {
      receiver.respondWith(
        (received, response) => void response.writeHead(received.path === '/hooks/new' ? 200 : 500).end(),
      )
      const webhook = await hook(path, members)
      await make('customers', {})
      const delivery = await waitFor('a failed first attempt', async () => {
        const [row] = await sql<{ id: string; event_id: string }>(
          "select id, event_id from deliveries where webhook_id = ? and status = 'retrying'",
          [webhook.id],
        )
        return row ?? null
      })
      return { webhook, delivery, execution: `webhook-delivery/${organizationId}/${delivery.id}` }
    }
    const due = (id: string) =>
      sql("update deliveries set next_attempt_time = now() - interval '1 second' where id = ?", [id])
    const look = (id: string) =>
      inUnitOfWork(
        service.database.orm.em.fork(),
        { organizationId, baseUrl: service.baseUrl, now: new Date() },
        async (unit) => unit.wake('webhook-delivery', id, { dueBy: unit.now }),
      )
    const statusOf = (id: string) =>
      sql<{ status: string }>('select status from deliveries where id = ?', [id]).then(([row]) => row?.status)

    test('counts failures on the webhook, and a success ends the count', async () => {
      const { webhook, delivery } = await failing('/counted')
      const shown = (await api.get(`webhooks/${webhook.id}`)).body
      expect(shown).toMatchObject({ consecutiveFailures: 1, revision: 2 })
      expect(shown.firstFailureTime).not.toBeNull()
      receiver.respondWith(200)
      await due(delivery.id)
      await look(delivery.id)
      await waitFor('the retry', async () => ((await statusOf(delivery.id)) === 'delivered' ? true : null))
      expect((await api.get(`webhooks/${webhook.id}`)).body).toMatchObject({
        consecutiveFailures: 0,
        firstFailureTime: null,
      })
      await remove(webhook)
    })

    test('of address, headers and credential holds from the next attempt on', async () => {
      const { webhook, delivery } = await failing('/old')
      const { hash } = await credential()
      const changed = {
        url: `${receiver.url}/new`,
        method: 'PUT',
        headers: [{ name: 'X-New', value: 'yes' }],
        credentialHash: hash,
      }
      expect((await json('PUT', `webhooks/${webhook.id}`, changed)).status).toBe(200)
      await due(delivery.id)
      await look(delivery.id)
      const [received] = await receiver.until(cameTo('/new'))
      expect(received?.method).toBe('PUT')
      expect(received?.headers).toMatchObject({
        'x-new': 'yes',
        authorization: expect.stringMatching(/^Basic /),
      })
      await waitFor('the delivery', async () => ((await statusOf(delivery.id)) === 'delivered' ? true : null))
      await remove(webhook)
    })

    test.each(['made inactive', 'deleted'])(
      'that is %s ends it as canceled, and its execution',
      async (how) => {
        const { webhook, delivery, execution } = await failing(`/${how.replace(' ', '-')}`)
        const response =
          how === 'deleted'
            ? await remove(webhook)
            : await json('PUT', `webhooks/${webhook.id}`, { url: webhook.url, status: 'inactive' })
        expect(response.status).toBeLessThan(300)
        // Shown at once, whenever its row follows.
        const { body: event } = await api.get<{ deliveries: object[] }>(`events/${delivery.event_id}`)
        expect(event.deliveries.filter((shown) => 'id' in shown && shown.id === delivery.id)).toMatchObject([
          { status: 'canceled', attempts: 1, nextAttemptTime: null },
        ])
        await waitFor('its end', async () => ((await statusOf(delivery.id)) === 'canceled' ? true : null))
        const handle = service.temporal.workflow.getHandle(execution)
        await waitFor('its execution', () => handle.describe().catch(() => null))
        // It would wait until its deadline otherwise.
        await look(delivery.id)
        await handle.result()
        if (how !== 'deleted') await remove(webhook)
      },
    )

    test('that is inactive for a moment ends what was on its way to it, and no more', async () => {
      const { webhook, delivery } = await failing('/toggled')
      receiver.respondWith(200)
      const put = (status: string) => json('PUT', `webhooks/${webhook.id}`, { url: webhook.url, status })
      expect((await put('inactive')).status).toBe(200)
      expect((await put('active')).status).toBe(200)
      const customer = await make('customers', {})
      await receiver.until(({ event, path }) => path === '/hooks/toggled' && event.customerId === customer.id)
      await waitFor('its end', async () => ((await statusOf(delivery.id)) === 'canceled' ? true : null))
      await remove(webhook)
    })

    test('that a racing event did not see still ends its delivery as canceled', async () => {
      const webhook = await hook('/raced', { status: 'inactive' })
      const gone = await hook('/gone', { status: 'inactive' })
      await remove(gone)
      await make('customers', {})
      const [event] = await sql<{ id: string }>('select id from events order by created_time desc limit 1')
      for (const [id, webhookId] of [
        ['dlv_raced', webhook.id],
        ['dlv_gone', gone.id],
      ]) {
        await sql(
          `insert into deliveries (organization_id, id, event_id, webhook_id, status, created_time)
           values (?, ?, ?, ?, 'waiting', now())`,
          [organizationId, id, event?.id, webhookId],
        )
        await waitFor('its end', async () => ((await statusOf(String(id))) === 'canceled' ? true : null))
      }
      expect(receiver.received.filter(({ path }) => /raced|gone/.test(path))).toEqual([])
    })
  })
})

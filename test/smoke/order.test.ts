import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { createVerifier } from '../../dev/verify-webhook.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

describe('an order, from the request to a verified webhook', () => {
  let service: TestService
  let receiver: Receiver
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService()
    receiver = await startReceiver()
    merchant = await catalogue(service, { webhook: receiver.url })
  })
  afterAll(async () => {
    await receiver.close()
    await service.stop()
  })

  const eventsOf = (orderId: string) => (one: Receiver['received'][number]) =>
    one.event.subscriptionId === orderId

  test('becomes active by itself, and each change arrives as an event in order', async () => {
    const created = await merchant.api.post('subscriptions', orderBody(merchant))
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({ status: 'pending', activationTime: null, revision: 1 })
    const id = String(created.body.id)
    expect(created.headers.get('location')).toBe(
      `${service.baseUrl}/organizations/${merchant.organizationId}/subscriptions/${id}`,
    )

    await receiver.until((one) => eventsOf(id)(one) && one.event.eventType === 'subscription-activated')
    const events = receiver.received.filter(eventsOf(id)).map(({ event }) => event)
    expect(events.map(({ eventType }) => eventType)).toEqual([
      'subscription-created',
      'subscription-activated',
    ])
    expect(events.map(({ _embedded }) => _embedded.subscription?.status)).toEqual(['pending', 'active'])
    expect(events.map(({ _embedded }) => _embedded.subscription?.revision)).toEqual([1, 2])

    const now = await merchant.api.get(`subscriptions/${id}`)
    expect(now.body).toMatchObject({ status: 'active', activationTime: created.body.startTime, revision: 2 })
    expect(now.headers.get('etag')).toBe('"2"')
  })

  test('starts at a startTime that lies ahead, not before', async () => {
    const startTime = new Date(Date.now() + 2_500).toISOString()
    const { body } = await merchant.api.post('subscriptions', orderBody(merchant, { startTime }))
    const [activated] = await receiver.until(
      (one) => eventsOf(String(body.id))(one) && one.event.eventType === 'subscription-activated',
    )
    expect(activated?.event.eventTime).toBe(startTime)
    expect(activated?.event._embedded.subscription?.activationTime).toBe(startTime)
    expect(activated?.at).toBeGreaterThanOrEqual(Date.parse(startTime))
  })

  test('is abandoned at an abandonTime before its start', async () => {
    const abandonTime = new Date(Date.now() + 1_500).toISOString()
    const startTime = new Date(Date.now() + 60_000).toISOString()
    const { body } = await merchant.api.post('subscriptions', orderBody(merchant, { startTime, abandonTime }))
    const [abandoned] = await receiver.until(
      (one) => eventsOf(String(body.id))(one) && one.event.eventType === 'order-abandoned',
    )
    expect(abandoned?.event.eventTime).toBe(abandonTime)
    const now = await merchant.api.get(`subscriptions/${body.id}`)
    expect(now.body).toMatchObject({ status: 'abandoned', activationTime: null })
  })

  test('is delivered with bytes that a receiver can verify, and with the headers of the contract', async () => {
    const verifier = createVerifier({
      issuer: `${service.baseUrl}/`,
      organizationId: merchant.organizationId,
    })
    const { body } = await merchant.api.post('subscriptions', orderBody(merchant))
    const [one] = await receiver.until(eventsOf(String(body.id)))
    if (one === undefined) throw new Error('unreachable')
    const signature = String(one.headers['security-signature'])
    await verifier.verify(signature, one.body)
    await expect(verifier.verify(signature, Buffer.concat([one.body, Buffer.from(' ')]))).rejects.toThrow(
      'body',
    )
    const stranger = createVerifier({ issuer: `${service.baseUrl}/`, organizationId: 'somebody-else' })
    await expect(stranger.verify(signature, one.body)).rejects.toThrow('aud')
    expect(one.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(one.headers['user-agent']).toMatch(/^Service\/[a-z0-9]{7}$/)
    expect(one.headers['webhook-id']).toBe(one.event.eventId)
  })

  test('is signed with the claims of the contract: who, for whom, when, for five minutes, and over which bytes', async () => {
    const { body } = await merchant.api.post('subscriptions', orderBody(merchant))
    const [one] = await receiver.until(eventsOf(String(body.id)))
    if (one === undefined) throw new Error('unreachable')
    const signature = String(one.headers['security-signature'])
    const { header, payload } = {
      header: decodeProtectedHeader(signature),
      payload: decodeJwt<{ iat: number }>(signature),
    }
    const published = await merchant.api.get<{ keys: { kid: string }[] }>('/.well-known/keys')
    expect(header).toMatchObject({ alg: 'RS256', kid: published.body.keys[0]?.kid })
    expect(payload).toEqual({
      iss: `${service.baseUrl}/`,
      aud: merchant.organizationId,
      iat: expect.any(Number),
      exp: payload.iat + 300,
      jti: expect.any(String),
      requestBodyHash: createHash('sha256').update(one.body).digest('hex'),
    })
    expect(Math.abs(payload.iat - one.at / 1_000)).toBeLessThan(10)
  })

  test('shows in Temporal as a workflow named after it, with labels for operators', async () => {
    const startTime = new Date(Date.now() + 3_600_000).toISOString()
    const { body } = await merchant.api.post('subscriptions', orderBody(merchant, { startTime }))
    const workflowId = `subscription/${merchant.organizationId}/${body.id}`
    const description = await waitFor('the labelled execution', async () => {
      const found = await service.temporal.workflow
        .getHandle(workflowId)
        .describe()
        .catch(() => null)
      return found?.typedSearchAttributes.getAll().some(({ key }) => key.name === 'BillingStatus')
        ? found
        : null
    })
    expect(description.type).toBe('subscription')
    expect(description.taskQueue).toBe(service.taskQueue)
    const attributes = Object.fromEntries(
      description.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]),
    )
    expect(attributes).toMatchObject({
      BillingOrganization: merchant.organizationId,
      BillingCustomer: merchant.customerId,
      BillingStatus: 'pending',
      BillingNextDeadline: new Date(startTime),
    })
  })
})

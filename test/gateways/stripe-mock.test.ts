/** stripe-mock refuses what Stripe's OpenAPI document does not know. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ulid } from 'ulid'
import { createStripeGateway, type StripeGateway } from '../../gateways/stripe.ts'
import { TEST_CARDS, TEST_CVV } from '../support/cards.ts'
import { startStripeMock } from '../support/stripe-mock.ts'

const SECRET_KEY = 'sk_test_123'

describe('the requests of the Stripe adapter', () => {
  let mock: Awaited<ReturnType<typeof startStripeMock>>
  let gateway: StripeGateway
  const calls: string[] = []
  beforeAll(async () => {
    mock = await startStripeMock()
    const host = { protocol: 'http', host: '127.0.0.1', port: mock.port } as const
    gateway = createStripeGateway({
      secretKey: SECRET_KEY,
      takesCards: true,
      descriptor: 'Example',
      returnUrl: 'https://billing.example.com/returned',
      host,
    })
  }, 600_000)
  afterAll(() => mock?.stop())

  const movement = (reference: string) => ({
    organizationId: 'org_mock',
    reference,
    requestId: ulid(),
    amount: '12.5',
    currency: 'EUR',
    customer: null,
  })

  test('are those of its document: store, charge, authorize, capture, void, abandon, refund, find, adopt, renew and probe', async () => {
    // Its responses are fixtures, so only refusals can be distinguished.
    const card = { pan: TEST_CARDS.approves, cvv: TEST_CVV, expMonth: 12, expYear: 2090 }
    const refusals: unknown[] = []
    const taken = async (call: () => Promise<unknown>) => {
      try {
        calls.push(JSON.stringify(await call()) ?? '')
      } catch (error) {
        if ((error as Error).name !== 'CardRefusedError') refusals.push(error)
      }
    }
    await taken(() => gateway.store('org_mock', card, ulid()))
    await taken(() => gateway.store('org_mock', card, ulid(), { isForPresentCustomer: true }))
    await taken(() => gateway.adopt('org_mock', 'pm_1'))
    await taken(() => gateway.renew('org_mock', 'cus_1/pm_1', { expMonth: 11, expYear: 2091 }))
    const charge = movement('cus_1/pm_1')
    await taken(() => gateway.charge(charge))
    await taken(() => gateway.charge({ ...charge, requestId: ulid(), customer: { returnUrl: null } }))
    await taken(() => gateway.abandon(charge, Date.now()))
    await taken(() => gateway.find({ kind: 'charge', charge }, Date.now()))
    const refund = { ...movement('cus_1/pm_1'), chargeRequestId: charge.requestId, chargeId: 'pi_1' }
    await taken(() => gateway.refund(refund))
    await taken(() => gateway.find({ kind: 'refund', refund }, Date.now()))
    await taken(() => gateway.authorize({ ...charge, requestId: ulid() }))
    const part = {
      ...movement('cus_1/pm_1'),
      authorizationRequestId: charge.requestId,
      authorizationId: 'pi_1',
    }
    await taken(() => gateway.capture(part))
    await taken(() => gateway.void(part))
    await taken(() => gateway.find({ kind: 'capture', capture: part }, Date.now()))
    await taken(() => gateway.probe())
    expect(refusals).toEqual([])
    expect(calls.join('\n')).not.toMatch(/parameter_unknown|invalid_request|"reason":"parameter/)
  })

  test('would be refused with a parameter that the document does not know', async () => {
    const response = await fetch(`http://127.0.0.1:${mock.port}/v1/payment_intents`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${SECRET_KEY}`, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'amount=100&currency=eur&colour=red',
    })
    expect(response.status).toBe(400)
  })
})

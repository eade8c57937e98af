/** Where Stripe fails: what is certain, what is not, and what `find` then finds. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type Stripe from 'stripe'
import { ulid } from 'ulid'
import { carryOut } from '../../gateways/movement.ts'
import {
  type Charge,
  CredentialsRefusedError,
  GatewayFailedError,
  type Movement,
  NotSentError,
} from '../../gateways/port.ts'
import {
  createStripeGateway,
  declineClassOf,
  resultOfIntent,
  type StripeGateway,
} from '../../gateways/stripe.ts'
import { TEST_CARDS, TEST_CVV } from '../support/cards.ts'
import { type ScriptedStripe, startScriptedStripe } from '../support/scripted-stripe.ts'
import { referenceIn } from '../support/stored-card.ts'

const SECRET_KEY = 'sk_test_scripted'
const ORGANIZATION = 'org_stripe'
const INTENT = /^POST \/v1\/payment_intents$/

describe('the Stripe adapter', () => {
  let provider: ScriptedStripe
  let gateway: StripeGateway
  const gatewayAt = (port: number, members: { secretKey?: string; takesCards?: boolean } = {}) =>
    createStripeGateway({
      secretKey: SECRET_KEY,
      takesCards: true,
      timeout: 3_000,
      returnUrl: 'https://billing.example.com/returned',
      host: { protocol: 'http', host: '127.0.0.1', port },
      ...members,
    })
  beforeAll(async () => {
    provider = await startScriptedStripe(SECRET_KEY)
    gateway = gatewayAt(provider.port)
  })
  afterAll(() => provider.close())

  const store = async (pan: string = TEST_CARDS.approves) =>
    referenceIn(
      await gateway.store(ORGANIZATION, { pan, cvv: TEST_CVV, expMonth: 12, expYear: 2090 }, ulid()),
    )
  const newCharge = async (members: Partial<Charge> = {}): Promise<Charge> => ({
    organizationId: ORGANIZATION,
    reference: members.reference ?? (await store()),
    requestId: ulid(),
    amount: '12.5',
    currency: 'EUR',
    customer: null,
    ...members,
  })
  const moved = ({ requestId }: Charge) =>
    provider.charges().filter(({ metadata }) => (metadata as { requestId?: string }).requestId === requestId)
      .length
  const find = (charge: Charge, since = Date.now() - 60_000) =>
    gateway.find({ kind: 'charge', charge }, since)
  /** Makes the charge as the service does: again until its outcome is known. */
  const resolved = async (charge: Charge, since = Date.now()) => {
    let isUnknown = false
    for (let asked = 0; asked < 5; asked += 1) {
      const pending = { movement: { kind: 'charge', charge }, since, isUnknown, isWanted: true } as const
      const outcome = await carryOut(gateway, pending, Date.now(), Date.now)
      if (outcome.result !== 'unknown') return outcome
      isUnknown = true
    }
    throw new Error('no outcome')
  }

  test.each([
    ['answers 500 after the money moved', { after: { status: 500, error: { type: 'api_error' } } }],
    ['says nothing after the money moved', { silent: 4_500 }],
  ] as const)('that %s: the outcome is unknown, is found, and the money moved once', async (_, fault) => {
    const charge = await newCharge()
    provider.fail(INTENT, fault)
    await expect(gateway.charge(charge)).rejects.not.toBeInstanceOf(NotSentError)
    expect(await find(charge)).toMatchObject({ result: 'approved' })
    expect(moved(charge)).toBe(1)
    const again = await newCharge()
    provider.fail(INTENT, fault)
    expect(await resolved(again)).toMatchObject({ result: 'approved' })
    expect(moved(again)).toBe(1)
  })

  test.each([
    ['capture', /^POST \/v1\/payment_intents\/\w+\/capture$/, 'succeeded'],
    ['void', /^POST \/v1\/payment_intents\/\w+\/cancel$/, 'canceled'],
  ] as const)(
    'finds the outcome of a %s whose response was lost, and makes it once',
    async (kind, request, status) => {
      const charge = await newCharge()
      const { id = null } = await gateway.authorize(charge)
      const part = {
        ...charge,
        requestId: ulid(),
        amount: '5',
        authorizationRequestId: charge.requestId,
        authorizationId: id,
      }
      const movement: Movement = kind === 'capture' ? { kind, capture: part } : { kind, release: part }
      const pending = { movement, since: Date.now(), isUnknown: false, isWanted: true }
      provider.fail(request, { after: { status: 500, error: { type: 'api_error' } } })
      expect(await carryOut(gateway, pending, Date.now(), Date.now)).toMatchObject({ result: 'unknown' })
      const asked = () => provider.requests().filter((one) => request.test(one)).length
      const before = asked()
      const again = { ...pending, isUnknown: true }
      expect(await carryOut(gateway, again, Date.now(), Date.now)).toMatchObject({ result: 'approved' })
      expect(asked()).toBe(before)
      expect(provider.intents().find((one) => one.id === id)).toMatchObject({ status })
    },
  )

  test('repeats by itself what a closed connection left open, under the same key', async () => {
    const charge = await newCharge()
    provider.fail(INTENT, { closes: true })
    expect(await gateway.charge(charge)).toMatchObject({ result: 'approved' })
    expect(moved(charge)).toBe(1)
  })

  test.each([
    ['429', { status: 429, error: { type: 'invalid_request_error', code: 'rate_limit' } }],
    ['401', { status: 401, error: { type: 'invalid_request_error', code: 'api_key_expired' } }],
    ['403', { status: 403, error: { type: 'invalid_request_error' } }],
  ] as const)('turned away with %s has certainly moved nothing, and is made later', async (_, before) => {
    const charge = await newCharge()
    provider.fail(INTENT, { before })
    await expect(gateway.charge(charge)).rejects.toBeInstanceOf(NotSentError)
    expect(moved(charge)).toBe(0)
    provider.fail(INTENT, { before })
    expect(await resolved(charge)).toMatchObject({ result: 'approved' })
    expect(moved(charge)).toBe(1)
  })

  test('whose first request under the key is still under way has no outcome yet', async () => {
    const charge = await newCharge()
    const error = { type: 'invalid_request_error', code: 'idempotency_key_in_use' }
    provider.fail(INTENT, { before: { status: 409, error } })
    await expect(gateway.charge(charge)).rejects.not.toBeInstanceOf(NotSentError)
    expect(await resolved(charge)).toMatchObject({ result: 'approved' })
  })

  test('that cannot be connected to has certainly moved nothing', async () => {
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    const charge = await newCharge()
    await expect(gatewayAt(port).charge(charge)).rejects.toBeInstanceOf(NotSentError)
  })

  test('does not take a failure that Stripe repeats under the key for an outcome', async () => {
    const charge = await newCharge()
    provider.fail(INTENT, { after: { status: 500, error: { type: 'api_error' } } })
    for (let asked = 0; asked < 3; asked += 1) await expect(gateway.charge(charge)).rejects.toThrow()
    expect(await find(charge)).toMatchObject({ result: 'approved' })
    expect(moved(charge)).toBe(1)
  })

  test('finds a charge behind many others of its customer, page by page', async () => {
    const charge = await newCharge()
    await gateway.charge(charge)
    provider.addIntents(charge.reference.split('/')[0] ?? '', 250)
    expect(await find(charge)).toMatchObject({ result: 'approved' })
    expect(await find({ ...charge, requestId: ulid() })).toBeNull()
  })

  test('looks only at what came since the movement got its request id', async () => {
    const charge = await newCharge()
    await gateway.charge(charge)
    expect(await find(charge, Date.now() + 3_600_000)).toBeNull()
  })

  test('after its idempotency window only looks up, and moves nothing', async () => {
    const charge = await newCharge()
    const since = Date.now() - 24 * 3_600_000
    const pending = { movement: { kind: 'charge', charge }, since, isUnknown: true, isWanted: true } as const
    expect(await carryOut(gateway, pending, Date.now(), Date.now)).toMatchObject({ result: 'canceled' })
    expect(moved(charge)).toBe(0)
  })

  test.each([
    ['4000000000009987', 'lost-or-stolen'],
    ['4000000000000069', 'hard'],
    ['4000002760003184', 'needs-action'],
  ])('declines the card %s as %s', async (pan, decline) => {
    const charge = await newCharge({ reference: await store(pan) })
    const result = await gateway.charge(charge)
    expect(result).toMatchObject({ result: 'declined', decline, id: expect.stringMatching(/^pi_/) })
    expect(result.raw).not.toContain(pan)
  })

  test.each([
    ['resource_missing', 'hard'],
    ['amount_too_small', 'amount'],
    ['payment_method_unexpected_state', 'hard'],
    ['testmode_charges_only', 'soft'],
    ['parameter_unknown', 'soft'],
    [undefined, 'soft'],
  ])('refused with %s before a bank was asked, is declined as %s', async (code, decline) => {
    const charge = await newCharge()
    const error = { type: 'invalid_request_error', code }
    provider.fail(INTENT, { before: { status: 400, error } })
    expect(await gateway.charge(charge)).toMatchObject({ result: 'declined', decline })
    expect(moved(charge)).toBe(0)
  })

  test('says nothing of an intent that no bank has been asked about yet', () => {
    const intent = { id: 'pi_1', status: 'requires_payment_method', last_payment_error: null }
    expect(resultOfIntent(intent as unknown as Stripe.PaymentIntent)).toMatchObject({
      result: 'unknown',
      id: 'pi_1',
    })
  })

  test('counts amounts in minor units of the currency', async () => {
    const amounts = async (amount: string, currency: string) => {
      const charge = await newCharge({ amount, currency })
      const { result, raw } = await gateway.charge(charge)
      const [intent] = provider
        .charges()
        .filter(({ metadata }) => (metadata as { requestId?: string }).requestId === charge.requestId)
      return intent === undefined ? [result, JSON.parse(raw).reason] : [intent.amount, intent.currency]
    }
    expect(await amounts('12.5', 'EUR')).toEqual([1250, 'eur'])
    expect(await amounts('1250', 'JPY')).toEqual([1250, 'jpy'])
    expect(await amounts('12.5', 'KWD')).toEqual([12500, 'kwd'])
    expect(await amounts('500', 'ISK')).toEqual([50000, 'isk'])
    expect(await amounts('12.345', 'KWD')).toEqual(['declined', 'amount-not-representable'])
    const odd = await newCharge({ amount: '12.345', currency: 'KWD' })
    expect(await gateway.charge(odd)).toMatchObject({ result: 'declined', decline: 'amount' })
    expect(await amounts('0.1', 'EUR')).toEqual(['declined', 'amount_too_small'])
  })

  test('takes no card numbers where the merchant has not enabled them', async () => {
    const browserOnly = gatewayAt(provider.port, { takesCards: false })
    const before = provider.requests().length
    const card = { pan: TEST_CARDS.approves, cvv: null, expMonth: 12, expYear: 2090 }
    expect(await browserOnly.store(ORGANIZATION, card, ulid())).toEqual({ refusal: expect.any(String) })
    expect(provider.requests().length).toBe(before)
  })

  test('takes over a payment method of the provider’s own form, and charges it', async () => {
    const [, paymentMethod = ''] = (await store()).split('/')
    const adopted = await gateway.adopt(ORGANIZATION, paymentMethod)
    if ('refusal' in adopted) throw new Error(adopted.refusal)
    expect(adopted).toMatchObject({ last4: '1111', brand: 'Visa', expMonth: 12, expYear: 2090 })
    const charge = await newCharge({ reference: adopted.reference })
    expect(await gateway.charge(charge)).toMatchObject({ result: 'approved' })
    expect(await gateway.adopt(ORGANIZATION, 'pm_none')).toEqual({ refusal: expect.any(String) })
  })

  test('refuses a payment method that Stripe never stores, and no other', async () => {
    const adopted = (status: number, error: object) => {
      provider.fail(/^POST \/v1\/setup_intents$/, { before: { status, error } })
      return gateway.adopt(ORGANIZATION, provider.addPaymentMethod(TEST_CARDS.approves))
    }
    // It was used before without a customer.
    const invalid = { type: 'invalid_request_error', message: 'It may not be used again.' }
    expect(await adopted(400, invalid)).toEqual({ refusal: 'The provider does not store this card.' })
    const underWay = { ...invalid, code: 'idempotency_key_in_use' }
    await expect(adopted(409, underWay)).rejects.toThrow(GatewayFailedError)
    await expect(adopted(500, { type: 'api_error' })).rejects.toThrow(GatewayFailedError)
  })

  test('tells wrong credentials by a probe, and no failure contains a secret', async () => {
    await gateway.probe()
    const wrong = gatewayAt(provider.port, { secretKey: 'sk_test_wrong' })
    const failure = await wrong.probe().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(CredentialsRefusedError)
    expect(String(failure)).not.toContain('sk_test')
    const card = { pan: TEST_CARDS.approves, cvv: TEST_CVV, expMonth: 12, expYear: 2090 }
    const refused = await wrong.store(ORGANIZATION, card, ulid()).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(GatewayFailedError)
    expect(JSON.stringify(refused, Object.getOwnPropertyNames(refused))).not.toMatch(/sk_test|4111/)
  })

  test.each([
    ['generic_decline', 'soft'],
    ['try_again_later', 'soft'],
    ['a_code_of_tomorrow', 'soft'],
    ['stolen_card', 'lost-or-stolen'],
    ['do_not_try_again', 'hard'],
  ])('classes %s as %s', (code, decline) => {
    expect(declineClassOf(code)).toBe(decline)
  })
})

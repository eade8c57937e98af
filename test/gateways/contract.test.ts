/** What the service relies on, whichever adapter moves the money. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ulid } from 'ulid'
import { createGateway } from '../../gateways/gateways.ts'
import type { Charge, Gateway, OfAuthorization, Refund } from '../../gateways/port.ts'
import { createStripeGateway } from '../../gateways/stripe.ts'
import { TEST_CARDS, TEST_CVV } from '../support/cards.ts'
import { startScriptedStripe } from '../support/scripted-stripe.ts'
import { startService } from '../support/service.ts'
import { referenceIn } from '../support/stored-card.ts'

const ORGANIZATION = 'org_port'
const SECRET_KEY = 'sk_test_scripted'

interface Adapter {
  readonly gateway: Gateway
  /** The amounts that have moved under a request id, by the provider's own books. */
  moved(requestId: string): Promise<number[]>
  /** A payment method that the provider's own form has made. */
  formMade(): Promise<string>
  answer(approvalUrl: string, approves: boolean): Promise<void>
  close(): Promise<void>
}

const ADAPTERS: Readonly<Record<string, () => Promise<Adapter>>> = {
  async 'the test gateway'() {
    const service = await startService({ worker: false })
    const gateway = createGateway('sandbox', service.databaseUrl, service.baseUrl)
    return {
      gateway,
      async moved(requestId) {
        const rows = await service.database.orm.em
          .fork()
          .getConnection()
          .execute<{ amount: number }[]>(
            `select amount::float8 as amount from test_gateway.ledger where request_id = ? and result = 'approved'
               and kind in ('charge', 'capture', 'refund')`,
            [requestId],
          )
        return rows.map(({ amount }) => amount)
      },
      formMade: async () => 'pm_card_visa',
      async answer(approvalUrl, approves) {
        const page = `${approvalUrl}/${approves ? 'approve' : 'refuse'}`
        expect((await fetch(page, { method: 'POST', redirect: 'manual' })).status).toBe(303)
      },
      async close() {
        await gateway.close()
        await service.stop()
      },
    }
  },
  async Stripe() {
    const provider = await startScriptedStripe(SECRET_KEY)
    const host = { protocol: 'http', host: '127.0.0.1', port: provider.port } as const
    return {
      gateway: createStripeGateway({
        secretKey: SECRET_KEY,
        takesCards: true,
        returnUrl: 'https://billing.example.com/returned',
        host,
      }),
      moved: async (requestId) =>
        [...provider.charges(), ...provider.refunds()]
          .filter(({ metadata }) => {
            const { requestId: charged, captureRequestId = charged } = metadata as Record<string, string>
            return captureRequestId === requestId
          })
          .map(({ amount, amount_received: captured = amount }) => Number(captured) / 100),
      formMade: async () => provider.addPaymentMethod(TEST_CARDS.approves),
      answer: async (approvalUrl, approves) => provider.answer(approvalUrl, approves),
      close: () => provider.close(),
    }
  },
}

describe.each(Object.keys(ADAPTERS))('%s, behind the gateway port,', (name) => {
  let adapter: Adapter
  beforeAll(async () => {
    const start = ADAPTERS[name]
    if (start === undefined) throw new Error(`no adapter ${name}`)
    adapter = await start()
  })
  afterAll(() => adapter?.close())

  const since = Date.now() - 60_000
  const store = async (
    pan: string = TEST_CARDS.approves,
    { requestId = ulid(), isForPresentCustomer = false } = {},
  ) =>
    referenceIn(
      await adapter.gateway.store(
        ORGANIZATION,
        { pan, cvv: TEST_CVV, expMonth: 12, expYear: 2090 },
        requestId,
        { isForPresentCustomer },
      ),
    )
  const chargeOf = (reference: string, requestId = ulid(), members: Partial<Charge> = {}): Charge => ({
    organizationId: ORGANIZATION,
    reference,
    requestId,
    amount: '12.5',
    currency: 'EUR',
    customer: null,
    ...members,
  })
  const refundOf = (charge: Charge, chargeId: string | null, members: Partial<Refund> = {}): Refund => ({
    ...charge,
    requestId: ulid(),
    chargeRequestId: charge.requestId,
    chargeId,
    ...members,
  })

  test('store keeps a card and gives the reference that charges it, which says nothing of the card', async () => {
    const reference = await store()
    expect(reference).not.toContain(TEST_CARDS.approves.slice(0, 6))
    expect(await adapter.gateway.charge(chargeOf(reference))).toMatchObject({ result: 'approved' })
  })

  test('store keeps a card once under a request id', async () => {
    const requestId = ulid()
    expect(await store(TEST_CARDS.approves, { requestId })).toBe(
      await store(TEST_CARDS.approves, { requestId }),
    )
  })

  test('adopt takes over what the form of the provider made, however often, and refuses what it did not', async () => {
    const paymentMethod = await adapter.formMade()
    const card = await adapter.gateway.adopt(ORGANIZATION, paymentMethod)
    expect(card).toMatchObject({ last4: '1111', brand: 'Visa', expMonth: 12, expYear: 2090 })
    const again = await adapter.gateway.adopt(ORGANIZATION, paymentMethod)
    expect(again).toEqual(card)
    expect(await adapter.gateway.charge(chargeOf(referenceIn(again)))).toMatchObject({ result: 'approved' })
    expect(await adapter.gateway.adopt(ORGANIZATION, 'pm_none')).toEqual({ refusal: expect.any(String) })
  })

  test('renew takes the new expiry of a card, however often, which is charged as before', async () => {
    const reference = await store()
    for (const expYear of [2091, 2091, 2092])
      expect(await adapter.gateway.renew(ORGANIZATION, reference, { expMonth: 11, expYear })).toBeNull()
    expect(await adapter.gateway.charge(chargeOf(reference))).toMatchObject({ result: 'approved' })
  })

  test('charge moves the money once under a request id, and repeats its outcome', async () => {
    const charge = chargeOf(await store())
    const first = await adapter.gateway.charge(charge)
    expect(first).toMatchObject({ result: 'approved', raw: expect.any(String), id: expect.any(String) })
    const others = await Promise.all(Array.from({ length: 5 }, () => adapter.gateway.charge(charge)))
    expect(others.map(({ result, id }) => [result, id])).toEqual(Array(5).fill(['approved', first.id]))
    expect(await adapter.moved(charge.requestId)).toEqual([12.5])
  })

  test('tells a decline with its class, and again when it is asked again', async () => {
    for (const [pan, decline] of [
      [TEST_CARDS.declines, 'soft'],
      [TEST_CARDS.lacksFunds, 'insufficient-funds'],
      [TEST_CARDS.expired, 'hard'],
      [TEST_CARDS.lost, 'lost-or-stolen'],
      [TEST_CARDS.stolen, 'lost-or-stolen'],
      [TEST_CARDS.asksAlways, 'needs-action'],
    ] as const) {
      const charge = chargeOf(await store(pan))
      expect(await adapter.gateway.charge(charge)).toMatchObject({ result: 'declined', decline })
      expect(await adapter.gateway.charge(charge)).toMatchObject({ result: 'declined', decline })
      expect(await adapter.gateway.find({ kind: 'charge', charge }, since)).toMatchObject({
        result: 'declined',
        decline,
      })
      expect(await adapter.moved(charge.requestId)).toEqual([])
    }
  })

  describe('where the bank asks the customer', () => {
    const present = { returnUrl: 'https://shop.example.com/thanks' }
    const waiting = async () => {
      const reference = await store(TEST_CARDS.asksIfPresent, { isForPresentCustomer: true })
      const charge = chargeOf(reference, ulid(), { customer: present })
      const { result, approvalUrl } = await adapter.gateway.charge(charge)
      expect([result, approvalUrl]).toEqual(['unknown', expect.stringMatching(/^https?:/)])
      return { charge, approvalUrl: approvalUrl ?? '' }
    }
    const find = (charge: Charge) => adapter.gateway.find({ kind: 'charge', charge }, since)

    test('charge waits for the customer, and moves the money once it is approved', async () => {
      const { charge, approvalUrl } = await waiting()
      expect(await adapter.moved(charge.requestId)).toEqual([])
      expect(await find(charge)).toMatchObject({ result: 'unknown', approvalUrl })
      await adapter.answer(approvalUrl, true)
      expect(await find(charge)).toMatchObject({ result: 'approved', id: expect.any(String) })
      expect(await adapter.moved(charge.requestId)).toEqual([12.5])
    })

    test('a refusal is a decline that needs action, and moves nothing', async () => {
      const { charge, approvalUrl } = await waiting()
      await adapter.answer(approvalUrl, false)
      expect(await find(charge)).toMatchObject({ result: 'declined', decline: 'needs-action' })
      expect(await adapter.moved(charge.requestId)).toEqual([])
    })

    test('abandon ends the wait for good, unless the customer was faster', async () => {
      const { charge, approvalUrl } = await waiting()
      const abandoned = { result: 'declined', decline: null, isAbandoned: true }
      expect(await adapter.gateway.abandon(charge, since)).toMatchObject(abandoned)
      await adapter.answer(approvalUrl, true)
      expect(await find(charge)).toMatchObject(abandoned)
      expect(await adapter.moved(charge.requestId)).toEqual([])
      const answered = await waiting()
      await adapter.answer(answered.approvalUrl, true)
      expect(await adapter.gateway.abandon(answered.charge, since)).toMatchObject({ result: 'approved' })
      expect(await adapter.gateway.abandon(chargeOf(charge.reference), since)).toBeNull()
    })

    test('abandon leaves a refusal what it is', async () => {
      const { charge, approvalUrl } = await waiting()
      await adapter.answer(approvalUrl, false)
      for (const told of [await adapter.gateway.abandon(charge, since), await find(charge)]) {
        expect(told).toMatchObject({ result: 'declined', decline: 'needs-action' })
        expect(told).not.toHaveProperty('isAbandoned', true)
      }
    })

    test('a charge off session waits for nobody', async () => {
      const charge = chargeOf(await store(TEST_CARDS.asksIfPresent))
      expect(await adapter.gateway.charge(charge)).toMatchObject({ result: 'approved' })
    })
  })

  describe('that authorizes', () => {
    const authorized = async (members: Partial<Charge> = {}) => {
      const charge = chargeOf(await store(), ulid(), members)
      const { id = null, ...result } = await adapter.gateway.authorize(charge)
      expect(result).toMatchObject({ result: 'approved' })
      return { charge, id }
    }
    const partOf = (charge: Charge, id: string | null, amount = '5'): OfAuthorization => ({
      ...charge,
      requestId: ulid(),
      amount,
      authorizationRequestId: charge.requestId,
      authorizationId: id,
    })
    const capture = (part: OfAuthorization) => adapter.gateway.capture(part)
    const findCapture = (part: OfAuthorization) =>
      adapter.gateway.find({ kind: 'capture', capture: part }, since)
    const findVoid = (part: OfAuthorization) => adapter.gateway.find({ kind: 'void', release: part }, since)

    test('holds the money once under a request id, says until when, and takes none', async () => {
      const charge = chargeOf(await store())
      const first = await adapter.gateway.authorize(charge)
      expect(first).toMatchObject({ result: 'approved', id: expect.any(String) })
      expect(Number(first.expiryTime) - Date.now()).toBeGreaterThan(24 * 3_600_000)
      expect(await adapter.gateway.authorize(charge)).toMatchObject({ result: 'approved', id: first.id })
      expect(await adapter.gateway.find({ kind: 'authorize', charge }, since)).toMatchObject({
        result: 'approved',
        id: first.id,
        expiryTime: first.expiryTime,
      })
      expect(await adapter.moved(charge.requestId)).toEqual([])
    })

    test('declines as a charge does, and waits for a present customer as a charge does', async () => {
      const refused = chargeOf(await store(TEST_CARDS.declines))
      expect(await adapter.gateway.authorize(refused)).toMatchObject({ result: 'declined', decline: 'soft' })
      const reference = await store(TEST_CARDS.asksIfPresent, { isForPresentCustomer: true })
      const charge = chargeOf(reference, ulid(), { customer: { returnUrl: null } })
      const { result, approvalUrl } = await adapter.gateway.authorize(charge)
      expect(result).toBe('unknown')
      await adapter.answer(approvalUrl ?? '', true)
      const found = await adapter.gateway.find({ kind: 'authorize', charge }, since)
      expect(found).toMatchObject({ result: 'approved' })
      const part = partOf(charge, found?.id ?? null)
      expect(await capture(part)).toMatchObject({ result: 'approved' })
      expect(await adapter.moved(part.requestId)).toEqual([5])
    })

    test('captures a part of it once under a request id, by its id or by its request id', async () => {
      for (const isKnown of [true, false]) {
        const { charge, id } = await authorized()
        const part = partOf(charge, isKnown ? id : null)
        expect(await findCapture(part)).toBeNull()
        const answers = [await capture(part), await capture(part)]
        expect(answers.map(({ result }) => result)).toEqual(['approved', 'approved'])
        expect(await findCapture(part)).toMatchObject({ result: 'approved', id: answers[0]?.id })
        expect(await adapter.moved(part.requestId)).toEqual([5])
      }
    })

    test('captures no more than it holds, and only once', async () => {
      const { charge, id } = await authorized()
      const over = partOf(charge, id, '12.51')
      expect(await capture(over)).toMatchObject({ result: 'declined', decline: 'amount' })
      expect(await capture(partOf(charge, id))).toMatchObject({ result: 'approved' })
      const second = partOf(charge, id)
      expect(await capture(second)).toMatchObject({ result: 'declined', decline: 'hard' })
      for (const { requestId } of [over, second]) expect(await adapter.moved(requestId)).toEqual([])
      expect(await findCapture(second)).toMatchObject({ result: 'declined' })
    })

    test('refunds what was captured, by its id or by its request id', async () => {
      const { charge, id } = await authorized()
      const part = partOf(charge, id)
      const captured = await capture(part)
      for (const chargeId of [captured.id ?? null, null]) {
        const refund = refundOf({ ...charge, requestId: part.requestId }, chargeId, { amount: '2' })
        expect(await adapter.gateway.refund(refund)).toMatchObject({ result: 'approved' })
        expect(await adapter.moved(refund.requestId)).toEqual([2])
      }
      const over = refundOf({ ...charge, requestId: part.requestId }, captured.id ?? null, { amount: '2' })
      expect(await adapter.gateway.refund(over)).toMatchObject({ result: 'declined' })
    })

    test('voids what was not captured, however often, and takes nothing of it afterwards', async () => {
      const { charge, id } = await authorized()
      const release = partOf(charge, id, charge.amount)
      expect(await findVoid(release)).toBeNull()
      expect(await adapter.gateway.void(release)).toMatchObject({ result: 'approved' })
      expect(await adapter.gateway.void(release)).toMatchObject({ result: 'approved' })
      expect(await findVoid(release)).toMatchObject({ result: 'approved' })
      const late = partOf(charge, id)
      expect(await capture(late)).toMatchObject({ result: 'declined', decline: 'hard' })
      expect(await adapter.moved(late.requestId)).toEqual([])
      const taken = await authorized()
      await capture(partOf(taken.charge, taken.id))
      expect(await adapter.gateway.void(partOf(taken.charge, taken.id))).toMatchObject({ result: 'declined' })
    })
  })

  test('declines a reference that it does not know for good, and moves nothing', async () => {
    const charge = chargeOf('cus_none/pm_none')
    expect(await adapter.gateway.charge(charge)).toMatchObject({ result: 'declined', decline: 'hard' })
    expect(await adapter.moved(charge.requestId)).toEqual([])
  })

  test('refund gives a charge back once under a request id, by its id or by its request id', async () => {
    const charge = chargeOf(await store())
    const { id } = await adapter.gateway.charge(charge)
    for (const chargeId of [id ?? null, null]) {
      const refund = refundOf(charge, chargeId, { amount: '5' })
      const answers = [await adapter.gateway.refund(refund), await adapter.gateway.refund(refund)]
      expect(answers.map(({ result }) => result)).toEqual(['approved', 'approved'])
      expect(await adapter.moved(refund.requestId)).toEqual([5])
      expect(await adapter.gateway.find({ kind: 'refund', refund }, since)).toMatchObject({
        result: 'approved',
      })
    }
  })

  test('refund returns no more than was charged', async () => {
    const charge = chargeOf(await store())
    const { id = null } = await adapter.gateway.charge(charge)
    expect(await adapter.gateway.refund(refundOf(charge, id, { amount: '10' }))).toMatchObject({
      result: 'approved',
    })
    const second = refundOf(charge, id, { amount: '10' })
    expect(await adapter.gateway.refund(second)).toMatchObject({ result: 'declined', decline: 'hard' })
    expect(await adapter.moved(second.requestId)).toEqual([])
  })

  test('find moves nothing, and knows nothing of what it never got', async () => {
    const charge = chargeOf(await store())
    expect(await adapter.gateway.find({ kind: 'charge', charge }, since)).toBeNull()
    expect(await adapter.moved(charge.requestId)).toEqual([])
    const refund = refundOf(charge, null)
    expect(await adapter.gateway.find({ kind: 'refund', refund }, since)).toBeNull()
    await adapter.gateway.charge(charge)
    expect(await adapter.gateway.find({ kind: 'refund', refund }, since)).toBeNull()
    const foreign = { ...charge, organizationId: 'org_other' }
    expect(await adapter.gateway.find({ kind: 'charge', charge: foreign }, since)).toBeNull()
  })

  test('names itself, and promises at least an hour in which a repetition moves nothing', () => {
    expect(adapter.gateway.name).toMatch(/^\w+$/)
    expect(adapter.gateway.idempotencyWindow).toBeGreaterThanOrEqual(3_600_000)
  })
})

describe('the test gateway', () => {
  test('an answer that is not known at first is found under the same request id later', async () => {
    const adapter = await ADAPTERS['the test gateway']?.()
    if (adapter === undefined) throw new Error('no test gateway')
    try {
      const { gateway } = adapter
      const card = { pan: TEST_CARDS.answersLate, cvv: null, expMonth: 12, expYear: 2090 }
      const reference = referenceIn(await gateway.store(ORGANIZATION, card, ulid()))
      const charge = {
        organizationId: ORGANIZATION,
        reference,
        requestId: ulid(),
        amount: '12.5',
        currency: 'EUR',
        customer: null,
      }
      expect(await gateway.charge(charge)).toMatchObject({ result: 'unknown' })
      expect(await gateway.find({ kind: 'charge', charge }, 0)).toMatchObject({ result: 'approved' })
      expect(await gateway.charge(charge)).toMatchObject({ result: 'approved' })
      expect(await adapter.moved(charge.requestId)).toEqual([12.5])
    } finally {
      await adapter.close()
    }
  })
})

/** Random sequences against a provider that fails as Stripe can: what it took is what the service believes. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { ulid } from 'ulid'
import { carryOut, type MovementOutcome } from '../../gateways/movement.ts'
import { type Movement, requestOf } from '../../gateways/port.ts'
import { createStripeGateway, type StripeGateway } from '../../gateways/stripe.ts'
import { TEST_CARDS, TEST_CVV } from '../support/cards.ts'
import fc from '../support/fast-check.ts'
import { type Fault, type ScriptedStripe, startScriptedStripe } from '../support/scripted-stripe.ts'
import { referenceIn } from '../support/stored-card.ts'

const SECRET_KEY = 'sk_test_scripted'
const ORGANIZATION = 'org_sequences'
/** Milliseconds. Silence is longer. */
const TIMEOUT = 150
const MOVES = /^POST \/v1\/(payment_intents|refunds)/

const ERROR = { type: 'api_error' }
const FAULTS: Readonly<Record<string, Fault>> = {
  'a 500 before': { before: { status: 500, error: ERROR } },
  'a 500 after': { after: { status: 500, error: ERROR } },
  'a 503 after': { after: { status: 503, error: ERROR } },
  'a 429': { before: { status: 429, error: { type: 'invalid_request_error', code: 'rate_limit' } } },
  'a 409': { before: { status: 409, error: { type: 'idempotency_error', code: 'idempotency_key_in_use' } } },
  silence: { silent: 2 * TIMEOUT },
  'a closed connection': { closes: true },
}

let provider: ScriptedStripe
let gateway: StripeGateway
let cards: Readonly<Record<'good' | 'bad', string>>
beforeAll(async () => {
  provider = await startScriptedStripe(SECRET_KEY)
  gateway = createStripeGateway({
    secretKey: SECRET_KEY,
    takesCards: true,
    timeout: TIMEOUT,
    returnUrl: 'https://billing.example.com/returned',
    host: { protocol: 'http', host: '127.0.0.1', port: provider.port },
  })
  const store = async (pan: string) =>
    referenceIn(
      await gateway.store(ORGANIZATION, { pan, cvv: TEST_CVV, expMonth: 12, expYear: 2090 }, ulid()),
    )
  cards = { good: await store(TEST_CARDS.approves), bad: await store(TEST_CARDS.declines) }
})
afterAll(() => provider.close())

/** Makes a movement as the service does, by several callers at once, until its outcome is known. */
async function untilKnown(movement: Movement, callers: number): Promise<MovementOutcome> {
  const since = Date.now()
  let isUnknown = false
  for (let asked = 0; asked < 12; asked += 1) {
    const pending = { movement, since, isUnknown, isWanted: true }
    const outcomes = await Promise.all(
      Array.from({ length: callers }, () => carryOut(gateway, pending, Date.now(), Date.now)),
    )
    const known = outcomes.filter(({ result }) => result !== 'unknown')
    expect(new Set(known.map(({ result }) => result)).size).toBeLessThanOrEqual(1)
    if (known[0] !== undefined) return known[0]
    isUnknown = true
  }
  // Stripe repeats a failure under its key. After the window nothing is sent any more, and find decides.
  const late = { movement, since: since - gateway.idempotencyWindow, isUnknown, isWanted: true }
  return await carryOut(gateway, late, Date.now(), Date.now)
}

/** `canceled`: what Stripe turned away with a failure that hides the reason is known never to have been made. */
function expectOutcome(result: string, isPossible: boolean): void {
  if (isPossible) expect(result).toBe('approved')
  else expect(['declined', 'canceled']).toContain(result)
}

const step = fc.record({
  kind: fc.constantFrom('charge', 'authorize', 'capture', 'capture', 'void', 'refund', 'refund', 'refund'),
  card: fc.constantFrom<'good' | 'bad'>('good', 'good', 'good', 'bad'),
  /** In cents. */
  amount: fc.integer({ min: 50, max: 2_000 }),
  /** Which of the payments so far a capture, void or refund is of. */
  of: fc.nat(),
  faults: fc.array(fc.constantFrom(...Object.keys(FAULTS)), { maxLength: 3 }),
  callers: fc.integer({ min: 1, max: 2 }),
})

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never
const undisturbed = (kind: Step['kind'], of = 0): Step => ({
  kind,
  of,
  card: 'good',
  amount: 500,
  faults: [],
  callers: 1,
})
/** Has each outcome that the test asks for at its end, whatever else is tried. */
const ORDINARY = [
  undisturbed('charge'),
  undisturbed('refund'),
  undisturbed('authorize'),
  undisturbed('capture', 1),
]

interface Payment {
  readonly charge: { readonly requestId: string; readonly cents: number; readonly reference: string }
  readonly intent: string | null
  /** The request id of what has taken the money; null: it is only held. */
  takenBy: string | null
  isOver: boolean
  taken: number
  refunded: number
}

test('whatever fails, nothing is charged or refunded twice, and nothing is lost', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 8 }), async (steps) => {
      const before = { charges: provider.charges().length, refunds: provider.refunds().length }
      const payments: Payment[] = []
      for (const { kind, card, amount: given, of, faults, callers } of steps) {
        const requestId = ulid()
        const shared = { organizationId: ORGANIZATION, requestId, currency: 'EUR' }
        const isNew = kind === 'charge' || kind === 'authorize'
        const cents = isNew ? given : Math.ceil(given / 2)
        const amount = String(cents / 100)
        for (const fault of faults) provider.fail(MOVES, FAULTS[fault] as Fault)
        if (isNew) {
          const reference = cards[card]
          const charge = { ...shared, amount, reference, customer: null }
          const { result, id = null } = await untilKnown({ kind, charge }, callers)
          expectOutcome(result, card === 'good')
          seen.add(`${kind} ${result}`)
          if (result !== 'approved') continue
          const isTaken = kind === 'charge'
          payments.push({
            charge: { requestId, cents, reference },
            intent: of % 2 === 0 ? id : null,
            takenBy: isTaken ? requestId : null,
            isOver: isTaken,
            taken: isTaken ? cents : 0,
            refunded: 0,
          })
          continue
        }
        const payment = payments[of % Math.max(1, payments.length)]
        if (payment === undefined) continue
        const { charge, intent, takenBy } = payment
        const request = { ...shared, amount, reference: charge.reference }
        if (kind === 'refund') {
          if (takenBy === null) continue
          const refund = { ...request, chargeRequestId: takenBy, chargeId: intent }
          const { result } = await untilKnown({ kind, refund }, callers)
          expectOutcome(result, payment.refunded + cents <= payment.taken)
          seen.add(`${kind} ${result}`)
          if (result === 'approved') payment.refunded += cents
          continue
        }
        const part = { ...request, authorizationRequestId: charge.requestId, authorizationId: intent }
        const movement: Movement = kind === 'capture' ? { kind, capture: part } : { kind, release: part }
        const { result } = await untilKnown(movement, callers)
        // A void of what was voided is approved again: nothing is held.
        const isPossible =
          kind === 'capture'
            ? !payment.isOver && cents <= charge.cents
            : !payment.isOver || payment.takenBy === null
        expectOutcome(result, isPossible)
        seen.add(`${kind} ${result}`)
        if (result !== 'approved') continue
        payment.isOver = true
        if (kind === 'capture')
          Object.assign(payment, { takenBy: requestOf(movement).requestId, taken: cents })
      }
      const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
      const moved = provider.charges().slice(0, provider.charges().length - before.charges)
      const returned = provider.refunds().slice(0, provider.refunds().length - before.refunds)
      const centsOf = (one: Record<string, unknown>) => Number(one.amount_received ?? one.amount)
      expect(sum(moved.map(centsOf))).toBe(sum(payments.map(({ taken }) => taken)))
      expect(sum(returned.map(centsOf))).toBe(sum(payments.map(({ refunded }) => refunded)))
      for (const { requestId } of payments.map(({ charge }) => charge)) {
        const intents = provider
          .intents()
          .filter(({ metadata }) => (metadata as { requestId?: string }).requestId === requestId)
        expect(intents).toHaveLength(1)
      }
    }),
    { numRuns: 15, endOnFailure: true, examples: [[ORDINARY]] },
  )
  expect([...seen].toSorted()).toEqual(
    expect.arrayContaining(['capture approved', 'charge approved', 'refund approved']),
  )
}, 120_000)

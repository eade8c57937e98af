/** Whatever the signed body says, it is read, set aside or refused. */
import { describe, expect, test } from '@jest/globals'
import { NotificationRefusedError } from '../../gateways/port.ts'
import { readStripeNotification } from '../../gateways/stripe-notifications.ts'
import fc from '../support/fast-check.ts'
import { stripeDispute, stripeEvent, stripeSignature } from '../support/stripe-events.ts'

const SECRET = 'whsec_of_the_reader'
const ORGANIZATION = 'org_reader'

function read(event: unknown, { receivedTime = Date.now() } = {}) {
  const body = JSON.stringify(event)
  return readStripeNotification(ORGANIZATION, SECRET, {
    body: Buffer.from(body),
    header: (name) => (name === 'Stripe-Signature' ? stripeSignature(body, SECRET) : ''),
    receivedTime,
  })
}

const INTENT = {
  id: 'pi_1',
  status: 'succeeded',
  amount: 1250,
  amount_received: 500,
  currency: 'eur',
  metadata: { organizationId: ORGANIZATION, requestId: 'sub_1.1.1' },
}
const OBJECTS: Readonly<Record<string, object>> = {
  'payment_intent.succeeded': INTENT,
  'payment_intent.amount_capturable_updated': { ...INTENT, status: 'requires_capture' },
  'payment_intent.canceled': { ...INTENT, status: 'canceled', cancellation_reason: 'automatic' },
  'payment_intent.payment_failed': {
    ...INTENT,
    status: 'requires_payment_method',
    last_payment_error: { code: 'card_declined', decline_code: 'lost_card' },
  },
  'refund.created': {
    id: 're_1',
    payment_intent: 'pi_1',
    amount: 1234,
    currency: 'jpy',
    status: 'succeeded',
    metadata: null,
  },
  'charge.dispute.created': stripeDispute('pi_1'),
  'payment_method.automatically_updated': {
    id: 'pm_1',
    customer: 'cus_1',
    card: { last4: '4242', exp_month: 3, exp_year: 2031, fingerprint: 'x' },
    billing_details: { name: 'Grace Hopper' },
  },
}

describe("an event of Stripe's", () => {
  test.each([
    [
      'payment_intent.succeeded',
      { kind: 'charge', requestId: 'sub_1.1.1', outcome: { result: 'approved', id: 'pi_1' } },
    ],
    [
      'payment_intent.amount_capturable_updated',
      { kind: 'charge', requestId: 'sub_1.1.1', outcome: { result: 'approved', id: 'pi_1' } },
    ],
    ['payment_intent.canceled', { kind: 'charge', requestId: 'sub_1.1.1', outcome: { result: 'declined' } }],
    [
      'payment_intent.payment_failed',
      { kind: 'charge', outcome: { result: 'declined', decline: 'lost-or-stolen' } },
    ],
    [
      'refund.created',
      { kind: 'refund', chargeId: 'pi_1', requestId: null, amount: '1234', currency: 'JPY' },
    ],
    ['charge.dispute.created', { kind: 'dispute', amount: '12.5', currency: 'EUR', reasonCode: '10.4' }],
    [
      'payment_method.automatically_updated',
      { kind: 'card', reference: 'cus_1/pm_1', last4: '4242', expMonth: 3 },
    ],
    ['invoice.paid', { kind: 'other', reason: 'type' }],
  ])('%s is read', (type, content) => {
    const event = stripeEvent(type, OBJECTS[type] ?? {})
    expect(read(event)).toMatchObject({ id: event.id, type, occurredTime: event.created * 1000, content })
  })

  test('of money that is held, until an instant that only Stripe knows, names none', () => {
    const held = { ...INTENT, status: 'requires_capture', latest_charge: 'ch_1' }
    const { content } = read(stripeEvent('payment_intent.amount_capturable_updated', held))
    expect(content).toMatchObject({
      kind: 'charge',
      requestId: 'sub_1.1.1',
      outcome: { result: 'approved', expiryTime: null },
    })
  })

  test('of a captured intent tells of its capture, not of its authorization', () => {
    const metadata = { ...INTENT.metadata, captureRequestId: 'capture_1' }
    const { content } = read(stripeEvent('payment_intent.succeeded', { ...INTENT, metadata }))
    expect(content).toMatchObject({ kind: 'charge', requestId: 'capture_1', outcome: { result: 'approved' } })
  })

  test('of an intent tells how much was captured, and that nothing was while it is held', () => {
    const captured = (members: object) =>
      read(stripeEvent('payment_intent.succeeded', { ...INTENT, ...members })).content
    expect(captured({})).toMatchObject({ captured: '5' })
    expect(captured({ currency: 'jpy' })).toMatchObject({ captured: '500' })
    expect(captured({ status: 'requires_capture', amount_received: 0 })).toMatchObject({ captured: null })
    expect(captured({ amount_received: undefined })).toMatchObject({ captured: null })
  })

  test('of a dispute that was prevented is no chargeback: the merchant had refunded the charge', () => {
    const prevented = { ...stripeDispute('pi_1'), status: 'prevented' }
    const { content } = read(stripeEvent('charge.dispute.closed', prevented))
    expect(content).toMatchObject({ kind: 'dispute', status: 'forfeited', type: 'information-request' })
  })

  test('keeps no name, address or evidence', () => {
    const kept = Object.entries(OBJECTS).map(([type, object]) => read(stripeEvent(type, object)))
    expect(JSON.stringify(kept)).not.toMatch(/Hopper|grace|billing_details|evidence|fingerprint/)
  })

  test("is nothing of ours where another organization's request stands in it", () => {
    const metadata = { ...INTENT.metadata, organizationId: 'org_other' }
    expect(read(stripeEvent('payment_intent.succeeded', { ...INTENT, metadata })).content).toEqual({
      kind: 'other',
      reason: 'not-ours',
    })
    const refund = { ...OBJECTS['refund.created'], metadata }
    expect(read(stripeEvent('refund.created', refund)).content).toMatchObject({
      kind: 'refund',
      requestId: null,
    })
  })

  test.each([...Object.entries(OBJECTS), ['account.application.deauthorized', { id: 'ca_1' }] as const])(
    '%s of an account that is connected to a platform is nothing of ours',
    (type, object) => {
      const { content } = read(stripeEvent(type, object, { account: 'acct_connected' }))
      expect(content).toEqual({ kind: 'other', reason: 'not-ours' })
    },
  )

  test('of five minutes is taken, of a second more refused', () => {
    const event = stripeEvent('invoice.paid', {})
    const later = (seconds: number) => ({ receivedTime: (Math.floor(Date.now() / 1000) + seconds) * 1000 })
    expect(read(event, later(299)).id).toBe(event.id)
    expect(() => read(event, later(302))).toThrow(NotificationRefusedError)
  })

  test('is read, set aside or refused, whatever is in it', () => {
    const members = fc.constantFrom(
      ...new Set(Object.values(OBJECTS).flatMap((object) => Object.keys(object))),
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(OBJECTS)),
        fc.dictionary(members, fc.jsonValue()),
        fc.boolean(),
        (type, changes, isWhole) => {
          const { content } = read(stripeEvent(type, { ...(isWhole ? OBJECTS[type] : {}), ...changes }))
          // It is stored as JSON that PostgreSQL accepts.
          expect(JSON.stringify(content)).not.toContain('\\u0000')
          expect(JSON.parse(JSON.stringify(content))).toMatchObject({ kind: content.kind })
        },
      ),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(fc.jsonValue(), (event) => {
        try {
          read(event)
        } catch (error) {
          expect(error).toBeInstanceOf(NotificationRefusedError)
        }
      }),
    )
  })
})

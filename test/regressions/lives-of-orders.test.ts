/** Lives of orders that once went wrong. */
import { describe, expect, test } from '@jest/globals'
import { parseDuration } from '../../billing/durations.ts'
import { changeItems } from '../../billing/item-changes.ts'
import { type Order, placeOrder } from '../../billing/order.ts'
import {
  changeTerms,
  moveRenewal,
  reactivateOrder,
  takeTerms,
  voidInvoice,
} from '../../billing/order-commands.ts'
import { advanceThrough } from '../../billing/order-lifecycle.ts'
import {
  changeAutopay,
  chargeOpen,
  creditInvoice,
  payInvoice,
  receivePayment,
  refundInvoice,
} from '../../billing/order-payments.ts'
import type { OrderTerms } from '../../billing/order-terms.ts'
import { pauseOrder } from '../../billing/pauses.ts'
import { type Answer, AUTOPAY, ChargedOrder } from '../billing/charged-order.ts'
import { at, type Command, cancelAt, END, terms, withInstrument } from '../billing/orders.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = at('2027-01-31')
const RENEWAL = at('2027-02-28')
const DECLINED: readonly Answer[] = ['approved', 'declined', 'declined', 'declined', 'declined']

const cancel = (churnTime: number | null = null): Command['act'] => cancelAt(churnTime)
const newCard: Command['act'] = (order, now) => chargeOpen(withInstrument(order, 'new card'), now)
const early = (days: number) => ({
  issueTimeShift: { chronology: 'before', duration: days, unit: 'day' } as const,
  dueTimeShift: { chronology: 'after', duration: 14, unit: 'day' } as const,
})
const later = (order: Order, through: number): Order => advanceThrough(order, through).order
const issueOf = ({ invoices }: Order, period: number): number | null =>
  invoices.find(({ periodNumber }) => periodNumber === period)?.issuedTime ?? null

describe('a canceled order whose service goes on', () => {
  const declined = (members: Partial<OrderTerms> = {}) =>
    new ChargedOrder(terms({}, members), DECLINED).live(RENEWAL + 6 * DAY - 1)

  test.each([
    ['declined for good', 1, { delinquencyPeriod: parseDuration('P10D') }],
    [
      'with too many renewals declined',
      4,
      { delinquencyPeriod: parseDuration('P60D'), declinedRenewalsLimit: 1 },
    ],
  ] as const)('is charged by the card given as it is reactivated: %s', (_, declines, members) => {
    const reasons = declines === 1 ? (['approved', 'hard'] as const) : DECLINED
    const given =
      (instrumentId: string): Command['act'] =>
      (order, now) =>
        reactivateOrder(withInstrument(order, instrumentId), now, null, true)
    const story = (act: Command['act']) => {
      const order = new ChargedOrder(terms({}, { ...AUTOPAY, ...members }), reasons).live(RENEWAL + 6 * DAY)
      order.command({ at: RENEWAL + 7 * DAY, act: cancel(RENEWAL + 170 * DAY) })
      expect(order.invoice(2)).toMatchObject({ status: 'past-due', chargeTime: null })
      return order.command({ at: RENEWAL + 8 * DAY, act }).live(RENEWAL + 8 * DAY)
    }
    const order = story(given('new card'))
    expect(order.charges.at(-1)).toMatchObject({
      invoice: 2,
      now: RENEWAL + 8 * DAY,
      instrumentId: 'new card',
    })
    expect(order.invoice(2).status).toBe('paid')
    expect(order.live(RENEWAL + 27 * DAY).order.status).toBe('active')
    for (const other of [story(given('card')), story((before, now) => reactivateOrder(before, now))]) {
      expect(other.invoice(2)).toMatchObject({ status: 'past-due', chargeTime: null })
    }
  })

  test('is charged by a card that was given in the meantime once it is reactivated', () => {
    const order = declined({ delinquencyPeriod: parseDuration('P20D') })
    order.command({ at: RENEWAL + 6 * DAY, act: cancel(RENEWAL + 170 * DAY) })
    order.command({ at: RENEWAL + 7 * DAY, act: newCard }).live(RENEWAL + 8 * DAY - 1)
    expect(order.charges).toHaveLength(5)
    order.command({ at: RENEWAL + 8 * DAY, act: reactivateOrder }).live(RENEWAL + 25 * DAY)
    expect(order.charges.slice(5)).toMatchObject([
      { invoice: 2, now: RENEWAL + 8 * DAY, instrumentId: 'new card' },
    ])
    expect(order.order.status).toBe('active')
  })

  test('is charged at once by a new card for what was never charged', () => {
    const autopay = (isOn: boolean) => (before: Order, now: number) =>
      changeAutopay(
        before,
        now,
        { ...before.terms, ...AUTOPAY, canCharge: isOn, instrumentId: isOn ? 'card' : null },
        isOn,
      )
    const order = new ChargedOrder(terms()).live(START + DAY)
    order.command({ at: START + 2 * DAY, act: autopay(false) }).live(RENEWAL + DAY)
    order.command({ at: RENEWAL + 2 * DAY, act: autopay(true) })
    order.command({ at: RENEWAL + 3 * DAY, act: cancel(RENEWAL + 20 * DAY) })
    order.command({ at: RENEWAL + 4 * DAY, act: newCard }).live(RENEWAL + 5 * DAY)
    expect(order.charges.slice(1)).toMatchObject([{ invoice: 2, now: RENEWAL + 4 * DAY }])
  })

  test('makes retries that fell into a pause before it once, when it is reactivated', () => {
    const order = new ChargedOrder(terms(), DECLINED).live(RENEWAL)
    const pause = { id: 'pause', effectiveTime: null, endTime: null }
    order.command({ at: RENEWAL + DAY / 2, act: (before, now) => pauseOrder(before, now, pause) })
    order.live(RENEWAL + 6 * DAY - 1).command({ at: RENEWAL + 6 * DAY, act: cancel(RENEWAL + 170 * DAY) })
    order.live(RENEWAL + 7 * DAY - 1).command({ at: RENEWAL + 7 * DAY, act: reactivateOrder })
    order.live(RENEWAL + 20 * DAY)
    expect(order.charges.slice(2).map(({ invoice, now }) => [invoice, now])).toEqual([[2, RENEWAL + 7 * DAY]])
  })

  test('makes the retry that was due before it, however late; its end makes no other', () => {
    const order = new ChargedOrder(terms(), DECLINED).live(RENEWAL)
    order.command({ at: RENEWAL + 1.5 * DAY, act: cancel(RENEWAL + 10 * DAY) }).live(END)
    expect(order.charges.slice(2)).toMatchObject([{ invoice: 2, attempt: 2 }])
    expect(order.order).toMatchObject({ status: 'churned', invoices: [{}, { chargeTime: null }] })
  })
})

test('a period that begins at a reactivation is billed, also where its early invoice was voided before', () => {
  const order = later(placeOrder(terms({ invoiceTimeShift: early(7) })).order, START + 24 * DAY)
  expect(issueOf(order, 2)).not.toBeNull()
  const voided = voidInvoice(order, START + 25 * DAY, 2).order
  const churned = cancel()(voided, START + 26 * DAY).order
  const again = reactivateOrder(churned, START + 90 * DAY).order
  expect(again).toMatchObject({ status: 'active', rebillNumber: 2, invoicedThrough: 2 })
  expect(again.invoices.slice(2)).toMatchObject([
    { periodNumber: 2, status: 'unpaid', issuedTime: START + 90 * DAY },
  ])
})

describe('an early invoice is issued at the soonest', () => {
  const agreed = terms({ invoiceTimeShift: early(7) })

  test('when its boundary was moved nearer', () => {
    const now = START + 20 * DAY
    const moved = moveRenewal(later(placeOrder(agreed).order, now), now, START + 22 * DAY)?.order
    if (moved === undefined) throw new Error('not moved')
    expect(issueOf(later(moved, now), 2)).toBe(now)
  })

  test('when a pause has ended', () => {
    const pause = {
      id: 'pause',
      effectiveTime: START + 10 * DAY,
      endTime: START + 20 * DAY,
      timeRemaining: DAY,
    }
    const active = later(placeOrder(agreed).order, START + DAY)
    const paused = pauseOrder(active, START + DAY, pause).order
    expect(issueOf(later(paused, START + 30 * DAY), 2)).toBe(START + 20 * DAY)
  })

  test('when its time shift was changed, by itself or with the items', () => {
    const now = START + 25 * DAY
    const active = later(placeOrder(terms()).order, now)
    const shifted = { ...active.terms, invoiceTimeShift: early(7) }
    expect(issueOf(later(takeTerms(active, now, shifted).order, now), 2)).toBe(now)
    const change = { terms: shifted, prorated: false, renewalPolicy: 'retain' as const }
    expect(issueOf(later(changeItems(active, now, change).order, now), 2)).toBe(now)
  })
})

test('a trial is converted by a payment that credit completes, and not by credit alone', () => {
  const agreed = terms({ trial: { price: '0', period: { unit: 'day', length: 10 } } })
  const now = START + 11 * DAY
  const order = later(placeOrder(agreed).order, now)
  const credited = (before: Order) => {
    const memo = { creditMemoId: 'memo', currency: 'EUR', left: '20' }
    return creditInvoice({ ...before, credit: [memo] }, now, 2, [memo]).transition.order
  }
  const part = receivePayment(order, now, 2, '6').transition.order
  expect(credited(part)).toMatchObject({ isTrialConverted: true, invoices: [{}, { status: 'paid' }] })
  expect(credited(order)).toMatchObject({ isTrialConverted: false, invoices: [{}, { status: 'paid' }] })
})

test('a one-time sale is not completed by another invoice while its first one is unpaid', () => {
  const order = later(placeOrder(terms({ recurringInterval: null })).order, START + DAY)
  const items = [...order.terms.items, ...order.terms.items.map((item) => ({ ...item, id: 'more' }))]
  const added = changeItems(order, START + DAY, {
    terms: { ...order.terms, items },
    prorated: true,
    renewalPolicy: 'retain',
  }).order
  expect(added.invoices.map(({ type }) => type)).toEqual(['initial', 'interim'])
  const more = payInvoice(added, START + DAY, 2).order
  expect(more.status).toBe('active')
  expect(payInvoice(more, START + DAY, 1).order.status).toBe('completed')
})

test('a charge that was never sent is due at the start again, where that was moved ahead meanwhile', () => {
  const ahead = START + 30 * DAY
  const order = new ChargedOrder(terms(), ['unknown', 'not-sent']).live(START)
  order.command({
    at: START + 1,
    act: (before, now) => changeTerms(before, now, { ...before.terms, startTime: ahead }),
  })
  order.live(ahead - 1)
  expect(order.invoice(1)).toMatchObject({ charge: null, chargeTime: ahead, attempts: 1 })
  expect(order.live(ahead).order).toMatchObject({ status: 'active', activationTime: ahead, anchor: ahead })
})

describe('a one-time sale that was refunded in part before its service', () => {
  const SALE = { recurringInterval: null, pricing: { formula: 'flat-rate' as const, price: '30' } }
  const refunded = (order: Order, now: number) =>
    refundInvoice(payInvoice(order, now, 1).order, now, 1, '5').order

  test('completes at a start that was moved later', () => {
    const ahead = START + 30 * DAY
    const charged = terms(SALE, AUTOPAY)
    const declined = new ChargedOrder(charged, ['declined']).live(START).order
    const moved = changeTerms(declined, START + HOUR, { ...charged, startTime: ahead }).order
    const waiting = refunded(moved, START + DAY)
    expect(waiting).toMatchObject({ status: 'pending', invoices: [{ status: 'partially-refunded' }] })
    expect(later(waiting, ahead)).toMatchObject({ status: 'completed', activationTime: ahead })
  })

  test('completes when the pause ends in which it was paid', () => {
    const active = later(placeOrder(terms(SALE)).order, START)
    const pause = { id: 'pause', effectiveTime: null, endTime: START + 10 * DAY }
    const paused = pauseOrder(active, START + DAY, pause).order
    const waiting = refunded(paused, START + 2 * DAY)
    expect(waiting).toMatchObject({ status: 'paused', invoices: [{ status: 'partially-refunded' }] })
    expect(later(waiting, START + 10 * DAY - 1).status).toBe('paused')
    expect(later(waiting, START + 10 * DAY).status).toBe('completed')
  })
})

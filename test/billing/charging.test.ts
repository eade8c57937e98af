import { describe, expect, test } from '@jest/globals'
import { nextRetry } from '../../billing/charging.ts'
import { DECLINE_CLASSES, isHeld } from '../../billing/dunning.ts'
import { parseDuration } from '../../billing/durations.ts'
import { amountDue, isOpen } from '../../billing/invoices.ts'
import { Money } from '../../billing/money.ts'
import { type Order, renewalTime, transition } from '../../billing/order.ts'
import {
  changeCancellation,
  changeTerms,
  reactivateOrder,
  voidInvoice,
  voidOrder,
} from '../../billing/order-commands.ts'
import { advanceThrough } from '../../billing/order-lifecycle.ts'
import {
  beginCharge,
  cancelCharge,
  changeAutopay,
  chargeOpen,
  disputeInvoice,
  payInvoice,
  receivePayment,
  refundInvoice,
} from '../../billing/order-payments.ts'
import type { OrderTerms } from '../../billing/order-terms.ts'
import { pauseOrder, removePause } from '../../billing/pauses.ts'
import fc from '../support/fast-check.ts'
import { type Answer, AUTOPAY, ChargedOrder } from './charged-order.ts'
import { expectEventsOfTransitions, expectPeriodsBilledOnce, illegal } from './legal.ts'
import { anyCommands, anyTerms, at, type Command, cancelAt, day, END, issuedEarly, terms } from './orders.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const DELINQUENT_AFTER_3_DAYS = { delinquencyPeriod: parseDuration('P3D') }

const charged = (members: Partial<OrderTerms> = {}, responses: readonly Answer[] = []) =>
  new ChargedOrder(terms({}, members), responses)
const status = ({ order }: ChargedOrder) => order.status
const START = at('2027-01-31')

describe('a charge that is late', () => {
  test('by less than an hour counts as on time, by more moves due, delinquency and retries', () => {
    const soon = charged(DELINQUENT_AFTER_3_DAYS, ['declined']).advanceTo(START + 59 * MINUTE)
    expect(soon.invoice(1)).toMatchObject({
      dueTime: START + HOUR,
      delinquencyTime: START + HOUR + 3 * DAY,
      declinedTime: START,
      chargeTime: START + DAY,
    })
    const late = START + 5 * HOUR
    const then = charged(DELINQUENT_AFTER_3_DAYS, ['declined']).advanceTo(late)
    expect(then.invoice(1)).toMatchObject({
      dueTime: late + HOUR,
      delinquencyTime: late + HOUR + 3 * DAY,
      declinedTime: late,
      chargeTime: late + DAY,
    })
  })

  test('for the first time takes its invoice out of past due, whose due time it moves', () => {
    const unpaid = charged(DELINQUENT_AFTER_3_DAYS, ['declined'])
    unpaid.order = { ...unpaid.order, terms: { ...unpaid.order.terms, ...NO_AUTOPAY } }
    const pastDue = START + HOUR + DAY
    expect(unpaid.live(pastDue).invoice(1)).toMatchObject({ status: 'past-due', chargeTime: null })
    unpaid.command({
      at: pastDue,
      act: (order, now) => chargeOpen({ ...order, terms: { ...order.terms, ...AUTOPAY } }, now),
    })
    const late = pastDue + 5 * HOUR
    const begun = beginCharge(unpaid.order, late, 1).order.invoices[0]
    expect(begun).toMatchObject({ status: 'unpaid', dueTime: late + HOUR })
  })

  test('keeps the delinquency that its invoice was issued with, whatever the terms have come to say since', () => {
    const order = charged(DELINQUENT_AFTER_3_DAYS, ['approved', 'declined']).live(START + DAY)
    const boundary = order.order.periodEnd ?? Number.NaN
    // Advanced through its boundary without the charge: the gateway was out of reach.
    const { order: renewed } = advanceThrough(order.order, boundary)
    expect(renewed.invoices.at(-1)).toMatchObject({ issuedTime: boundary, chargeTime: boundary })
    order.order = { ...renewed, terms: { ...renewed.terms, delinquencyPeriod: parseDuration('P9D') } }
    const late = boundary + 5 * HOUR
    expect(order.advanceTo(late).order.invoices.at(-1)).toMatchObject({
      dueTime: late + HOUR,
      delinquencyTime: late + HOUR + 3 * DAY,
    })
  })

  test('begins the order as if on time, whatever the outage', () => {
    for (const outage of [0, 30 * MINUTE, 20 * DAY]) {
      const { order } = charged().advanceTo(START + outage)
      expect(order).toMatchObject({ status: 'active', activationTime: START, anchor: START })
    }
  })

  test('waits an hour for the one before it, the oldest first; what is due on time does not wait', () => {
    const order = charged()
    order.live(START + DAY)
    const back = at('2027-05-15')
    order.advanceTo(back)
    order.live(back + 5 * HOUR)
    const late = order.charges.slice(1)
    expect(late.map(({ invoice }) => invoice)).toEqual([2, 3, 4])
    expect(late.map(({ now }) => now)).toEqual([back, back + HOUR, back + 2 * HOUR])
    expect(order.order.rebillNumber).toBe(4)
    const next = order.live(at('2027-06-01')).charges.at(-1)
    expect(next).toMatchObject({ invoice: 5, late: 0 })
  })
})

describe('advancing stops at a charge', () => {
  test('of a start with everything: an abandonment waits for the answer', () => {
    const agreed = { abandonTime: START + HOUR }
    const placed = charged(agreed).order
    const { order, gatewayCall: call, next } = advanceThrough(placed, START + 2 * HOUR)
    expect({ status: order.status, call, next }).toEqual({
      status: 'pending',
      call: { invoice: 1, at: START },
      next: null,
    })
    expect(status(charged(agreed).advanceTo(START + 2 * HOUR))).toBe('active')
    expect(status(charged(agreed, ['declined']).advanceTo(START + 2 * HOUR))).toBe('abandoned')
  })

  test('in service only with its own past due and delinquency: boundaries go on', () => {
    const order = charged().live(START + DAY)
    const { order: later } = advanceThrough(order.order, at('2027-05-15'))
    expect(later.rebillNumber).toBe(4)
    expect(later.invoices.slice(1).map((one) => one.status)).toEqual(['unpaid', 'unpaid', 'unpaid'])
    const owing = charged(DELINQUENT_AFTER_3_DAYS).live(START + DAY)
    expect(advanceThrough(owing.order, at('2027-05-15')).order).toMatchObject({
      status: 'active',
      // Past the delinquency of the second invoice nothing can be known.
      rebillNumber: 2,
    })
  })

  test('with the delinquency of another invoice too, if that comes within the hour in which the charge is on time', () => {
    const boundary = at('2027-03-31')
    const delinquent = { delinquencyPeriod: parseDuration('P30DT23H30M') }
    const declined: Answer[] = ['approved', 'declined', 'declined', 'declined', 'declined']
    const lives = [0, 45 * MINUTE].map((late) => {
      const order = charged(delinquent, declined).live(boundary - 1)
      expect(order.invoice(2)).toMatchObject({ delinquencyTime: boundary + 30 * MINUTE })
      return order.advanceTo(boundary + late).live(boundary + HOUR).order
    })
    const expected = {
      status: 'canceled',
      canceledBy: 'rebilly-side',
      canceledTime: boundary + 30 * MINUTE,
      invoices: [{}, { status: 'abandoned' }, { status: 'paid', paidTime: boundary }],
    }
    expect(lives).toMatchObject([expected, expected])
    const before = charged(delinquent, [...declined, 'declined']).live(boundary - 1)
    expect(before.advanceTo(boundary + 45 * MINUTE).order).toMatchObject({
      status: 'canceled',
      invoices: [{}, {}, { status: 'abandoned', attempts: 1 }],
    })
  })

  test('only until its first answer: with an unknown one, other deadlines go on', () => {
    const agreed = { abandonTime: START + HOUR }
    const order = charged(agreed, ['unknown', 'unknown', 'unknown', 'unknown']).live(START + 65 * MINUTE)
    expect(order.order).toMatchObject({ status: 'abandoned', invoices: [{ status: 'voided' }] })
    order.live(START + 2 * HOUR)
    expect({ unusedAmount: order.unusedAmount, status: status(order) }).toEqual({
      unusedAmount: '9.9',
      status: 'abandoned',
    })
  })
})

describe('an outcome nobody knows', () => {
  test('then approved, begins the order as if on time; approved after a decline, at that instant', () => {
    expect(charged({}, ['unknown', 'unknown']).live(START + HOUR).order).toMatchObject({
      status: 'active',
      activationTime: START,
      anchor: START,
    })
    const retried = charged({}, ['declined', 'unknown']).live(START + DAY + HOUR)
    expect(retried.order).toMatchObject({
      status: 'active',
      activationTime: START + DAY + MINUTE,
      anchor: START + DAY + MINUTE,
    })
  })

  test('for a day counts as declined, but no other charge begins before it is known', () => {
    const unknowns = Array.from({ length: 28 }, () => 'unknown' as const)
    const order = charged({}, [...unknowns, 'declined']).live(START + 26 * HOUR)
    expect(order.invoice(1)).toMatchObject({
      declinedTime: START + DAY,
      chargeTime: START + 2 * DAY,
      charge: { answer: 'timed-out' },
      attempts: 1,
    })
    order.live(START + 2 * DAY - MINUTE)
    expect(order.charges).toHaveLength(1)
    // Queried daily from then on: declined at last, and the retry that had to wait for it is made at once.
    order.live(START + 3 * DAY + MINUTE)
    expect(order.charges.map(({ attempt }) => attempt)).toEqual([1, 2])
    expect(order.order.status).toBe('active')
  })

  test('known after a day only: it had counted as declined, so an approval begins the order at its instant', () => {
    const unknowns = Array.from({ length: 28 }, () => 'unknown' as const)
    const order = charged({}, unknowns).live(START + 3 * DAY)
    expect(order.order).toMatchObject({
      status: 'active',
      activationTime: START + 2 * DAY,
      anchor: START + 2 * DAY,
      invoices: [{ status: 'paid', attempts: 1, periodStart: START + 2 * DAY }],
    })
  })

  test('is asked for a month, and then no more: nothing is charged instead', () => {
    const unknowns = Array.from({ length: 100 }, () => 'unknown' as const)
    const order = charged({}, unknowns).live(START + 60 * DAY)
    expect(order.charges).toHaveLength(1)
    expect(order.invoice(1).charge).toEqual({ isOwn: true, at: START, answer: 'timed-out', askTime: null })
    expect(order.order.status).toBe('pending')
  })
})

describe('at one instant', () => {
  const declining: readonly Answer[] = ['declined', 'declined', 'declined', 'declined']

  test('a retry comes after delinquency, and so is never made', () => {
    // Due after an hour, delinquent a day less an hour later: at the instant of the first retry.
    const agreed = { delinquencyPeriod: parseDuration('PT23H') }
    const order = charged(agreed, declining).live(START + 2 * DAY)
    expect(status(order)).toBe('abandoned')
    expect(order.charges).toHaveLength(1)
  })

  test('a pause comes before a boundary, a boundary before its charge', () => {
    const pausing = charged().live(START + DAY)
    const boundary = at('2027-02-28')
    const pause = { id: 'pause', effectiveTime: boundary, endTime: boundary + 3 * DAY }
    pausing.command({ at: START + 2 * DAY, act: (order, now) => pauseOrder(order, now, pause) })
    pausing.live(boundary + HOUR)
    expect({ status: status(pausing), charges: pausing.charges.length }).toEqual({
      status: 'paused',
      charges: 1,
    })
    // The boundary comes at the resume, not before.
    pausing.live(boundary + 3 * DAY)
    expect(pausing.order).toMatchObject({ status: 'active', rebillNumber: 2 })
    expect(pausing.charges.at(-1)).toMatchObject({ invoice: 2, late: 0 })
  })

  test('past due comes before delinquency, and both before a pause', () => {
    const agreed = { delinquencyPeriod: parseDuration('P1D') }
    const instant = START + HOUR + DAY
    const order = new ChargedOrder(terms({}, agreed))
    order.command({
      at: START,
      act: (before, now) => changeAutopay(before, now, { ...before.terms, ...NO_AUTOPAY }, false),
    })
    order.live(START)
    const pause = { id: 'pause', effectiveTime: instant, endTime: null }
    order.command({ at: START + 1, act: (before, now) => pauseOrder(before, now, pause) })
    order.live(instant)
    const told = order.transitions.filter((one) => one.at === instant).flatMap(({ events }) => events)
    expect(told.map(({ type }) => type)).toEqual([
      'invoice-past-due',
      'subscription-pause-revoked',
      'order-delinquency-reached',
      'subscription-canceled',
      'invoice-abandoned',
    ])
  })

  test('a pause comes before the end of a trial, which then comes after it', () => {
    const agreed = terms({ trial: { price: '0', period: { unit: 'day', length: 10 } } })
    const end = START + 10 * DAY
    const order = new ChargedOrder(agreed).live(START)
    const pause = { id: 'pause', effectiveTime: end, endTime: end + DAY }
    order.command({ at: START + 1, act: (before, now) => pauseOrder(before, now, pause) })
    expect(order.live(end).order).toMatchObject({ status: 'paused', inTrial: true })
    expect(order.live(end + DAY).order).toMatchObject({ status: 'active', inTrial: false, rebillNumber: 1 })
  })

  test('churn comes before a boundary: nothing is billed any more', () => {
    const boundary = at('2027-02-28')
    const order = charged().live(START)
    order.command({
      at: START + 1,
      act: cancelAt(boundary),
    })
    expect(order.live(END).order).toMatchObject({ status: 'churned', rebillNumber: 1 })
    expect(order.order.invoices).toHaveLength(1)
  })

  test('a command comes before all that time does: a void before the start, a cancellation before the boundary', () => {
    expect(status(charged().command({ at: START, act: voidOrder }).live(END))).toBe('voided')
    const boundary = at('2027-02-28')
    const canceled = charged().live(boundary - 1)
    canceled.command({
      at: boundary,
      act: cancelAt(null),
    })
    expect(canceled.live(END).order).toMatchObject({ status: 'churned', rebillNumber: 1 })
  })
})

describe('a charge that was due before a pause began', () => {
  const boundary = at('2027-02-28')
  const pause: Command['act'] = (order, now) =>
    pauseOrder(order, now, { id: `pause ${order.pauses.length}`, effectiveTime: null, endTime: null })
  const resume: Command['act'] = (order, now) => removePause(order, now, order.pauses.at(-1)?.id ?? '')
  const cancelNow = cancelAt(null)
  /** Its renewal is issued and, as its charge has not begun, it is paused a minute later. */
  const paused = (answers: readonly Answer[] = []) =>
    charged(DELINQUENT_AFTER_3_DAYS, ['approved', ...answers])
      .live(boundary - 1)
      .command({ at: boundary + MINUTE, act: pause })

  test('is made, and its invoice is neither past due nor delinquent before its result', () => {
    const late = boundary + 10 * DAY
    for (const now of [boundary + 2 * MINUTE, late]) {
      const order = paused()
      const { order: waiting, gatewayCall: call } = advanceThrough(order.order, now)
      expect(call).toEqual({ invoice: 2, at: boundary })
      expect(waiting).toMatchObject({ status: 'paused' })
      expect(waiting.invoices.at(-1)).toMatchObject({ status: 'unpaid', attempts: 0 })
      order.live(now).command({ at: late + DAY, act: resume })
      expect(order.order.status).toBe('active')
      expect(order.invoice(2)).toMatchObject({ status: 'paid', attempts: 1 })
    }
  })

  test('and is declined is not retried before the resume', () => {
    const order = paused(['declined']).live(boundary + 2 * DAY)
    expect(order.charges).toHaveLength(2)
    order.command({ at: boundary + 2 * DAY + HOUR, act: resume }).live(boundary + 2 * DAY + HOUR)
    expect(order.invoice(2)).toMatchObject({ status: 'paid', attempts: 2 })
  })

  test('and never reached the gateway is made again, on time or late', () => {
    for (const now of [boundary + 2 * MINUTE, boundary + 2 * HOUR, boundary + 10 * DAY]) {
      const order = paused(['not-sent'])
      order.advanceTo(now).live(now + 2 * HOUR)
      expect(order.order.status).toBe('paused')
      expect(order.invoice(2)).toMatchObject({ status: 'paid', attempts: 2 })
    }
  })

  test('is made by a cancellation, or a resume and another pause, too', () => {
    const canceled = paused().command({ at: boundary + 2 * MINUTE, act: cancelNow })
    expect(canceled.live(END).order).toMatchObject({ status: 'churned' })
    expect(canceled.invoice(2)).toMatchObject({ status: 'paid', attempts: 1 })
    const again = paused()
      .command({ at: boundary + 2 * MINUTE, act: resume })
      .command({ at: boundary + 3 * MINUTE, act: pause })
    expect(again.live(boundary + 10 * DAY).order.status).toBe('paused')
    expect(again.invoice(2)).toMatchObject({ status: 'paid', attempts: 1 })
  })
})

describe('a first payment that is declined and made later', () => {
  const trial = { price: '1', period: { unit: 'day' as const, length: 10 } }

  test('begins a trial of full length', () => {
    const order = new ChargedOrder(terms({ trial }), ['declined']).live(START + 2 * DAY)
    expect(order.order).toMatchObject({
      status: 'active',
      activationTime: START + DAY,
      inTrial: true,
      periodEnd: START + 11 * DAY,
    })
  })

  test('moves an explicit end of a trial by the delay', () => {
    const agreed = terms({ trial }, { trial: { endTime: START + 4 * DAY } })
    const order = new ChargedOrder(agreed, ['declined']).live(START + 2 * DAY)
    expect(order.order).toMatchObject({ inTrial: true, periodEnd: START + 5 * DAY })
  })

  test('moves one that was given since by what had not passed of the delay by then', () => {
    const order = new ChargedOrder(terms({ trial }), ['declined']).live(START + 12 * HOUR)
    order.command({
      at: START + 18 * HOUR,
      act: (before, now) =>
        changeTerms(before, now, {
          ...before.terms,
          trial: { endTime: START + 4 * DAY },
          trialGivenTime: now,
        }),
    })
    expect(order.live(START + 2 * DAY).order).toMatchObject({
      activationTime: START + DAY,
      periodEnd: START + 4 * DAY + 6 * HOUR,
    })
  })
})

describe('an order whose start is moved ahead after its first charge was due', () => {
  const ahead = START + 30 * DAY
  const move =
    (startTime: number, members: Partial<OrderTerms> = {}): Command['act'] =>
    (order, now) =>
      changeTerms(order, now, { ...order.terms, ...members, startTime })

  test('declined, is charged again at that start and begins then; it is due no sooner', () => {
    const order = charged(DELINQUENT_AFTER_3_DAYS, ['declined']).live(START + HOUR)
    order.command({ at: START + 2 * HOUR, act: move(ahead) })
    expect(order.invoice(1)).toMatchObject({
      chargeTime: ahead,
      dueTime: ahead,
      delinquencyTime: ahead + 3 * DAY,
    })
    expect(order.live(ahead - 1).order).toMatchObject({ status: 'pending', invoices: [{ attempts: 1 }] })
    expect(order.live(ahead).order).toMatchObject({ status: 'active', activationTime: ahead, anchor: ahead })
  })

  test('and back again, is charged as the schedule has it by then', () => {
    const order = charged({}, ['declined']).live(START + HOUR)
    order.command({ at: START + 2 * HOUR, act: move(ahead) })
    order.command({ at: START + 3 * HOUR, act: move(START) })
    expect(order.invoice(1)).toMatchObject({ chargeTime: START + DAY })
    expect(order.live(START + DAY).order).toMatchObject({ status: 'active', activationTime: START + DAY })
  })

  test('before that charge was made, is charged at that start', () => {
    const order = charged()
    order.order = advanceThrough(order.order, START).order
    order.command({ at: START + MINUTE, act: move(ahead) })
    expect(order.live(ahead - 1).charges).toEqual([])
    expect(order.live(ahead).order).toMatchObject({ status: 'active', activationTime: ahead })
  })

  test('while the outcome of that charge is unknown: no retry and no start before it, approved or declined', () => {
    const moved = (response: Answer) =>
      charged({}, ['unknown', response])
        .live(START)
        .command({ at: START + 1, act: move(ahead) })
    for (const answer of ['approved', 'declined'] as const) {
      const order = moved(answer).live(ahead - 1)
      expect(status(order)).toBe('pending')
      expect(order.charges).toHaveLength(1)
      expect(order.live(ahead).order).toMatchObject({
        status: 'active',
        activationTime: ahead,
        anchor: ahead,
      })
    }
  })

  test('paid by its caller, waits for that start; without it, what was paid is voided', () => {
    const paid = () => {
      const order = charged({}, ['declined'])
        .live(START)
        .command({ at: START + 1, act: move(ahead) })
      return order.command({ at: START + DAY, act: (before, now) => payInvoice(before, now, 1) })
    }
    expect(paid().live(ahead - 1).order).toMatchObject({ status: 'pending', invoices: [{ status: 'paid' }] })
    expect(paid().live(ahead).order).toMatchObject({ status: 'active', activationTime: ahead, anchor: ahead })
    const leaving = [
      paid().command({ at: START + 2 * DAY, act: voidOrder }),
      paid()
        .command({ at: START + 2 * DAY, act: move(ahead, { abandonTime: START + 3 * DAY }) })
        .live(START + 3 * DAY),
    ]
    expect(leaving.map(({ order }) => [order.status, order.invoices[0]?.status])).toEqual([
      ['voided', 'voided'],
      ['abandoned', 'voided'],
    ])
  })

  test('without autopay by then, starts unpaid at that start; with it again, is charged then', () => {
    const switched = (...autopay: boolean[]) => {
      const order = charged()
      order.order = advanceThrough(order.order, START).order
      order.command({ at: START + 1, act: move(ahead) })
      for (const isOn of autopay) {
        const members = isOn ? AUTOPAY : NO_AUTOPAY
        order.command({
          at: START + 2,
          act: (before, now) => changeAutopay(before, now, { ...before.terms, ...members }, isOn),
        })
      }
      expect(status(order.live(ahead - 1))).toBe('pending')
      return order.live(ahead)
    }
    const begun = { status: 'active', activationTime: ahead, anchor: ahead }
    expect(switched(false).order).toMatchObject({ ...begun, invoices: [{ status: 'unpaid' }] })
    expect(switched(false, true).order).toMatchObject({ ...begun, invoices: [{ status: 'paid' }] })
  })
})

describe('a pending order past the delinquency time of its first invoice', () => {
  const agreed = { delinquencyPeriod: parseDuration('PT3H') }
  const unknowns = Array.from({ length: 28 }, () => 'unknown' as const)

  test('waits as long as nobody knows whether that is paid, and begins when it is', () => {
    const order = charged(agreed, unknowns.slice(0, 12)).live(START + 8 * HOUR)
    expect(status(order)).toBe('pending')
    expect(order.live(START + DAY).order).toMatchObject({ status: 'active', activationTime: START })
  })

  test('is abandoned when the charge is known to be declined, or counts as that', () => {
    const late = charged(agreed, [...unknowns.slice(0, 12), 'declined']).live(START + DAY)
    expect(status(late)).toBe('abandoned')
    const never = charged(agreed, unknowns).live(START + DAY - 1)
    expect(status(never)).toBe('pending')
    expect(status(never.live(START + DAY))).toBe('abandoned')
    for (const { transitions } of [late, never]) {
      const instants = transitions.map((one) => one.at)
      expect(instants).toEqual(instants.toSorted((a, b) => a - b))
    }
  })
})

describe('a declined pending order whose terms are changed', () => {
  const change =
    (members: Partial<OrderTerms>): Command['act'] =>
    (order, now) =>
      changeTerms(order, now, { ...order.terms, ...members })
  const declines: readonly Answer[] = ['declined', 'declined', 'declined', 'declined']
  const declined = (members: Partial<OrderTerms> = DELINQUENT_AFTER_3_DAYS) =>
    charged(members, declines).live(START + HOUR)

  test('is abandoned by its new delinquency period', () => {
    const order = declined().command({
      at: START + DAY,
      act: change({ delinquencyPeriod: parseDuration('P9D') }),
    })
    expect(order.invoice(1)).toMatchObject({
      dueTime: START + HOUR,
      delinquencyTime: START + HOUR + 9 * DAY,
    })
    expect(status(order.live(START + HOUR + 9 * DAY - 1))).toBe('pending')
    expect(status(order.live(START + HOUR + 9 * DAY))).toBe('abandoned')
  })

  test('is abandoned at once by one that has passed, and never without one', () => {
    const short = declined().command({
      at: START + DAY,
      act: change({ delinquencyPeriod: parseDuration('PT1H') }),
    })
    expect(status(short.live(START + DAY))).toBe('abandoned')
    const never = declined().command({ at: START + DAY, act: change({ delinquencyPeriod: null }) })
    expect(never.invoice(1).delinquencyTime).toBeNull()
    expect(status(never.live(END))).toBe('pending')
  })

  test('is due by its new time shift', () => {
    const dueTimeShift = { chronology: 'after', duration: 2, unit: 'day' } as const
    const order = declined().command({
      at: START + DAY,
      act: change({ invoiceTimeShift: { issueTimeShift: null, dueTimeShift } }),
    })
    expect(order.invoice(1)).toMatchObject({ dueTime: START + 2 * DAY, delinquencyTime: START + 5 * DAY })
  })

  test.each<[string, Partial<OrderTerms>, number]>([
    ['a later start', { startTime: START + 4 * DAY }, START + 4 * DAY],
    [
      'another time shift',
      {
        invoiceTimeShift: {
          issueTimeShift: null,
          dueTimeShift: { chronology: 'after', duration: 4, unit: 'day' },
        },
      },
      START + 4 * DAY,
    ],
  ])('is not past due any more by %s, until a day after it is due then', (_, members, due) => {
    const order = declined({ delinquencyPeriod: parseDuration('P9D') }).live(START + 2 * DAY)
    expect(order.invoice(1).status).toBe('past-due')
    const partPaid = receivePayment(order.order, START + 2 * DAY, 1, '1').transition.order
    expect(partPaid.invoices[0]?.status).toBe('past-due')
    order.command({ at: START + 2 * DAY, act: change(members) })
    expect(order.invoice(1)).toMatchObject({ status: 'unpaid', dueTime: due })
    const changed = change(members)(partPaid, START + 2 * DAY).order
    expect(changed.invoices[0]).toMatchObject({ status: 'partially-paid', dueTime: due })
    expect(order.live(due + DAY - 1).invoice(1).status).toBe('unpaid')
    expect(order.live(due + DAY).invoice(1).status).toBe('past-due')
    expectEventsOfTransitions(order.transitions)
  })
})

describe('an invoice that is issued early', () => {
  const early = (days: number) =>
    terms({
      invoiceTimeShift: {
        issueTimeShift: { chronology: 'before', duration: days, unit: 'day' },
        dueTimeShift: null,
      },
    })

  test('is not issued before the activation, nor before the reactivation', () => {
    const order = new ChargedOrder(early(20)).live(START + HOUR)
    order.command({
      at: START + DAY,
      act: cancelAt(at('2027-02-28')),
    })
    const back = at('2027-02-20')
    order.live(back - 1).command({ at: back, act: reactivateOrder })
    expect(order.live(back).invoice(2)).toMatchObject({ issuedTime: back, chargeTime: at('2027-02-28') })
    const long = new ChargedOrder(early(40)).live(START + HOUR)
    expect(long.invoice(2).issuedTime).toBe(START)
  })

  test('while there was nothing to charge is charged at its boundary where there is by then', () => {
    const autopay = (isOn: boolean) => (before: Order, now: number) =>
      changeAutopay(before, now, { ...before.terms, ...(isOn ? AUTOPAY : NO_AUTOPAY) }, isOn)
    const order = new ChargedOrder(early(5)).live(at('2027-02-01'))
    order.command({ at: at('2027-02-01'), act: autopay(false) }).live(at('2027-02-24'))
    expect(order.invoice(2)).toMatchObject({ status: 'unpaid', chargeTime: null })
    order.command({ at: at('2027-02-24'), act: autopay(true) }).live(at('2027-02-28') - 1)
    expect(order.invoice(2).status).toBe('unpaid')
    expect(order.live(at('2027-02-28')).invoice(2).status).toBe('paid')
  })

  test('and was past due before its period is not past due any more once a pause has moved that', () => {
    const order = new ChargedOrder(early(5)).live(at('2027-02-24'))
    // As an earlier release could leave it, which took any due time.
    const { invoices } = order.order
    const due = { dueTime: at('2027-02-23'), status: 'past-due' as const }
    order.order = {
      ...order.order,
      invoices: invoices.map((one) => (one.sequence === 2 ? { ...one, ...due } : one)),
    }
    const pause = { id: 'pause', effectiveTime: at('2027-02-24'), endTime: at('2027-03-02') }
    order.command({ at: at('2027-02-24'), act: (before, now) => pauseOrder(before, now, pause) })
    const moved = order.live(at('2027-03-02')).invoice(2)
    expect(moved).toMatchObject({ status: 'unpaid', dueTime: moved.periodStart })
  })

  test('is charged at its boundary, also where a pause has moved that', () => {
    const order = new ChargedOrder(early(5)).live(at('2027-02-24'))
    expect(order.invoice(2)).toMatchObject({ status: 'unpaid', chargeTime: at('2027-02-28') })
    const pause = { id: 'pause', effectiveTime: at('2027-02-25'), endTime: at('2027-03-02') }
    order.command({ at: at('2027-02-24'), act: (before, now) => pauseOrder(before, now, pause) })
    order.live(at('2027-03-05') - 1)
    expect(order.invoice(2)).toMatchObject({ status: 'unpaid', periodStart: at('2027-03-05') })
    expect(order.live(at('2027-03-05')).invoice(2)).toMatchObject({
      status: 'paid',
      paidTime: at('2027-03-05'),
    })
  })
})

describe('a cancellation with a churn time far ahead', () => {
  const periods = ({ order }: ChargedOrder) =>
    order.invoices.map(({ periodNumber, periodStart, status }) => [periodNumber, day(periodStart), status])

  test('goes on billing until then: the last period in full, nothing after it', () => {
    const order = charged()
      .live(START)
      .command({ at: at('2027-02-10'), act: cancelAt(at('2027-04-15')) })
    expect(renewalTime(order.order)).toBe(at('2027-02-28'))
    order.live(at('2027-04-01'))
    expect(order.order).toMatchObject({ status: 'canceled', rebillNumber: 3 })
    expect(renewalTime(order.order)).toBeNull()
    order.live(END)
    expect(status(order)).toBe('churned')
    expect(periods(order)).toEqual([
      [1, '2027-01-31', 'paid'],
      [2, '2027-02-28', 'paid'],
      [3, '2027-03-31', 'paid'],
    ])
    expect(order.invoice(3)).toMatchObject({ amount: '9.9', periodEnd: at('2027-04-30') })
  })

  test('in a trial: its end begins the first paid period, and a trial alone is served until then', () => {
    const trial = { price: '0', period: { unit: 'day', length: 10 } } as const
    const order = new ChargedOrder(terms({ trial })).live(START)
    order.command({ at: START + DAY, act: cancelAt(START + 30 * DAY) }).live(START + 20 * DAY)
    expect(order.order).toMatchObject({ status: 'canceled', inTrial: false, rebillNumber: 1 })
    expect(order.live(END).order.invoices).toHaveLength(2)
    const alone = new ChargedOrder(terms({ trial, recurringInterval: null })).live(START)
    alone.command({ at: START + DAY, act: cancelAt(START + 30 * DAY) })
    expect(status(alone.live(START + 29 * DAY))).toBe('canceled')
    expect(alone.live(END).order).toMatchObject({ status: 'churned', churnTime: START + 30 * DAY })
  })

  test('moved back voids what was issued early, moved ahead bills the periods that it lets begin', () => {
    const issueTimeShift = { chronology: 'before', duration: 5, unit: 'day' } as const
    const agreed = terms({ invoiceTimeShift: { issueTimeShift, dueTimeShift: null } })
    const order = new ChargedOrder(agreed).live(START).command({ at: START + DAY, act: cancelAt(END) })
    const move = (churnTime: number) => (before: Order, now: number) =>
      changeCancellation(
        before,
        now,
        { canceledBy: 'merchant', reason: null, description: null },
        { churnTime, churnTimePolicy: null },
      )
    order.live(at('2027-02-24'))
    expect(order.invoice(2).status).toBe('unpaid')
    order.command({ at: at('2027-02-24'), act: move(at('2027-02-27')) })
    expect(order.invoice(2).status).toBe('voided')
    const again = at('2027-02-25')
    order.command({ at: again, act: move(at('2027-03-02')) }).live(END)
    expect(periods(order).slice(1)).toEqual([
      [2, '2027-02-28', 'voided'],
      [2, '2027-02-28', 'paid'],
    ])
    expect(order.invoice(3).issuedTime).toBe(again)
  })

  test('has no retries; those that fell into it are made once, at the undo', () => {
    const order = charged({}, ['approved', 'declined', 'declined']).live(at('2027-02-28'))
    const undone = at('2027-02-28') + 4 * DAY
    order.command({ at: at('2027-02-28') + HOUR, act: cancelAt(at('2027-06-15')) }).live(undone - 1)
    expect(order.charges).toHaveLength(2)
    order.command({ at: undone, act: reactivateOrder })
    expect(order.invoice(2).chargeTime).toBe(undone)
    order.live(undone)
    expect(order.charges.slice(2)).toMatchObject([{ invoice: 2, now: undone, late: 0 }])
    expect(order.invoice(2).chargeTime).toBe(at('2027-02-28') + 5 * DAY)
  })

  test('a renewal that the gateway never received is charged again', () => {
    const order = charged()
      .live(START)
      .command({ at: START + DAY, act: cancelAt(at('2027-06-15')) })
    order.order = advanceThrough(order.order, at('2027-02-28')).order
    order.command({ at: at('2027-02-28') + 1, act: (before, now) => beginCharge(before, now, 2) })
    order.command({ at: at('2027-02-28') + 2, act: (before, now) => cancelCharge(before, now, 2) })
    expect(order.invoice(2)).toMatchObject({ charge: null, chargeTime: at('2027-02-28') + 2 })
  })

  test('invoices the last period of a postpaid order at its end, not at a later churn time', () => {
    const agreed = terms({
      recurringInterval: { unit: 'month', length: 1, limit: 1, billingTiming: 'postpaid' },
    })
    const order = new ChargedOrder(agreed).live(START)
    order.command({ at: START + DAY, act: cancelAt(START + 60 * DAY) }).live(END)
    const last = order.order.invoices.find(({ periodNumber }) => periodNumber === 1)
    expect(last?.issuedTime).toBe(last?.periodEnd)
    expect(order.order).toMatchObject({ status: 'churned', churnTime: START + 60 * DAY })
  })

  test('undone, it leaves the periods of an order that was never canceled, whatever the commands before', () => {
    const times = fc.tuple(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 0, max: 200 }),
      fc.integer({ min: 1, max: 100 }),
    )
    fc.assert(
      fc.property(anyTerms, times, (agreed, [canceled, undone, further]) => {
        const members = { ...agreed, delinquencyPeriod: null }
        const order = new ChargedOrder(members).live(START + canceled * DAY - 1)
        order.command({
          at: START + canceled * DAY,
          act: cancelAt(START + (canceled + undone + further) * DAY),
        })
        order.live(START + (canceled + undone) * DAY - 1)
        order.command({ at: START + (canceled + undone) * DAY, act: reactivateOrder }).live(END)
        const billed = (ran: ChargedOrder) => periods(ran).filter(([, , status]) => status !== 'voided')
        const never = new ChargedOrder(members).live(END)
        expect(billed(order)).toEqual(billed(never))
        expect(order.charges.length).toBe(never.charges.length)
      }),
      { numRuns: 600 },
    )
  })
})

describe('money of an invoice', () => {
  const owing = (members: Partial<OrderTerms> = {}) => {
    const order = charged(members)
    order.order = advanceThrough(order.order, START).order
    return order.command({
      at: START,
      act: (before, now) => changeAutopay(before, now, { ...before.terms, ...NO_AUTOPAY }, false),
    })
  }
  const pay = (order: ChargedOrder, amount: string) =>
    order.command({ at: START, act: (before, now) => receivePayment(before, now, 1, amount).transition })
  const refund = (order: ChargedOrder, amount: string, now = START) =>
    order.command({ at: now, act: (before) => refundInvoice(before, now, 1, amount) })
  const dispute = (order: ChargedOrder, isDisputed: boolean) =>
    order.command({ at: START, act: (before, now) => disputeInvoice(before, now, 1, isDisputed) })

  test('in part leaves the rest due; refunded, it is due as before', () => {
    const order = pay(owing(), '4')
    expect(order.invoice(1)).toMatchObject({ status: 'partially-paid' })
    expect(amountDue(order.invoice(1))).toBe('5.9')
    refund(order, '4')
    expect(order.invoice(1).status).toBe('unpaid')
    expect(amountDue(order.invoice(1))).toBe('9.9')
    const later = refund(pay(owing(), '4').advanceTo(START + 3 * DAY), '4', START + 3 * DAY)
    expect(later.invoice(1).status).toBe('past-due')
  })

  test.each([
    ['as much as it was due', '3.9'],
    ['more than it is due', '6'],
  ])('is all paid once a refund fails after a payment of %s', (_, amount) => {
    const order = refund(pay(owing(DELINQUENT_AFTER_3_DAYS), '6'), '6')
    expect(pay(order, amount).invoice(1).status).toBe('partially-paid')
    refund(order, '-6')
    expect(order.invoice(1)).toMatchObject({
      status: 'paid',
      paidTime: START,
      amountPaid: '9.9',
      amountRefunded: '0',
      chargeTime: null,
      delinquencyTime: null,
    })
    expect(order.advanceTo(START + 5 * DAY).order.status).toBe('active')
    expect(order.charges).toEqual([])
  })

  test('is paid in part again once the refund of that part fails', () => {
    const order = refund(refund(pay(owing(), '4'), '4'), '-4')
    expect(order.invoice(1).status).toBe('partially-paid')
    expect(amountDue(order.invoice(1))).toBe('5.9')
    expect(order.transitions.at(-1)?.events).toEqual([{ type: 'invoice-partially-paid', invoice: 1 }])
  })

  test('is what its sales have in it: never more than its amount, whichever refunds fail', () => {
    const nth = fc.nat({ max: 5 })
    const share = fc.integer({ min: 1, max: 100 })
    const histories = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('pay' as const), share }),
        fc.record({ kind: fc.constant('refund' as const), nth, share }),
        fc.record({ kind: fc.constant('fail' as const), nth }),
      ),
      { minLength: 3, maxLength: 14 },
    )
    let surpluses = 0
    fc.assert(
      fc.property(histories, (history) => {
        const order = owing()
        const kept: Money[] = []
        const refunds: { readonly sale: number; readonly amount: Money }[] = []
        for (const act of history) {
          const before = new Money(order.invoice(1).amountPaid)
          const partOf = (amount: Money | string) => (of: number) =>
            new Money(amount).times(of).div(100).toDecimalPlaces(2)
          if (act.kind === 'pay') {
            pay(order, partOf('12')(act.share).toFixed())
            kept.push(new Money(order.invoice(1).amountPaid).minus(before))
          } else if (act.kind === 'refund') {
            const sale = act.nth % Math.max(1, kept.length)
            const has = kept[sale]
            if (has === undefined) continue
            const amount = partOf(has)(act.share)
            refund(order, amount.toFixed())
            kept[sale] = has.minus(amount)
            refunds.push({ sale, amount })
          } else {
            const [failed] = refunds.splice(act.nth % Math.max(1, refunds.length), 1)
            if (failed === undefined) continue
            refund(order, failed.amount.negated().toFixed())
            const surplus = before.minus(order.invoice(1).amountPaid)
            if (surplus.greaterThan(0)) surpluses += 1
            kept[failed.sale] = new Money(kept[failed.sale] ?? 0).plus(failed.amount).minus(surplus)
          }
          const invoice = order.invoice(1)
          const { amount, amountPaid, amountRefunded } = invoice
          const has = new Money(amountPaid).minus(amountRefunded)
          expect(has.toFixed()).toBe(kept.reduce((sum, one) => sum.plus(one), new Money(0)).toFixed())
          expect(kept.filter((one) => one.isNegative() && !one.isZero())).toEqual([])
          expect(has.lessThanOrEqualTo(amount)).toBe(true)
          expect(isOpen(invoice)).toBe(new Money(amountDue(invoice)).greaterThan(0))
        }
      }),
    )
    expect(surpluses).toBeGreaterThan(0)
  })

  test('refunded after it was paid shows how much of it; a dispute goes before that until it is won', () => {
    const order = pay(owing(), '9.9')
    const statuses = [
      refund(order, '3').invoice(1).status,
      dispute(order, true).invoice(1).status,
      refund(order, '6.9').invoice(1).status,
      dispute(order, false).invoice(1).status,
    ]
    expect(statuses).toEqual(['partially-refunded', 'disputed', 'disputed', 'refunded'])
    expect(amountDue(order.invoice(1))).toBe('0')
    expect(order.order.status).toBe('active')
  })

  test('that is refunded is told when it is, and never again when a dispute ends', () => {
    const order = pay(owing(), '9.9')
    const told = (act: () => ChargedOrder) =>
      act()
        .transitions.at(-1)
        ?.events.map(({ type }) => type)
    expect(told(() => refund(order, '3'))).toEqual(['invoice-partially-refunded'])
    expect(told(() => dispute(order, true))).toEqual([])
    expect(told(() => dispute(order, false))).toEqual([])
    dispute(order, true)
    expect(told(() => refund(order, '6.9'))).toEqual(['invoice-refunded'])
    expect(told(() => dispute(order, false))).toEqual([])
    expect(order.invoice(1).status).toBe('refunded')
  })

  test('that was refunded in part and paid anew is paid again once a dispute is won', () => {
    const order = pay(refund(pay(owing(), '4'), '4'), '9.9')
    expect(order.invoice(1).status).toBe('paid')
    expect(dispute(order, true).invoice(1).status).toBe('disputed')
    expect(dispute(order, false).invoice(1).status).toBe('paid')
    expect(refund(order, '1').invoice(1).status).toBe('partially-refunded')
    expect(order.transitions.at(-1)?.events).toEqual([{ type: 'invoice-partially-refunded', invoice: 1 }])
  })
})

describe('autopay', () => {
  test('switched off stops retries, switched on takes them up where the schedule is by then', () => {
    const order = charged({}, ['declined', 'declined']).live(START + 2 * DAY)
    const change = (autopay: boolean, now: number) =>
      order.command({
        at: now,
        act: (before) => {
          const members = autopay ? AUTOPAY : NO_AUTOPAY
          return changeAutopay(before, now, { ...before.terms, ...members }, autopay)
        },
      })
    change(false, START + 2 * DAY)
    expect(order.live(START + 4 * DAY).charges).toHaveLength(2)
    change(true, START + 4 * DAY)
    expect(order.live(START + 6 * DAY).charges).toHaveLength(3)
    expect(order.charges.at(-1)?.now).toBe(START + 5 * DAY)
    expect(status(order)).toBe('active')
  })

  test('by a new instrument is made at once for what is open; a paused order is charged at its end', () => {
    const order = charged({}, ['declined', 'declined']).live(START + HOUR)
    order.command({ at: START + 2 * HOUR, act: chargeOpen }).live(START + 2 * HOUR)
    expect(order.charges.map(({ now }) => now)).toEqual([START, START + 2 * HOUR])
    expect(order.invoice(1).chargeTime).toBe(START + DAY)
    const paused = charged({}, ['approved', 'declined', 'declined', 'declined']).live(at('2027-03-03'))
    const pause = { id: 'pause', effectiveTime: null, endTime: at('2027-03-10') }
    paused.command({ at: at('2027-03-04'), act: (before, now) => pauseOrder(before, now, pause) })
    paused.command({ at: at('2027-03-05'), act: chargeOpen }).live(at('2027-03-09'))
    expect(paused.charges).toHaveLength(4)
    expect(paused.live(at('2027-03-10')).charges.at(-1)).toMatchObject({ invoice: 2, now: at('2027-03-10') })
  })

  test('switched off before the first charge was made lets the order start unpaid', () => {
    const order = charged()
    order.order = advanceThrough(order.order, START).order
    order.command({
      at: START + MINUTE,
      act: (before, now) => changeAutopay(before, now, { ...before.terms, ...NO_AUTOPAY }, false),
    })
    expect(order.order).toMatchObject({ status: 'active', anchor: START, invoices: [{ status: 'unpaid' }] })
  })
})

describe('an instrument given to an order that had none to charge', () => {
  const NONE = { canCharge: false, instrumentId: null }
  const given = (before: Order, now: number) =>
    changeAutopay(before, now, { ...before.terms, ...AUTOPAY, instrumentId: 'given' }, true, true)
  const none = (before: Order, now: number) => changeAutopay(before, now, { ...before.terms, ...NONE }, true)

  test('is charged at once for what was never charged', () => {
    const order = charged(DELINQUENT_AFTER_3_DAYS)
    order.order = { ...order.order, terms: { ...order.order.terms, ...NONE } }
    expect(order.live(START + DAY).invoice(1)).toMatchObject({ status: 'unpaid', chargeTime: null })
    order.command({ at: START + 2 * DAY, act: given }).live(START + 2 * DAY)
    expect(order.charges).toMatchObject([{ invoice: 1, now: START + 2 * DAY, instrumentId: 'given' }])
    expect(order.live(START + 5 * DAY).order).toMatchObject({
      status: 'active',
      invoices: [{ status: 'paid' }],
    })
  })

  test('is charged at once for what was declined because there was none', () => {
    const order = charged({ invoiceTimeShift: issuedEarly(5) }).live(at('2027-02-24'))
    order.order = { ...order.order, terms: { ...order.order.terms, ...NONE } }
    const declined = order.live(at('2027-03-02') - 1).invoice(2)
    expect(declined).toMatchObject({ declinedTime: at('2027-02-28'), declines: [] })
    order.command({ at: at('2027-03-02'), act: given }).live(at('2027-03-02'))
    expect(order.invoice(2)).toMatchObject({ status: 'paid', paidTime: at('2027-03-02') })
    const late = charged({ invoiceTimeShift: issuedEarly(5) }).live(at('2027-02-24'))
    late.order = { ...late.order, terms: { ...late.order.terms, ...NONE } }
    late.live(at('2027-03-20')).command({ at: at('2027-03-20'), act: given })
    expect(late.live(at('2027-03-20')).invoice(2).status).toBe('paid')
  })

  test('is charged at the boundary for a period to come', () => {
    const order = charged({ invoiceTimeShift: issuedEarly(5) }).live(START)
    order.command({ at: START + DAY, act: none }).live(at('2027-02-25'))
    order.command({ at: at('2027-02-25'), act: given }).live(at('2027-02-28') - 1)
    expect(order.invoice(2).status).toBe('unpaid')
    expect(order.live(at('2027-02-28')).invoice(2).status).toBe('paid')
  })
})

describe('for any terms, commands, answers and outages', () => {
  const responses = fc.array(
    fc.oneof(
      fc.constantFrom<Answer>('approved', 'approved', 'declined', 'declined', 'unknown', 'lost', 'not-sent'),
      fc.constantFrom<Answer>('approved', ...DECLINE_CLASSES),
    ),
    { maxLength: 60 },
  )
  const looks = fc.array(
    fc.integer({ min: 0, max: 400 * 24 }).map((hour) => START + hour * HOUR),
    {
      maxLength: 12,
    },
  )
  /** The timer fires only now and then; on time from ten months on. */
  const run = (agreed: OrderTerms, commands: readonly Command[], given: readonly Answer[], at: number[]) => {
    const order = new ChargedOrder(agreed, given)
    const instants = [...commands, ...at.map((look) => ({ at: look, act: null }))].sort((a, b) => a.at - b.at)
    for (const one of instants) {
      if (one.act === null) order.advanceTo(one.at)
      else order.command(one)
    }
    return order.live(END)
  }
  const inputs = [anyTerms, anyCommands, responses, looks] as const
  const RUNS = { numRuns: 600 }

  test('every state is a legal one, and events follow transitions one to one', () => {
    fc.assert(
      fc.property(...inputs, (agreed, commands, given, instants) => {
        const { transitions } = run(agreed, commands, given, instants)
        expect(transitions.flatMap(({ order }) => illegal(order))).toEqual([])
        expectEventsOfTransitions(transitions)
      }),
      RUNS,
    )
  })

  test('no period is billed twice and none is left out', () => {
    fc.assert(
      fc.property(...inputs, (agreed, commands, given, instants) => {
        const { order, transitions } = run(agreed, commands, given, instants)
        expectPeriodsBilledOnce(order, transitions)
      }),
      RUNS,
    )
  })

  test('no invoice is charged while a charge of it is open, nor paid twice, and no money is left unaccounted for', () => {
    fc.assert(
      fc.property(...inputs, (agreed, commands, given, instants) => {
        const ran = run(agreed, commands, given, instants)
        const seen = new Set(ran.charges.map(({ invoice, attempt }) => `${invoice}.${attempt}`))
        expect(seen.size).toBe(ran.charges.length)
        const known = [...ran.moved].filter(
          ([request]) => ran.invoice(Number(request.split('.')[0])).charge === null,
        )
        const moved = known.reduce((sum, [, amount]) => sum.plus(amount), new Money(0))
        const byCharge = ran.transitions.reduce((sum, one, index) => {
          const before = ran.transitions[index - 1]?.order.invoices ?? []
          return one.order.invoices.reduce((all, invoice) => {
            const was = before.find(({ sequence }) => sequence === invoice.sequence)
            const hadCharge = was?.charge?.isOwn ?? false
            const paid = new Money(invoice.amountPaid).minus(was?.amountPaid ?? 0)
            return hadCharge ? all.plus(paid) : all
          }, sum)
        }, new Money(0))
        expect(byCharge.plus(ran.unusedAmount).toFixed()).toBe(moved.toFixed())
        for (const invoice of ran.order.invoices) {
          expect(new Money(invoice.amountPaid).lessThanOrEqualTo(invoice.amount)).toBe(true)
        }
      }),
      RUNS,
    )
  })

  test('what is owed is charged again where a retry or another instrument says so, if service goes on', () => {
    const NONE = { canCharge: false, instrumentId: null }
    const give = (order: Order, now: number, instrumentId: string) =>
      changeAutopay(order, now, { ...order.terms, canCharge: true, instrumentId }, true, true)
    const acts: readonly Command['act'][] = [
      (order, now) =>
        pauseOrder(order, now, {
          id: `pause ${order.pauses.length}`,
          effectiveTime: null,
          endTime: null,
        }),
      (order, now) => removePause(order, now, order.pauses.at(-1)?.id ?? ''),
      cancelAt(END),
      reactivateOrder,
      (order, now) =>
        chargeOpen(
          { ...order, terms: { ...order.terms, canCharge: true, instrumentId: `default-${now}` } },
          now,
        ),
      (order, now) => give(order, now, `own-${now}`),
      // Deactivated, where there is no other one.
      (order, now) => transition({ ...order, terms: { ...order.terms, ...NONE } }, now, 'api', () => {}),
      (order, now) => voidInvoice(order, now, order.nextInvoice - 1),
    ]
    const month = fc.array(
      fc.record({ hour: fc.integer({ min: 0, max: 40 * 24 }), act: fc.constantFrom(...acts) }),
      { maxLength: 8 },
    )
    const answers = fc.array(fc.constantFrom<Answer>('declined', ...DECLINE_CLASSES), {
      minLength: 1,
      maxLength: 8,
    })
    fc.assert(
      fc.property(month, answers, fc.constantFrom([], [1, 15]), (moves, given, paydays) => {
        const order = charged({ paydays, delinquencyPeriod: parseDuration('P6M') }, ['approved', ...given])
        order.live(START)
        const commands = moves.map(({ hour, act }) => ({ at: at('2027-02-28') + hour * HOUR, act }))
        for (const one of commands.toSorted((a, b) => a.at - b.at)) order.live(one.at - 1).command(one)
        const through = at('2027-04-20')
        order
          .live(through)
          .command({
            at: through,
            act: (before, now) => removePause(before, now, before.pauses.at(-1)?.id ?? ''),
          })
          .command({ at: through, act: reactivateOrder })
          .command({
            at: through,
            act: (before, now) => {
              const { instrumentId } = before.terms
              return instrumentId === null
                ? give(before, now, 'last')
                : transition(before, now, 'api', () => {})
            },
          })
          .live(through + 20 * DAY)
        for (const invoice of order.order.invoices.filter(isOpen)) {
          const made = order.charges.filter((one) => one.invoice === invoice.sequence)
          const last = made.at(-1)
          expect(last).toBeDefined()
          // No retry was left out since the last charge, which was made by the instrument of now.
          const next = nextRetry(order.order, invoice, last?.now ?? 0)
          expect(next ?? invoice.chargeTime).toBe(invoice.chargeTime)
          expect(next ?? END).toBeGreaterThan(through + 20 * DAY)
          if (!isHeld(order.order, invoice)) expect(last?.instrumentId).toBe(order.order.terms.instrumentId)
        }
      }),
      { numRuns: 400 },
    )
  })

  test('a pending order is charged no sooner than its start, wherever that is moved', () => {
    const moves = fc.array(
      fc.record({ minute: fc.integer({ min: 0, max: 240 }), ahead: fc.integer({ min: 0, max: 10 }) }),
      { maxLength: 4 },
    )
    const answers = fc.array(fc.constantFrom<Answer>('unknown', 'unknown', 'not-sent', 'declined'), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(moves, answers, (given, results) => {
        const order = charged({}, results)
        for (const { minute, ahead } of given.toSorted((a, b) => a.minute - b.minute)) {
          const now = START + minute * MINUTE
          const startTime = now + ahead * DAY
          order.live(now - 1)
          order.command({
            at: now,
            act: (before) => changeTerms(before, now, { ...before.terms, startTime }),
          })
        }
        const { transitions } = order.live(START + 30 * DAY)
        expect(transitions.flatMap((one) => illegal(one.order))).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  test('late charges come at least an hour apart', () => {
    fc.assert(
      fc.property(...inputs, (agreed, commands, given, instants) => {
        const late = run(agreed, commands, given, instants).charges.filter((one) => one.late > HOUR)
        for (const [index, { now }] of late.entries()) {
          if (index > 0) expect(now - (late[index - 1]?.now ?? 0)).toBeGreaterThanOrEqual(HOUR)
        }
      }),
      RUNS,
    )
  })

  test('a timer that is up to an hour late gives the same record as one on time', () => {
    const known = fc.array(fc.constantFrom<Answer>('approved', 'approved', 'declined', ...DECLINE_CLASSES), {
      maxLength: 60,
    })
    const delays = fc.infiniteStream(fc.integer({ min: 0, max: 50 * MINUTE }))
    fc.assert(
      fc.property(anyTerms, known, delays, (agreed, given, late) => {
        const onTime = new ChargedOrder(agreed, given).live(END)
        const delayed = new ChargedOrder(agreed, given)
        delayed.live(END - DAY, () => late.next().value ?? 0).live(END)
        expect(recordOf(delayed.order)).toEqual(recordOf(onTime.order))
      }),
      RUNS,
    )
  })

  test('a charge that is up to an hour late gives the same record, whatever pauses begin and end meanwhile', () => {
    const renewing = anyTerms.filter(
      ({ interval, declinedRenewalsLimit }) => interval !== null && declinedRenewalsLimit === null,
    )
    const known = fc
      .array(fc.constantFrom<Answer>('approved', 'approved', 'declined', ...DECLINE_CLASSES), {
        maxLength: 60,
      })
      .map((given): Answer[] => ['approved', ...given])
    const delays = fc.infiniteStream(fc.integer({ min: 0, max: 50 * MINUTE }))
    // At, shortly before and shortly after what is due in the order's life.
    const pausing = fc.array(
      fc.record({
        deadline: fc.integer({ min: 0, max: 20 }),
        after: fc.oneof(fc.integer({ min: -2, max: 2 }), fc.integer({ min: -60 * MINUTE, max: 60 * MINUTE })),
        isPause: fc.boolean(),
      }),
      { maxLength: 6 },
    )
    fc.assert(
      fc.property(renewing, known, delays, pausing, (agreed, given, late, chosen) => {
        const deadlines = deadlinesOf(agreed, given)
        // While its first payment is awaited, an order cannot be paused.
        const begun = Math.max(agreed.startTime, agreed.createdTime) + HOUR
        const commands = chosen
          .map(({ deadline, after, isPause }, index): Command => {
            const instant = (deadlines[deadline % deadlines.length] ?? begun) + after
            const begin: Command['act'] = (order, now) =>
              pauseOrder(order, now, { id: `pause ${index}`, effectiveTime: null, endTime: null })
            const end: Command['act'] = (order, now) => removePause(order, now, order.pauses.at(-1)?.id ?? '')
            return { at: Math.max(instant, begun), act: isPause ? begin : end }
          })
          .toSorted((a, b) => a.at - b.at)
        const onTime = new ChargedOrder(agreed, given)
        const delayed = new ChargedOrder(agreed, given)
        for (const command of commands) {
          onTime.live(command.at - 1).command(command)
          for (;;) {
            const wakes = (delayed.nextDeadline() ?? END) + (late.next().value ?? 0)
            if (wakes >= command.at) break
            delayed.advanceTo(wakes)
          }
          delayed.command(command)
        }
        onTime.live(END)
        delayed.live(END - DAY, () => late.next().value ?? 0).live(END)
        expect(recordOf(delayed.order)).toEqual(recordOf(onTime.order))
      }),
      RUNS,
    )
  })

  test('where everything is approved, nothing that was issued is owed', () => {
    fc.assert(
      fc.property(anyTerms, looks, (agreed, instants) => {
        // Late charges come an hour apart: time for those that the end of the last outage left.
        const { order } = run(agreed, [], [], instants).live(END + 3 * DAY)
        const owed = order.invoices.filter(
          (one) => isOpen(one) && (one.chargeTime === null || one.chargeTime <= END),
        )
        expect(owed).toEqual([])
      }),
      RUNS,
    )
  })

  test('a reactivated order is charged like a new one', () => {
    const order = charged({}, ['approved', 'declined']).live(at('2027-02-28') + HOUR)
    order.command({
      at: at('2027-02-28') + 2 * HOUR,
      act: cancelAt(null),
    })
    order.live(at('2027-04-01'))
    expect(order.charges).toHaveLength(2)
    order.command({ at: at('2027-04-02'), act: reactivateOrder })
    order.live(at('2027-04-02'))
    expect(order.order).toMatchObject({ status: 'active', rebillNumber: 3 })
    expect(order.invoice(3)).toMatchObject({ status: 'paid', paidTime: at('2027-04-02') })
  })
})

function deadlinesOf(agreed: OrderTerms, given: readonly Answer[]): number[] {
  const order = new ChargedOrder(agreed, given)
  const found: number[] = []
  for (;;) {
    const next = order.nextDeadline()
    if (next === null || next > END) return found
    found.push(next)
    order.advanceTo(next)
  }
}

const NO_AUTOPAY = { canCharge: false, instrumentId: null, autopayRetries: [] }

function recordOf(order: Order) {
  const { notBefore: _, ...rest } = order
  return rest
}

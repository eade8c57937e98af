import { describe, expect, test } from '@jest/globals'
import { parseDuration } from '../../billing/durations.ts'
import { ConflictError } from '../../billing/errors.ts'
import { LATEST_INSTANT } from '../../billing/instants.ts'
import type { Invoice } from '../../billing/invoices.ts'
import { changeItems } from '../../billing/item-changes.ts'
import { type Order, placeOrder, renewalTime, type Transition } from '../../billing/order.ts'
import { cancelOrder, moveRenewal, reactivateOrder, voidInvoice } from '../../billing/order-commands.ts'
import { advanceThrough, upcomingInvoice } from '../../billing/order-lifecycle.ts'
import { payInvoice, receivePayment } from '../../billing/order-payments.ts'
import { agreedTerms, type OrderTerms, type PricedPlan } from '../../billing/order-terms.ts'
import { pauseOrder } from '../../billing/pauses.ts'
import { anchorFrom, endOfPeriod, type PeriodAnchor, WEEKDAYS } from '../../billing/periods.ts'
import { monthlyRecurringRevenue } from '../../billing/recurring-revenue.ts'
import { nextReminder } from '../../billing/reminders.ts'
import fc from '../support/fast-check.ts'
import { AUTOPAY, ChargedOrder } from './charged-order.ts'
import {
  expectEventsOfTransitions,
  expectNoHoles,
  expectPeriodsBilledOnce,
  expectServedUntilChurn,
  illegal,
} from './legal.ts'
import {
  anyCommands,
  anyTerms,
  at,
  type Command,
  day,
  END,
  live,
  MONTHLY,
  NO_CHOICES,
  terms,
} from './orders.ts'

const RUNS = { numRuns: 2_000 }
const looks = fc.array(fc.integer({ min: at('2027-01-31'), max: END }), { maxLength: 15 })

function advanced(agreed: ReturnType<typeof terms>, through: string): Order {
  return advanceThrough(placeOrder(agreed).order, at(through)).order
}

const told = ({ at, cause, events }: Transition) => ({ at, cause, events })
const starts = (order: Order): (string | null)[] => order.invoices.map(({ periodStart }) => day(periodStart))

describe('the life of an order', () => {
  test('a start wins over an abandonment at the same instant; an earlier abandonment wins over the start', () => {
    const startTime = at('2027-02-10')
    expect(advanced(terms({}, { startTime, abandonTime: startTime }), '2027-02-10')).toMatchObject({
      status: 'active',
      activationTime: startTime,
    })
    expect(advanced(terms({}, { startTime, abandonTime: startTime - 1 }), '2027-02-10')).toMatchObject({
      status: 'abandoned',
      activationTime: null,
    })
  })

  test.each([
    ['2027-01-28', ['2027-02-28', '2027-03-28', '2027-04-28']],
    ['2027-01-29', ['2027-02-28', '2027-03-29', '2027-04-29']],
    ['2027-01-30', ['2027-02-28', '2027-03-30', '2027-04-30']],
    ['2027-01-31', ['2027-02-28', '2027-03-31', '2027-04-30']],
    ['2028-02-29', ['2028-03-29', '2028-04-29', '2028-05-29']],
    ['2027-12-31', ['2028-01-31', '2028-02-29', '2028-03-31']],
  ])('monthly from %s keeps its day', (start, boundaries) => {
    const order = advanced(terms({}, { createdTime: at(start) }), boundaries[2] ?? '')
    expect(starts(order)).toEqual([start, ...boundaries])
    expect(order.rebillNumber).toBe(4)
  })

  test.each([
    [{ unit: 'week', length: 1 } as const, '2027-02-14', ['2027-01-31', '2027-02-07', '2027-02-14']],
    [{ unit: 'month', length: 3 } as const, '2027-07-31', ['2027-01-31', '2027-04-30', '2027-07-31']],
    [{ unit: 'year', length: 1 } as const, '2029-01-31', ['2027-01-31', '2028-01-31', '2029-01-31']],
  ])('periods of %o', (period, through, expected) => {
    expect(starts(advanced(terms({ recurringInterval: { ...period, limit: null } }), through))).toEqual(
      expected,
    )
  })

  test('24 periods in one go are 24 renewals, each billed once', () => {
    const order = advanced(terms(), '2029-01-31')
    expect(order.invoices.map(({ periodNumber }) => periodNumber)).toEqual(
      Array.from({ length: 25 }, (_, index) => index + 1),
    )
  })

  test('a trial is period 0, its end the anchor; then the first paid period', () => {
    const agreed = terms({
      trial: { price: '1', period: { unit: 'day', length: 10 } },
      setup: { price: '5' },
    })
    const during = advanced(agreed, '2027-02-01')
    expect(during).toMatchObject({ status: 'active', inTrial: true, rebillNumber: 0 })
    expect(day(renewalTime(during))).toBe('2027-02-10')
    expect(during.invoices.map(({ amount }) => amount)).toEqual(['6'])
    const after = advanced(agreed, '2027-03-10')
    expect(after).toMatchObject({ inTrial: false, rebillNumber: 2 })
    expect(starts(after)).toEqual(['2027-01-31', '2027-02-10', '2027-03-10'])
    expect(after.invoices.map(({ amount }) => amount)).toEqual(['6', '9.9', '9.9'])
  })

  test('a trial alone ends as trial-ended', () => {
    const agreed = terms({
      recurringInterval: null,
      trial: { price: '0', period: { unit: 'day', length: 10 } },
    })
    expect(advanced(agreed, '2027-02-10')).toMatchObject({ status: 'trial-ended', inTrial: false })
    expect(advanced(agreed, '2027-02-09').invoices).toMatchObject([{ status: 'paid', amount: '0' }])
  })

  test('the last period of a limit has no renewal and ends as completed', () => {
    const agreed = terms({ recurringInterval: { unit: 'month', length: 1, limit: 2 } })
    const last = advanced(agreed, '2027-02-28')
    expect(last).toMatchObject({ status: 'active', rebillNumber: 2 })
    expect(renewalTime(last)).toBeNull()
    expect(advanced(agreed, '2027-03-31')).toMatchObject({ status: 'completed', rebillNumber: 2 })
    expect(advanced(agreed, '2028-03-31').invoices).toHaveLength(2)
  })

  test('a one-time sale of nothing completes at once, one that is owed waits for its payment', () => {
    const free = terms({ recurringInterval: null, pricing: { formula: 'fixed-fee', price: '0' } })
    expect(advanced(free, '2027-01-31')).toMatchObject({ status: 'completed' })
    expect(advanced(terms({ recurringInterval: null }), '2028-01-31')).toMatchObject({
      status: 'active',
      invoices: [{ status: 'past-due' }],
    })
  })

  test('an unpaid invoice is past due a day after it was due, and cancels the order at its delinquency time', () => {
    const agreed = terms({}, { delinquencyPeriod: { ...NO_TIME, days: 3 } })
    expect(advanced(agreed, '2027-02-01T00:59:59Z').invoices[0]?.status).toBe('unpaid')
    expect(advanced(agreed, '2027-02-01T01:00:00Z').invoices[0]?.status).toBe('past-due')
    expect(advanced(agreed, '2027-02-03T00:59:59Z').status).toBe('active')
    expect(advanced(agreed, '2027-02-03T01:00:00Z')).toMatchObject({
      status: 'canceled',
      canceledBy: 'rebilly-side',
      cancelCategory: 'billing-failure',
      churnTime: at('2027-02-03T01:00:00Z'),
      invoices: [{ status: 'abandoned' }],
    })
    expect(advanceThrough(advanced(agreed, '2027-02-03T01:00:00Z'), END).transitions).toEqual([])
  })

  test('a renewal invoice is issued earlier by the time shift, and due no sooner than its boundary', () => {
    const issueTimeShift = { chronology: 'before', duration: 5, unit: 'day' } as const
    const agreed = terms({ invoiceTimeShift: { issueTimeShift, dueTimeShift: null } })
    const order = advanced(agreed, '2027-02-23')
    expect(order.rebillNumber).toBe(1)
    expect(order.invoices[1]).toMatchObject({
      issuedTime: at('2027-02-23'),
      dueTime: at('2027-02-28'),
      periodNumber: 2,
    })
    expect(advanced(agreed, '2027-02-28').invoices).toHaveLength(2)
  })

  test('a delinquency also ends what was issued for the next period: reactivated, that is billed anew', () => {
    const issueTimeShift = { chronology: 'before', duration: 7, unit: 'day' } as const
    const agreed = terms(
      { invoiceTimeShift: { issueTimeShift, dueTimeShift: null } },
      { delinquencyPeriod: { ...NO_TIME, days: 25 } },
    )
    const statuses = ({ invoices }: Order) =>
      invoices.map(({ periodNumber, status }) => [periodNumber, status])
    const canceled = advanced(agreed, '2027-02-26')
    expect(canceled.status).toBe('canceled')
    expect(statuses(canceled)).toEqual([
      [1, 'abandoned'],
      [2, 'abandoned'],
    ])
    expect(statuses(reactivateOrder(canceled, at('2027-02-27')).order)).toEqual([
      [1, 'abandoned'],
      [2, 'abandoned'],
      [2, 'unpaid'],
    ])
    const before = advanced(agreed, '2027-02-25')
    const paidAhead = payInvoice(before, at('2027-02-25'), 2).order
    const voided = advanceThrough(paidAhead, at('2027-02-26')).order
    expect(statuses(voided)).toEqual([
      [1, 'abandoned'],
      [2, 'voided'],
    ])
    expect(statuses(reactivateOrder(voided, at('2027-02-27')).order).at(-1)).toEqual([2, 'unpaid'])
  })

  test('a cancellation is not undone while an invoice is past its delinquency time, and is once that is paid', () => {
    const agreed = terms({}, { delinquencyPeriod: { ...NO_TIME, days: 3 } })
    const cancellation = {
      churnTime: at('2027-02-20'),
      churnTimePolicy: null,
      canceledBy: 'merchant',
      reason: null,
      description: null,
    } as const
    const { order } = cancelOrder(advanced(agreed, '2027-02-01'), at('2027-02-01'), cancellation)
    // Delinquent on the third of February, an hour after midnight.
    expect(reactivateOrder(order, at('2027-02-03')).order.status).toBe('active')
    const owing = advanceThrough(order, at('2027-02-04')).order
    expect(owing.status).toBe('canceled')
    expect(() => reactivateOrder(owing, at('2027-02-04'))).toThrow(ConflictError)
    const paid = payInvoice(owing, at('2027-02-04'), 1).order
    expect(reactivateOrder(paid, at('2027-02-04')).order.status).toBe('active')
  })

  test('a trial is converted by the first payment after it, whatever the plans are by then', () => {
    const trial = { price: '1', period: { unit: 'day', length: 10 } } as const
    const converted = (began: OrderTerms, becomes: OrderTerms) => {
      const { order } = changeItems(advanced(began, '2027-02-01'), at('2027-02-01'), {
        terms: becomes,
        prorated: false,
        renewalPolicy: 'retain',
      })
      const renewed = advanceThrough(order, at('2027-03-01')).order
      const { order: paid, events } = payInvoice(renewed, at('2027-03-01'), 2)
      const told = events.some(({ type }) => type === 'subscription-trial-converted')
      return [paid.isTrialConverted, told]
    }
    expect(converted(terms({ trial }), terms())).toEqual([true, true])
    expect(converted(terms(), terms({ trial }))).toEqual([false, false])
  })

  test('a trial whose first paid period was paid before its end is converted at that end', () => {
    const issueTimeShift = { chronology: 'before', duration: 3, unit: 'day' } as const
    const agreed = terms({
      trial: { price: '0', period: { unit: 'day', length: 10 } },
      invoiceTimeShift: { issueTimeShift, dueTimeShift: null },
    })
    const { order: paid } = payInvoice(advanced(agreed, '2027-02-08'), at('2027-02-08'), 2)
    expect(paid).toMatchObject({ inTrial: true, isTrialConverted: false })
    const { order, transitions } = advanceThrough(paid, at('2027-02-10'))
    expect(order).toMatchObject({ isTrialConverted: true, trialConversionTime: at('2027-02-10') })
    expect(transitions.at(-1)?.events.map(({ type }) => type)).toContain('subscription-trial-converted')
  })

  test('a trial is converted also by an invoice between renewals for time after it', () => {
    const trial = { price: '0', period: { unit: 'day', length: 10 } } as const
    const dearer = terms({ trial, pricing: { formula: 'flat-rate', price: '90' } })
    const change = { terms: dearer, prorated: true, renewalPolicy: 'retain' } as const
    const { order } = changeItems(advanced(terms({ trial }), '2027-02-20'), at('2027-02-20'), change)
    const interim = order.invoices.find(({ type }) => type === 'interim')
    expect(payInvoice(order, at('2027-02-20'), interim?.sequence ?? 0).order.isTrialConverted).toBe(true)
  })

  test('a part-paid invoice becomes past due too, and stays so whatever part is paid then', () => {
    const due = at('2027-01-31T01:00:00Z')
    const part = receivePayment(advanced(terms(), '2027-01-31'), due, 1, '4').transition.order
    expect(part.invoices[0]?.status).toBe('partially-paid')
    const { order, transitions } = advanceThrough(part, due + DAY)
    expect(order.invoices[0]).toMatchObject({ status: 'past-due', amountPaid: '4' })
    expect(transitions.map(told)).toEqual([
      { at: due + DAY, cause: 'deadline', events: [{ type: 'invoice-past-due', invoice: 1 }] },
    ])
    const more = receivePayment(order, due + 2 * DAY, 1, '1').transition
    expect(more.order.invoices[0]).toMatchObject({ status: 'past-due', amountPaid: '5' })
    expect(more.events).toEqual([{ type: 'invoice-partially-paid', invoice: 1 }])
    expect(payInvoice(more.order, due + 3 * DAY, 1).order.invoices[0]).toMatchObject({ status: 'paid' })
  })

  test('the invoice of a paused period shows its new end', () => {
    const pause = { id: 'pause', effectiveTime: at('2027-02-10'), endTime: at('2027-02-20') }
    const paused = pauseOrder(advanced(terms(), '2027-02-01'), at('2027-02-01'), pause).order
    const { invoices } = advanceThrough(paused, at('2027-03-10')).order
    expect(invoices.map(({ periodStart, periodEnd }) => [day(periodStart), day(periodEnd)])).toEqual([
      ['2027-01-31', '2027-03-10'],
      ['2027-03-10', '2027-04-10'],
    ])
  })

  test('the first invoice of a pending order is not voided by itself; one of an active order is', () => {
    const active = advanced(terms(), '2027-01-31')
    const pending = { ...active, status: 'pending' as const }
    expect(() => voidInvoice(pending, at('2027-01-31'), 1)).toThrow(ConflictError)
    expect(voidInvoice(active, at('2027-01-31'), 1).order.invoices[0]?.status).toBe('voided')
  })

  test('reminders are sent before the abandonment, the end of the trial and each renewal, once each', () => {
    const [hour, day3, day5] = ['PT1H', 'P3D', 'P5D'].flatMap((text) => parseDuration(text) ?? [])
    if (hour === undefined || day3 === undefined || day5 === undefined) throw new Error('no durations')
    const reminders = { renewal: [day5, day3], trialEnd: [day3], abandon: [hour] }
    const sent = (transitions: readonly Transition[]) =>
      transitions.flatMap(({ at, events }) =>
        events.flatMap(({ type }) =>
          type.endsWith('-reminder') ? [[type, new Date(at).toISOString()]] : [],
        ),
      )
    const startTime = at('2027-02-10')
    const pending = placeOrder(terms({}, { startTime, abandonTime: at('2027-02-09'), reminders })).order
    expect(nextReminder(pending)).toEqual({ kind: 'abandon', at: at('2027-02-08T23:00:00Z') })
    const abandoned = advanceThrough(pending, END)
    expect(sent(abandoned.transitions)).toEqual([['order-abandon-reminder', '2027-02-08T23:00:00.000Z']])
    expect(abandoned.order.remindersSent.abandon).toBe(1)
    const trial = { price: '0', period: { unit: 'day', length: 10 } } as const
    const { transitions, order } = advanceThrough(
      placeOrder(terms({ trial }, { reminders })).order,
      at('2027-03-09'),
    )
    expect(sent(transitions)).toEqual([
      ['subscription-trial-end-reminder', '2027-02-07T00:00:00.000Z'],
      ['subscription-renewal-reminder', '2027-03-05T00:00:00.000Z'],
      ['subscription-renewal-reminder', '2027-03-07T00:00:00.000Z'],
    ])
    expect(order.remindersSent).toEqual({ renewal: 2, trialEnd: 1, abandon: 0 })
    expect(advanceThrough(order, at('2027-03-10')).order.remindersSent.renewal).toBe(0)
  })

  test('a renewal that is moved is reminded of before its new time; what has passed by then is not made up', () => {
    const before = parseDuration('P3D')
    const reminders = { renewal: before === null ? [] : [before], trialEnd: [], abandon: [] }
    const order = advanced(terms({}, { reminders }), '2027-02-26')
    expect(order.remindersSent.renewal).toBe(1)
    const now = at('2027-02-26')
    const later = moveRenewal(order, now, at('2027-03-20'))?.order ?? order
    expect(nextReminder(later)).toEqual({ kind: 'renewal', at: at('2027-03-17') })
    const sooner = moveRenewal(
      advanced(terms({}, { reminders }), '2027-02-10'),
      at('2027-02-10'),
      at('2027-02-12'),
    )
    expect(sooner === null ? 'unmoved' : nextReminder(sooner.order)).toBeNull()
    const paused = pauseOrder(order, now, { id: 'pause', effectiveTime: null, endTime: null }).order
    expect(nextReminder(paused)).toBeNull()
  })

  describe('that is billed at the end of each period', () => {
    const postpaid = (members: Partial<Parameters<typeof terms>[0]> = {}, limit: number | null = null) =>
      terms({
        setup: { price: '5' },
        recurringInterval: { unit: 'month', length: 1, limit, billingTiming: 'postpaid' },
        ...members,
      })
    const billed = ({ invoices }: Order) =>
      invoices.map(({ amount, periodNumber, periodStart, periodEnd, issuedTime }) => [
        amount,
        periodNumber,
        day(periodStart),
        day(periodEnd),
        day(issuedTime),
      ])
    const SETUP = ['5', null, null, null, '2027-01-31']
    const FIRST = ['9.9', 1, '2027-01-31', '2027-02-28', '2027-02-28']

    test('owes its setup at the start, and each period when it has ended', () => {
      expect(billed(advanced(postpaid(), '2027-02-27'))).toEqual([SETUP])
      const second = ['9.9', 2, '2027-02-28', '2027-03-31', '2027-03-31']
      expect(billed(advanced(postpaid(), '2027-03-31'))).toEqual([SETUP, FIRST, second])
      expect(upcomingInvoice(advanced(postpaid(), '2027-02-10'))).toMatchObject({
        amount: '9.9',
        periodNumber: 1,
        issuedTime: at('2027-02-28'),
      })
    })

    test('owes its last period when it completes, churns or becomes delinquent', () => {
      const completed = advanced(postpaid({}, 1), '2027-02-28')
      expect(completed.status).toBe('completed')
      expect(billed(completed)).toEqual([SETUP, FIRST])
      const now = at('2027-02-10')
      const { order: churned } = cancelOrder(advanced(postpaid(), '2027-02-09'), now, {
        churnTime: null,
        churnTimePolicy: null,
        canceledBy: 'merchant',
        reason: null,
        description: null,
      })
      const LAST = ['9.9', 1, '2027-01-31', '2027-02-28', '2027-02-10']
      expect(churned.status).toBe('churned')
      expect(billed(churned)).toEqual([SETUP, LAST])
      const again = reactivateOrder(churned, at('2027-02-20')).order
      expect(billed(again)).toEqual([SETUP, LAST])
      expect(billed(advanceThrough(again, at('2027-03-20')).order)).toEqual([
        SETUP,
        LAST,
        ['9.9', 2, '2027-02-20', '2027-03-20', '2027-03-20'],
      ])
      const agreed = { ...postpaid(), delinquencyPeriod: { ...NO_TIME, days: 3 } }
      const delinquent = advanced(agreed, '2027-02-04')
      expect(delinquent.invoices.map(({ status, periodNumber }) => [periodNumber, status])).toEqual([
        [null, 'abandoned'],
        [1, 'unpaid'],
      ])
      expect(delinquent).toMatchObject({ status: 'canceled', invoices: [{}, { delinquencyTime: null }] })
    })

    test('owes nothing at the end of its trial, and the first period after that', () => {
      const trial = { price: '1', period: { unit: 'day', length: 10 } } as const
      const order = advanced(postpaid({ trial }), '2027-03-10')
      expect(billed(order).slice(1)).toEqual([['9.9', 1, '2027-02-10', '2027-03-10', '2027-03-10']])
      expect(order.invoices[0]).toMatchObject({ amount: '6', periodNumber: 0 })
    })

    const canceled = (order: Order, now: string, churnTime: string, prorated = false) =>
      cancelOrder(order, at(now), {
        churnTime: at(churnTime),
        churnTimePolicy: null,
        canceledBy: 'merchant',
        reason: null,
        description: null,
        prorated,
      }).order

    test('has no upcoming invoice once its last period is invoiced, before a churn time that is later', () => {
      const order = canceled(advanced(postpaid({}, 2), '2027-02-10'), '2027-02-10', '2027-06-01')
      expect(upcomingInvoice(advanceThrough(order, at('2027-03-30')).order)).toMatchObject({
        periodNumber: 2,
      })
      const invoiced = advanceThrough(order, at('2027-03-31')).order
      expect(invoiced).toMatchObject({ status: 'canceled', invoicedThrough: 2 })
      expect(upcomingInvoice(invoiced)).toBeNull()
    })

    test('canceled with proration during its trial, shows the part of the first period that is billed', () => {
      const trial = { price: '0', period: { unit: 'day', length: 10 } } as const
      const order = canceled(advanced(postpaid({ trial }), '2027-02-02'), '2027-02-02', '2027-02-17', true)
      const { amount, issuedTime, periodNumber } =
        advanceThrough(order, at('2027-02-17')).order.invoices.at(-1) ?? {}
      expect({ amount, issuedTime, periodNumber }).toEqual({
        amount: '2.47', // 7 of 28 days
        issuedTime: at('2027-02-17'),
        periodNumber: 1,
      })
      expect(upcomingInvoice(order)).toMatchObject({ amount, issuedTime, periodNumber })
    })
  })

  test('that is invoiced longer ahead than a period shows its next renewal as it is issued, after that', () => {
    const shift = { chronology: 'before', duration: 40, unit: 'day' } as const
    const half = {
      couponId: 'half',
      redemptionId: 'redemption',
      description: 'Half off',
      discount: { type: 'percent', value: '50' },
      restrictions: [],
      expiredTime: at('2027-02-20'),
      discountsBefore: 0,
    } as const
    const early = { invoiceTimeShift: { issueTimeShift: shift, dueTimeShift: null } }
    const order = advanced(terms(early, { coupons: [half] }), '2027-02-10')
    const shown = upcomingInvoice(order)
    expect(shown).toMatchObject({ periodNumber: 3, amount: '9.9', issuedTime: at('2027-02-28') })
    const { order: later } = advanceThrough(order, at('2027-02-28'))
    expect(later.invoices.at(-1)).toMatchObject({
      periodNumber: 3,
      amount: '9.9',
      issuedTime: at('2027-02-28'),
    })
  })

  describe('whose periods begin on a day', () => {
    const anchored = (periodAnchorInstruction: PeriodAnchor, unit: 'week' | 'month', start: string) =>
      terms(
        { recurringInterval: { unit, length: 1, limit: null, periodAnchorInstruction } },
        { createdTime: at(start) },
      )
    test.each([
      [
        { method: 'day-of-month', day: 1 } as const,
        'month' as const,
        '2027-01-20',
        ['02-01', '03-01', '04-01'],
      ],
      [
        { method: 'day-of-month', day: 31 } as const,
        'month' as const,
        '2027-02-10',
        ['02-28', '03-31', '04-30'],
      ],
      [
        { method: 'day-of-month', day: 30 } as const,
        'month' as const,
        '2027-01-31',
        ['02-28', '03-30', '04-30'],
      ],
      [
        { method: 'day-of-week', day: 'Monday' } as const,
        'week' as const,
        '2027-02-01',
        ['02-08', '02-15', '02-22'],
      ],
      [
        { method: 'day-of-week', day: 'Friday' } as const,
        'week' as const,
        '2027-02-01',
        ['02-05', '02-12', '02-19'],
      ],
    ])('%o, by the %s from %s', (instruction, unit, start, boundaries) => {
      const order = advanced(anchored(instruction, unit, start), `2027-${boundaries[2]}`)
      expect(starts(order)).toEqual([start, ...boundaries.map((one) => `2027-${one}`)])
    })

    test('for any start, length and day: each boundary is that day, or the last of a shorter month', () => {
      fc.assert(
        fc.property(
          fc.integer({ min: at('2024-01-01'), max: at('2032-01-01') }),
          fc.constantFrom(
            { unit: 'month' as const, length: 1 },
            { unit: 'month', length: 2 },
            { unit: 'month', length: 5 },
            { unit: 'year', length: 1 },
            { unit: 'year', length: 3 },
            { unit: 'year', length: 33 },
          ),
          fc.integer({ min: 1, max: 31 }),
          (begins, period, dayOfMonth) => {
            const interval = {
              ...period,
              periodAnchorInstruction: { method: 'day-of-month', day: dayOfMonth },
            } as const
            const order = { terms: { interval }, ...anchorFrom(interval, begins, 4) }
            const ends = Array.from({ length: 30 }, (_, index) => endOfPeriod(order, 4 + index) ?? Number.NaN)
            expect(ends[0]).toBeGreaterThan(begins)
            expect((ends[0] ?? 0) - begins).toBeLessThanOrEqual(31 * DAY)
            for (const end of ends) {
              const date = new Date(end)
              const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
              expect(date.getUTCDate()).toBe(Math.min(dayOfMonth, last))
            }
          },
        ),
      )
    })
  })

  describe('near the end of the year 9999', () => {
    const LAST = { recurringInterval: { unit: 'month', length: 1, limit: null } as const }
    const first = { method: 'day-of-month', day: 1 } as const
    const monday = { method: 'day-of-week', day: 'Monday' } as const

    test.each([
      ['month', first],
      ['week', monday],
    ] as const)('a trial until then begins, and the first %s after it never ends', (unit, instruction) => {
      const endTime = at('9999-12-31T23:59:59Z')
      const recurringInterval = { unit, length: 1, limit: null, periodAnchorInstruction: instruction }
      const agreed = terms({ recurringInterval, setup: { price: '5' } }, { trial: { endTime } })
      expect(advanced(agreed, '2027-02-01')).toMatchObject({
        status: 'active',
        periodEnd: endTime,
        anchor: null,
      })
      const last = advanced(agreed, '9999-12-31T23:59:59.999Z')
      expect(last).toMatchObject({ status: 'active', rebillNumber: 1, periodStart: endTime, periodEnd: null })
      expect(last.invoices.map(({ amount }) => amount)).toEqual(['5', '9.9'])
    })

    test('a charge is retried by the schedule where no payday comes any more', () => {
      const agreed = terms(LAST, { ...AUTOPAY, paydays: [1], createdTime: at('9999-12-20') })
      const order = new ChargedOrder(agreed, ['insufficient-funds']).live(at('9999-12-20'))
      expect(order.invoice(1).chargeTime).toBe(at('9999-12-21'))
    })

    test('for any start, trial, interval and day, no order fails and no boundary comes later', () => {
      const [start, end] = [at('2027-01-31'), LATEST_INSTANT]
      const instants = fc.oneof(
        fc.integer({ min: start, max: end }),
        fc.integer({ min: at('9999-10-01'), max: end }),
      )
      const anchors: fc.Arbitrary<PeriodAnchor | null> = fc.oneof(
        fc.integer({ min: 1, max: 31 }).map((date) => ({ method: 'day-of-month' as const, day: date })),
        fc.constantFrom(...WEEKDAYS).map((name) => ({ method: 'day-of-week' as const, day: name })),
        fc.constant(null),
      )
      fc.assert(
        fc.property(
          fc.tuple(instants, instants).map((both) => both.toSorted((one, other) => one - other)),
          fc.constantFrom('none', 'fixed', 'counted'),
          fc.record({
            unit: fc.constantFrom('day' as const, 'week' as const, 'month' as const, 'year' as const),
            length: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 1000 })),
            limit: fc.constant(null),
            isPostpaid: fc.boolean(),
            periodAnchorInstruction: anchors,
          }),
          fc.record({ canCharge: fc.boolean(), early: fc.option(fc.integer({ min: 1, max: 400 })) }),
          ([startTime = start, endTime = end], trial, { isPostpaid, ...interval }, { canCharge, early }) => {
            const { unit, length } = interval
            const recurringInterval = {
              ...interval,
              ...(isPostpaid ? { billingTiming: 'postpaid' as const } : {}),
            }
            const counted = trial === 'counted' ? { price: '1', period: { unit, length } } : null
            const invoiceTimeShift =
              early === null
                ? null
                : {
                    issueTimeShift: { chronology: 'before' as const, duration: early, unit: 'day' as const },
                    dueTimeShift: { chronology: 'after' as const, duration: early, unit: 'day' as const },
                  }
            const agreed = terms(
              { recurringInterval, trial: counted, invoiceTimeShift },
              { startTime, ...(trial === 'fixed' ? { trial: { endTime } } : {}) },
            )
            const delinquencyPeriod = parseDuration('P400D')
            const members = canCharge ? { ...AUTOPAY, paydays: [31] } : { delinquencyPeriod }
            const placed = placeOrder({ ...agreed, ...members }).order
            const begun = canCharge
              ? new ChargedOrder(placed.terms, ['insufficient-funds']).live(startTime).order
              : placed
            const { order } = advanceThrough(begun, end, 50)
            upcomingInvoice(order)
            for (const { periodStart, periodEnd } of [order, ...order.invoices]) {
              expect(periodEnd ?? end).toBeLessThanOrEqual(end)
              expect(periodStart ?? startTime).toBeLessThanOrEqual(periodEnd ?? end)
            }
            expect(order.anchor ?? start).toBeGreaterThanOrEqual(0)
            expect(order.anchor ?? start).toBeLessThanOrEqual(end)
          },
        ),
        { numRuns: 500 },
      )
    })
  })

  test('a charge that is due is named, and a start waits for its answer', () => {
    const {
      order,
      gatewayCall: call,
      transitions,
    } = advanceThrough(placeOrder(terms({}, { canCharge: true })).order, at('2027-02-01'))
    expect(call).toEqual({ invoice: 1, at: at('2027-01-31') })
    expect(order.status).toBe('pending')
    expect(transitions.at(0)?.events.map(({ type }) => type)).toEqual(['invoice-issued'])
  })
})

/** After these another invoice is the upcoming one, or it comes at another time. */
const TURNS: ReadonlySet<string> = new Set([
  'renewal-invoice-issued',
  'subscription-activated',
  'subscription-paused',
  'subscription-resumed',
])
const ENDED: ReadonlySet<Order['status']> = new Set(['completed', 'trial-ended'])

describe('for any terms, any commands and any passing of time', () => {
  test('advancing early, late, twice or in pieces gives the same record and the same events', () => {
    fc.assert(
      fc.property(anyTerms, anyCommands, looks, (agreed, commands, instants) => {
        const whole = live(agreed, commands)
        const pieces = live(agreed, commands, instants)
        expect(pieces.order).toEqual(whole.order)
        expect(pieces.transitions.map(told)).toEqual(whole.transitions.map(told))
      }),
      RUNS,
    )
  })

  test('time says exactly when to look again: nothing is due a millisecond before', () => {
    fc.assert(
      fc.property(
        anyTerms,
        anyCommands,
        fc.integer({ min: at('2027-01-31'), max: END }),
        (agreed, commands, now) => {
          const { order } = live(agreed, commands)
          for (const start of [placeOrder(agreed).order, order]) {
            const { order: then, next } = advanceThrough(start, now)
            if (next === null)
              return void expect(advanceThrough(then, Number.MAX_SAFE_INTEGER / 2).transitions).toEqual([])
            expect(advanceThrough(then, next.at - 1).transitions).toEqual([])
            expect(advanceThrough(then, next.at).transitions.length).toBeGreaterThan(0)
          }
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('no period is billed twice and none is left out, and boundaries strictly increase', () => {
    fc.assert(
      fc.property(anyTerms, anyCommands, (agreed, commands) => {
        const { order, transitions } = live(agreed, commands)
        expectPeriodsBilledOnce(order, transitions)
        expectServedUntilChurn(order)
        expectNoHoles(order, transitions)
      }),
      RUNS,
    )
  })

  test('the upcoming invoice is what the timer issues, unless a command comes before it', () => {
    const shown = (invoice: Invoice | null | undefined) =>
      invoice && {
        amount: invoice.amount,
        lines: invoice.lines,
        periodNumber: invoice.periodNumber,
        periodStart: day(invoice.periodStart),
        periodEnd: day(invoice.periodEnd),
        issuedTime: invoice.issuedTime,
      }
    const renewalOf = (made: Transition | undefined) =>
      made?.events.find(({ type }) => type === 'renewal-invoice-issued')?.invoice
    fc.assert(
      fc.property(anyTerms, anyCommands, (agreed, commands) => {
        const { transitions } = live(agreed, commands)
        for (const [index, { order, cause }] of transitions.entries()) {
          const issued = cause === 'timer' ? renewalOf(transitions[index]) : undefined
          if (issued === undefined) continue
          const invoice = order.invoices.find(({ sequence }) => sequence === issued)
          for (let back = index - 1; back >= 0; back -= 1) {
            const before = transitions[back]
            if (before === undefined) break
            expect(shown(upcomingInvoice(before.order))).toEqual(shown(invoice))
            if (before.cause !== 'timer' || before.events.some(({ type }) => TURNS.has(type))) break
          }
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('what is sold in an order is invoiced before nothing invoices it any more', () => {
    const sales = ({ queue }: Order) => queue.filter(({ type }) => type !== 'proration')
    fc.assert(
      fc.property(anyTerms, anyCommands, (agreed, commands) => {
        const { transitions } = live(agreed, commands)
        for (const [index, { order, events }] of transitions.entries()) {
          const before = transitions[index - 1]?.order ?? order
          const hasEnded = before.status !== order.status && ENDED.has(order.status)
          if (hasEnded) expect(sales(order)).toEqual([])
          const isChanged = events.some(({ type }) => type === 'subscription-items-changed')
          if (!isChanged || order.status !== 'active' || upcomingInvoice(order) !== null) continue
          for (const sale of sales(order)) expect(sales(before)).toContainEqual(sale)
        }
      }),
      RUNS,
    )
  })

  test('a reactivation after the end of service bills its period, whatever was voided before', () => {
    const ended = {
      churnTime: null,
      churnTimePolicy: null,
      canceledBy: 'merchant',
      reason: null,
      description: null,
    } as const
    const few = fc.array(
      fc.record({
        at: fc.integer({ min: 0, max: 100 }).map((days) => at('2027-01-31') + days * DAY),
        act: fc.constantFrom<Command['act']>(
          (order, now) => cancelOrder(order, now, ended),
          reactivateOrder,
          (order, now) => voidInvoice(order, now, order.nextInvoice - 1),
        ),
      }),
      { maxLength: 10 },
    )
    const agreed = fc.record({ early: fc.integer({ min: 1, max: 30 }), delinquency: fc.boolean() })
    fc.assert(
      fc.property(agreed, few, ({ early, delinquency }, commands) => {
        const issueTimeShift = { chronology: 'before', duration: early, unit: 'day' } as const
        const members = { delinquencyPeriod: delinquency ? { ...NO_TIME, days: 25 } : null }
        const { order, transitions } = live(
          terms({ invoiceTimeShift: { issueTimeShift, dueTimeShift: null } }, members),
          commands.toSorted((a, b) => a.at - b.at),
        )
        expectPeriodsBilledOnce(order, transitions)
      }),
      { numRuns: 1_000 },
    )
  })

  test('a plan for a trial alone is billed for that, and never with the periods of the others', () => {
    const trial = { price: '1', period: { unit: 'week', length: 3 } } as const
    const forTrialAlone = fc.constantFrom<Partial<PricedPlan>>(
      { recurringInterval: null },
      { isTrialOnly: true },
    )
    fc.assert(
      fc.property(anyTerms, forTrialAlone, anyCommands, (agreed, members, commands) => {
        const [item] = agreed.items
        if (item === undefined) throw new Error('no item')
        const recurringInterval = item.plan.recurringInterval ?? MONTHLY.recurringInterval
        const plan = { ...item.plan, trial, recurringInterval }
        const items = [
          { ...item, plan },
          { ...item, id: 'trial', plan: { ...plan, ...members } },
        ]
        const { transitions, order } = live(
          {
            ...agreed,
            items,
            ...agreedTerms(
              items.map((one) => one.plan),
              NO_CHOICES,
            ),
          },
          commands,
        )
        const [first, ...later] = order.invoices
        expect(first?.lines.filter(({ type }) => type === 'trial')).toHaveLength(2)
        for (const { lines, type } of later) {
          const billed = lines.filter((line) => line.type === 'plan')
          expect(billed.map(({ itemId }) => itemId)).not.toContain('trial')
          if (type === 'renewal' && recurringInterval?.billingTiming !== 'postpaid')
            expect(billed).not.toEqual([])
        }
        for (const { order: then } of transitions) {
          const alone = { ...then, terms: { ...then.terms, items: then.terms.items.slice(0, 1) } }
          expect(monthlyRecurringRevenue(then)).toBe(monthlyRecurringRevenue(alone))
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('a one-time sale is completed by its first invoice, whatever else is sold and paid', () => {
    const acts: readonly Command['act'][] = [
      (order, now) => {
        const [item] = order.terms.items
        if (item === undefined) throw new Error('no item')
        const items = [...order.terms.items, { ...item, id: `item ${order.terms.items.length + 1}` }]
        const change = { terms: { ...order.terms, items }, prorated: true, renewalPolicy: 'retain' as const }
        return changeItems(order, now, change)
      },
      (order, now) => payInvoice(order, now, order.nextInvoice - 1),
      (order, now) => payInvoice(order, now, 1),
      (order, now) => pauseOrder(order, now, { id: `pause ${now}`, effectiveTime: null, endTime: now + DAY }),
    ]
    const lives = fc.array(fc.constantFrom(...acts), { maxLength: 6 })
    fc.assert(
      fc.property(lives, (given) => {
        const commands = given.map((act, index) => ({ at: at('2027-02-01') + index * 10 * HOUR, act }))
        const { order, transitions } = live(terms({ recurringInterval: null }), commands)
        expect(transitions.flatMap((one) => illegal(one.order))).toEqual([])
        expect(order.status).toBe(order.invoices[0]?.status === 'paid' ? 'completed' : 'active')
      }),
      { numRuns: 300 },
    )
  })

  test('every state is a legal one and totals are the sums of their lines', () => {
    fc.assert(
      fc.property(anyTerms, anyCommands, (agreed, commands) => {
        expect(live(agreed, commands).transitions.flatMap(({ order }) => illegal(order))).toEqual([])
      }),
      RUNS,
    )
  })

  test('no reminder of the same event at the same time is sent twice, nor after it', () => {
    fc.assert(
      fc.property(anyTerms, anyCommands, looks, (agreed, commands, instants) => {
        const { transitions } = live(agreed, commands, instants)
        const sent = transitions.flatMap(({ at: now, events }) =>
          events.flatMap(({ type }) => (type.endsWith('-reminder') ? [`${type} ${now}`] : [])),
        )
        expect(new Set(sent).size).toBe(sent.length)
        for (const [index, { order, events, at: now }] of transitions.entries()) {
          if (!events.some(({ type }) => type.endsWith('-reminder'))) continue
          const before = transitions[index - 1]?.order ?? order
          expect(before.terms.abandonTime ?? before.periodEnd ?? 0).toBeGreaterThan(
            before.status === 'pending' ? now : 0,
          )
          if (before.status !== 'pending') expect(before.periodEnd ?? 0).toBeGreaterThan(now)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('events follow transitions one to one, in the order of time', () => {
    fc.assert(
      fc.property(anyTerms, anyCommands, (agreed, commands) => {
        const { transitions } = live(agreed, commands)
        expectEventsOfTransitions(transitions)
        const instants = transitions.map((one) => one.at)
        expect(instants).toEqual([...instants].sort((a, b) => a - b))
      }),
      RUNS,
    )
  })
})

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NO_TIME = { years: 0, months: 0, weeks: 0, days: 0, hours: 0, minutes: 0, seconds: 0 }

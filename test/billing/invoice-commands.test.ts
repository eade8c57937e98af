import { describe, expect, test } from '@jest/globals'
import { parseDuration } from '../../billing/durations.ts'
import { ConflictError, InvalidFieldsError } from '../../billing/errors.ts'
import { LATEST_INSTANT } from '../../billing/instants.ts'
import { abandonInvoice, invoiceQueue, reissueInvoice } from '../../billing/invoice-commands.ts'
import { changeItems } from '../../billing/item-changes.ts'
import { type Order, placeOrder } from '../../billing/order.ts'
import { cancelOrder, changeTerms, reactivateOrder } from '../../billing/order-commands.ts'
import { advanceThrough } from '../../billing/order-lifecycle.ts'
import { beginCallersCharge, payInvoice, receivePayment } from '../../billing/order-payments.ts'
import { pauseOrder } from '../../billing/pauses.ts'
import fc from '../support/fast-check.ts'
import { AUTOPAY, ChargedOrder } from './charged-order.ts'
import { illegal } from './legal.ts'
import { at, cancelAt, issuedEarly, oneTimeSale, terms } from './orders.ts'

const [HOUR, DAY] = [3_600_000, 86_400_000]
const START = at('2027-01-31')
const DUE = START + HOUR
const DELINQUENT = DUE + 3 * DAY

/** Its first invoice is due an hour after the start, past due a day and delinquent three days after that. */
const begun = (through = START): Order =>
  advanceThrough(placeOrder(terms({}, { delinquencyPeriod: parseDuration('P3D') })).order, through).order
const agreedFromStart = terms({}, { delinquencyPeriod: parseDuration('P3D') })
const withoutCharge = (order: Order): Order => ({
  ...order,
  invoices: order.invoices.map((one) => ({ ...one, chargeTime: null })),
})
const first = ({ invoices }: Order) => invoices[0]
const typesOf = (order: Order, through: number) =>
  advanceThrough(order, through).transitions.flatMap(({ events }) => events.map(({ type }) => type))

const AT_NEXT_RENEWAL = {
  churnTime: null,
  churnTimePolicy: 'at-next-renewal',
  canceledBy: 'merchant',
  reason: null,
  description: null,
} as const

describe('an abandoned invoice', () => {
  test('is never past due and never cancels its order, which goes on', () => {
    fc.assert(
      fc.property(fc.integer({ min: START, max: DELINQUENT - 1 }), (instant) => {
        const { order, events } = abandonInvoice(begun(instant), instant, 1)
        expect(events).toEqual([{ type: 'invoice-abandoned', invoice: 1 }])
        expect(first(order)).toMatchObject({ status: 'abandoned', abandonedTime: instant, chargeTime: null })
        const later = typesOf(order, at('2027-03-01'))
        expect(later).not.toContain('order-delinquency-reached')
        expect(later.filter((type) => type === 'subscription-renewed')).toHaveLength(1)
        expect(illegal(advanceThrough(order, at('2027-03-01')).order)).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  test('of a period that has not begun is given up as it is later: the period is not invoiced again', () => {
    const [issue, end] = [at('2027-02-08'), at('2027-04-15')]
    const agreed = terms({ invoiceTimeShift: issuedEarly(20) })
    const periods = ({ invoices }: Order) =>
      invoices.flatMap(({ periodNumber, status }) => (status === 'abandoned' ? [] : periodNumber))
    fc.assert(
      fc.property(fc.integer({ min: issue, max: at('2027-03-07') }), fc.boolean(), (instant, isCanceled) => {
        const { order } = advanceThrough(placeOrder(agreed).order, instant)
        const given = abandonInvoice(order, instant, 2).order
        const { order: kept } = isCanceled
          ? reactivateOrder(cancelOrder(given, instant, AT_NEXT_RENEWAL).order, instant)
          : { order: given }
        const later = advanceThrough(kept, end).order
        expect(later).toMatchObject({ status: 'active', rebillNumber: 3 })
        expect(periods(later)).toEqual([1, 3, 4])
      }),
      { numRuns: 200 },
    )
  })

  test('is one that is open and not being charged, and not the first of a pending order', () => {
    const order = begun()
    const paid = payInvoice(order, START, 1).order
    expect(() => abandonInvoice(paid, START, 1)).toThrow(ConflictError)
    expect(() => abandonInvoice(order, START, 2)).toThrow(ConflictError)
    expect(() => abandonInvoice({ ...order, status: 'pending' }, START, 1)).toThrow(/Void the order/)
    const charged = beginCallersCharge(order, START, 1).order
    expect(() => abandonInvoice(charged, START, 1)).toThrow(/charge of the invoice is in progress/)
  })
})

describe('a reissued invoice', () => {
  test('has another due time: past due and delinquency count from it, whenever it is reissued', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: START, max: DELINQUENT - 1 }),
        fc.integer({ min: 1, max: 20 * DAY }),
        (instant, ahead) => {
          const due = instant + ahead
          const { order, events } = reissueInvoice(begun(instant), instant, 1, due)
          expect(events).toEqual([{ type: 'invoice-reissued', invoice: 1 }])
          expect(first(order)).toMatchObject({
            status: 'unpaid',
            issuedTime: START,
            dueTime: due,
            delinquencyTime: due + 3 * DAY,
          })
          expect(typesOf(order, due + DAY - 1)).not.toContain('invoice-past-due')
          expect(typesOf(order, due + DAY)).toContain('invoice-past-due')
          expect(typesOf(order, due + 3 * DAY - 1)).not.toContain('order-delinquency-reached')
          expect(typesOf(order, due + 3 * DAY)).toContain('order-delinquency-reached')
        },
      ),
      { numRuns: 200 },
    )
  })

  test('until the year 9999 is not past due or delinquent, and its order goes on', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 40 * DAY }),
        fc.integer({ min: START, max: DELINQUENT - 1 }),
        (before, instant) => {
          const due = LATEST_INSTANT - before
          const { order } = reissueInvoice(begun(instant), instant, 1, due)
          expect(first(order)?.delinquencyTime ?? LATEST_INSTANT).toBeLessThanOrEqual(LATEST_INSTANT)
          const again = reissueInvoice(order, instant, 1, null).order
          expect(first(again)?.dueTime).toBeLessThanOrEqual(LATEST_INSTANT)
          const events = advanceThrough(order, LATEST_INSTANT).transitions.flatMap((made) => made.events)
          const renewed = events.filter(({ type }) => type === 'subscription-renewed')
          expect(renewed).toHaveLength(1)
          expect(events).not.toContainEqual({ type: 'invoice-past-due', invoice: 1 })
        },
      ),
      { numRuns: 200 },
    )
  })

  test('is due as long from now as it was from its issue, where no due time is given', () => {
    const instant = START + 2 * DAY
    expect(first(reissueInvoice(begun(instant), instant, 1, null).order)).toMatchObject({
      dueTime: instant + HOUR,
      delinquencyTime: instant + HOUR + 3 * DAY,
    })
  })

  test('has paid what it has been paid, though it was past due', () => {
    const pastDue = DUE + DAY
    const paid = receivePayment(begun(pastDue), pastDue, 1, '4').transition.order
    expect(first(paid)).toMatchObject({ status: 'past-due', amountPaid: '4' })
    const { order } = reissueInvoice(paid, pastDue, 1, pastDue + DAY)
    expect(first(order)).toMatchObject({ status: 'partially-paid', dueTime: pastDue + DAY })
    expect(typesOf(order, pastDue + 2 * DAY)).toContain('invoice-past-due')
  })

  describe('of a period that has not begun', () => {
    const agreed = terms(
      { invoiceTimeShift: issuedEarly(20) },
      { ...AUTOPAY, delinquencyPeriod: parseDuration('P3D') },
    )
    const [ISSUE, BOUNDARY] = [at('2027-02-08'), at('2027-02-28')]

    test('is due no sooner than that begins, when it is charged', () => {
      fc.assert(
        fc.property(
          fc.integer({ min: ISSUE, max: BOUNDARY - 1 }),
          fc.option(fc.integer({ min: 1, max: 30 * DAY })),
          fc.boolean(),
          (instant, ahead, canCharge) => {
            const lived = new ChargedOrder(agreed).live(instant)
            const order = canCharge ? lived.order : withoutCharge(lived.order)
            const due = ahead === null ? null : instant + ahead
            if (due !== null && due < BOUNDARY) {
              expect(() => reissueInvoice(order, instant, 2, due)).toThrow(InvalidFieldsError)
              return
            }
            const reissued = reissueInvoice(order, instant, 2, due).order.invoices[1]
            expect(reissued?.dueTime).toBeGreaterThanOrEqual(BOUNDARY)
            if (due !== null) expect(reissued?.dueTime).toBe(due)
            lived.command({ at: instant, act: (one, now) => reissueInvoice(one, now, 2, due) })
            lived.live(BOUNDARY)
            expect(lived.order).toMatchObject({ status: 'active', rebillNumber: 2 })
            expect(lived.invoice(2)).toMatchObject({ status: 'paid', paidTime: BOUNDARY })
          },
        ),
        { numRuns: 200 },
      )
    })

    test('is refused by its field with another due time', () => {
      const { order } = new ChargedOrder(agreed).live(at('2027-02-10'))
      expect(() => reissueInvoice(order, at('2027-02-10'), 2, at('2027-02-11'))).toThrow(
        expect.objectContaining({
          fields: [expect.objectContaining({ field: 'dueTime', code: 'out-of-range' })],
        }),
      )
    })
  })

  test('of an order whose start was moved ahead is due no sooner than that', () => {
    const lived = new ChargedOrder(agreedFromStart, ['declined']).live(START)
    const start = START + 5 * DAY
    lived.command({
      at: START + HOUR,
      act: (order, now) => changeTerms(order, now, { ...order.terms, startTime: start }),
    })
    const { order } = lived
    expect(() => reissueInvoice(order, START + HOUR, 1, start - 1)).toThrow(InvalidFieldsError)
    expect(first(reissueInvoice(order, START + HOUR, 1, start).order)?.dueTime).toBe(start)
  })

  test('is one that is open and not being charged, with a due time ahead', () => {
    const order = begun()
    expect(() => reissueInvoice(order, START, 1, START)).toThrow(InvalidFieldsError)
    expect(() => reissueInvoice(payInvoice(order, START, 1).order, START, 1, DUE)).toThrow(ConflictError)
    const charged = beginCallersCharge(order, START, 1).order
    expect(() => reissueInvoice(charged, START, 1, DUE)).toThrow(ConflictError)
  })
})

describe('an invoice between renewals', () => {
  test('of an order that is served past its last period is for no period', () => {
    const agreed = terms({ recurringInterval: { unit: 'month', length: 1, limit: 1 } })
    const [paused, ended, churnTime] = [at('2027-02-10'), at('2027-02-20'), at('2027-04-01')]
    const { order: begun } = advanceThrough(placeOrder(agreed).order, paused)
    const pause = { id: 'pause', effectiveTime: null, endTime: null }
    const sold = { ...agreed, items: [...agreed.items, oneTimeSale('sale', '49')] }
    const change = { terms: sold, prorated: false, renewalPolicy: 'retain' as const }
    const { order: changed } = changeItems(pauseOrder(begun, paused, pause).order, paused, change)
    const { order: canceled } = cancelAt(churnTime)(changed, ended)
    const invoiced = (instant: number) =>
      invoiceQueue(advanceThrough(canceled, instant).order, instant).order.invoices.at(-1)
    const end = at('2027-03-10')
    expect(invoiced(end - 1)).toMatchObject({ amount: '49', periodStart: end - 1, periodEnd: end })
    expect(invoiced(end)).toMatchObject({ amount: '49', periodStart: null, periodEnd: null })
    expect(invoiced(at('2027-03-20'))).toMatchObject({ amount: '49', periodStart: null, periodEnd: null })
  })
})

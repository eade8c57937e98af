/** What is paid for an order goes back once: by a refund, or as credit (ADR 90). */
import { describe, expect, test } from '@jest/globals'
import { creditedAmount } from '../../billing/credit-memos.ts'
import { parseDuration } from '../../billing/durations.ts'
import { withdrawnCredit } from '../../billing/given-credit.ts'
import { amountDue, type Invoice, isLive, isOpen } from '../../billing/invoices.ts'
import { changeItems } from '../../billing/item-changes.ts'
import { isZero, Money, plainAmount, sumOf } from '../../billing/money.ts'
import { isServed, type Order, placeOrder, type Transition, transition } from '../../billing/order.ts'
import { cancelOrder, voidInvoice } from '../../billing/order-commands.ts'
import { advanceBefore, advanceThrough } from '../../billing/order-lifecycle.ts'
import {
  beginCallersCharge,
  creditInvoice,
  disputeInvoice,
  payInvoice,
  receivePayment,
  refundInvoice,
} from '../../billing/order-payments.ts'
import { grossAmount, isCredit } from '../../billing/proration.ts'
import type { TaxSchedule } from '../../billing/taxes.ts'
import fc from '../support/fast-check.ts'
import { anyCommands, anyTerms, at, type Command, live, terms } from './orders.ts'

const RUNS = { numRuns: 2_000 }
const START = at('2027-04-01')
const MIDDLE = at('2027-04-16')
const AT_ONCE = {
  churnTime: null,
  churnTimePolicy: null,
  canceledBy: 'merchant' as const,
  reason: null,
  description: null,
}
const VAT = { name: 'VAT', rate: '20', country: 'DE', region: null }
const TAXES: TaxSchedule = [{ from: 0, isInclusive: false, rates: [VAT], shipping: [], byProduct: {} }]

const FLAT = { pricing: { formula: 'flat-rate' as const, price: '20' } }

function pay(order: Order, sequence: number, instant: number): Order {
  return payInvoice(beginCallersCharge(order, instant, sequence).order, instant, sequence).order
}

/** An order of 20 a month, begun on the first of April and paid. */
function paid(members: Parameters<typeof terms>[1] = {}): Order {
  const agreed = terms(FLAT, { createdTime: START, ...members })
  return pay(advanceBefore(placeOrder(agreed).order, START + 1).order, 1, START + 1)
}

function repriced(order: Order, price: string, instant: number): Transition {
  const items = order.terms.items.map((item) => ({
    ...item,
    plan: { ...item.plan, pricing: { formula: 'flat-rate' as const, price } },
  }))
  const policy = { prorated: true, renewalPolicy: 'retain' as const }
  return changeItems(order, instant, { terms: { ...order.terms, items }, ...policy })
}

const priced = (order: Order, price: string, instant = MIDDLE) => repriced(order, price, instant).order

const canceled = (order: Order, instant = MIDDLE) =>
  cancelOrder(order, instant, { ...AT_ONCE, prorated: true })
const refunded = (order: Order, sequence: number, amount: string, instant = MIDDLE, paysCredit = false) =>
  refundInvoice(order, instant, sequence, amount, paysCredit).order
/** What the queue holds for the customer; below zero: what it holds for the merchant. */
const queuedCredit = ({ queue }: Order) => new Money(0).minus(grossAmount(queue)).toNumber()
const memoOf = (transitions: readonly Transition[]) =>
  transitions
    .flatMap(({ events }) => events)
    .filter(({ type }) => type === 'credit-memo-created')
    .reduce((sum, { credit = [] }) => sum.minus(grossAmount(credit)), new Money(0))
/** The order once `amount` of its credit is withdrawn from the customer. */
const withdrawn = (order: Order, amount: string): Order => {
  const counts = withdrawnCredit(order.invoices, amount)
  const counted = (one: Invoice) => ({ ...one, ...counts.find(({ invoice }) => invoice === one)?.count })
  return { ...order, invoices: order.invoices.map(counted) }
}
/** What was taken back from memos. */
const reducedOf = (transitions: readonly Transition[]) =>
  sumOf(transitions.flatMap(({ events }) => events.flatMap(({ reduced }) => reduced?.amount ?? [])))

describe('a refund of a period whose unused time is credited', () => {
  test('takes the credit that is queued back', () => {
    const cheaper = priced(paid(), '10')
    expect(queuedCredit(cheaper)).toBe(5)
    const order = refunded(cheaper, 1, '20')
    expect(queuedCredit(order)).toBe(0)
    expect(order.invoices[0]).toMatchObject({ status: 'refunded' })
    expect(advanceThrough(order, at('2027-05-01')).order.invoices[1]).toMatchObject({ amount: '10' })
  })

  test('in part takes nothing back while the rest covers the credit', () => {
    const cheaper = priced(paid(), '10')
    expect([15, 16, 20].map((amount) => queuedCredit(refunded(cheaper, 1, String(amount))))).toEqual([
      5, 4, 0,
    ])
    const inParts = refunded(refunded(cheaper, 1, '16'), 1, '4')
    expect(queuedCredit(inParts)).toBe(0)
  })

  test('debits credit that the next invoice has used already, with its tax', () => {
    const cheaper = priced(paid({ taxes: TAXES }), '10')
    expect(queuedCredit(cheaper)).toBe(6)
    const later = advanceThrough(cheaper, at('2027-05-01')).order
    expect(later.invoices[1]).toMatchObject({ amount: '6' })
    const order = refunded(later, 1, '24', at('2027-05-02'))
    expect(order.queue).toMatchObject([
      { type: 'proration', description: 'Refunded time on Monthly', amount: '5', taxes: [{ amount: '1' }] },
    ])
    expect(advanceThrough(order, at('2027-06-01')).order.invoices[2]).toMatchObject({ amount: '18' })
  })

  test('uses up the credit memo that the order left, and returns it if it fails after all', () => {
    const ended = canceled(paid())
    expect(memoOf([ended]).toNumber()).toBe(10)
    const credit = [
      { creditMemoId: 'goodwill', currency: 'EUR', left: '7' },
      { creditMemoId: 'memo', currency: 'EUR', left: '10', isOfOrder: true as const },
    ]
    const order = refunded({ ...ended.order, credit }, 1, '20')
    expect(order.invoices[0]).toMatchObject({
      status: 'refunded',
      credits: [{ creditMemoId: 'memo', amount: '10' }],
    })
    expect(order.credit).toMatchObject([{ left: '7' }, { left: '0' }])
    expect(order.queue).toEqual([])
    const failed = refunded(order, 1, '-20')
    expect(failed.invoices[0]).toMatchObject({
      status: 'paid',
      amountPaid: '20',
      refundedWhileOpen: '0',
      credits: [],
    })
    expect(failed.credit).toMatchObject([{ left: '7' }, { left: '10' }])
    expect(failed.queue).toEqual([])
  })

  test('that pays the credit back takes nothing of it', () => {
    const ended = canceled(paid()).order
    const back = refunded(ended, 1, '10', MIDDLE, true)
    const rest = refunded(back, 1, '10')
    expect([back, rest].map(({ queue }) => queue)).toEqual([[], []])
  })

  test('that fails after all leaves the credit as it was', () => {
    const cheaper = priced(paid({ taxes: TAXES }), '10')
    const order = refunded(refunded(cheaper, 1, '24'), 1, '-24')
    expect([queuedCredit(order), order.invoices[0]?.status]).toEqual([6, 'paid'])
  })
})

describe('a period that was refunded', () => {
  test.each([
    ['0', 10],
    ['10', 10],
    ['15', 5],
    ['20', 0],
  ])('by %s of 20 is credited %i at its middle', (amount, credit) => {
    const ended = canceled(refunded(paid(), 1, amount))
    expect(memoOf([ended]).toNumber()).toBe(credit)
    expect(ended.events.find(({ type }) => type === 'subscription-churned')?.credit ?? []).toHaveLength(
      credit === 0 ? 0 : 1,
    )
  })

  test('by the whole of a change in it is credited what was billed before', () => {
    const order = pay(priced(paid(), '60'), 2, MIDDLE)
    expect(order.invoices[1]).toMatchObject({ type: 'interim', amountPaid: '20' })
    expect(memoOf([canceled(order)]).toNumber()).toBe(30)
    expect(memoOf([canceled(refunded(order, 2, '20'))]).toNumber()).toBe(10)
  })
})

describe('a refund that pays a credit memo of the merchant back', () => {
  const cents = fc.oneof(
    fc.constant('20'),
    fc.integer({ min: 1, max: 2_000 }).map((amount) => new Money(amount).div(100).toFixed()),
  )

  test('leaves the period billed, however much it is of the payment', () => {
    fc.assert(
      fc.property(cents, (amount) => {
        const order = refunded(paid(), 1, amount, START + 2, true)
        expect(memoOf([canceled(order)]).toNumber()).toBe(10)
        expect(queuedCredit(priced(order, '10'))).toBe(5)
        expect(priced(order, '60').invoices[1]).toMatchObject({ type: 'interim', amount: '20' })
      }),
    )
  })

  test('leaves the change billed that it was paid from', () => {
    const dearer = pay(priced(paid(), '60'), 2, MIDDLE)
    expect(memoOf([canceled(refunded(dearer, 2, '20', MIDDLE, true))]).toNumber()).toBe(30)
  })

  test('leaves what was refunded besides unbilled', () => {
    const order = refunded(refunded(paid(), 1, '5', START + 2, true), 1, '15')
    expect(order.invoices[0]).toMatchObject({ status: 'refunded' })
    expect(memoOf([canceled(order)]).toNumber()).toBe(5)
    expect(memoOf([canceled(refunded(paid(), 1, '20'))]).toNumber()).toBe(0)
  })

  test('leaves a period billed that credit paid for too', () => {
    const memo = { creditMemoId: 'memo', currency: 'EUR', left: '15' }
    const begun = advanceBefore(placeOrder(terms(FLAT, { createdTime: START })).order, START + 1).order
    const inPart = creditInvoice({ ...begun, credit: [memo] }, START + 1, 1, [memo]).transition.order
    const order = refunded(pay(inPart, 1, START + 1), 1, '5')
    expect(order.invoices[0]).toMatchObject({ status: 'refunded', amountRefunded: '5' })
    expect(memoOf([canceled(order)]).toNumber()).toBe(10)
    expect(priced(order, '60').invoices[1]).toMatchObject({ type: 'interim', amount: '20' })
  })
})

test('a period whose payment is disputed is credited as any other: a dispute may be an inquiry, or of a part', () => {
  const disputed = disputeInvoice(paid(), MIDDLE, 1, true).order
  expect(memoOf([canceled(disputed)]).toNumber()).toBe(10)
})

describe('credit that comes from an unpaid change', () => {
  test('goes when the change is voided', () => {
    const dearer = priced(paid(), '60')
    const cheaper = priced(dearer, '20')
    expect(queuedCredit(cheaper)).toBe(20)
    expect(queuedCredit(voidInvoice(cheaper, MIDDLE, 2).order)).toBe(0)
  })
})

describe('credit of a period that a reset ended', () => {
  const reset = () => {
    const order = paid()
    const items = order.terms.items.map((item) => ({
      ...item,
      plan: { ...item.plan, pricing: { formula: 'flat-rate' as const, price: '40' } },
    }))
    const policy = { prorated: true, renewalPolicy: 'reset' as const }
    const { order: changed } = changeItems(order, MIDDLE, { terms: { ...order.terms, items }, ...policy })
    expect(changed.invoices[1]).toMatchObject({ amount: '30', periodNumber: 2 })
    return voidInvoice(changed, MIDDLE, 2).order
  }

  test('returns to the queue when the invoice of the new period is voided', () => {
    const order = reset()
    expect(queuedCredit(order)).toBe(10)
    expect(order.invoices).toMatchObject([{ amountCredited: '10' }, { amountCredited: '0' }])
    expect(advanceThrough(order, at('2027-05-16')).order.invoices[2]).toMatchObject({ amount: '30' })
  })

  test('is taken back from there by a refund of what it was credited of', () => {
    expect(refunded(reset(), 1, '20').queue).toEqual([])
  })
})

describe('a memo of the credit of a period that nobody paid', () => {
  const begun = () => advanceBefore(placeOrder(terms(FLAT, { createdTime: START })).order, START + 1).order
  const memo = (left: string) => ({ creditMemoId: 'memo', currency: 'EUR', left, isOfOrder: true as const })
  /** The order has churned in the middle of its period, and holds `left` of the memo of that. */
  const voided = (left: string) => {
    const ended = canceled(begun())
    expect(memoOf([ended]).toNumber()).toBe(10)
    return voidInvoice({ ...ended.order, credit: [memo(left)] }, MIDDLE, 1)
  }

  test('goes when its invoice is voided', () => {
    const { order, events } = voided('10')
    expect(order).toMatchObject({ queue: [], credit: [{ left: '0' }] })
    expect(order.invoices[0]).toMatchObject({ status: 'voided', credits: [] })
    expect(events).toContainEqual({
      type: 'credit-memo-modified',
      reduced: { creditMemoId: 'memo', amount: '10' },
    })
  })

  test('that has been used in part goes too, and what was used is a debit', () => {
    const { order, events } = voided('4')
    expect(order).toMatchObject({ credit: [{ left: '0' }] })
    expect(queuedCredit(order)).toBe(-6)
    expect(events).toContainEqual({
      type: 'credit-memo-modified',
      reduced: { creditMemoId: 'memo', amount: '4' },
    })
  })
})

test('credit that a refund took back is a memo if the refund fails after service has ended', () => {
  const ended = canceled(refunded(priced(paid(), '10'), 1, '20'), at('2027-04-20'))
  expect(memoOf([ended]).toNumber()).toBe(0)
  const failed = refundInvoice(ended.order, at('2027-04-21'), 1, '-20')
  expect(memoOf([failed]).toNumber()).toBe(5)
  expect(failed.order.queue).toEqual([])
})

/** An order of 60 a month, begun on the first of April and paid, for 30 from the middle on. */
function cheaperBy15(): Order {
  const plan = { pricing: { formula: 'flat-rate' as const, price: '60' } }
  const begun = advanceBefore(placeOrder(terms(plan, { createdTime: START })).order, START + 1).order
  return priced(pay(begun, 1, START + 1), '30')
}

describe('credit that the merchant withdraws', () => {
  test.each([
    ['10', 0],
    ['6', -4],
  ])('%s of 10 is not taken back by a refund', (amount, left) => {
    expect(queuedCredit(refunded(withdrawn(canceled(paid()).order, amount), 1, '20'))).toBe(left)
  })

  test('counts for the latest invoices of the order first', () => {
    const order = canceled(pay(priced(paid(), '60'), 2, MIDDLE)).order
    expect(order.invoices).toMatchObject([{ amountCredited: '10' }, { amountCredited: '20' }])
    expect(withdrawn(order, '25').invoices).toMatchObject([{ amountCredited: '5' }, { amountCredited: '0' }])
  })

  test('after a refund in part leaves nothing for further ones to take back, or to credit again', () => {
    const inPart = refunded(priced(paid(), '10'), 1, '16')
    expect(queuedCredit(inPart)).toBe(4)
    const order = withdrawn({ ...inPart, queue: [] }, '4')
    const later = ['1', '2', '4'].map((amount) => queuedCredit(refunded(order, 1, amount)))
    expect(later).toEqual([0, 0, 0])
  })

  test('after a refund in part leaves what that took back to be credited again if it fails', () => {
    const inPart = refunded(priced(paid(), '10'), 1, '16')
    const order = withdrawn({ ...inPart, queue: [] }, '4')
    expect(queuedCredit(refunded(order, 1, '-16'))).toBe(1)
    const all = refunded(order, 1, '4')
    expect(queuedCredit(refunded(refunded(all, 1, '-4'), 1, '-16'))).toBe(1)
    expect(queuedCredit(refunded(all, 1, '-20'))).toBe(1)
  })

  test('between refunds is credited again by none of them that fails', () => {
    // 15 of 60 are credited; a refund of 50 takes 5 of them back.
    const order = cheaperBy15()
    expect(queuedCredit(order)).toBe(15)
    const inPart = refunded(order, 1, '50')
    expect(queuedCredit(inPart)).toBe(10)
    const less = withdrawn({ ...inPart, queue: [] }, '4')
    const back = (...amounts: string[]) => amounts.reduce((known, amount) => refunded(known, 1, amount), less)
    // Of the 6 that stand a further refund takes what exceeds 54, and its failure gives that back.
    expect(queuedCredit(back('4'))).toBe(0)
    expect(queuedCredit(back('4', '6'))).toBe(-6)
    expect(queuedCredit(back('4', '6', '-6'))).toBe(0)
    expect(queuedCredit(back('4', '6', '-6', '-4'))).toBe(0)
    expect(queuedCredit(back('4', '6', '-6', '-4', '-50'))).toBe(5)
    expect(queuedCredit(back('10', '-10', '-50'))).toBe(5)
    expect(queuedCredit(back('10', '-50', '-10'))).toBe(5)
    // As a first refund of 50 would take, beside 11 of credit.
    expect(queuedCredit(back('-50', '50'))).toBe(4)
  })
})

describe('a payment that was refunded while its invoice was open', () => {
  test('takes nothing from the credit of what is paid in the end', () => {
    const begun = advanceBefore(placeOrder(terms(FLAT, { createdTime: START })).order, START + 1).order
    const inPart = receivePayment(beginCallersCharge(begun, START + 1, 1).order, START + 1, 1, '15')
      .transition.order
    const again = pay(refunded(inPart, 1, '15', START + 1), 1, START + 1)
    expect(again.invoices[0]).toMatchObject({ status: 'paid', amountPaid: '35', amountRefunded: '15' })
    expect(memoOf([canceled(again)]).toNumber()).toBe(10)
    const failed = refunded(again, 1, '-15', START + 1)
    expect(failed.invoices[0]).toMatchObject({ amountPaid: '20', refundedWhileOpen: '0' })
    expect(memoOf([canceled(failed)]).toNumber()).toBe(10)
  })
})

describe('an order that is canceled for delinquency', () => {
  const agreed = terms(FLAT, { createdTime: START, delinquencyPeriod: parseDuration('P40D') })
  const CHANGED = at('2027-05-11')
  const second = (isPaid: boolean) => {
    const order = advanceBefore(placeOrder(agreed).order, CHANGED).order
    return priced(isPaid ? pay(order, 2, CHANGED) : order, '10', CHANGED)
  }

  test('leaves a memo of the credit of a period that was paid', () => {
    const { order, transitions } = advanceThrough(second(true), at('2027-05-12'))
    expect(order).toMatchObject({ status: 'canceled', canceledBy: 'rebilly-side', queue: [] })
    expect(memoOf(transitions).toNumber()).toBe(6.78)
  })

  test('leaves none of the credit of a period that nobody paid', () => {
    const { order, transitions } = advanceThrough(second(false), at('2027-05-12'))
    expect(order).toMatchObject({ status: 'canceled', queue: [] })
    expect(memoOf(transitions).toNumber()).toBe(0)
  })

  test('returns the credit that the invoice of a period to come has used', () => {
    const early = terms(
      {
        pricing: { formula: 'flat-rate', price: '20' },
        invoiceTimeShift: {
          issueTimeShift: { chronology: 'before', duration: 10, unit: 'day' },
          dueTimeShift: null,
        },
      },
      { createdTime: START, delinquencyPeriod: parseDuration('P57D') },
    )
    // The invoice of April is delinquent on the 28th of May, ten days after that of June has been issued.
    const begun = advanceBefore(placeOrder(early).order, at('2027-05-11')).order
    const order = priced(pay(begun, 2, at('2027-05-11')), '10', at('2027-05-11'))
    const issued = advanceThrough(order, at('2027-05-27')).order
    expect(issued.invoices[2]).toMatchObject({ periodNumber: 3, amount: '3.22' })
    const { order: ended, transitions } = advanceThrough(issued, at('2027-05-29'))
    expect(ended).toMatchObject({ status: 'canceled', queue: [] })
    expect(memoOf(transitions).toNumber()).toBe(6.78)
  })
})

const refunds = (paysCredit: fc.Arbitrary<boolean>): fc.Arbitrary<Command[]> =>
  fc.array(
    fc
      .record({
        isOfMemo: paysCredit,
        hour: fc.integer({ min: 0, max: 300 * 24 }),
        percent: fc.constantFrom(100, 100, 70, 30),
        which: fc.nat({ max: 3 }),
      })
      .map(({ hour, percent, which, isOfMemo }) => ({
        at: at('2027-01-31') + hour * 3_600_000,
        act(order: Order, now: number) {
          const invoice = order.invoices.at(-1 - which) ?? order.invoices[0]
          if (invoice === undefined) throw new Error('an order has an invoice')
          const left = new Money(invoice.amountPaid).minus(invoice.amountRefunded)
          const amount = left.times(percent).div(100).toDecimalPlaces(2).toFixed()
          return refundInvoice(order, now, invoice.sequence, amount, isOfMemo)
        },
      })),
    { maxLength: 4 },
  )
const payments: fc.Arbitrary<Command[]> = fc.array(
  fc.integer({ min: 0, max: 300 * 24 }).map((hour) => ({
    at: at('2027-01-31') + hour * 3_600_000,
    act(order: Order, now: number) {
      const { sequence = 0 } = order.invoices.find(isOpen) ?? {}
      return payInvoice(beginCallersCharge(order, now, sequence).order, now, sequence)
    },
  })),
  { maxLength: 6 },
)
/** The merchant voids the latest memo of the order, unless an invoice uses it. */
const withdrawals: fc.Arbitrary<Command[]> = fc.array(
  fc.integer({ min: 0, max: 300 * 24 }).map((hour) => ({
    at: at('2027-01-31') + hour * 3_600_000,
    act(order: Order, now: number) {
      const used = order.invoices.flatMap(({ credits }) => credits.map(({ creditMemoId }) => creditMemoId))
      const memo = order.credit.findLast(({ isOfOrder }) => isOfOrder === true)
      return transition(order, now, 'api', (change) => {
        if (memo === undefined || used.includes(memo.creditMemoId)) return
        const credit = order.credit.map((one) => (one === memo ? { ...memo, left: '0' } : one))
        change.order = { ...withdrawn(order, memo.left), credit }
        const reduced = { creditMemoId: memo.creditMemoId, amount: memo.left }
        change.events.push({ type: 'credit-memo-voided', reduced })
      })
    },
  })),
  { maxLength: 2 },
)
const story = (paysCredit: fc.Arbitrary<boolean>) =>
  fc
    .tuple(anyCommands, payments, refunds(paysCredit), withdrawals)
    .map((lists) => lists.flat().toSorted((one, other) => one.at - other.at))

/** Service ends in a period, with proration, and the last invoice is voided if nobody has paid it. */
const voidedEnds: fc.Arbitrary<Command[]> = fc
  .record({ hour: fc.integer({ min: 0, max: 300 * 24 }), later: fc.integer({ min: 0, max: 240 }) })
  .map(({ hour, later }) => [
    { at: at('2027-01-31') + hour * 3_600_000, act: (order, now) => canceled(order, now) },
    {
      at: at('2027-01-31') + (hour + later) * 3_600_000,
      act: (order, now) => voidInvoice(order, now, order.nextInvoice - 1),
    },
  ])

/** Queues credit of a change, which the next invoice takes; that is voided after service has ended. */
const voidedRenewals: fc.Arbitrary<Command[]> = fc
  .record({
    hour: fc.integer({ min: 0, max: 40 * 24 }),
    served: fc.integer({ min: 1, max: 40 * 24 }),
    later: fc.integer({ min: 0, max: 240 }),
    prorated: fc.boolean(),
  })
  .map(({ hour, served, later, prorated }) => {
    const [changed, ended] = [hour, hour + served].map((hours) => at('2027-01-31') + hours * 3_600_000)
    return [
      { at: changed ?? 0, act: (order, now) => repriced(order, '1', now) },
      { at: ended ?? 0, act: (order, now) => cancelOrder(order, now, { ...AT_ONCE, prorated }) },
      {
        at: (ended ?? 0) + later * 3_600_000,
        act: (order, now) => voidInvoice(order, now, order.nextInvoice - 1),
      },
    ]
  })

/** What was paid for an invoice, or is owed for it: its amount, and the queued credit that reduced it. */
function worthOf({ amount, lines }: Invoice): Money {
  const drawn = lines.filter((line) => line.isQueued === true && isCredit(line.amount))
  return new Money(amount).minus(grossAmount(drawn))
}

describe('whatever is changed, paid and refunded', () => {
  test('refunds and credits of an invoice never exceed what was paid for it', () => {
    fc.assert(
      fc.property(anyTerms, story(fc.boolean()), (agreed, commands) => {
        for (const { order } of live(agreed, commands).transitions) {
          for (const invoice of order.invoices) {
            const { amountRefunded, refundedWhileOpen, amountCredited, creditTakenBack, status } = invoice
            const refunded = new Money(amountRefunded).minus(refundedWhileOpen)
            expect([refunded.isNegative(), new Money(refundedWhileOpen).isNegative()]).toEqual([false, false])
            if (isOpen(invoice)) continue
            const isServed = status !== 'voided' && status !== 'abandoned'
            const back = new Money(amountCredited).minus(creditTakenBack).plus(isServed ? refunded : 0)
            expect(back.lessThanOrEqualTo(isServed ? worthOf(invoice) : 0)).toBe(true)
          }
        }
      }),
      RUNS,
    )
  })

  test('a refund that fails at once leaves what is credited of its invoice as it was', () => {
    const counts = ({ amountCredited, creditTakenBack }: Invoice) =>
      [amountCredited, creditTakenBack].map((one) => plainAmount(one))
    const isClosed = (one: Invoice) => !isOpen(one) && isLive(one) && isZero(one.refundedWhileOpen)
    fc.assert(
      fc.property(anyTerms, story(fc.boolean()), fc.boolean(), (agreed, commands, paysCredit) => {
        for (const { order, at: instant } of live(agreed, commands, [], true).transitions) {
          for (const invoice of order.invoices.filter(isClosed)) {
            const left = new Money(invoice.amountPaid).minus(invoice.amountRefunded)
            if (!left.greaterThan(0)) continue
            const { sequence } = invoice
            const made = refunded(order, sequence, left.toFixed(), instant, paysCredit)
            const failed = refunded(made, sequence, left.negated().toFixed(), instant, paysCredit)
            expect(counts(failed.invoices.find((one) => one.sequence === sequence) ?? invoice)).toEqual(
              counts(invoice),
            )
          }
        }
      }),
      RUNS,
    )
  })

  test('what is taken back is a debit only once no memo of the order has anything left', () => {
    fc.assert(
      fc.property(anyTerms, story(fc.constant(false)), voidedEnds, (agreed, others, ends) => {
        const commands = [...others, ...ends].toSorted((one, other) => one.at - other.at)
        let before = new Money(0)
        for (const { order, events } of live(agreed, commands, [], true).transitions) {
          const debits = order.queue.filter(
            ({ description, amount }) => description.startsWith('Refunded time on ') && !isCredit(amount),
          )
          const isNew = grossAmount(debits).greaterThan(before)
          before = grossAmount(debits)
          // A reset bills the period before at once.
          if (!isNew || events.some(({ type }) => type === 'subscription-items-changed')) continue
          const left = order.credit.flatMap((memo) => (memo.isOfOrder === true ? [memo.left] : []))
          expect(sumOf(left)).toBe('0')
        }
      }),
      RUNS,
    )
  })

  test('no credit waits for an invoice that never comes, once service has ended', () => {
    const hasEnded = (order: Order) =>
      ['completed', 'trial-ended', 'churned', 'canceled'].includes(order.status) && !isServed(order)
    fc.assert(
      fc.property(anyTerms, voidedRenewals, refunds(fc.boolean()), (agreed, ends, others) => {
        const commands = [...others, ...ends].toSorted((one, other) => one.at - other.at)
        for (const { order } of live(agreed, commands, [], true).transitions) {
          const waiting = grossAmount(order.queue.filter(({ type }) => type === 'proration'))
          if (hasEnded(order)) expect(waiting.greaterThanOrEqualTo(0)).toBe(true)
        }
      }),
      RUNS,
    )
  })

  test('nobody gets more back, as money and as credit, than was paid and is owed', () => {
    fc.assert(
      fc.property(anyTerms, story(fc.constant(false)), (agreed, commands) => {
        const { transitions } = live(agreed, commands, [], true)
        transitions.forEach(({ order }, index) => {
          const { queue, invoices } = order
          const known = transitions.slice(0, index + 1)
          const memos = memoOf(known).minus(reducedOf(known))
          const queued = grossAmount(queue.filter(({ type }) => type === 'proration')).negated()
          const back = memos.plus(queued).plus(sumOf(invoices.map((one) => one.amountRefunded)))
          const got = invoices.flatMap((one) => [one.amountPaid, creditedAmount(one.credits), amountDue(one)])
          // A debit for credit that was used twice is owed on an invoice, and may be given up with that.
          const givenUp = invoices
            .filter(({ status }) => status === 'abandoned')
            .flatMap(({ lines }) => lines.filter((line) => line.isQueued === true && !isCredit(line.amount)))
          expect(back.lessThanOrEqualTo(grossAmount(givenUp).plus(sumOf(got)))).toBe(true)
        })
      }),
      RUNS,
    )
  })
})

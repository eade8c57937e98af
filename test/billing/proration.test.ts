import { describe, expect, test } from '@jest/globals'
import type { RedeemedCoupon } from '../../billing/coupons.ts'
import { netAmount } from '../../billing/discounts.ts'
import { abandonInvoice } from '../../billing/invoice-commands.ts'
import { addedSales, type InvoiceLine } from '../../billing/invoices.ts'
import { changeItems, type ItemsChange } from '../../billing/item-changes.ts'
import { Money, sumOf } from '../../billing/money.ts'
import { isComing, type Order, placeOrder, type Transition } from '../../billing/order.ts'
import { cancelOrder, moveRenewal, reactivateOrder, voidInvoice } from '../../billing/order-commands.ts'
import { advanceBefore, advanceThrough, upcomingInvoice } from '../../billing/order-lifecycle.ts'
import { payInvoice, refundInvoice } from '../../billing/order-payments.ts'
import type { OrderTerms, PricedItem } from '../../billing/order-terms.ts'
import { pauseOrder } from '../../billing/pauses.ts'
import { priceOf } from '../../billing/pricing.ts'
import {
  type BilledLine,
  billedWhole,
  changedBilling,
  drawCredits,
  isCredit,
  partLines,
  queuedDebits,
  subtotal,
  unusedShare,
  usedTime,
} from '../../billing/proration.ts'
import fc from '../support/fast-check.ts'
import {
  anyCommands,
  anyTerms,
  at,
  type Command,
  day,
  issuedEarly,
  live,
  MONTHLY,
  oneTimeSale,
  terms,
} from './orders.ts'

const RUNS = { numRuns: 2_000 }
const SECOND = 1000
const START = at('2027-01-31')

const amounts = fc.integer({ min: 0, max: 10_000_000 }).map((cents) => (cents / 100).toString())
const divided = fc
  .tuple(fc.integer({ min: 1, max: 40_000_000 }), fc.double({ min: -0.2, max: 1.2, noNaN: true }))
  .map(([seconds, share]) => ({
    start: START,
    end: START + seconds * SECOND,
    at: START + Math.round(seconds * share * SECOND),
  }))
const line = (amount: string, description = 'Plan'): InvoiceLine => ({
  type: 'plan',
  itemId: 'item',
  planId: 'plan',
  productId: null,
  description,
  quantity: 1,
  unitPrice: amount,
  amount,
})
const lists = fc.array(amounts, { maxLength: 4 }).map((list) => list.map((amount) => line(amount)))
type Divided = Parameters<typeof usedTime>[0]
/** The lines of both parts of a period. */
const partsOf = (lines: readonly InvoiceLine[], period: Divided) => {
  const [used, whole] = [usedTime(period), period.end - period.start]
  return [
    partLines(lines, period, { from: 0, to: used }, 'EUR'),
    partLines(lines, period, { from: used, to: whole }, 'EUR'),
  ] as const
}
const changed = (before: readonly BilledLine[], after: readonly InvoiceLine[], period: Divided) =>
  changedBilling(before, after, period, 'EUR')
const isIn = (amount: string, low: string, high: string) =>
  new Money(amount).greaterThanOrEqualTo(low) && new Money(amount).lessThanOrEqualTo(high)

describe('the unused share of a period', () => {
  test.each([
    ['10', 30, 15, '5'],
    ['9.99', 31, 10, '6.77'],
    ['0.01', 2, 1, '0.01'],
    ['0.01', 3, 2, '0'],
    ['10', 30, 0, '10'],
    ['10', 30, 30, '0'],
  ])('of %s over %i days, after %i of them, is %s', (amount, days, used, expected) => {
    const period = { start: START, end: START + days * 86_400_000, at: START + used * 86_400_000 }
    expect(unusedShare(amount, period, 'EUR')).toBe(expected)
  })

  test('counts seconds: one that has begun is not used yet', () => {
    const of = (instant: number) =>
      unusedShare('100', { start: START, end: START + 100 * SECOND, at: START + instant }, 'EUR')
    expect([0, 999, 1000, 1001, 50_000, 99_999, 100_000].map(of)).toEqual([
      '100',
      '100',
      '99',
      '99',
      '50',
      '1',
      '0',
    ])
  })

  test('has the decimals of the currency, rounded half-up once', () => {
    const half = { start: START, end: START + 2 * SECOND, at: START + SECOND }
    expect([unusedShare('5', half, 'JPY'), unusedShare('0.001', half, 'KWD')]).toEqual(['3', '0.001'])
  })

  test('and the used share sum to the whole, and neither exceeds it', () => {
    fc.assert(
      fc.property(amounts, divided, (amount, period) => {
        const [used, unused] = partsOf([line(amount)], period).map(subtotal)
        if (used === undefined || unused === undefined) throw new Error('a period has two parts')
        expect(unused).toBe(unusedShare(amount, period, 'EUR'))
        expect(sumOf([unused, used])).toBe(new Money(amount).toFixed())
        expect(isIn(unused, '0', amount) && isIn(used, '0', amount)).toBe(true)
      }),
      RUNS,
    )
  })

  test('never grows as time passes', () => {
    fc.assert(
      fc.property(amounts, divided, fc.nat(86_400_000), (amount, period, later) => {
        const then = unusedShare(amount, { ...period, at: period.at + later }, 'EUR')
        expect(isIn(then, '0', unusedShare(amount, period, 'EUR'))).toBe(true)
      }),
      RUNS,
    )
  })
})

describe('the lines of a change', () => {
  test('are none where nothing changes, and those of the way back take them back', () => {
    fc.assert(
      fc.property(lists, lists, divided, (before, after, period) => {
        expect(changed(billedWhole(before), before, period)).toEqual({
          lines: [],
          billed: billedWhole(before),
        })
        const there = changed(billedWhole(before), after, period)
        const back = changed(there.billed, before, period)
        expect(sumOf([subtotal(there.lines), subtotal(back.lines)])).toBe('0')
      }),
      RUNS,
    )
  })

  test('are shares of the prices: credits of the old, debits of the new, each no more than its price', () => {
    fc.assert(
      fc.property(lists, lists, divided, (before, after, period) => {
        for (const { amount, unitPrice, quantity, type } of changed(billedWhole(before), after, period)
          .lines) {
          const prices = (new Money(amount).isNegative() ? before : after).map((one) => one.amount)
          const highest = Money.max(0, ...prices).toFixed()
          expect(isIn(new Money(amount).abs().toFixed(), '0', highest)).toBe(true)
          expect({ unitPrice, quantity, type }).toEqual({ unitPrice: amount, quantity: 1, type: 'proration' })
        }
      }),
      RUNS,
    )
  })

  test('in advance and in arrears charge the period alike', () => {
    fc.assert(
      fc.property(amounts, amounts, divided, (before, after, period) => {
        const [old, fresh] = [[line(before)], [line(after)]]
        const inAdvance = sumOf([before, subtotal(changed(billedWhole(old), fresh, period).lines)])
        const inArrears = sumOf([subtotal(partsOf(old, period)[0]), subtotal(partsOf(fresh, period)[1])])
        expect(inAdvance).toBe(inArrears)
      }),
      RUNS,
    )
  })
})

describe('a queue of credits and debits', () => {
  const queues = fc
    .array(fc.integer({ min: -5000, max: 2000 }), { maxLength: 6 })
    .map((cents) => cents.filter((one) => one !== 0).map((one) => line((one / 100).toString())))

  test('gives an invoice what it can bear, and keeps the rest: nothing is lost or given twice', () => {
    fc.assert(
      fc.property(queues, amounts, (queue, amount) => {
        const debits = queuedDebits(queue)
        const own = sumOf([amount, subtotal(debits)])
        const { lines, left } = drawCredits(queue, own, 'EUR')
        const total = new Money(own).plus(subtotal(lines))
        expect(sumOf([subtotal(debits), subtotal(lines), subtotal(left)])).toBe(subtotal(queue))
        expect(total.greaterThanOrEqualTo(0)).toBe(true)
        expect(left.length === 0 || total.isZero()).toBe(true)
        expect(lines.every(({ isQueued }) => isQueued)).toBe(true)
      }),
      RUNS,
    )
  })
})

/** The sum of the credit memos that transitions create. */
function memoOf(transitions: readonly Transition[]): string {
  const created = transitions.flatMap(({ events }) =>
    events.filter(({ type }) => type === 'credit-memo-created'),
  )
  return sumOf(created.map(({ credit = [] }) => subtotal(credit)))
}

describe('an order whose items change', () => {
  const price = (amount: string, quantity = 1): PricedItem => ({
    id: 'item',
    quantity,
    plan: { ...MONTHLY, pricing: { formula: 'flat-rate', price: amount } },
  })
  const monthly = (amount: string, members: Partial<OrderTerms> = {}) =>
    terms({ pricing: { formula: 'flat-rate', price: amount } }, { createdTime: at('2027-04-01'), ...members })
  const MIDDLE = at('2027-04-16')
  const begun = (amount: string, through = MIDDLE, members: Partial<OrderTerms> = {}) =>
    advanceBefore(placeOrder(monthly(amount, members)).order, through).order
  const to = (
    order: Order,
    amount: string,
    policy: Partial<Omit<ItemsChange, 'terms'>> = {},
    instant = MIDDLE,
  ): Transition =>
    changeItems(order, instant, {
      terms: { ...order.terms, items: [price(amount)] },
      prorated: true,
      renewalPolicy: 'retain',
      ...policy,
    })
  const told = ({ events }: Transition) => events.map(({ type }) => type)
  const linesOf = (lines: readonly InvoiceLine[]) =>
    lines.map(({ description, amount }) => [description, amount])

  test('to dearer ones pays the difference for the rest of the period at once, and keeps the boundary', () => {
    const before = begun('10')
    const change = to({ ...before, terms: { ...before.terms, canCharge: true } }, '20')
    expect(change.order).toMatchObject({ periodEnd: at('2027-05-01') })
    expect(change.order.invoices[1]).toMatchObject({
      type: 'interim',
      status: 'unpaid',
      amount: '5',
      chargeTime: MIDDLE,
      periodNumber: null,
    })
  })

  test('reports what changed, and bills the parts as lines', () => {
    const change = to(begun('10'), '20')
    expect(told(change)).toEqual([
      'subscription-items-changed',
      'subscription-upgraded',
      'invoice-created',
      'invoice-issued',
    ])
    const { order } = change
    expect(linesOf(order.invoices[1]?.lines ?? [])).toEqual([
      ['Unused time on Monthly', '-5'],
      ['Remaining time on Monthly', '10'],
    ])
    expect(order).toMatchObject({ queue: [], rebillNumber: 1, periodEnd: at('2027-05-01') })
    expect(upcomingInvoice(order)).toMatchObject({ amount: '20', periodStart: at('2027-05-01') })
  })

  test('to cheaper ones queues the credit, which the next invoice has', () => {
    const change = to(begun('20'), '10')
    expect(told(change)).toEqual(['subscription-items-changed', 'subscription-downgraded'])
    const { order } = change
    expect(linesOf(order.queue)).toEqual([
      ['Unused time on Monthly', '-10'],
      ['Remaining time on Monthly', '5'],
    ])
    expect(order.invoices).toHaveLength(1)
    expect(upcomingInvoice(order)).toMatchObject({ amount: '5' })
    const renewed = advanceThrough(order, at('2027-05-01')).order
    expect(renewed.invoices[1]).toMatchObject({ type: 'renewal', amount: '5' })
    expect(linesOf(renewed.invoices[1]?.lines ?? [])).toEqual([
      ['Monthly', '10'],
      ['Remaining time on Monthly', '5'],
      ['Unused time on Monthly', '-10'],
    ])
    expect(renewed.queue).toEqual([])
  })

  test('a credit above the next invoice is used up by the following ones', () => {
    const { order } = to(begun('100'), '10')
    const later = advanceThrough(order, at('2027-09-01')).order
    expect(later.invoices.slice(1).map(({ amount, status }) => [amount, status])).toEqual([
      ['0', 'paid'],
      ['0', 'paid'],
      ['0', 'paid'],
      ['0', 'paid'],
      ['5', 'unpaid'],
    ])
    expect(later.queue).toEqual([])
  })

  test('costs the same in all, however early the next invoice is issued, and paid', () => {
    const cents = fc.integer({ min: 1, max: 100_000 }).map((amount) => (amount / 100).toString())
    const hours = fc.integer({ min: 1, max: 80 * 24 })
    fc.assert(
      fc.property(
        cents,
        cents,
        fc.integer({ min: 1, max: 27 }),
        hours,
        fc.boolean(),
        fc.boolean(),
        (...drawn) => {
          const [first, second, days, hour, inTrial, isPaid] = drawn
          const instant = at('2027-04-01') + hour * 3600 * SECOND
          const trial = inTrial ? { trial: { endTime: at('2027-05-11') } } : {}
          const limited = { interval: { unit: 'month' as const, length: 1, limit: 4 }, ...trial }
          const total = (members: Partial<OrderTerms>) => {
            const before = begun(first, instant, { ...limited, ...members })
            const coming = before.invoices.find((invoice) => isComing(before, invoice))
            const paid =
              coming === undefined || !isPaid ? before : payInvoice(before, instant, coming.sequence).order
            const there = to(paid, second, {}, instant).order
            const { order, transitions } = advanceThrough(there, at('2028-01-01'))
            expect(order.status).toBe('completed')
            const standing = order.invoices.filter(({ status }) => status !== 'voided')
            expect(standing.filter(({ periodNumber }) => periodNumber !== null)).toHaveLength(inTrial ? 5 : 4)
            return sumOf([...standing.map(({ amount }) => amount), memoOf(transitions)])
          }
          expect(total({ invoiceTimeShift: issuedEarly(days) })).toBe(total({}))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('to others bills the coming period at their prices, though its invoice is issued already', () => {
    const before = begun('100', at('2027-04-25'), { invoiceTimeShift: issuedEarly(10) })
    expect(before.invoices.at(-1)).toMatchObject({ periodNumber: 2, amount: '100', status: 'unpaid' })
    const change = to(before, '10', {}, at('2027-04-25'))
    expect(change.order.invoices.at(-1)).toMatchObject({ periodNumber: 2, status: 'voided' })
    const again = advanceThrough(change.order, at('2027-04-25'))
    expect(again.order.invoices.at(-1)).toMatchObject({
      periodNumber: 2,
      amount: '0',
      issuedTime: at('2027-04-25'),
    })
    const kept = to(before, '10', { prorated: false }, at('2027-04-25')).order
    expect(kept.invoices.at(-1)).toMatchObject({ periodNumber: 2, amount: '100', status: 'unpaid' })
    const items = [...before.terms.items, oneTimeSale('sale', '49')]
    const policy = { prorated: true, renewalPolicy: 'retain' as const }
    const more = changeItems(before, at('2027-04-25'), { terms: { ...before.terms, items }, ...policy }).order
    expect(more.invoices.slice(1)).toMatchObject([{ periodNumber: 2, status: 'unpaid' }, { amount: '49' }])
  })

  test('to others bills the coming period no more once its invoice was refunded', () => {
    const instant = at('2027-04-25')
    const ahead = begun('100', instant, { invoiceTimeShift: issuedEarly(10) })
    const { sequence } = ahead.invoices.at(-1) ?? { sequence: 0 }
    const paid = payInvoice(ahead, instant, sequence).order
    for (const amount of ['100', '40']) {
      const { order } = to(refundInvoice(paid, instant, sequence, amount).order, '200', {}, instant)
      const ofIt = advanceThrough(order, at('2027-05-02')).order.invoices.filter(
        ({ periodNumber }) => periodNumber === 2,
      )
      expect(ofIt).toMatchObject([{ amountRefunded: amount, amount: '100' }])
    }
  })

  test('without proration costs nothing before the next invoice', () => {
    const change = to(begun('10'), '20', { prorated: false })
    expect(told(change)).toEqual(['subscription-items-changed', 'subscription-upgraded'])
    expect(change.order).toMatchObject({ queue: [], invoices: [{ type: 'initial' }] })
  })

  test('of equal price changes nothing that is owed, and is neither an upgrade nor a downgrade', () => {
    const order = begun('10')
    const change = changeItems(order, MIDDLE, {
      terms: { ...order.terms, items: [price('5', 2)] },
      prorated: true,
      renewalPolicy: 'retain',
    })
    expect(told(change)).toEqual(['subscription-items-changed'])
    expect(change.order).toMatchObject({ queue: [], invoices: [{ type: 'initial' }] })
  })

  test('there and back at one instant comes to nothing', () => {
    fc.assert(
      fc.property(amounts, amounts, fc.integer({ min: 0, max: 30 * 86_400 - 1 }), (first, second, passed) => {
        const instant = at('2027-04-01') + passed * SECOND
        const order = begun(first, instant)
        if (order.status !== 'active') return
        const there = to(order, second, {}, instant).order
        const back = to(there, first, {}, instant).order
        const billed = back.invoices.slice(1).map(({ amount }) => amount)
        expect(sumOf([...billed, subtotal(back.queue)])).toBe('0')
      }),
      RUNS,
    )
  })

  test('with a reset begins a new period at once, on whose invoice the unused part is credited', () => {
    const change = to(begun('10'), '20', { renewalPolicy: 'reset' })
    expect(told(change)).toEqual([
      'subscription-items-changed',
      'subscription-upgraded',
      'subscription-renewed',
      'invoice-created',
      'invoice-issued',
      'renewal-invoice-issued',
    ])
    expect(change.order).toMatchObject({ rebillNumber: 2, periodStart: MIDDLE, periodEnd: at('2027-05-16') })
    expect(change.order.invoices[1]).toMatchObject({ type: 'renewal', amount: '15', periodNumber: 2 })
    const full = to(begun('10'), '20', { renewalPolicy: 'reset', prorated: false })
    expect(full.order.invoices[1]).toMatchObject({ amount: '20' })
  })

  test('a one-time sale that is added is sold once: at once with proration, otherwise on the next invoice', () => {
    const order = begun('10')
    const sale: PricedItem = {
      id: 'sale',
      quantity: 1,
      plan: {
        ...MONTHLY,
        name: 'Installation',
        pricing: { formula: 'fixed-fee', price: '49' },
        recurringInterval: null,
      },
    }
    const withSale = { ...order.terms, items: [...order.terms.items, sale] }
    const now = changeItems(order, MIDDLE, { terms: withSale, prorated: true, renewalPolicy: 'retain' }).order
    expect(now.invoices[1]).toMatchObject({ type: 'interim', amount: '49' })
    const next = changeItems(order, MIDDLE, {
      terms: withSale,
      prorated: false,
      renewalPolicy: 'retain',
    }).order
    expect(next.invoices).toHaveLength(1)
    const later = advanceThrough(next, at('2027-06-01')).order
    expect(later.invoices.slice(1).map(({ amount }) => amount)).toEqual(['59', '10'])
  })

  const forOnce = (agreed: OrderTerms, through = MIDDLE) => {
    const { order } = advanceBefore(placeOrder(agreed).order, through)
    return (from = order, prorated = false) => {
      const items = [...from.terms.items, oneTimeSale('sale', '49')]
      const changed = { terms: { ...from.terms, items }, prorated, renewalPolicy: 'retain' as const }
      return changeItems(from, through, changed).order
    }
  }
  const limited = (limit: number) => ({ interval: { unit: 'month' as const, length: 1, limit } })

  test.each<[string, OrderTerms]>([
    ['of a one-time sale that is not paid', terms({ recurringInterval: null })],
    ['in the last period of its limit', monthly('10', limited(1))],
    [
      'whose last renewal is invoiced already',
      monthly('10', { ...limited(2), invoiceTimeShift: issuedEarly(20) }),
    ],
    ['that ends with its trial', monthly('10', { interval: null, trial: { endTime: at('2027-05-01') } })],
  ])('of an order %s, a one-time sale that is added is invoiced at once', (_, agreed) => {
    const order = forOnce({ ...agreed, createdTime: at('2027-04-01'), startTime: at('2027-04-01') })()
    expect(order).toMatchObject({ status: 'active', queue: [] })
    expect(order.invoices.at(-1)).toMatchObject({ type: 'interim', status: 'unpaid', amount: '49' })
    const ended = advanceThrough(order, at('2027-07-01')).order
    expect(ended.invoices.filter(({ type }) => type === 'interim')).toHaveLength(1)
  })

  test('where no invoice follows, one that queued credit covers is invoiced and paid by that', () => {
    const change = forOnce(monthly('100', limited(1)))
    const cheaper = to(begun('100', MIDDLE, limited(1)), '1').order
    expect(subtotal(cheaper.queue)).toBe('-49.5')
    for (const prorated of [false, true]) {
      const order = change(cheaper, prorated)
      expect(order.invoices.at(-1)).toMatchObject({ type: 'interim', status: 'paid', amount: '0' })
    }
  })

  test.each<[string, OrderTerms, string]>([
    ['is completed', monthly('10', limited(1)), 'completed'],
    [
      'ends with its trial',
      monthly('10', { interval: null, trial: { endTime: at('2027-05-01') } }),
      'trial-ended',
    ],
  ])('a sale that was added during a pause is invoiced when the order %s', (_, agreed, status) => {
    const { order } = advanceBefore(placeOrder({ ...agreed, canCharge: false }).order, MIDDLE)
    const pause = { id: 'pause', effectiveTime: null, endTime: MIDDLE + 86_400_000 }
    const paused = pauseOrder(order, MIDDLE, pause).order
    const sold = forOnce(agreed)(paused)
    expect(sold.queue).toMatchObject([{ type: 'one-time', amount: '49' }])
    const ended = advanceThrough(sold, at('2027-06-01')).order
    expect(ended).toMatchObject({ status, queue: [], isTrialConverted: false })
    const interim = ended.invoices.at(-1)
    expect(interim).toMatchObject({ type: 'interim', status: 'past-due', amount: '49', periodStart: null })
    const paid = payInvoice(ended, at('2027-06-01'), interim?.sequence ?? 0).order
    expect(paid).toMatchObject({ status, isTrialConverted: false })
  })

  const hardware = (quantity: number, pricing: PricedItem['plan']['pricing']): PricedItem => ({
    id: 'hardware',
    quantity,
    plan: { ...MONTHLY, name: 'Hardware', pricing, recurringInterval: null },
  })
  const BRACKETS = [
    { price: '10', maxQuantity: 2 },
    { price: '7', maxQuantity: null },
  ]

  test.each([
    [
      { formula: 'flat-rate', price: '200' },
      '400',
      { quantity: 2, unitPrice: '200', description: 'Hardware' },
    ],
    [{ formula: 'tiered', brackets: BRACKETS }, '17', { description: 'Hardware (units 2 to 3)' }],
    [{ formula: 'volume', brackets: BRACKETS }, '11', { quantity: 1, unitPrice: '11' }],
  ] as const)(
    'more units of a one-time sale are billed for what they add to its price: %j',
    (pricing, amount, line) => {
      const order = begun('10')
      const sold = (from: Order, quantity: number, prorated: boolean) => {
        const [plan] = from.terms.items
        if (plan === undefined) throw new Error('the order has a plan')
        const items = [plan, hardware(quantity, pricing)]
        const changed = { terms: { ...from.terms, items }, prorated, renewalPolicy: 'retain' as const }
        return changeItems(from, MIDDLE, changed).order
      }
      const one = sold(order, 1, true)
      const now = sold(one, 3, true)
      expect(now.invoices.slice(2)).toMatchObject([{ type: 'interim', amount, lines: [{ amount, ...line }] }])
      const waiting = sold(one, 3, false)
      expect(waiting.queue).toMatchObject([{ type: 'one-time', amount, ...line }])
      expect(sold(now, 1, true)).toMatchObject({ queue: [], nextInvoice: now.nextInvoice })
    },
  )

  const anyPricing = (() => {
    const brackets = fc
      .tuple(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 5 }),
        fc.tuple(amounts, amounts, amounts),
      )
      .map(([first, second, [p, q, r]]) => [
        { price: p, maxQuantity: first },
        { price: q, maxQuantity: first + second },
        { price: r, maxQuantity: null },
      ])
    return fc.oneof(
      amounts.map((price) => ({ formula: 'flat-rate' as const, price })),
      brackets.map((list) => ({ formula: 'tiered' as const, brackets: list })),
    )
  })()

  test('units are billed once, however a quantity rises to its end', () => {
    const rises = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(anyPricing, rises, (priced, steps) => {
        let before: PricedItem[] = []
        const billed: string[] = []
        for (const step of steps) {
          const items = [hardware((before[0]?.quantity ?? 0) + step, priced)]
          billed.push(subtotal(addedSales({ ...terms(), items }, before)))
          before = items
        }
        const [last] = before
        expect(sumOf(billed)).toBe(priceOf(priced, last?.quantity ?? 0, 'EUR'))
      }),
      RUNS,
    )
  })

  test('what waits of a one-time sale can be taken back: its last quantity is billed, and billed units stay so', () => {
    const quantities = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(anyPricing, fc.integer({ min: 0, max: 4 }), quantities, (pricing, billed, wanted) => {
        const order = begun('10')
        const [plan] = order.terms.items
        if (plan === undefined) throw new Error('the order has a plan')
        let sales = 0
        const having = (from: Order, quantity: number, prorated: boolean) => {
          const known = from.terms.items.find(({ plan: { name } }) => name === 'Hardware')
          if (known === undefined) sales += 1
          const sale = { ...hardware(quantity, pricing), id: known?.id ?? `sale ${sales}` }
          const items = quantity === 0 ? [plan] : [plan, sale]
          const changed = { terms: { ...from.terms, items }, prorated, renewalPolicy: 'retain' as const }
          return changeItems(from, MIDDLE, changed).order
        }
        const sold = having(order, billed, true)
        const last = wanted.reduce((from, more) => having(from, Math.max(more, billed), false), sold)
        const price = (quantity: number) =>
          quantity === 0 ? '0' : priceOf(pricing, quantity, order.terms.currency)
        const due = new Money(price(Math.max(wanted.at(-1) ?? 0, billed))).minus(price(billed))
        expect(subtotal(last.queue)).toBe(due.toFixed())
        expect(last.invoices).toHaveLength(sold.invoices.length)
      }),
      RUNS,
    )
  })

  test.each([
    [{ formula: 'flat-rate', price: '200' }, [{ description: 'Hardware', quantity: 1, amount: '200' }]],
    [{ formula: 'tiered', brackets: BRACKETS }, [{ description: 'Hardware', quantity: 1, amount: '10' }]],
  ] as const)('fewer units of a sale that is billed in part wait as one line: %j', (pricing, lines) => {
    const order = begun('10')
    const having = (from: Order, quantity: number, prorated: boolean) => {
      const items = [...order.terms.items, hardware(quantity, pricing)]
      const changed = { terms: { ...from.terms, items }, prorated, renewalPolicy: 'retain' as const }
      return changeItems(from, MIDDLE, changed).order
    }
    expect(having(having(having(order, 1, true), 4, false), 2, false).queue).toMatchObject(lines)
  })

  test('of a period that nobody is billed for has no parts', () => {
    const order = begun('10')
    const voided = voidInvoice(order, MIDDLE, 1).order
    expect(to(voided, '20').order).toMatchObject({ queue: [], invoices: [{ status: 'voided' }] })
  })

  test('while it is paused has the parts of the time that is left then, and waits with them', () => {
    const paused = pauseOrder(begun('10'), MIDDLE, { id: 'pause', effectiveTime: null, endTime: null }).order
    const change = to(paused, '20', {}, at('2027-08-01'))
    expect(change.order.invoices).toHaveLength(1)
    expect(subtotal(change.order.queue)).toBe('5')
    expect(() => to(paused, '20', { renewalPolicy: 'reset' }, at('2027-08-01'))).toThrow(
      'paused cannot be reset',
    )
  })

  test('canceled: 409', () => {
    const canceled = cancelOrder(begun('10'), MIDDLE, CANCELLATION).order
    expect(() => to(canceled, '20')).toThrow('cannot be changed')
  })

  test('in its last period has none to begin with a reset', () => {
    const last = begun('10', MIDDLE, { interval: { unit: 'month', length: 1, limit: 1 } })
    expect(() => to(last, '20', { renewalPolicy: 'reset' })).toThrow('no further service period')
    expect(to(last, '20').order.invoices[1]).toMatchObject({ amount: '5' })
  })

  const CANCELLATION = {
    churnTime: null,
    churnTimePolicy: null,
    canceledBy: 'merchant' as const,
    reason: null,
    description: null,
    prorated: true,
  }

  test.each([
    ['at once', null, '-5'],
    ['later', at('2027-04-25'), '-2'],
    ['with its period', at('2027-05-01'), '0'],
  ])('canceled with proration, is credited the unused part when service ends: %s', (_, churnTime, credit) => {
    const canceled = cancelOrder(begun('10'), MIDDLE, { ...CANCELLATION, churnTime })
    const { order: churned, transitions } = advanceThrough(canceled.order, at('2027-05-01'))
    expect(churned).toMatchObject({ status: 'churned', queue: [] })
    expect(memoOf([canceled, ...transitions])).toBe(credit)
    const without = cancelOrder(begun('10'), MIDDLE, { ...CANCELLATION, churnTime, prorated: false })
    expect(memoOf([without, ...advanceThrough(without.order, at('2027-05-01')).transitions])).toBe('0')
  })

  test.each([
    [1, '-45'],
    // A second invoice uses ten.
    [2, '-35'],
  ])('that completes after %i periods leaves a memo of the credit that is left', (limit, credit) => {
    const order = begun('100', MIDDLE, { interval: { unit: 'month', length: 1, limit } })
    const { order: ended, transitions } = advanceThrough(to(order, '10').order, at('2027-07-01'))
    expect(ended).toMatchObject({ status: 'completed', queue: [] })
    expect(memoOf(transitions)).toBe(credit)
  })

  test('that has completed leaves a memo of what its last invoice took of the queue, once that is voided', () => {
    const order = begun('100', MIDDLE, { interval: { unit: 'month', length: 1, limit: 1 }, canCharge: false })
    const pause = { id: 'pause', effectiveTime: null, endTime: MIDDLE + 86_400_000 }
    const cheaper = to(pauseOrder(order, MIDDLE, pause).order, '10').order
    const sold = changeItems(cheaper, MIDDLE, {
      terms: { ...cheaper.terms, items: [...cheaper.terms.items, oneTimeSale('sale', '49')] },
      prorated: false,
      renewalPolicy: 'retain',
    }).order
    const { order: ended, transitions } = advanceThrough(sold, at('2027-07-01'))
    expect(ended).toMatchObject({ status: 'completed', queue: [] })
    expect(ended.invoices.at(-1)).toMatchObject({ type: 'interim', amount: '4', status: 'past-due' })
    expect(memoOf(transitions)).toBe('0')
    const voided = voidInvoice(ended, at('2027-07-01'), ended.nextInvoice - 1)
    expect(memoOf([voided])).toBe('-45')
    expect(voided.order.queue).toMatchObject([{ type: 'one-time', amount: '49' }])
  })

  test('that has churned leaves a memo of what its last renewal took of the queue, once that is voided', () => {
    const renewed = advanceThrough(to(begun('10'), '8').order, at('2027-05-01')).order
    expect(renewed.invoices.at(-1)).toMatchObject({ periodNumber: 2, amount: '7', status: 'unpaid' })
    const ended = cancelOrder(renewed, at('2027-05-02'), { ...CANCELLATION, prorated: false })
    expect(memoOf([ended])).toBe('0')
    const voided = voidInvoice(ended.order, at('2027-05-03'), 2)
    expect(memoOf([voided])).toBe('-1')
    expect(voided.order.queue).toEqual([])
  })

  test('one-time sales that wait when service ends are still not billed, and take nothing of its credit', () => {
    const order = begun('10')
    const sale: PricedItem = {
      id: 'sale',
      quantity: 1,
      plan: { ...MONTHLY, pricing: { formula: 'fixed-fee', price: '49' }, recurringInterval: null },
    }
    const added = changeItems(order, MIDDLE, {
      terms: { ...order.terms, items: [...order.terms.items, sale] },
      prorated: false,
      renewalPolicy: 'retain',
    }).order
    const ended = cancelOrder(added, MIDDLE, CANCELLATION)
    expect(memoOf([ended])).toBe('-5')
    expect(subtotal(ended.order.queue)).toBe('49')
  })

  const POSTPAID = {
    interval: { unit: 'month' as const, length: 1, limit: null, billingTiming: 'postpaid' as const },
  }

  test('billed at its end, a period has both prices, each for its time', () => {
    const order = begun('10', MIDDLE, POSTPAID)
    const changed = to(order, '20').order
    expect(changed).toMatchObject({ queue: [], invoices: [{ type: 'initial' }] })
    const upcoming = upcomingInvoice(changed)
    expect(upcoming).toMatchObject({ amount: '15', periodNumber: 1 })
    expect(linesOf(upcoming?.lines ?? [])).toEqual([
      ['Used time on Monthly', '5'],
      ['Remaining time on Monthly', '10'],
    ])
    const later = advanceThrough(changed, at('2027-06-01')).order
    expect(later.invoices.slice(1).map(({ amount }) => amount)).toEqual(['15', '20'])
  })

  /** What a period costs in all whose items get the prices, or whose boundary moves; `later` seconds after one another. */
  const costOf = (
    billing: Partial<OrderTerms>,
    steps: readonly { price?: string; moves?: number; later: number }[],
  ) => {
    const items = (amount: string) => [price(amount), { ...price('10'), id: 'kept' }]
    let order = begun('30', at('2027-04-01') + 1, { ...billing, items: items('30') })
    let now = at('2027-04-01')
    for (const { price: amount, moves, later } of steps) {
      now = Math.min(now + later * SECOND, (order.periodEnd ?? now) - SECOND)
      if (amount !== undefined) {
        const agreed = { ...order.terms, items: items(amount) }
        order = changeItems(order, now, { terms: agreed, prorated: true, renewalPolicy: 'retain' }).order
      } else {
        const end = Math.max(now + SECOND, (order.periodEnd ?? now) + (moves ?? 0) * SECOND)
        order = moveRenewal(order, now, end)?.order ?? order
      }
    }
    const ended = advanceThrough(order, order.periodEnd ?? now).order
    const next = ended.invoices.flatMap(({ periodNumber, lines }) => (periodNumber === 2 ? lines : []))
    const ofNext = subtotal(next.filter(({ isQueued }) => isQueued !== true))
    const billed = sumOf([...ended.invoices.map(({ amount }) => amount), subtotal(ended.queue)])
    return new Money(billed).minus(ofNext).toFixed()
  }
  const DAY = 86_400

  test.each([
    ['as it begins', {}],
    ['at its end', POSTPAID],
  ])('billed %s, there and back costs nothing where the boundary was moved between', (_, billing) => {
    const moved = [
      { price: '60', later: 15 * DAY },
      { moves: 30 * DAY, later: 0 },
      { price: '30', later: 0 },
    ]
    expect(costOf(billing, moved)).toBe('40')
  })

  test('in advance and in arrears charges the period alike, however its prices change and its boundary moves', () => {
    const later = fc.integer({ min: 0, max: 20 * DAY })
    const step = fc.oneof(
      fc.record({ price: fc.integer({ min: 0, max: 10_000 }).map((cents) => String(cents / 100)), later }),
      fc.record({ moves: fc.integer({ min: -20 * DAY, max: 40 * DAY }), later }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
        const [early, late] = [costOf({}, steps), costOf(POSTPAID, steps)]
        // Each change rounds shares to the cent.
        const apart = new Money(early).minus(late).abs()
        expect(apart.lessThanOrEqualTo(0.02 * steps.length)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('billed at its end, a period that a reset or a cancellation ends is billed for its time', () => {
    const order = begun('10', MIDDLE, POSTPAID)
    const reset = to(order, '20', { renewalPolicy: 'reset' }).order
    expect(reset).toMatchObject({ rebillNumber: 2, periodStart: MIDDLE, queue: [] })
    expect(reset.invoices.slice(1)).toMatchObject([{ amount: '5', periodNumber: 1 }])
    const ended = cancelOrder(order, MIDDLE, CANCELLATION).order
    expect(ended).toMatchObject({ status: 'churned', queue: [] })
    expect(ended.invoices.slice(1)).toMatchObject([{ amount: '5', periodNumber: 1 }])
  })

  test.each(['voided', 'abandoned'])(
    'a reset to billing at its end bills the period that it begins, though one issued ahead was %s',
    (ended) => {
      const early = begun('30', at('2027-04-27'), { invoiceTimeShift: issuedEarly(5) })
      expect(early.invoices[1]).toMatchObject({ periodNumber: 2, status: 'unpaid' })
      const end = ended === 'voided' ? voidInvoice : abandonInvoice
      const givenUp = end(early, at('2027-04-27'), 2).order
      const reset = changeItems(givenUp, at('2027-04-28'), {
        terms: { ...givenUp.terms, ...POSTPAID, items: [price('60')] },
        prorated: false,
        renewalPolicy: 'reset',
      }).order
      expect(reset).toMatchObject({ rebillNumber: 2, periodEnd: at('2027-05-28') })
      const later = advanceThrough(reset, at('2027-05-28')).order
      expect(later.invoices.slice(2)).toMatchObject([{ periodNumber: 2, amount: '60' }])
    },
  )

  test('reactivated after that, uses the memo of the credit', () => {
    const churned = cancelOrder(begun('10'), MIDDLE, CANCELLATION)
    const credit = [{ creditMemoId: 'memo', currency: 'EUR', left: `${-Number(memoOf([churned]))}` }]
    const { order } = reactivateOrder({ ...churned.order, credit }, at('2027-04-20'))
    expect(order.invoices.at(-1)).toMatchObject({
      amount: '10',
      periodNumber: 2,
      credits: [{ amount: '5' }],
    })
    expect(order).toMatchObject({ queue: [], proratesChurn: false })
    expect(day(order.periodEnd)).toBe('2027-05-20')
  })
})

/** What is queued, and what invoices that did not return it have had from the queue. */
function queuedValue({ queue, invoices }: Order, returned: ReadonlySet<number>): string {
  const drawn = invoices
    .filter(({ status, sequence }) => status !== 'voided' && !returned.has(sequence))
    .flatMap(({ lines }) => lines.filter(({ isQueued }) => isQueued === true))
  return sumOf([subtotal(queue), subtotal(drawn)])
}

describe('a discounted order whose items change', () => {
  const coupon = (discount: RedeemedCoupon['discount'], quantity: number | null = null): RedeemedCoupon => ({
    couponId: 'coupon',
    redemptionId: 'redemption',
    description: 'Discount',
    discount,
    restrictions: quantity === null ? [] : [{ type: 'discounts-per-redemption', quantity }],
    expiredTime: null,
    discountsBefore: 0,
  })
  const MIDDLE = at('2027-04-16')

  test.each<[string, RedeemedCoupon, string, string]>([
    ['by a share', coupon({ type: 'percent', value: '50' }), '-2.5', '5'],
    ['by an amount', coupon({ type: 'fixed', amount: '4', currency: 'EUR' }), '-3', '8'],
    ['for the first invoice alone', coupon({ type: 'percent', value: '100' }, 1), '0', '0'],
  ])(
    '%s is credited what it was billed, and the discount holds for the period',
    (_, redeemed, credit, debit) => {
      const agreed = terms(
        { pricing: { formula: 'flat-rate', price: '10' } },
        { createdTime: at('2027-04-01'), coupons: [redeemed] },
      )
      const order = advanceBefore(placeOrder(agreed).order, MIDDLE).order
      const items = order.terms.items.map((item) => ({ ...item, quantity: 2 }))
      const policy = { prorated: true, renewalPolicy: 'retain' as const }
      const changed = changeItems(order, MIDDLE, { terms: { ...order.terms, items }, ...policy }).order
      const net = sumOf([credit, debit])
      expect(changed.invoices.slice(1).map(({ amount }) => amount)).toEqual(net === '0' ? [] : [net])
      expect(memoOf([cancelOrder(order, MIDDLE, { ...AT_ONCE, prorated: true })])).toBe(credit)
    },
  )

  const placed = (coupons: RedeemedCoupon[], price = '10') =>
    advanceBefore(
      placeOrder(
        terms({ pricing: { formula: 'flat-rate', price } }, { createdTime: at('2027-04-01'), coupons }),
      ).order,
      MIDDLE,
    ).order
  const withCoupons = (order: Order, coupons: RedeemedCoupon[]): Order => ({
    ...order,
    terms: { ...order.terms, coupons },
  })
  const changedTo = (order: Order, price: string, prorated = true, instant = MIDDLE): Order => {
    const items = order.terms.items.map((item) => ({
      ...item,
      plan: { ...item.plan, pricing: { formula: 'flat-rate' as const, price } },
    }))
    const policy = { prorated, renewalPolicy: 'retain' as const }
    return changeItems(order, instant, { terms: { ...order.terms, items }, ...policy }).order
  }
  const creditAtEnd = (order: Order, instant = MIDDLE) =>
    cancelOrder(order, instant, { ...AT_ONCE, prorated: true }).events.find(
      ({ type }) => type === 'subscription-churned',
    )?.credit ?? []

  test('is credited what it was billed when the redemption has been canceled since, or another one made', () => {
    const half = coupon({ type: 'percent', value: '50' })
    expect(subtotal(creditAtEnd(withCoupons(placed([half]), [])))).toBe('-2.5')
    expect(subtotal(creditAtEnd(withCoupons(placed([]), [half])))).toBe('-5')
    // What is new has no canceled discount; what stays keeps it.
    const changed = changedTo(withCoupons(placed([half]), []), '20')
    expect(changed.invoices[1]?.lines.map(({ amount }) => amount)).toEqual(['-2.5', '10'])
    const extra = { ...placed([half]).terms.items[0], id: 'extra' } as PricedItem
    const order = withCoupons(placed([half]), [])
    const more = changeItems(order, MIDDLE, {
      terms: { ...order.terms, items: [...order.terms.items, extra] },
      prorated: true,
      renewalPolicy: 'retain',
    }).order
    expect(more.invoices[1]?.lines.map(({ amount }) => amount)).toEqual(['5'])
    expect(subtotal(creditAtEnd(more))).toBe('-7.5')
  })

  test('is credited what the period was billed, whatever its items cost from the next invoice on', () => {
    expect(subtotal(creditAtEnd(changedTo(placed([]), '1000', false)))).toBe('-5')
    expect(subtotal(creditAtEnd(changedTo(placed([]), '1', false)))).toBe('-5')
  })

  test('whose change is voided is credited what was billed before it; whose period is, nothing', () => {
    const changed = changedTo(placed([]), '1000')
    expect(subtotal(creditAtEnd(changed))).toBe('-500')
    expect(subtotal(creditAtEnd(voidInvoice(changed, MIDDLE, 2).order))).toBe('-5')
    const cheaper = changedTo(placed([]), '4')
    expect(subtotal(cheaper.queue)).toBe('-3')
    const waived = voidInvoice(cheaper, MIDDLE, 1).order
    expect(waived.queue).toEqual([])
    expect(creditAtEnd(waived)).toEqual([])
  })

  test('keeps to what was billed when its boundary is moved', () => {
    const changed = changedTo(placed([]), '20')
    const moved = moveRenewal(changed, MIDDLE, at('2028-04-01'))?.order
    if (moved === undefined) throw new Error('the boundary moves')
    // Half a month of ten cost five, and the rest of it ten.
    expect(subtotal(creditAtEnd(moved))).toBe('-10')
  })

  test('that an earlier release changed is credited as before: of a change it kept only when that was', () => {
    const changed = changedTo(placed([]), '20')
    const billed = (changed.changedPeriod?.billed ?? []).map((one) => ({
      ...one,
      lines: one.lines.map(({ unused: _, ...kept }) => kept),
    }))
    const old = { ...changed, changedPeriod: { number: 1, billed, used: [], usedTime: 0 } }
    const moved = moveRenewal(old, MIDDLE, at('2027-05-16'))?.order
    if (moved === undefined) throw new Error('the boundary moves')
    // A third of the rest has passed, by its end of then and by that of now.
    expect(subtotal(creditAtEnd(old, at('2027-04-21')))).toBe('-6.67')
    expect(subtotal(creditAtEnd(moved, at('2027-04-26')))).toBe('-6.67')
    expect(subtotal(creditAtEnd(changed, at('2027-04-21')))).toBe('-6.67')
  })

  const fixed = (amount: string, restrictions: RedeemedCoupon['restrictions'] = []): RedeemedCoupon => ({
    ...coupon({ type: 'fixed', amount, currency: 'EUR' }),
    restrictions,
  })
  const half = (restrictions: RedeemedCoupon['restrictions'] = []): RedeemedCoupon => ({
    ...coupon({ type: 'percent', value: '50' }),
    restrictions,
  })
  const item = (id: string, price: string, setup: string | null = null): PricedItem => ({
    id,
    quantity: 1,
    plan: {
      ...MONTHLY,
      id: `plan of ${id}`,
      name: id,
      pricing: { formula: 'flat-rate', price },
      setup: setup === null ? null : { price: setup },
    },
  })
  const begun = (items: readonly PricedItem[], coupons: readonly RedeemedCoupon[], instant = MIDDLE) =>
    advanceBefore(placeOrder(terms({}, { createdTime: at('2027-04-01'), items, coupons })).order, instant + 1)
      .order
  const having = (order: Order, items: readonly PricedItem[], instant = MIDDLE): Order =>
    changeItems(order, instant, {
      terms: { ...order.terms, items },
      prorated: true,
      renewalPolicy: 'retain',
    }).order
  /** What changes after the first invoice have billed. */
  const change = ({ invoices, queue }: Order) =>
    sumOf([...invoices.slice(1).map(({ amount }) => amount), subtotal(queue)])
  const interim = ({ invoices }: Order) =>
    invoices.at(-1)?.lines.map(({ description, amount }) => [description, amount])

  test('by a fixed amount, has of it for the period what its first invoice left for that beside a setup', () => {
    const order = begun([item('A', '20', '30')], [fixed('10')])
    expect(order.invoices[0]?.lines.map(({ discount }) => discount)).toEqual(['6', '4'])
    const dearer = having(order, [item('A', '40', '30')])
    expect(interim(dearer)).toEqual([
      ['Unused time on A', '-8'],
      ['Remaining time on A', '18'],
    ])
    expect(change(having(dearer, [item('A', '20', '30')]))).toBe('0')
  })

  test('by a fixed amount and a share, has of each what its first invoice left for the period', () => {
    const share = { ...half(), couponId: 'half', redemptionId: 'half' }
    const order = begun([item('A', '20', '30')], [fixed('10'), share])
    // The shares are 15 and 10; of the fixed amount the setup has 6, and the period 4.
    expect(order.invoices[0]?.lines.map(({ discount }) => discount)).toEqual(['21', '14'])
    expect(change(having(order, [item('A', '40', '30')]))).toBe('5')
  })

  test('keeps the discount that its invoice has, whatever amount that would need now', () => {
    const minimum = half([{ type: 'minimum-order-amount', amount: '30', currency: 'EUR' }])
    const order = begun([item('A', '20', '15')], [minimum])
    expect(order.invoices[0]).toMatchObject({ amount: '17.5' })
    expect(interim(having(order, [item('A', '20', '15'), item('B', '5')]))).toEqual([
      ['Remaining time on B', '1.25'],
    ])
    const maximum = half([{ type: 'maximum-order-amount', amount: '35', currency: 'EUR' }])
    const small = begun([item('A', '20', '15')], [maximum])
    expect(interim(having(small, [item('A', '20', '15'), item('B', '50')]))).toEqual([
      ['Remaining time on B', '12.5'],
    ])
  })

  test('whose discount for payment by a time is lost after a change is credited what stays at its amount without it', () => {
    const early = half([{ type: 'paid-by-time', time: '2027-04-10T00:00:00Z' }])
    const unchanged = begun([item('A', '100')], [early], at('2027-04-06'))
    const changed = having(unchanged, [item('A', '100'), item('C', '0')], at('2027-04-06'))
    const credits = [unchanged, changed].map((order) => {
      const lost = advanceThrough(order, at('2027-04-12')).order
      expect(lost.invoices[0]).toMatchObject({ amount: '100', discounts: [] })
      return subtotal(creditAtEnd(payInvoice(lost, MIDDLE, 1).order))
    })
    expect(credits).toEqual(['-50', '-50'])
  })

  test('keeps the parts of a discount that a change has divided anew as the period begins', () => {
    const first = at('2027-04-01')
    const order = begun([item('A', '20')], [fixed('4')], first)
    const changed = having(order, [item('A', '20'), item('B', '20')], first)
    expect(change(changed)).toBe('20')
    expect(subtotal(creditAtEnd(changed, MIDDLE))).toBe('-18')
  })

  const cents = fc.integer({ min: 0, max: 5_000 }).map((amount) => (amount / 100).toString())
  const someItems = fc
    .array(fc.tuple(fc.constantFrom('A', 'B', 'C'), cents, fc.option(cents)), { minLength: 1, maxLength: 3 })
    .map((given) => {
      const ids = new Map(given.map((one) => [one[0], one]))
      return [...ids.values()].map(([id, price, setup]) => item(id, price, setup))
    })
  const someCoupons = fc
    .array(
      fc.record({
        discount: fc.oneof(
          fc.integer({ min: 1, max: 100 }).map((value) => ({ type: 'percent' as const, value: `${value}` })),
          cents.map((amount) => ({ type: 'fixed' as const, amount, currency: 'EUR' })),
        ),
        restrictions: fc.array(
          fc.oneof(
            fc
              .tuple(fc.constantFrom('minimum-order-amount' as const, 'maximum-order-amount' as const), cents)
              .map(([type, amount]) => ({ type, amount, currency: 'EUR' })),
            fc
              .tuple(fc.subarray(['plan of A', 'plan of B'], { minLength: 1 }), fc.constantFrom(1, 2))
              .map(([planIds, minimumQuantity]) => ({
                type: 'restrict-to-plans' as const,
                planIds,
                minimumQuantity,
              })),
          ),
          { maxLength: 1 },
        ),
      }),
      { maxLength: 3 },
    )
    .map((given) =>
      given.map(({ discount, restrictions }, index) => ({
        ...coupon(discount),
        couponId: `coupon ${index}`,
        redemptionId: `redemption ${index}`,
        restrictions,
      })),
    )
  const passed = fc.integer({ min: 0, max: 30 * 86_400 - 1 }).map((s) => at('2027-04-01') + s * SECOND)

  test('there and back at one instant comes to nothing, whatever is discounted beside the period', () => {
    fc.assert(
      fc.property(someItems, someItems, someCoupons, passed, (first, second, coupons, instant) => {
        const order = begun(first, coupons, instant)
        expect(change(having(order, first, instant))).toBe('0')
        expect(change(having(having(order, second, instant), first, instant))).toBe('0')
      }),
      { numRuns: 1_000 },
    )
  })

  test('by shares, is not billed anew for what stays', () => {
    const shares = fc.array(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: 2 })
    fc.assert(
      fc.property(someItems, cents, shares, passed, (first, price, percents, instant) => {
        const coupons = percents.map((value, index) => ({
          ...coupon({ type: 'percent', value: `${value}` }),
          couponId: `coupon ${index}`,
          redemptionId: `redemption ${index}`,
        }))
        const order = begun(first, coupons, instant)
        const more = having(order, [...first, item('D', price)], instant)
        const { queue, invoices } = more
        const lines = [...queue, ...invoices.slice(1).flatMap((one) => one.lines)]
        expect(lines.filter(({ itemId }) => itemId !== 'D')).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test('by a fixed amount, is reduced by that once in a period, however its items change', () => {
    const start = at('2027-04-01')
    fc.assert(
      fc.property(
        someItems,
        fc.array(someItems, { minLength: 1, maxLength: 4 }),
        cents,
        (first, changes, amount) => {
          const order = begun(first, [fixed(amount)], start)
          const last = changes.reduce((before, items) => having(before, items, start), order)
          const billed = new Money(order.invoices[0]?.amount ?? 0).plus(change(last))
          const whole = sumOf([
            ...first.map(({ plan }) => plan.setup?.price ?? '0'),
            ...last.terms.items.map(({ plan: { pricing } }) => ('price' in pricing ? pricing.price : '0')),
          ])
          expect(billed.greaterThanOrEqualTo(new Money(whole).minus(amount))).toBe(true)
          expect(billed.lessThanOrEqualTo(whole)).toBe(true)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('billed at its end, is discounted as a whole, by what is redeemed then', () => {
    const postpaid = terms(
      { pricing: { formula: 'flat-rate', price: '10' } },
      {
        createdTime: at('2027-04-01'),
        interval: { unit: 'month', length: 1, limit: null, billingTiming: 'postpaid' },
      },
    )
    const order = changedTo(advanceBefore(placeOrder(postpaid).order, MIDDLE).order, '100')
    const redeemed = withCoupons(order, [coupon({ type: 'fixed', amount: '7', currency: 'EUR' })])
    const ended = advanceThrough(redeemed, at('2027-05-01')).order
    expect(ended.invoices[1]).toMatchObject({ amount: '48', lines: [{ amount: '5' }, { amount: '50' }] })
    expect(ended.queue).toEqual([])
  })
})

const AT_ONCE = {
  churnTime: null,
  churnTimePolicy: null,
  canceledBy: 'merchant' as const,
  reason: null,
  description: null,
}

/** The sum of the credits, or the debits, that stand in the queue and on invoices that are not voided. */
function prorated({ queue, invoices }: Order, kind: 'credit' | 'debit'): Money {
  const standing = invoices.filter(({ status }) => status !== 'voided').flatMap(({ lines }) => lines)
  const amounts = [...queue, ...standing]
    .filter(({ type, amount }) => type === 'proration' && isCredit(amount) === (kind === 'credit'))
    .map(({ amount }) => amount)
  return new Money(sumOf(amounts))
}

/** A new period at once, whose invoice is voided soon, if it is not paid. */
const voidedResets: fc.Arbitrary<Command[]> = fc
  .record({
    hour: fc.integer({ min: 0, max: 300 * 24 }),
    price: fc.integer({ min: 1, max: 50 }),
    later: fc.integer({ min: 0, max: 48 }),
  })
  .map(({ hour, price, later }) => [
    { at: START + hour * 3_600_000, act: (order, now) => resetTo(order, now, String(price)) },
    {
      at: START + (hour + later) * 3_600_000,
      act: (order, now) => voidInvoice(order, now, order.nextInvoice - 1),
    },
  ])

function resetTo(order: Order, now: number, price: string): Transition {
  const items = order.terms.items.map((item) => ({
    ...item,
    plan: { ...item.plan, pricing: { formula: 'flat-rate' as const, price } },
  }))
  const policy = { prorated: true, renewalPolicy: 'reset' as const }
  return changeItems(order, now, { terms: { ...order.terms, items }, ...policy })
}

describe('whatever happens to an order', () => {
  test('what is queued is used once: only changes and prorated ends of service add to it, and a waived period takes its own along', () => {
    fc.assert(
      fc.property(anyTerms, anyCommands, voidedResets, (agreed, commands, resets) => {
        const { transitions } = live(
          agreed,
          [...commands, ...resets].toSorted((one, other) => one.at - other.at),
        )
        let before = '0'
        let taken = '0'
        let queue: Order['queue'] = []
        const returned = new Set<number>()
        for (const { order, events } of transitions) {
          for (const { sequence, periodNumber } of order.invoices) {
            const isAbandoned = events.some(
              (one) => one.type === 'invoice-abandoned' && one.invoice === sequence,
            )
            if (isAbandoned && (periodNumber ?? 0) > (order.rebillNumber ?? 0)) returned.add(sequence)
          }
          const takenNow = sumOf(order.invoices.map(({ creditTakenBack }) => creditTakenBack))
          const isTaken = takenNow !== taken
          taken = takenNow
          const mayAdd = events.some(
            ({ type }) => type === 'subscription-items-changed' || type === 'credit-memo-created',
          )
          const value = queuedValue(order, returned)
          const isWaived = events.some(
            ({ type, invoice }) =>
              (type === 'invoice-voided' || type === 'invoice-abandoned') &&
              order.invoices.find(({ sequence }) => sequence === invoice)?.periodNumber ===
                order.rebillNumber,
          )
          const { periodStart } = order
          // What the invoice of a period that is waived has from the queue was queued before, and returns to it.
          const ofPeriod = queue.filter(
            (line) => line.type === 'proration' && (line.periodStart ?? 0) >= (periodStart ?? 0),
          )
          const kept = new Money(before).minus(isWaived ? subtotal(ofPeriod) : 0).toFixed()
          if (!mayAdd && !isTaken) expect(value).toBe(kept)
          before = value
          queue = order.queue
        }
      }),
      RUNS,
    )
  })

  test('what is credited of a period never exceeds what was billed for it', () => {
    fc.assert(
      fc.property(anyTerms, anyCommands, (agreed, commands) => {
        const { order: last, transitions } = live(agreed, commands)
        const [credited, billed] = [new Map<number, Money>(), new Map<number, Money>()]
        const add = (sums: Map<number, Money>, period: number, amount: Money | string) =>
          void sums.set(period, new Money(amount).plus(sums.get(period) ?? 0))
        transitions.forEach(({ order, events }, index) => {
          const before = transitions[index - 1]?.order
          const period = before?.rebillNumber ?? null
          if (before === undefined || period === null) return
          if (events.some(({ type }) => type === 'subscription-items-changed')) {
            add(credited, period, prorated(before, 'credit').minus(prorated(order, 'credit')))
            add(billed, period, prorated(order, 'debit').minus(prorated(before, 'debit')))
          }
          const ended = events.find(({ type }) => type === 'subscription-churned')?.credit ?? []
          add(credited, period, new Money(subtotal(ended)).negated())
        })
        for (const { periodNumber, lines } of last.invoices) {
          const ofPeriod = lines.filter(({ type }) => type === 'plan' || type === 'trial')
          if (periodNumber !== null) add(billed, periodNumber, sumOf(ofPeriod.map(netAmount)))
        }
        for (const [period, amount] of credited) {
          expect(amount.lessThanOrEqualTo(billed.get(period) ?? 0)).toBe(true)
        }
      }),
      RUNS,
    )
  })

  test('no invoice falls below zero, and a credit stays queued only beside one of zero', () => {
    fc.assert(
      fc.property(anyTerms, anyCommands, (agreed, commands) => {
        for (const { order, events } of live(agreed, commands).transitions) {
          for (const { amount, lines } of order.invoices) {
            expect(new Money(amount).isNegative() && !new Money(amount).isZero()).toBe(false)
            const net = lines.map(({ amount: gross, discount = '0' }) =>
              new Money(gross).minus(discount).toFixed(),
            )
            expect(amount).toBe(sumOf(net))
          }
          const issued = events.find(({ type }) => type === 'renewal-invoice-issued')?.invoice
          const renewal = order.invoices.find(({ sequence }) => sequence === issued)
          const credit = order.queue.some(({ amount }) => new Money(amount).isNegative())
          if (renewal !== undefined && credit) expect(renewal.amount).toBe('0')
        }
      }),
      RUNS,
    )
  })
})

import { describe, expect, test } from '@jest/globals'
import type { RedeemedCoupon } from '../../billing/coupons.ts'
import { isOpen } from '../../billing/invoices.ts'
import { changeItems } from '../../billing/item-changes.ts'
import { Money, sumOf } from '../../billing/money.ts'
import { type Order, placeOrder } from '../../billing/order.ts'
import { changeTerms, voidInvoice } from '../../billing/order-commands.ts'
import { advanceThrough, upcomingInvoice } from '../../billing/order-lifecycle.ts'
import { declineCharge, payInvoice } from '../../billing/order-payments.ts'
import type { OrderTerms } from '../../billing/order-terms.ts'
import { monthlyRecurringRevenue } from '../../billing/recurring-revenue.ts'
import fc from '../support/fast-check.ts'
import { type Answer, ChargedOrder } from './charged-order.ts'
import { anyCommands, anyTerms, at, day, live, MONTHLY, terms } from './orders.ts'

const redeemed = (members: Partial<RedeemedCoupon> = {}): RedeemedCoupon => ({
  couponId: 'half',
  redemptionId: 'redemption',
  description: 'Half off',
  discount: { type: 'percent', value: '50' },
  restrictions: [],
  expiredTime: null,
  discountsBefore: 0,
  ...members,
})
const placed = (coupons: RedeemedCoupon[], members: Partial<OrderTerms> = {}): Order =>
  placeOrder(terms({}, { coupons, ...members })).order
const through = (order: Order, text: string): Order => advanceThrough(order, at(text)).order
const amounts = ({ invoices }: Order) => invoices.map(({ amount }) => amount)

describe('a coupon', () => {
  test('discounts the initial invoice and every renewal, but not shipping', () => {
    const order = through(placed([redeemed()], { shipping: '3' }), '2027-04-01')
    expect(amounts(order)).toEqual(['7.95', '7.95', '7.95'])
    expect(order.invoices[2]?.discounts).toEqual([
      { couponId: 'half', redemptionId: 'redemption', description: 'Half off', amount: '4.95' },
    ])
  })

  test('that expires at the instant of an invoice does not apply to it', () => {
    // The order begins on 31 January; its second renewal is on 31 March.
    const until = (expiredTime: number) => amounts(through(placed([redeemed({ expiredTime })]), '2027-04-01'))
    expect(until(at('2027-03-31'))).toEqual(['4.95', '4.95', '9.9'])
    expect(until(at('2027-03-31') + 1)).toEqual(['4.95', '4.95', '4.95'])
  })

  test('that expires before the start of an order does not discount its draft', () => {
    const startTime = at('2027-03-01')
    const order = placed([redeemed({ expiredTime: at('2027-02-20') })], { startTime })
    expect(amounts(order)).toEqual(['9.9'])
    const sooner = changeTerms(order, at('2027-02-01'), { ...order.terms, startTime: at('2027-02-10') })
    expect(amounts(sooner.order)).toEqual(['4.95'])
    expect(sooner.events).toContainEqual({ type: 'invoice-reissued', invoice: 1 })
  })

  test('that is changed while the invoice is a draft holds as it is when that is issued', () => {
    const order = placed([], { startTime: at('2027-02-10') })
    expect(amounts(order)).toEqual(['9.9'])
    const known = { ...order, terms: { ...order.terms, coupons: [redeemed()] } }
    expect(amounts(through(known, '2027-02-10'))).toEqual(['4.95'])
  })

  test('of limited discounts counts invoices, and one that is voided gives its discount back', () => {
    const twice = redeemed({ restrictions: [{ type: 'discounts-per-redemption', quantity: 2 }] })
    const order = through(placed([twice]), '2027-03-01')
    expect(amounts(order)).toEqual(['4.95', '4.95'])
    expect(upcomingInvoice(order)?.amount).toBe('9.9')
    expect(amounts(through(order, '2027-04-30'))).toEqual(['4.95', '4.95', '9.9', '9.9'])
    const voided = voidInvoice(order, at('2027-03-02'), 2).order
    expect(amounts(through(voided, '2027-04-30'))).toEqual(['4.95', '4.95', '4.95', '9.9'])
    // Of invoices that are no longer in memory the count is known.
    const known = placed([{ ...twice, discountsBefore: 1 }])
    expect(amounts(through(known, '2027-03-01'))).toEqual(['4.95', '9.9'])
  })

  test('in another currency, below a minimum or for other plans does not apply', () => {
    const refused: Partial<RedeemedCoupon>[] = [
      { discount: { type: 'fixed', amount: '1', currency: 'USD' } },
      { restrictions: [{ type: 'minimum-order-amount', amount: '9.91', currency: 'EUR' }] },
      { restrictions: [{ type: 'minimum-order-amount', amount: '1', currency: 'USD' }] },
      { restrictions: [{ type: 'maximum-order-amount', amount: '9.89', currency: 'EUR' }] },
      { restrictions: [{ type: 'restrict-to-plans', planIds: ['other'] }] },
      { restrictions: [{ type: 'restrict-to-plans', planIds: ['monthly'], minimumQuantity: 2 }] },
      { restrictions: [{ type: 'restrict-to-products', productIds: ['other'] }] },
    ]
    for (const members of refused) expect(amounts(placed([redeemed(members)]))).toEqual(['9.9'])
  })

  test('for some plans discounts the lines of these alone', () => {
    const other = { ...MONTHLY, id: 'other', pricing: { formula: 'fixed-fee' as const, price: '100' } }
    const items = [
      { id: 'one', quantity: 1, plan: MONTHLY },
      { id: 'two', quantity: 1, plan: other },
    ]
    const ofOther = redeemed({ restrictions: [{ type: 'restrict-to-plans', planIds: ['other'] }] })
    const [invoice] = placed([ofOther], { items }).invoices
    expect(invoice?.lines.map(({ discount }) => discount)).toEqual([undefined, '50'])
    expect(invoice?.amount).toBe('59.9')
  })

  test('counts once, however often it is redeemed; an exclusive one gives way to others', () => {
    const again = redeemed({ redemptionId: 'another' })
    expect(amounts(placed([redeemed(), again]))).toEqual(['4.95'])
    const exclusive = redeemed({
      couponId: 'alone',
      restrictions: [{ type: 'restrict-to-exclusive-application' }],
    })
    expect(placed([exclusive, redeemed()]).invoices[0]?.discounts.map(({ couponId }) => couponId)).toEqual([
      'half',
    ])
    expect(amounts(placed([exclusive]))).toEqual(['4.95'])
  })

  test('makes an invoice free, which is then paid when it is issued', () => {
    const order = through(placed([redeemed({ discount: { type: 'percent', value: '100' } })]), '2027-03-01')
    expect(order.invoices.map(({ status, amount }) => [status, amount])).toEqual([
      ['paid', '0'],
      ['paid', '0'],
    ])
  })

  test('that an active order gets applies from the next invoice on, and leaves the recurring revenue', () => {
    const order = through(placed([]), '2027-02-01')
    const changed = changeItems(order, at('2027-02-01'), {
      terms: { ...order.terms, coupons: [redeemed()] },
      prorated: false,
      renewalPolicy: 'retain',
    }).order
    expect(monthlyRecurringRevenue(changed)).toBe(monthlyRecurringRevenue(order))
    const renewed = through(changed, '2027-03-01')
    expect(amounts(renewed)).toEqual(['9.9', '4.95'])
    expect(day(renewed.invoices[1]?.issuedTime ?? null)).toBe('2027-02-28')
  })

  const items = (...quantities: readonly (readonly [string, number, string])[]) =>
    quantities.map(([id, quantity, price]) => ({
      id: `item of ${id}`,
      quantity,
      plan: {
        ...MONTHLY,
        id,
        pricing: { formula: id === 'flat' ? ('fixed-fee' as const) : ('flat-rate' as const), price },
      },
    }))
  const buyTwoGetOne = (planId: string, percent = '100') =>
    redeemed({
      discount: { type: 'percent', value: percent },
      restrictions: [
        {
          type: 'restrict-to-bxgy',
          buy: [{ planId: 'seat', quantity: 2 }],
          get: [{ planId, quantity: 1 }],
        },
      ],
    })

  test.each<[string, ReturnType<typeof items>, RedeemedCoupon, string]>([
    ['of another plan', items(['seat', 2, '10'], ['desk', 3, '7']), buyTwoGetOne('desk'), '34'],
    [
      'of another plan, for half of its price',
      items(['seat', 2, '10'], ['desk', 1, '7']),
      buyTwoGetOne('desk', '50'),
      '23.5',
    ],
    ['of the same plan, beyond those that are bought', items(['seat', 5, '10']), buyTwoGetOne('seat'), '40'],
    ['of the same plan, which is one too few', items(['seat', 2, '10']), buyTwoGetOne('seat'), '20'],
    [
      'of a plan with one price for all',
      items(['seat', 2, '10'], ['flat', 4, '20']),
      buyTwoGetOne('flat'),
      '35',
    ],
    ['without what has to be bought', items(['seat', 1, '10'], ['desk', 1, '7']), buyTwoGetOne('desk'), '17'],
  ])('for buying some discounts units %s', (_, given, coupon, amount) => {
    expect(amounts(placed([coupon], { items: given }))).toEqual([amount])
  })

  test('for some invoices discounts these alone', () => {
    const order = through(placed([redeemed({ invoices: [2] })]), '2027-04-01')
    expect(amounts(order)).toEqual(['9.9', '4.95', '9.9'])
  })

  describe('to be paid by a time', () => {
    const byMarch = (members: Partial<RedeemedCoupon> = {}) =>
      redeemed({ restrictions: [{ type: 'paid-by-time', time: '2027-03-10T00:00:00Z' }], ...members })

    test('discounts no invoice made from then on, and is taken back where one is open by then', () => {
      const order = through(placed([byMarch()]), '2027-03-09')
      expect(amounts(order)).toEqual(['4.95', '4.95'])
      const paid = payInvoice(order, at('2027-03-09'), 1).order
      const { order: later, transitions } = advanceThrough(paid, at('2027-04-01'))
      expect(amounts(later)).toEqual(['4.95', '9.9', '9.9'])
      expect(later.invoices[1]).toMatchObject({ discounts: [], lines: [{ amount: '9.9' }] })
      expect(later.invoices[1]?.lines[0]?.discount).toBeUndefined()
      const [ended] = transitions
      expect(ended).toMatchObject({
        at: at('2027-03-10'),
        cause: 'deadline',
        events: [{ type: 'invoice-modified', invoice: 2 }],
      })
    })

    test('leaves other discounts as they are, line by line', () => {
      const order = through(
        placed([
          byMarch({ couponId: 'early', redemptionId: 'early' }),
          redeemed({ discount: { type: 'fixed', amount: '1', currency: 'EUR' } }),
        ]),
        '2027-02-01',
      )
      expect(amounts(order)).toEqual(['3.95'])
      const later = through(order, '2027-03-10')
      expect(later.invoices[0]).toMatchObject({
        amount: '8.9',
        discounts: [{ couponId: 'half', amount: '1' }],
        lines: [{ discount: '1' }],
      })
    })

    test('and taken back, does not come back when the invoice is drawn up again', () => {
      const fixed = byMarch({ discount: { type: 'fixed', amount: '20', currency: 'EUR' } })
      const priced = (price: string) => items(['seat', 1, price])
      const order = placed([fixed], { items: priced('30'), canCharge: true })
      const declined = declineCharge(through(order, '2027-01-31'), at('2027-01-31'), 1).order
      expect(amounts(declined)).toEqual(['10'])
      const open = through(declined, '2027-03-10')
      expect(open).toMatchObject({ status: 'pending', invoices: [{ amount: '30', discounts: [] }] })
      const now = at('2027-03-12')
      const same = changeTerms(open, now, { ...open.terms, abandonTime: at('2027-06-01') })
      expect(same.order.invoices).toEqual(open.invoices)
      const changed = changeTerms(open, now, { ...open.terms, items: priced('20') }).order
      expect(changed.invoices).toMatchObject([{ amount: '20', discounts: [], status: 'past-due' }])
    })
  })

  test('to be paid by a time reduces nothing that a pending order owes after it, however its terms are changed', () => {
    const START = at('2027-01-31')
    const DAY = 86_400_000
    const days = fc.integer({ min: 0, max: 40 })
    const coupon = (paidIn: number, discount: RedeemedCoupon['discount']) => {
      const time = new Date(START + paidIn * DAY).toISOString()
      return redeemed({ discount, restrictions: [{ type: 'paid-by-time', time }] })
    }
    const discounts = fc.constantFrom<RedeemedCoupon['discount']>(
      { type: 'percent', value: '30' },
      { type: 'fixed', amount: '20', currency: 'EUR' },
    )
    const moves = fc.array(fc.tuple(days, fc.integer({ min: 0, max: 40 }), days), { maxLength: 6 })
    fc.assert(
      fc.property(days, discounts, moves, (paidIn, discount, given) => {
        const priced = (price: number) => items(['seat', 1, String(price)])
        const agreed = terms({}, { coupons: [coupon(paidIn, discount)], items: priced(30) })
        const order = new ChargedOrder(agreed, Array<Answer>(20).fill('declined')).live(START)
        for (const [when, price, ahead] of given.toSorted(([one], [other]) => one - other)) {
          const now = START + when * DAY
          const startTime = START + ahead * DAY
          order.live(now - 1).command({
            at: now,
            act: (before) => changeTerms(before, now, { ...before.terms, items: priced(price), startTime }),
          })
        }
        for (const one of order.live(START + 60 * DAY).transitions) {
          for (const { discounts: made } of one.order.invoices.filter(isOpen)) {
            expect(made.filter(({ paidBy = one.at }) => paidBy < one.at)).toEqual([])
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  test('never costs more than without it, and never below nothing, whatever happens to the order', () => {
    fc.assert(
      fc.property(anyTerms, anyCommands, (agreed, commands) => {
        const { transitions } = live(agreed, commands)
        for (const { order } of transitions) {
          for (const { amount, lines, discounts, issuedTime } of order.invoices) {
            const before = sumOf(lines.map((line) => line.amount))
            expect(new Money(amount).isNegative()).toBe(false)
            expect(new Money(amount).lessThanOrEqualTo(before)).toBe(true)
            expect(discounts.length > 0 || amount === before).toBe(true)
            expect(
              issuedTime === null || discounts.every((one) => new Money(one.amount).greaterThan(0)),
            ).toBe(true)
          }
        }
      }),
      { numRuns: 50 },
    )
  })
})

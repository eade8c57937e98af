import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { RedeemedCoupon } from '../../billing/coupons.ts'
import { changeItems } from '../../billing/item-changes.ts'
import { Money, sumOf } from '../../billing/money.ts'
import { type Order, placeOrder } from '../../billing/order.ts'
import { changeTerms, voidInvoice } from '../../billing/order-commands.ts'
import { advanceThrough, upcomingInvoice } from '../../billing/order-lifecycle.ts'
import type { OrderTerms } from '../../billing/order-terms.ts'
import { monthlyRecurringRevenue } from '../../billing/recurring-revenue.ts'
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

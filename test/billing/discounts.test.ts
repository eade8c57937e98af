import { describe, expect, test } from '@jest/globals'
import { type Discount, netAmount, type PriceableLine, priced } from '../../billing/discounts.ts'
import { currencyExponent, Money, sumOf } from '../../billing/money.ts'
import fc from '../support/fast-check.ts'

const line = (amount: string, members: Partial<PriceableLine> = {}): PriceableLine => ({
  type: 'plan',
  planId: 'plan',
  productId: null,
  amount,
  ...members,
})
const SHIPPING = line('5', { type: 'shipping', planId: null })
const discount = (id: string, value: Discount['value'], members: Partial<Discount> = {}): Discount => ({
  couponId: id,
  redemptionId: `redemption of ${id}`,
  description: id,
  value,
  planIds: null,
  productIds: null,
  ...members,
})
const percent = (id: string, share: string, members?: Partial<Discount>) =>
  discount(id, { type: 'percent', percent: share }, members)
const fixed = (id: string, amount: string, members?: Partial<Discount>) =>
  discount(id, { type: 'fixed', amount }, members)
const amounts = ({ discounts }: ReturnType<typeof priced>) =>
  discounts.map(({ couponId, amount }) => [couponId, amount])

describe('the price of an invoice', () => {
  test('is the sum of its lines without discounts', () => {
    expect(priced([line('9.9'), SHIPPING], [], 'EUR')).toEqual({
      lines: [line('9.9'), SHIPPING],
      discounts: [],
      amount: '14.9',
    })
  })

  test('takes percentages first, then fixed amounts, each in the given order of what is left', () => {
    const price = priced([line('100')], [fixed('a', '10'), percent('b', '10'), percent('c', '50')], 'EUR')
    expect(amounts(price)).toEqual([
      ['b', '10'],
      ['c', '45'],
      ['a', '10'],
    ])
    expect(price.amount).toBe('35')
  })

  test('splits a discount to the cent, the left over cents to the largest fractions', () => {
    const price = priced([line('10'), line('10'), line('10')], [fixed('a', '10')], 'EUR')
    expect(price.lines.map((one) => one.discount)).toEqual(['3.34', '3.33', '3.33'])
    expect(price.amount).toBe('20')
    const yen = priced([line('100'), line('101')], [percent('a', '33')], 'JPY')
    expect(yen.lines.map((one) => one.discount)).toEqual(['33', '33'])
    expect(amounts(yen)).toEqual([['a', '66']])
  })

  test('never reduces shipping, and is never below zero', () => {
    const price = priced([line('3'), SHIPPING], [fixed('a', '100'), fixed('b', '1')], 'EUR')
    expect(price.amount).toBe('5')
    expect(amounts(price)).toEqual([['a', '3']])
    expect(price.lines[1]).toEqual(SHIPPING)
  })

  test('is reduced only in the lines of the plans and products of a discount', () => {
    const lines = [line('10', { planId: 'a' }), line('10', { planId: 'b', productId: 'p' }), SHIPPING]
    const ofPlan = priced(lines, [percent('a', '50', { planIds: ['a'] })], 'EUR')
    expect(ofPlan.lines.map((one) => one.discount)).toEqual(['5', undefined, undefined])
    const ofProduct = priced(lines, [fixed('a', '15', { productIds: ['p'] })], 'EUR')
    expect(ofProduct.lines.map((one) => one.discount)).toEqual([undefined, '10', undefined])
  })
})

describe('of any lines and discounts', () => {
  const currency = fc.constantFrom('EUR', 'JPY', 'KWD')
  const anyPrice = currency.chain((code) => {
    const units = fc
      .integer({ min: 0, max: 5_000_000 })
      .map((count) => new Money(count).times(new Money(10).pow(-(currencyExponent(code) ?? 2))).toFixed())
    const planId = fc.constantFrom('a', 'b', 'c')
    return fc.record({
      currency: fc.constant(code),
      lines: fc.array(
        fc
          .record({ type: fc.constantFrom('plan', 'setup', 'shipping'), planId, amount: units })
          .map(({ amount, ...members }) => line(amount, members)),
        { maxLength: 12 },
      ),
      discounts: fc.array(
        fc
          .record({
            value: fc.oneof(
              units.map((amount): Discount['value'] => ({ type: 'fixed', amount })),
              fc.integer({ min: 1, max: 10_000 }).map((hundredths): Discount['value'] => ({
                type: 'percent',
                percent: new Money(hundredths).div(100).toFixed(),
              })),
            ),
            planIds: fc.option(fc.uniqueArray(planId), { freq: 3 }),
          })
          .map(({ value, planIds }) => discount('any', value, { planIds })),
        { maxLength: 5 },
      ),
    })
  })

  test('parts sum to the whole, in whole units of the currency, and no line is below zero', () => {
    fc.assert(
      fc.property(anyPrice, ({ lines, discounts, currency: code }) => {
        const price = priced(lines, discounts, code)
        const taken = sumOf(price.discounts.map(({ amount }) => amount))
        expect(sumOf(price.lines.map((one) => one.discount ?? '0'))).toBe(taken)
        expect(price.amount).toBe(new Money(sumOf(lines.map(({ amount }) => amount))).minus(taken).toFixed())
        for (const one of price.lines) {
          const part = new Money(one.discount ?? 0)
          expect(part.decimalPlaces()).toBeLessThanOrEqual(currencyExponent(code) ?? 0)
          expect(part.isNegative()).toBe(false)
          expect(new Money(netAmount(one)).isNegative()).toBe(false)
          if (one.type === 'shipping') expect(one.discount).toBeUndefined()
        }
        for (const { amount } of price.discounts) expect(new Money(amount).greaterThan(0)).toBe(true)
      }),
    )
  })

  test('pricing priced lines again changes nothing', () => {
    fc.assert(
      fc.property(anyPrice, ({ lines, discounts, currency: code }) => {
        const once = priced(lines, discounts, code)
        expect(priced(once.lines, discounts, code)).toEqual(once)
        expect(priced(once.lines, [], code)).toEqual(priced(lines, [], code))
      }),
    )
  })

  test('it makes no difference where fixed amounts stand among percentages', () => {
    fc.assert(
      fc.property(anyPrice, ({ lines, discounts, currency: code }) => {
        const ofType = (type: string) => discounts.filter(({ value }) => value.type === type)
        const sorted = [...ofType('fixed'), ...ofType('percent')]
        expect(priced(lines, sorted, code)).toEqual(priced(lines, discounts, code))
      }),
    )
  })
})

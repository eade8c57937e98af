import { describe, expect, test } from '@jest/globals'
import { placeOrder } from '../../billing/order.ts'
import { advanceThrough } from '../../billing/order-lifecycle.ts'
import type { PricedPlan } from '../../billing/order-terms.ts'
import { pauseOrder } from '../../billing/pauses.ts'
import { monthlyRecurringRevenue } from '../../billing/recurring-revenue.ts'
import { at, MONTHLY, terms } from './orders.ts'

const begun = (plan: Partial<PricedPlan>, items: Parameters<typeof terms>[1] = {}, day = '2027-02-01') =>
  advanceThrough(placeOrder(terms(plan, items)).order, at(day)).order

describe('the monthly recurring revenue', () => {
  test.each([
    ['day', 1, '10', '304.17'],
    ['day', 30, '10', '10.14'],
    ['week', 1, '10', '43.45'],
    ['week', 4, '10', '10.86'],
    ['month', 1, '10', '10'],
    ['month', 3, '10', '3.33'],
    ['month', 6, '10.05', '1.68'],
    ['year', 1, '100', '8.33'],
    ['year', 2, '99999999999.99', '4166666666.67'],
  ] as const)('of a price per %s, %i of them, of %s is %s', (unit, length, price, expected) => {
    const order = begun({
      recurringInterval: { unit, length, limit: null },
      pricing: { formula: 'flat-rate', price },
    })
    expect(monthlyRecurringRevenue(order)).toBe(expected)
  })

  test('is rounded once, and to the decimals of the currency', () => {
    const plan = { ...MONTHLY, currency: 'JPY', pricing: { formula: 'flat-rate' as const, price: '100' } }
    const yearly = { ...plan, recurringInterval: { unit: 'year' as const, length: 1, limit: null } }
    const items = ['a', 'b', 'c'].map((id) => ({ id, quantity: 1, plan: yearly }))
    const agreed = terms(yearly, { currency: 'JPY', items })
    const order = advanceThrough(placeOrder(agreed).order, at('2027-02-01')).order
    expect(monthlyRecurringRevenue(order)).toBe('25')
  })

  test('leaves out setup, shipping, one-time sales, plans for a trial alone and excluded items', () => {
    const trial = { price: '1', period: { unit: 'week' as const, length: 1 } }
    const recurring = { ...MONTHLY, setup: { price: '50' }, trial }
    const sale = { ...MONTHLY, id: 'sale', recurringInterval: null }
    const order = begun(
      { trial },
      {
        shipping: '3',
        items: [
          { id: 'one', quantity: 2, plan: recurring },
          { id: 'two', quantity: 1, plan: sale },
          { id: 'three', quantity: 7, plan: recurring, excludeFromMrr: true },
          { id: 'four', quantity: 1, plan: { ...recurring, recurringInterval: null } },
          { id: 'five', quantity: 1, plan: { ...recurring, isTrialOnly: true } },
        ],
      },
      '2027-02-08',
    )
    expect(monthlyRecurringRevenue(order)).toBe('19.8')
  })

  test('is nothing before the start, in a trial, while paused and without recurring plans', () => {
    expect(monthlyRecurringRevenue(placeOrder(terms()).order)).toBe('0')
    const trial = { price: '1', period: { unit: 'week' as const, length: 1 } }
    expect(monthlyRecurringRevenue(begun({ trial }))).toBe('0')
    expect(monthlyRecurringRevenue(begun({ trial }, {}, '2027-02-08'))).toBe('9.9')
    const paused = pauseOrder(begun({}), at('2027-02-02'), { id: 'p', effectiveTime: null, endTime: null })
    expect(monthlyRecurringRevenue(paused.order)).toBe('0')
    expect(monthlyRecurringRevenue(begun({ recurringInterval: null }))).toBe('0')
  })
})

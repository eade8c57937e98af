import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type OrderState, settleOrder } from '../../billing/order-lifecycle.ts'

const instant = fc.integer({ min: 0, max: 1_000 })
const orders: fc.Arbitrary<OrderState> = fc.record({
  status: fc.constant('pending' as const),
  createdTime: instant,
  startTime: instant,
  abandonTime: fc.option(instant),
  activationTime: fc.constant(null),
})

describe('settling an order', () => {
  test('a start wins over an abandonment at the same instant; an earlier abandonment wins over the start', () => {
    const order: OrderState = {
      status: 'pending',
      createdTime: 0,
      startTime: 10,
      abandonTime: 10,
      activationTime: null,
    }
    expect(settleOrder(order, 10).state).toMatchObject({ status: 'active', activationTime: 10 })
    expect(settleOrder({ ...order, abandonTime: 9 }, 10).state).toMatchObject({
      status: 'abandoned',
      activationTime: null,
    })
  })

  test('in pieces, at any instants, gives what settling once gives', () => {
    fc.assert(
      fc.property(orders, fc.array(instant, { maxLength: 10 }), (order, pieces) => {
        const whole = settleOrder(order, 2_000)
        let state = order
        const transitions = []
        for (const piece of [...pieces.sort((a, b) => a - b), 2_000]) {
          const settled = settleOrder(state, piece)
          state = settled.state
          transitions.push(...settled.transitions)
        }
        expect({ state, transitions }).toEqual({ state: whole.state, transitions: [...whole.transitions] })
      }),
      { numRuns: 2_000 },
    )
  })

  test('says exactly when to look again: nothing is due a millisecond before', () => {
    fc.assert(
      fc.property(orders, instant, (order, now) => {
        const { state, next } = settleOrder(order, now)
        if (next === null)
          return void expect(settleOrder(state, Number.MAX_SAFE_INTEGER).transitions).toEqual([])
        expect(next).toBeGreaterThan(now)
        expect(settleOrder(state, next - 1).transitions).toEqual([])
        expect(settleOrder(state, next).transitions).not.toEqual([])
      }),
      { numRuns: 2_000 },
    )
  })
})

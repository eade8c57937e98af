import { expect, test } from '@jest/globals'
import { placeOrder } from '../../billing/order.ts'
import { advanceBefore, advanceThrough } from '../../billing/order-lifecycle.ts'
import { payInvoice } from '../../billing/order-payments.ts'
import { pauseOrder } from '../../billing/pauses.ts'
import { at, terms } from '../billing/orders.ts'

test('a one-time sale that is paid during a pause completes when the pause has ended, not before', () => {
  const placed = advanceThrough(placeOrder(terms({ recurringInterval: null })).order, at('2027-02-01')).order
  const pause = { id: 'pause', effectiveTime: at('2027-02-10'), endTime: at('2027-03-10') }
  const planned = pauseOrder(placed, at('2027-02-05'), pause).order
  const paid = payInvoice(advanceBefore(planned, at('2027-02-20')).order, at('2027-02-20'), 1).order
  expect(paid.status).toBe('paused')
  const { order, transitions } = advanceThrough(paid, at('2027-04-01'))
  expect(order.status).toBe('completed')
  expect(transitions.map((step) => step.at)).toEqual([at('2027-03-10'), at('2027-03-10')])
})

import { describe, expect, test } from '@jest/globals'
import { EARLIEST_INSTANT, isInRange, LATEST_INSTANT, orNever, parseInstant } from '../../billing/instants.ts'
import type { Order } from '../../billing/order.ts'
import fc from '../support/fast-check.ts'
import { anyCommands, anyTerms, END, live } from './orders.ts'

describe('the range', () => {
  test('is that of the years 1970 to 9999', () => {
    expect(new Date(EARLIEST_INSTANT).toISOString()).toBe('1970-01-01T00:00:00.000Z')
    expect(new Date(LATEST_INSTANT).toISOString()).toBe('9999-12-31T23:59:59.999Z')
    expect([-1, 0, LATEST_INSTANT, LATEST_INSTANT + 1].map(isInRange)).toEqual([false, true, true, false])
    expect([LATEST_INSTANT, LATEST_INSTANT + 1].map(orNever)).toEqual([LATEST_INSTANT, null])
  })

  test('is read back from what JavaScript writes, to the millisecond', () => {
    fc.assert(
      fc.property(fc.integer({ min: EARLIEST_INSTANT, max: LATEST_INSTANT }), (instant) => {
        expect(parseInstant(new Date(instant).toISOString())).toBe(instant)
      }),
    )
  })
})

test('no order has an instant after the range, whatever happens to it in its last year', () => {
  const shift = LATEST_INSTANT - END
  fc.assert(
    fc.property(anyTerms, anyCommands, fc.integer({ min: 0, max: 500 }), (agreed, commands, days) => {
      const later = shift + days * 86_400_000
      const terms = {
        ...agreed,
        createdTime: agreed.createdTime + later,
        startTime: agreed.startTime + later,
        abandonTime: agreed.abandonTime === null ? null : agreed.abandonTime + later,
      }
      fc.pre([terms.createdTime, terms.startTime, terms.abandonTime ?? 0].every(isInRange))
      const inTime = commands
        .map((one) => ({ ...one, at: one.at + later }))
        .filter((one) => isInRange(one.at))
      const { transitions } = live(terms, inTime, [LATEST_INSTANT])
      // What a caller names is refused earlier.
      const named = transitions.flatMap(({ order }) => [
        order.terms.startTime,
        order.churnTime ?? 0,
        ...order.pauses.flatMap(({ effectiveTime, endTime }) => [effectiveTime, endTime ?? 0]),
      ])
      fc.pre(named.every(isInRange))
      for (const { order } of transitions)
        expect(instantsOf(order).filter((one) => !isInRange(one))).toEqual([])
    }),
    { numRuns: 2_000 },
  )
})

function instantsOf({ activationTime, anchor, periodStart, periodEnd, invoices }: Order): number[] {
  return [
    ...[activationTime, anchor, periodStart, periodEnd],
    ...invoices.flatMap((invoice) => [
      ...[invoice.periodStart, invoice.periodEnd, invoice.issuedTime, invoice.dueTime],
      ...[invoice.delinquencyTime, invoice.chargeTime, invoice.paidTime],
    ]),
  ].filter((instant) => instant !== null)
}

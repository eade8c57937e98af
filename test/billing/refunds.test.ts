import { expect, test } from '@jest/globals'
import { Decimal } from 'decimal.js'
import { ownValue } from '../../billing/own-value.ts'
import { nextRefundTime, REFUND_WAITS } from '../../billing/refund-schedule.ts'
import {
  type CountedRefund,
  debtsOf,
  type Paid,
  refundable,
  refundableOfInvoice,
  sharesOf,
  unusedOf,
  withReserved,
} from '../../billing/refund-shares.ts'
import fc from '../support/fast-check.ts'

/** Every object inherits some of these names. */
const IDS = ['__proto__', 'in_1', 'constructor', 'in_3', 'toString', 'in_5', 'valueOf']
const cents = (value: number) => new Decimal(value).dividedBy(100).toFixed()
const sum = (amounts: readonly string[]) => amounts.reduce((total, one) => total.plus(one), new Decimal(0))

const sale: fc.Arbitrary<Paid> = fc
  .record({
    got: fc.array(fc.integer({ min: 1, max: 5_000 }), { maxLength: 5 }),
    unused: fc.integer({ min: 0, max: 2_000 }),
  })
  .map(({ got, unused }) => ({
    amount: cents(got.reduce((total, one) => total + one, unused)),
    payments: got.map((amount, index) => [String(IDS[index]), cents(amount)] as const),
  }))

/** Of the sale, or of one of its invoices; never more than is left. */
const asks = fc.array(fc.record({ part: fc.integer({ min: 1, max: 100 }), invoice: fc.nat({ max: 7 }) }), {
  maxLength: 8,
})

function refunded(paid: Paid, wanted: readonly { part: number; invoice: number }[]): CountedRefund[] {
  const returns: CountedRefund[] = []
  for (const { part, invoice } of wanted) {
    const id = paid.payments[invoice]?.[0]
    const left = id === undefined ? refundable(paid, returns) : refundableOfInvoice(paid, returns, id)
    const amount = new Decimal(left).times(part).dividedBy(100).toDecimalPlaces(2).toFixed()
    returns.push({ amount, shares: id === undefined ? sharesOf(paid, returns, amount) : { [id]: amount } })
  }
  return returns
}

test('no invoice refunds more than it got, and a sale not more than it took', () => {
  fc.assert(
    fc.property(sale, asks, (paid, wanted) => {
      const returns = refunded(paid, wanted)
      expect(sum(returns.map(({ amount }) => amount)).lessThanOrEqualTo(paid.amount)).toBe(true)
      for (const [id, got] of paid.payments) {
        const back = sum(returns.flatMap(({ shares }) => ownValue(shares, id) ?? []))
        expect(back.lessThanOrEqualTo(got)).toBe(true)
      }
    }),
  )
})

test('what a sale can still refund is the rest of its invoices and what none of them used', () => {
  fc.assert(
    fc.property(sale, asks, (paid, wanted) => {
      const returns = refunded(paid, wanted)
      const all = refundable(paid, returns)
      const shares = sharesOf(paid, returns, all)
      for (const [id] of paid.payments) {
        expect(ownValue(shares, id) ?? '0').toBe(refundableOfInvoice(paid, returns, id))
      }
      expect(sum(Object.values(shares)).lessThanOrEqualTo(all)).toBe(true)
    }),
  )
})

test('a refund in pieces is of the same invoices as one at once', () => {
  fc.assert(
    fc.property(sale, asks, fc.integer({ min: 0, max: 100 }), (paid, wanted, part) => {
      const before = refunded(paid, wanted)
      const all = refundable(paid, before)
      const first = new Decimal(all).times(part).dividedBy(100).toDecimalPlaces(2).toFixed()
      const one = { amount: first, shares: sharesOf(paid, before, first) }
      const rest = new Decimal(all).minus(first).toFixed()
      const two = sharesOf(paid, [...before, one], rest)
      const atOnce = sharesOf(paid, before, all)
      for (const [id] of paid.payments) {
        const shareOf = (shares: Record<string, string>) => ownValue(shares, id) ?? '0'
        expect(sum([shareOf(one.shares), shareOf(two)]).toFixed()).toBe(shareOf(atOnce))
      }
    }),
  )
})

test('what no invoice used goes first, then what the last one got', () => {
  const paid: Paid = {
    amount: '25',
    payments: [
      ['a', '10'],
      ['b', '10'],
    ],
  }
  expect(sharesOf(paid, [], '5')).toEqual({})
  expect(sharesOf(paid, [], '9')).toEqual({ b: '4' })
  expect(sharesOf(paid, [{ amount: '10', shares: { b: '10' } }], '9')).toEqual({ a: '4' })
})

test('what is owed is all of what is undelivered and unused that has not gone back, and nothing else', () => {
  fc.assert(
    fc.property(sale, asks, fc.array(fc.nat({ max: 6 })), (paid, wanted, undelivered) => {
      const ids = [...new Set(undelivered)].map((index) => String(IDS[index]))
      const returns = refunded(paid, wanted)
      const debts = debtsOf(paid, ids, returns)
      const owed = sum(debts.map(({ amount }) => amount))
      expect(owed.lessThanOrEqualTo(refundable(paid, returns))).toBe(true)
      for (const { invoiceId, amount } of debts) {
        if (invoiceId !== null) expect(ids).toContain(invoiceId)
        if (invoiceId !== null) expect(amount).toBe(refundableOfInvoice(paid, returns, invoiceId))
        expect(new Decimal(amount).greaterThan(0)).toBe(true)
      }
      const made = debts.map(({ invoiceId, amount }) => ({
        amount,
        shares: invoiceId === null ? {} : { [invoiceId]: amount },
      }))
      expect(debtsOf(paid, ids, [...returns, ...made])).toEqual([])
    }),
  )
})

test('a refund of something else takes all but what is reserved', () => {
  fc.assert(
    fc.property(sale, asks, fc.array(fc.nat({ max: 6 })), fc.boolean(), (paid, wanted, kept, isRestOwed) => {
      const ids = [...new Set(kept)].map((index) => `in_${index}`)
      const before = refunded(paid, wanted)
      const counted = withReserved(paid, before, { invoiceIds: ids, isRestOwed })
      const amount = refundable(paid, counted)
      const after = [...before, { amount, shares: sharesOf(paid, counted, amount) }]
      for (const id of ids)
        expect(refundableOfInvoice(paid, after, id)).toBe(refundableOfInvoice(paid, before, id))
      expect(unusedOf(paid, after)).toBe(isRestOwed ? unusedOf(paid, before) : '0')
      const left = [unusedOf(paid, after), ...ids.map((id) => refundableOfInvoice(paid, before, id))]
      expect(refundable(paid, after)).toBe(sum(left).toFixed())
    }),
  )
})

test('a refund that is owed is begun again after 1 and 6 hours, 1, 3 and 7 days, then not by itself', () => {
  const hours = REFUND_WAITS.map((_, index) => (nextRefundTime(index + 1, 0) ?? 0) / 3_600_000)
  expect(hours).toEqual([1, 6, 24, 72, 168])
  expect(nextRefundTime(REFUND_WAITS.length + 1, 0)).toBeNull()
})

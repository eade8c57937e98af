import { expect, test } from '@jest/globals'
import { Decimal } from 'decimal.js'
import { ownValue } from '../../billing/own-value.ts'
import { nextRefundTime, REFUND_WAITS } from '../../billing/refund-schedule.ts'
import {
  type CountedRefund,
  debtsOf,
  OVERPAID,
  type Paid,
  type Parts,
  refundable,
  refundableOfInvoice,
  sharesOf,
  unusedOf,
  withOverpaid,
  withReserved,
  withTakenBack,
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

const NOTHING: Parts = { invoiceIds: [], hasRest: false }
const parts: fc.Arbitrary<Parts> = fc.record({
  invoiceIds: fc.uniqueArray(fc.constantFrom(...IDS)),
  hasRest: fc.boolean(),
})

function refunded(
  paid: Paid,
  wanted: readonly { part: number; invoice: number }[],
  owed: Parts = NOTHING,
): CountedRefund[] {
  const returns: CountedRefund[] = []
  for (const { part, invoice } of wanted) {
    const id = paid.payments[invoice]?.[0]
    const left = id === undefined ? refundable(paid, returns) : refundableOfInvoice(paid, returns, id)
    const amount = new Decimal(left).times(part).dividedBy(100).toDecimalPlaces(2).toFixed()
    const shares = id === undefined ? sharesOf(paid, returns, amount, owed) : { [id]: amount }
    returns.push({ amount, shares })
  }
  return returns
}

test('no invoice refunds more than it got, and a sale not more than it took', () => {
  fc.assert(
    fc.property(sale, asks, parts, (paid, wanted, owed) => {
      const returns = refunded(paid, wanted, owed)
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
    fc.property(sale, asks, parts, (paid, wanted, owed) => {
      const returns = refunded(paid, wanted, owed)
      const all = refundable(paid, returns)
      const shares = sharesOf(paid, returns, all, owed)
      for (const [id] of paid.payments) {
        expect(ownValue(shares, id) ?? '0').toBe(refundableOfInvoice(paid, returns, id))
      }
      expect(sum(Object.values(shares)).lessThanOrEqualTo(all)).toBe(true)
    }),
  )
})

test('a refund in pieces is of the same invoices as one at once', () => {
  fc.assert(
    fc.property(sale, asks, parts, fc.integer({ min: 0, max: 100 }), (paid, wanted, owed, part) => {
      const before = refunded(paid, wanted, owed)
      const all = refundable(paid, before)
      const first = new Decimal(all).times(part).dividedBy(100).toDecimalPlaces(2).toFixed()
      const one = { amount: first, shares: sharesOf(paid, before, first, owed) }
      const rest = new Decimal(all).minus(first).toFixed()
      const two = sharesOf(paid, [...before, one], rest, owed)
      const atOnce = sharesOf(paid, before, all, owed)
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
  expect(sharesOf(paid, [], '5', NOTHING)).toEqual({})
  expect(sharesOf(paid, [], '9', NOTHING)).toEqual({ b: '4' })
  expect(sharesOf(paid, [{ amount: '10', shares: { b: '10' } }], '9', NOTHING)).toEqual({ a: '4' })
  expect(sharesOf(paid, [], '12', { invoiceIds: ['a'], hasRest: true })).toEqual({ a: '7' })
  expect(sharesOf(paid, [], '12', { invoiceIds: ['a'], hasRest: false })).toEqual({ a: '10' })
  expect(sharesOf(paid, [], '17', { invoiceIds: ['a'], hasRest: false })).toEqual({ a: '10', b: '2' })
})

test('a refund that names no invoice pays what is owed first, to the cent, and a chargeback does too', () => {
  fc.assert(
    fc.property(sale, asks, parts, fc.integer({ min: 0, max: 9_000 }), (paid, wanted, owed, given) => {
      const before = refunded(paid, wanted, owed)
      const debtAfter = (refunds: readonly CountedRefund[]) =>
        sum(debtsOf(paid, owed, refunds).map(({ amount }) => amount))
      const debt = debtAfter(before)
      const amount = Decimal.min(cents(given), refundable(paid, before)).toFixed()
      const left = Decimal.max(debt.minus(amount), 0).toFixed()
      const refund = { amount, shares: sharesOf(paid, before, amount, owed) }
      expect(debtAfter([...before, refund]).toFixed()).toBe(left)
      expect(debtAfter(withTakenBack(paid, before, cents(given), owed)).toFixed()).toBe(left)
    }),
  )
})

test('what an invoice was paid too much is owed, and what no invoice used is not', () => {
  fc.assert(
    fc.property(sale, fc.nat({ max: 4 }), fc.integer({ min: 1, max: 100 }), (paid, index, part) => {
      const [id, got] = paid.payments[index] ?? []
      if (id === undefined || got === undefined) return
      const surplus = new Decimal(got).times(part).dividedBy(100).toDecimalPlaces(2).toFixed()
      const payments = Object.entries(withOverpaid(Object.fromEntries(paid.payments), id, surplus))
      const after = { ...paid, payments }
      expect(unusedOf(after, [])).toBe(unusedOf(paid, []))
      expect(refundableOfInvoice(after, [], id)).toBe(new Decimal(got).minus(surplus).toFixed())
      const owed = { invoiceIds: [OVERPAID], hasRest: false }
      expect(debtsOf(after, owed, [])).toEqual(
        surplus === '0' ? [] : [{ invoiceId: OVERPAID, amount: surplus }],
      )
    }),
  )
})

test('what is owed is all of what is undelivered and unused that has not gone back, and nothing else', () => {
  fc.assert(
    fc.property(sale, asks, parts, (paid, wanted, owing) => {
      const returns = refunded(paid, wanted)
      const debts = debtsOf(paid, owing, returns)
      const owed = sum(debts.map(({ amount }) => amount))
      expect(owed.lessThanOrEqualTo(refundable(paid, returns))).toBe(true)
      for (const { invoiceId, amount } of debts) {
        if (invoiceId === null) expect([owing.hasRest, amount]).toEqual([true, unusedOf(paid, returns)])
        if (invoiceId !== null) expect(owing.invoiceIds).toContain(invoiceId)
        if (invoiceId !== null) expect(amount).toBe(refundableOfInvoice(paid, returns, invoiceId))
        expect(new Decimal(amount).greaterThan(0)).toBe(true)
      }
      const made = debts.map(({ invoiceId, amount }) => ({
        amount,
        shares: invoiceId === null ? {} : { [invoiceId]: amount },
      }))
      expect(debtsOf(paid, owing, [...returns, ...made])).toEqual([])
    }),
  )
})

test('a refund of something else takes all but what is reserved', () => {
  fc.assert(
    fc.property(sale, asks, parts, (paid, wanted, kept) => {
      const { invoiceIds: ids, hasRest } = kept
      const before = refunded(paid, wanted)
      const counted = withReserved(paid, before, kept)
      const amount = refundable(paid, counted)
      const after = [...before, { amount, shares: sharesOf(paid, counted, amount, kept) }]
      for (const id of ids)
        expect(refundableOfInvoice(paid, after, id)).toBe(refundableOfInvoice(paid, before, id))
      expect(unusedOf(paid, after)).toBe(hasRest ? unusedOf(paid, before) : '0')
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

import { expect, test } from '@jest/globals'
import { Decimal } from 'decimal.js'
import { DISPUTE_STATUSES, DISPUTE_TYPES, type DisputedAmount, takenBackOf } from '../../billing/disputes.ts'
import fc from '../support/fast-check.ts'

const SALE = { amount: '100', currency: 'EUR' }
const lost: DisputedAmount = {
  status: 'lost',
  type: 'first-chargeback',
  currency: 'EUR',
  amount: '30',
  caseId: null,
}

test.each<[string, DisputedAmount[], string]>([
  ['nothing', [], '0'],
  ['what was lost', [lost], '30'],
  ['what was forfeited', [{ ...lost, status: 'forfeited' }], '30'],
  ['what is not decided', [{ ...lost, status: 'under-review' }], '0'],
  ['what was won', [{ ...lost, status: 'won' }], '0'],
  ['a question', [{ ...lost, type: 'information-request' }], '0'],
  ['a warning', [{ ...lost, type: 'ethoca-alert' }], '0'],
  [
    'stages of one case',
    [
      { ...lost, caseId: 'c' },
      { ...lost, caseId: 'c', type: 'arbitration', amount: '40' },
    ],
    '40',
  ],
  ['two cases', [{ ...lost, caseId: 'c' }, lost], '60'],
  ['more than was paid', [lost, lost, lost, { ...lost, amount: '20' }], '100'],
  ['another currency', [{ ...lost, currency: 'USD' }], '100'],
])('banks took back of a sale by %s: %j is %s', (_, disputes, amount) => {
  expect(
    takenBackOf(
      SALE,
      disputes.map((one) => ({ ...one })),
    ),
  ).toBe(amount)
})

test('banks take back no more than the sale, and a further dispute never makes it less', () => {
  const dispute: fc.Arbitrary<DisputedAmount> = fc.record({
    status: fc.constantFrom(...DISPUTE_STATUSES),
    type: fc.constantFrom(...DISPUTE_TYPES),
    currency: fc.constantFrom('EUR', 'EUR', 'USD'),
    amount: fc.integer({ min: 1, max: 200 }).map(String),
    caseId: fc.constantFrom(null, 'a', 'b'),
  })
  fc.assert(
    fc.property(fc.array(dispute, { maxLength: 6 }), dispute, (disputes, further) => {
      const [before, after] = [takenBackOf(SALE, disputes), takenBackOf(SALE, [...disputes, further])]
      expect(new Decimal(after).greaterThanOrEqualTo(before)).toBe(true)
      expect(new Decimal(after).lessThanOrEqualTo(SALE.amount)).toBe(true)
    }),
  )
})

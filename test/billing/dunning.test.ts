import { describe, expect, test } from '@jest/globals'
import { DECLINE_CLASSES, waitsForInstrument } from '../../billing/dunning.ts'
import { parseDuration } from '../../billing/durations.ts'
import { CHARGE_TIMEOUT } from '../../billing/inquiry-schedule.ts'
import { reactivateOrder } from '../../billing/order-commands.ts'
import {
  beginCallersCharge,
  changeAutopay,
  chargeOpen,
  declineCharge,
  receivePayment,
} from '../../billing/order-payments.ts'
import type { OrderTerms } from '../../billing/order-terms.ts'
import fc from '../support/fast-check.ts'
import { type Answer, ChargedOrder } from './charged-order.ts'
import { illegal } from './legal.ts'
import {
  anyCommands,
  anyTerms,
  at,
  type Command,
  cancelAt,
  day,
  END,
  terms,
  withInstrument,
} from './orders.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = at('2027-01-31')
const FINAL = ['hard', 'lost-or-stolen', 'needs-action'] as const

const charged = (members: Partial<OrderTerms> = {}, answers: readonly Answer[] = []) =>
  new ChargedOrder(terms({}, members), answers)
const daysOf = (order: ChargedOrder, sequence: number) =>
  order.charges.filter(({ invoice }) => invoice === sequence).map(({ now }) => day(now))
const ownCard =
  (instrumentId: string): Command['act'] =>
  (order, now) =>
    changeAutopay(order, now, withInstrument(order, instrumentId).terms, true, true)
const defaultCard =
  (instrumentId: string): Command['act'] =>
  (order, now) =>
    chargeOpen(withInstrument(order, instrumentId), now)

const cancelNow = cancelAt(null)

describe('a backup', () => {
  const cardsOf = (order: ChargedOrder, sequence: number) =>
    order.charges.filter(({ invoice }) => invoice === sequence).map(({ instrumentId }) => instrumentId)
  const backupIds = ['second', 'third']

  test.each(FINAL)(
    'is charged at once for what the preferred instrument was declined for as %s',
    (reason) => {
      const order = charged({ backupIds }, ['approved', reason]).live(at('2027-03-31'))
      expect(cardsOf(order, 2)).toEqual(['card', 'second'])
      expect(daysOf(order, 2)).toEqual(['2027-02-28', '2027-02-28'])
      expect(order.invoice(2).status).toBe('paid')
      // The next period begins with the preferred one again.
      expect(cardsOf(order, 3)).toEqual(['card'])
    },
  )

  test('is followed by the next one, and after the last nothing is charged', () => {
    const order = charged({ backupIds }, ['approved', 'hard', 'lost-or-stolen', 'needs-action']).live(
      at('2027-03-30'),
    )
    expect(cardsOf(order, 2)).toEqual(['card', 'second', 'third'])
    expect(order.invoice(2)).toMatchObject({ status: 'past-due', chargeTime: null })
  })

  test('is not charged an amount that no gateway takes, nor is that charged again', () => {
    const order = charged({ backupIds }, ['approved', 'amount', 'approved']).live(at('2027-03-27'))
    expect(cardsOf(order, 2)).toEqual(['card'])
    expect(order.invoice(2)).toMatchObject({ status: 'past-due', chargeTime: null })
  })

  test('is retried by the schedule where it is declined softly', () => {
    const order = charged({ backupIds }, ['approved', 'hard', 'soft', 'approved']).live(at('2027-03-30'))
    expect(cardsOf(order, 2)).toEqual(['card', 'second', 'second'])
    expect(daysOf(order, 2)).toEqual(['2027-02-28', '2027-02-28', '2027-03-01'])
  })

  test('is not charged while the preferred one may still be approved', () => {
    const order = charged({ backupIds }, ['approved', 'soft', 'insufficient-funds']).live(at('2027-03-30'))
    expect(cardsOf(order, 2)).toEqual(['card', 'card', 'card'])
  })

  test('does not put off the wait for another instrument after renewals declined in a row', () => {
    const hard = Array<Answer>(20).fill('hard')
    const order = charged({ backupIds: ['second'], declinedRenewalsLimit: 2 }, ['approved', ...hard])
    order.live(at('2027-06-30'))
    expect(order.charges.map(({ instrumentId }) => instrumentId)).toEqual([
      'card',
      ...['card', 'second'],
      ...['card', 'second'],
    ])
    expect(waitsForInstrument(order.order)).toBe(true)
  })

  test('with a retry to come, once it is gone, leaves no charge by one that was declined for good', () => {
    const order = charged({ backupIds }, ['approved', 'lost-or-stolen', 'soft']).live(at('2027-02-28'))
    expect(cardsOf(order, 2)).toEqual(['card', 'second'])
    expect(order.invoice(2).chargeTime).toBe(at('2027-03-01'))
    order.order = { ...order.order, terms: { ...order.order.terms, backupIds: [] } }
    order.live(at('2027-03-30'))
    expect(cardsOf(order, 2)).toEqual(['card', 'second'])
    expect(order.invoice(2)).toMatchObject({ status: 'past-due', chargeTime: null })
  })

  test('whose retry is dropped leaves the renewal counted as declined', () => {
    const order = charged({ backupIds, declinedRenewalsLimit: 1 }, ['approved', 'lost-or-stolen', 'soft'])
    order.live(at('2027-02-28'))
    expect(order.order.declinedRenewals).toBeNull()
    order.order = { ...order.order, terms: { ...order.order.terms, backupIds: [] } }
    order.live(at('2027-03-31'))
    expect(order.order.declinedRenewals).toMatchObject({ count: 1, instrumentId: 'card' })
    expect(cardsOf(order, 3)).toEqual([])
  })

  test('that is chosen later is charged at once, for what was declined for good alone', () => {
    const order = charged({}, ['approved', 'soft', 'soft', 'soft', 'hard', 'soft']).live(at('2027-03-31'))
    expect(cardsOf(order, 2)).toEqual(['card', 'card', 'card', 'card'])
    expect(cardsOf(order, 3)).toEqual(['card'])
    order.command({
      at: at('2027-04-01'),
      act: (now, instant) => changeAutopay(now, instant, { ...now.terms, backupIds }, true),
    })
    order.live(at('2027-04-01'))
    expect(cardsOf(order, 2)).toEqual(['card', 'card', 'card', 'card', 'second'])
    expect(cardsOf(order, 3)).toEqual(['card', 'card'])
  })
})

describe('an invoice whose charge was declined', () => {
  test.each(FINAL)('%s is not charged again until there is another instrument, then at once', (reason) => {
    for (const card of [ownCard, defaultCard]) {
      const order = charged({}, ['approved', reason]).live(at('2027-03-10'))
      expect(daysOf(order, 2)).toEqual(['2027-02-28'])
      expect(order.invoice(2)).toMatchObject({ status: 'past-due', chargeTime: null })
      order.command({ at: at('2027-03-10'), act: ownCard('card') }).live(at('2027-03-11'))
      expect(daysOf(order, 2)).toEqual(['2027-02-28'])
      order.command({ at: at('2027-03-12'), act: card('other') }).live(at('2027-03-12'))
      expect(daysOf(order, 2)).toEqual(['2027-02-28', '2027-03-12'])
      expect(order.invoice(2).status).toBe('paid')
    }
  })

  test.each(['soft', 'declined', 'insufficient-funds'] as const)(
    '%s is retried by the schedule where there are no paydays',
    (reason) => {
      const order = charged({}, ['approved', reason, reason, reason, reason]).live(at('2027-03-30'))
      expect(daysOf(order, 2)).toEqual(['2027-02-28', '2027-03-01', '2027-03-03', '2027-03-05'])
    },
  )

  test('softly, then hard at a retry, is not retried further', () => {
    const order = charged({}, ['approved', 'soft', 'hard']).live(at('2027-03-30'))
    expect(daysOf(order, 2)).toEqual(['2027-02-28', '2027-03-01'])
  })

  test('hard keeps its instrument out for good, whatever another one does', () => {
    const order = charged({}, ['approved', 'hard', 'soft']).live(at('2027-03-01'))
    order.command({ at: at('2027-03-02'), act: ownCard('other') }).advanceTo(at('2027-03-02'))
    expect(order.invoice(2).chargeTime).toBe(at('2027-03-03'))
    order.command({ at: at('2027-03-02') + HOUR, act: ownCard('card') }).live(at('2027-03-30'))
    expect(order.charges.map(({ instrumentId }) => instrumentId)).toEqual(['card', 'card', 'other'])
  })

  test('while its instrument was replaced, is charged by the new one at once', () => {
    const due = at('2027-02-28')
    const order = charged({}, ['approved', 'lost'])
      .live(due - 1)
      .advanceTo(due)
    expect(order.invoice(2).charge).not.toBeNull()
    const now = due + HOUR
    const replaced = defaultCard('other')(order.order, now).order
    const withOther = withInstrument(replaced, 'other')
    const { order: then } = declineCharge(withOther, now, 2, { class: 'hard', instrumentId: 'card' })
    expect(then.invoices.find(({ sequence }) => sequence === 2)?.chargeTime).toBe(now)
  })

  test('late, after a day of no answer, drops the retry that waited for it', () => {
    const unknown = Array.from({ length: 60 }, (): Answer => 'unknown')
    const order = charged({}, ['approved', ...unknown]).live(at('2027-02-28') + CHARGE_TIMEOUT + HOUR)
    expect(order.invoice(2).chargeTime).not.toBeNull()
    const now = at('2027-03-02')
    const late = (reason: 'hard' | 'soft', card: string) =>
      declineCharge(withInstrument(order.order, card), now, 2, {
        class: reason,
        instrumentId: 'card',
      }).order.invoices.find(({ sequence }) => sequence === 2)?.chargeTime
    expect(late('hard', 'card')).toBeNull()
    expect(late('soft', 'card')).toBe(now)
    expect(late('hard', 'other')).toBe(now)
  })
})

describe('a charge that lacked funds', () => {
  const poor: readonly Answer[] = [
    'approved',
    ...Array.from({ length: 9 }, (): Answer => 'insufficient-funds'),
  ]

  test('is retried on paydays, as often as the schedule says', () => {
    const order = charged({ paydays: [1, 15] }, poor).live(at('2027-05-30'))
    expect(daysOf(order, 2)).toEqual(['2027-02-28', '2027-03-01', '2027-03-15', '2027-04-01'])
  })

  test('is retried on the last day of a month without that day', () => {
    const order = charged({ paydays: [31] }, poor).live(at('2027-06-01'))
    expect(daysOf(order, 2)).toEqual(['2027-02-28', '2027-03-31', '2027-04-30', '2027-05-31'])
  })

  test('is retried by the schedule where it would be delinquent by the next payday', () => {
    const members = { paydays: [10], delinquencyPeriod: parseDuration('P8D') }
    const order = charged(members, poor).live(at('2027-03-30'))
    expect(daysOf(order, 2)).toEqual(['2027-02-28', '2027-03-01', '2027-03-03', '2027-03-05'])
  })
})

describe('an order whose renewals are declined in a row', () => {
  const declining = (reason: Answer): Answer[] => ['approved', ...Array.from({ length: 60 }, () => reason)]
  const limited = (limit: number | null, answers: readonly Answer[]) =>
    charged({ declinedRenewalsLimit: limit }, answers)

  test.each([
    [3, 'soft', 1 + 3 * 4],
    [3, 'hard', 1 + 3],
    [1, 'declined', 1 + 4],
    [null, 'hard', 1 + 12],
    // It says nothing of the instrument.
    [2, 'amount', 1 + 12],
  ] as const)('with the limit %s and %s declines is charged %s times in a year', (limit, reason, count) => {
    const order = limited(limit, declining(reason)).live(at('2028-02-28'))
    expect(order.charges).toHaveLength(count)
    expect(order.order.invoices).toHaveLength(13)
    expect(order.order.invoices.slice(1).every(({ issuedTime }) => issuedTime !== null)).toBe(true)
  })

  test.each([ownCard, defaultCard])('is charged for all of them at once by another instrument', (card) => {
    const answers = declining('hard').slice(0, 4)
    const order = limited(3, answers).live(at('2027-07-01'))
    expect(order.charges).toHaveLength(4)
    order.command({ at: at('2027-07-02'), act: card('other') }).live(at('2027-07-02'))
    expect(order.charges.slice(4).map(({ invoice, now }) => [invoice, day(now)])).toEqual(
      [2, 3, 4, 5, 6].map((sequence) => [sequence, '2027-07-02']),
    )
    expect(order.live(at('2027-07-31')).invoice(7).status).toBe('paid')
  })

  test.each(['a cancellation', 'its delinquency'])(
    'and ended by %s, is charged when it is reactivated',
    (ending) => {
      const delinquencyPeriod = ending === 'its delinquency' ? parseDuration('P9D') : null
      const order = charged({ declinedRenewalsLimit: 1, delinquencyPeriod }, ['approved', 'hard', 'hard'])
      order.live(at('2027-03-10'))
      if (delinquencyPeriod === null) order.command({ at: at('2027-03-11'), act: cancelNow })
      expect(['churned', 'canceled']).toContain(order.order.status)
      expect(waitsForInstrument(order.order)).toBe(true)
      order.command({ at: at('2027-03-12'), act: reactivateOrder }).live(at('2027-03-12'))
      expect(order.charges.at(-1)).toMatchObject({ invoice: 3, now: at('2027-03-12'), answer: 'hard' })
      // Declined again, it waits again.
      expect(order.live(at('2027-04-30')).charges).toHaveLength(3)
    },
  )

  test('where the customer paid one with the same instrument in between, is still charged', () => {
    const paid = (instrumentId: string): ChargedOrder => {
      const order = limited(2, declining('hard')).live(at('2027-03-10'))
      const pay: Command['act'] = (before, now) =>
        receivePayment(beginCallersCharge(before, now, 2).order, now, 2, '9.9', instrumentId).transition
      return order.command({ at: at('2027-03-11'), act: pay }).live(at('2027-04-10'))
    }
    expect(waitsForInstrument(paid('card').order)).toBe(false)
    expect(waitsForInstrument(paid('other').order)).toBe(true)
  })

  test('by one that becomes a backup too, is counted once for each', () => {
    const backups =
      (...backupIds: string[]): Command['act'] =>
      (order, now) =>
        changeAutopay(order, now, { ...order.terms, backupIds }, true)
    const order = limited(3, declining('hard')).live(at('2027-04-10'))
    expect(order.order.declinedRenewals).toMatchObject({ count: 2, instrumentId: 'card' })
    order.command({ at: at('2027-04-11'), act: backups('second') }).live(at('2027-04-11'))
    order.command({ at: at('2027-04-12'), act: backups('second', 'third') }).live(at('2027-04-12'))
    const cards = order.charges.slice(3).map(({ invoice, instrumentId }) => `${invoice} by ${instrumentId}`)
    expect(cards).toEqual(['2 by second', '3 by second', '2 by third', '3 by third'])
    expect(order.order.declinedRenewals).toMatchObject({ count: 2, instrumentId: 'card' })
    order.live(at('2027-05-10'))
    expect(waitsForInstrument(order.order)).toBe(true)
  })

  test('with a count that an earlier release stored, counts on', () => {
    const order = limited(3, declining('hard')).live(at('2027-03-10'))
    order.order = { ...order.order, declinedRenewals: { count: 1, instrumentId: 'card' } }
    expect(order.live(at('2027-04-10')).order.declinedRenewals).toMatchObject({ count: 2 })
  })

  test('where a retry was approved in between, is still charged', () => {
    const renewal: readonly Answer[] = ['soft', 'approved']
    const answers = ['approved', ...Array.from({ length: 10 }, () => renewal).flat()] as Answer[]
    const order = limited(1, answers).live(at('2027-08-30'))
    expect(order.order.invoices.every(({ status }) => status === 'paid')).toBe(true)
  })
})

describe('for any terms, commands and answers', () => {
  const answers = fc.array(
    fc.constantFrom<Answer>('approved', 'declined', 'unknown', 'lost', ...DECLINE_CLASSES),
    { maxLength: 80 },
  )
  const cards = fc.array(
    fc.record({
      at: fc.integer({ min: 0, max: 300 * 24 }).map((hour) => START + hour * HOUR),
      act: fc.constantFrom('card', 'other', 'third').map(ownCard),
    }),
    { maxLength: 8 },
  )
  const run = (agreed: OrderTerms, commands: readonly Command[], given: readonly Answer[]) => {
    const order = new ChargedOrder(agreed, given)
    for (const command of [...commands].sort((a, b) => a.at - b.at))
      order.live(command.at - 1).command(command)
    return order.live(END)
  }

  test('no invoice is charged again by an instrument that was declined for good', () => {
    fc.assert(
      fc.property(anyTerms, cards, answers, (agreed, commands, given) => {
        const { charges, transitions } = run(agreed, commands, given)
        const spent = new Set<string>()
        for (const { invoice, instrumentId, answer } of charges) {
          const pair = `${invoice} by ${instrumentId}`
          expect(spent).not.toContain(pair)
          if (FINAL.some((reason) => reason === answer)) spent.add(pair)
        }
        expect(transitions.flatMap(({ order }) => illegal(order))).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  test('an order that waits for another instrument begins no charge', () => {
    fc.assert(
      fc.property(anyTerms, anyCommands, answers, (agreed, commands, given) => {
        const { transitions } = run(agreed, commands, given)
        for (const [index, { order }] of transitions.entries()) {
          const before = transitions[index - 1]?.order ?? order
          if (!waitsForInstrument(before) || !waitsForInstrument(order)) continue
          for (const { sequence, attempts } of order.invoices) {
            const was = before.invoices.find((one) => one.sequence === sequence)
            expect(attempts).toBe(was?.attempts ?? 0)
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  test('a retry that waits for a payday is on one, before the delinquency', () => {
    const paydays = fc.uniqueArray(fc.integer({ min: 1, max: 31 }), { minLength: 1, maxLength: 3 })
    const reason = fc.array(fc.constant<Answer>('insufficient-funds'), { minLength: 4, maxLength: 40 })
    fc.assert(
      fc.property(anyTerms, paydays, reason, (agreed, days, given) => {
        const order = new ChargedOrder({ ...agreed, paydays: days }, given).live(END)
        for (const { invoice, attempt, now } of order.charges) {
          const { declinedTime, delinquencyTime } = order.invoice(invoice)
          if (attempt === 1 || declinedTime === null || now <= declinedTime + 5 * DAY) continue
          const date = new Date(now)
          const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
          expect(days.map((one) => Math.min(one, last))).toContain(date.getUTCDate())
          if (delinquencyTime !== null) expect(now).toBeLessThan(delinquencyTime)
        }
      }),
      { numRuns: 300 },
    )
  })
})

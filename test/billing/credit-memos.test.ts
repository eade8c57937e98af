import { describe, expect, test } from '@jest/globals'
import {
  allocateCredit,
  type Credit,
  creditedAmount,
  creditMemoTotal,
  withoutAmount,
} from '../../billing/credit-memos.ts'
import { amountDue, type Invoice } from '../../billing/invoices.ts'
import { changeItems, type ItemsChange } from '../../billing/item-changes.ts'
import { Money, sumOf } from '../../billing/money.ts'
import { type Order, placeOrder, type Transition } from '../../billing/order.ts'
import {
  cancelOrder,
  changeTerms,
  reactivateOrder,
  voidInvoice,
  voidOrder,
} from '../../billing/order-commands.ts'
import { advanceBefore, advanceThrough } from '../../billing/order-lifecycle.ts'
import { creditInvoice, receivePayment } from '../../billing/order-payments.ts'
import { subtotal } from '../../billing/proration.ts'
import fc from '../support/fast-check.ts'
import { at, terms } from './orders.ts'

const memo = (creditMemoId: string, left: string, currency = 'EUR'): Credit => ({
  creditMemoId,
  currency,
  left,
})
const cents = (min: number, max: number) =>
  fc.integer({ min, max }).map((amount) => new Money(amount).div(100).toFixed())
const memos = fc
  .array(fc.record({ left: cents(0, 5_000), currency: fc.constantFrom('EUR', 'USD') }), { maxLength: 6 })
  .map((all) => all.map(({ left, currency }, index) => memo(`cm_${index}`, left, currency)))

describe('credit', () => {
  test('covers an amount from the oldest memo on, and no more than is due', () => {
    const credit = [memo('a', '3'), memo('b', '20', 'USD'), memo('c', '4.5'), memo('d', '9')]
    expect(allocateCredit('10', 'EUR', credit)).toEqual([
      { creditMemoId: 'a', amount: '3' },
      { creditMemoId: 'c', amount: '4.5' },
      { creditMemoId: 'd', amount: '2.5' },
    ])
    expect(allocateCredit('0', 'EUR', credit)).toEqual([])
  })

  test('is never used above what is due or left, oldest first, and each currency apart', () => {
    fc.assert(
      fc.property(cents(0, 8_000), memos, (due, credit) => {
        const used = allocateCredit(due, 'EUR', credit)
        const own = credit.filter(({ currency }) => currency === 'EUR')
        const all = sumOf(own.map(({ left }) => left))
        expect(creditedAmount(used)).toBe(Money.min(due, all).toFixed())
        const amountOf = (id: string) => used.find((one) => one.creditMemoId === id)?.amount ?? '0'
        for (const { creditMemoId, left, currency } of credit) {
          const amount = new Money(amountOf(creditMemoId))
          expect(amount.lessThanOrEqualTo(left)).toBe(true)
          if (currency !== 'EUR') expect(amount.isZero()).toBe(true)
        }
        // A memo is used only when all older ones are used up.
        const last = own.findLastIndex(({ creditMemoId }) => !new Money(amountOf(creditMemoId)).isZero())
        for (const older of own.slice(0, Math.max(0, last)))
          expect(new Money(amountOf(older.creditMemoId)).equals(older.left)).toBe(true)
      }),
    )
  })

  test('of a memo is its items, each rounded once, and its shipping', () => {
    const item = (unitPrice: string, quantity: number) => ({ description: '', unitPrice, quantity })
    expect(creditMemoTotal([item('0.335', 3), item('2', 1)], '4.5', 'EUR')).toBe('7.51')
  })

  test('that is taken back from a memo leaves items that sum to the rest, the last ones less, with their taxes', () => {
    const item = (unitPrice: string, quantity: number, tax?: string) => ({
      description: '',
      unitPrice,
      quantity,
      ...(tax === undefined
        ? {}
        : {
            tax: {
              amount: tax,
              description: 'VAT',
              rate: '20',
              parts: { stateAmount: tax, stateRate: '20' },
              jurisdictions: null,
            },
          }),
    })
    const given = { items: [item('10', 1, '2'), item('2', 3)], shippingAmount: '4' }
    expect(withoutAmount(given, '5', 'EUR').items[1]).toEqual(item('1', 1))
    expect(withoutAmount(given, '12', 'EUR')).toEqual({ items: [item('5', 1, '1')], shippingAmount: '4' })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cents(0, 5_000), fc.integer({ min: 1, max: 4 }), fc.option(cents(0, 900)))),
        cents(0, 500),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (all, shippingAmount, share) => {
          const items = all.map(([unitPrice, quantity, tax]) => item(unitPrice, quantity, tax ?? undefined))
          const total = creditMemoTotal(items, shippingAmount, 'EUR')
          const amount = new Money(total).times(share).toDecimalPlaces(2).toFixed()
          const left = withoutAmount({ items, shippingAmount }, amount, 'EUR')
          expect(creditMemoTotal(left.items, left.shippingAmount, 'EUR')).toBe(sumOf([total, `-${amount}`]))
          for (const { unitPrice, tax } of left.items) {
            expect(new Money(unitPrice).isNegative() && !new Money(unitPrice).isZero()).toBe(false)
            expect(new Money(tax?.amount ?? 0).isNegative()).toBe(false)
          }
          expect(new Money(left.shippingAmount).lessThan(0)).toBe(false)
        },
      ),
    )
  })
})

describe('an invoice', () => {
  const placed = (credit: readonly Credit[], canCharge = false): Order => ({
    ...placeOrder(terms({}, { canCharge })).order,
    credit,
  })
  const initial = ({ invoices }: Order): Invoice => {
    const [first] = invoices
    if (first === undefined) throw new Error('an order has an invoice')
    return first
  }

  test('that credit covers is paid at its issue, without a charge, and the order begins', () => {
    const { order, transitions, gatewayCall } = advanceThrough(
      placed([memo('a', '5'), memo('b', '100')], true),
      at('2027-01-31'),
    )
    expect(order).toMatchObject({ status: 'active', credit: [{ left: '0' }, { left: '95.1' }] })
    expect(initial(order)).toMatchObject({ status: 'paid', amountPaid: '0', chargeTime: null })
    expect(amountDue(initial(order))).toBe('0')
    expect(gatewayCall).toBeNull()
    expect(transitions.flatMap(({ events }) => events.map(({ type }) => type))).toEqual([
      'invoice-issued',
      'invoice-paid',
      'subscription-activated',
    ])
  })

  test('that credit covers in part is charged the rest', () => {
    const { order, gatewayCall } = advanceThrough(placed([memo('a', '5')], true), at('2027-01-31'))
    expect(initial(order)).toMatchObject({ status: 'unpaid', chargeTime: at('2027-01-31') })
    expect(amountDue(initial(order))).toBe('4.9')
    expect(gatewayCall).toMatchObject({ at: at('2027-01-31') })
    const { transition, used } = receivePayment(order, at('2027-01-31'), 1, '9.9')
    expect(used).toBe('4.9')
    expect(initial(transition.order)).toMatchObject({ status: 'paid', amountPaid: '4.9' })
  })

  test('that is voided, or drawn up again for less, returns its credit', () => {
    const { order } = advanceThrough(placed([memo('a', '5'), memo('b', '2')]), at('2027-01-31'))
    expect(order.credit.map(({ left }) => left)).toEqual(['0', '0'])
    const voided = voidInvoice(order, at('2027-02-01'), 1).order
    expect(voided.credit.map(({ left }) => left)).toEqual(['5', '2'])
    expect(initial(voided).credits).toEqual([])
    const waits = { ...advanceThrough(placed([memo('a', '5')], true), at('2027-01-31')).order }
    const cheaper = terms({ pricing: { formula: 'flat-rate', price: '3' } }, { canCharge: true })
    const changed = changeTerms(waits, at('2027-01-31'), cheaper).order
    expect(initial(changed)).toMatchObject({ status: 'paid', amount: '3', credits: [{ amount: '3' }] })
    expect(changed.credit).toMatchObject([{ left: '2' }])
  })

  const acts = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 70 }) }),
      fc.record({
        kind: fc.constantFrom('pay' as const, 'credit' as const),
        amount: cents(1, 1_500),
        invoice: fc.nat({ max: 5 }),
      }),
      fc.record({ kind: fc.constant('void' as const), invoice: fc.nat({ max: 5 }) }),
      fc.record({ kind: fc.constant('void order' as const) }),
      fc.record({ kind: fc.constant('change' as const), price: cents(0, 2_000) }),
      fc.record({ kind: fc.constant('cancel' as const) }),
      fc.record({ kind: fc.constant('reactivate' as const) }),
    ),
    { maxLength: 25 },
  )

  const CANCELLATION = {
    churnTime: null,
    churnTimePolicy: null,
    canceledBy: 'merchant' as const,
    reason: null,
    description: null,
    prorated: true,
  }
  const changedTo = ({ terms: agreed }: Order, price: string): ItemsChange => ({
    terms: {
      ...agreed,
      items: agreed.items.map((item) => ({
        ...item,
        plan: { ...item.plan, pricing: { formula: 'flat-rate', price } },
      })),
    },
    prorated: true,
    renewalPolicy: 'retain',
  })

  test('uses credit so that the ledger of a customer with two orders always sums to zero', () => {
    let paid = 0
    let created = 0
    fc.assert(
      fc.property(
        memos,
        cents(0, 2_000),
        cents(0, 2_000),
        acts,
        fc.array(fc.boolean()),
        (given, p, q, history, turns) => {
          const orders = [p, q].map(
            (price) => placeOrder(terms({ pricing: { formula: 'flat-rate', price } })).order,
          )
          let credit: readonly Credit[] = given
          const all = [...given]
          let now = at('2027-01-31')
          const run = (which: number, next: (order: Order) => readonly Transition[]): void => {
            const order = orders[which]
            if (order === undefined) return
            // As the rows of the memos do, each order shows the others the unused credit.
            const transitions = next({ ...order, credit })
            const changed = transitions.at(-1)?.order ?? { ...order, credit }
            orders[which] = changed
            const added = transitions
              .flatMap(({ events }) => events.filter(({ type }) => type === 'credit-memo-created'))
              .map((event, index) =>
                memo(`cm_${all.length + index}`, new Money(subtotal(event.credit ?? [])).neg().toFixed()),
              )
            created += added.length
            all.push(...added)
            credit = [...changed.credit, ...added]
          }
          const attempt = (order: Order, act: (order: Order) => Transition): readonly Transition[] => {
            const advanced = advanceBefore(order, now)
            try {
              return [...advanced.transitions, act(advanced.order)]
            } catch (error) {
              if ((error as Error).name !== 'ConflictError') throw error
              return advanced.transitions
            }
          }
          history.forEach((act, index) => {
            const which = turns[index] === true ? 1 : 0
            if (act.kind === 'wait') {
              now += act.days * 86_400_000
              for (const one of [which, 1 - which])
                run(one, (order) => advanceThrough(order, now).transitions)
            } else {
              run(which, (order) =>
                attempt(order, (one) => {
                  const sequence = 'invoice' in act ? act.invoice : 0
                  if (act.kind === 'void order') return voidOrder(one, now)
                  if (act.kind === 'cancel') return cancelOrder(one, now, CANCELLATION)
                  if (act.kind === 'reactivate') return reactivateOrder(one, now)
                  if (act.kind === 'change') return changeItems(one, now, changedTo(one, act.price))
                  if (act.kind === 'void') return voidInvoice(one, now, sequence)
                  if (act.kind === 'pay') return receivePayment(one, now, sequence, act.amount).transition
                  return creditInvoice(one, now, sequence, one.credit, act.amount).transition
                }),
              )
            }
            const invoices = orders.flatMap((order) => order.invoices)
            for (const invoice of invoices) {
              const { status, amount, amountPaid, credits } = invoice
              const covered = sumOf([creditedAmount(credits), amountPaid])
              if (status === 'voided') expect(credits).toEqual([])
              else if (status !== 'abandoned') expect(sumOf([covered, amountDue(invoice)])).toBe(amount)
              if (status === 'paid' && credits.length > 0) paid += 1
            }
            for (const { creditMemoId, left } of all) {
              const used = invoices.flatMap(({ credits }) =>
                credits.filter((one) => one.creditMemoId === creditMemoId).map(({ amount }) => amount),
              )
              const rest = credit.find((one) => one.creditMemoId === creditMemoId)?.left ?? 'gone'
              expect(new Money(rest).isNegative()).toBe(false)
              expect(sumOf([...used, rest])).toBe(new Money(left).toFixed())
            }
            const foreign = all.filter(({ currency }) => currency !== 'EUR').map((one) => one.creditMemoId)
            expect(
              invoices.flatMap(({ credits }) => credits).filter((one) => foreign.includes(one.creditMemoId)),
            ).toEqual([])
          })
        },
      ),
    )
    // The random histories do reach invoices that credit pays.
    expect(paid).toBeGreaterThan(0)
    expect(created).toBeGreaterThan(0)
  })
})

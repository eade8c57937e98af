/** Own invoices, by the rules alone: the rules of orders' invoices, without an order. */
import { describe, expect, test } from '@jest/globals'
import { parseDuration } from '../../billing/durations.ts'
import { ConflictError, InvalidFieldsError } from '../../billing/errors.ts'
import { amountDue, draftInvoice, type Invoice } from '../../billing/invoices.ts'
import { Money, sumOf } from '../../billing/money.ts'
import type { Order } from '../../billing/order.ts'
import { advanceThrough } from '../../billing/order-lifecycle.ts'
import { beginCharge, declineCharge, receivePayment } from '../../billing/order-payments.ts'
import { NOT_CHARGED } from '../../billing/order-terms.ts'
import {
  issueInvoice,
  type OwnItem,
  ownInvoice,
  ownLine,
  ownTerms,
  pricedDraft,
} from '../../billing/own-invoices.ts'
import fc from '../support/fast-check.ts'
import { at } from './orders.ts'

const [HOUR, DAY] = [3_600_000, 86_400_000]
const NOW = at('2027-01-31')

const cents = fc.integer({ min: 1, max: 100_000 }).map((amount) => new Money(amount).div(100).toFixed())
const item = (unitPrice: string, quantity = 1, type: OwnItem['type'] = 'debit'): OwnItem => ({
  type,
  description: 'Work',
  unitPrice,
  quantity,
  productId: null,
  planId: null,
  periodStart: null,
  periodEnd: null,
})
const items = fc.array(
  fc
    .record({ unitPrice: cents, quantity: fc.integer({ min: 1, max: 20 }) })
    .map((one) => item(one.unitPrice, one.quantity)),
  { minLength: 1, maxLength: 8 },
)
const drafted = (
  given: readonly OwnItem[],
  members: Partial<Invoice> = {},
  charging = NOT_CHARGED,
): Order => {
  const price = pricedDraft(
    given.map((one) => ownLine(one, 'EUR')),
    'EUR',
    NOW,
  )
  const draft = draftInvoice(1, 'one-time', price, { periodNumber: null, periodStart: null, periodEnd: null })
  return ownInvoice({ ...draft, ...members }, ownTerms('EUR', NOW, charging), [])
}
const issued = (given = [item('100')], members = {}, charging = NOT_CHARGED) =>
  issueInvoice(drafted(given, members, charging), NOW, { issuedTime: null, dueTime: null }).order
const first = ({ invoices }: Order): Invoice => {
  const [invoice] = invoices
  if (invoice === undefined) throw new Error('no invoice')
  return invoice
}
const typesOf = (order: Order, through: number) =>
  advanceThrough(order, through).transitions.flatMap(({ events }) => events.map(({ type }) => type))

describe('an own invoice', () => {
  test('with credits is taxed for what is left: the taxes of its items sum to the tax of that', () => {
    const rate = { name: 'VAT', rate: '19', country: 'DE', region: null }
    const taxes = [{ from: 0, isInclusive: false, rates: [rate], shipping: [], byProduct: {} }]
    const given = [item('818.1'), item('2.46', 1, 'credit'), item('0.29', 1, 'credit')]
    const lines = given.map((one) => ownLine(one, 'EUR'))
    const price = pricedDraft(lines, 'EUR', NOW, taxes)
    expect(price.amount).toBe('970.27')
  })

  test('owes the sum of its items, and is paid by parts that sum to it', () => {
    fc.assert(
      fc.property(items, fc.array(cents, { maxLength: 6 }), (given, parts) => {
        const owed = sumOf(
          given.map(({ unitPrice, quantity }) => new Money(unitPrice).times(quantity).toFixed()),
        )
        let order = issued(given)
        expect(first(order)).toMatchObject({ status: 'unpaid', amount: owed })
        let paid = new Money(0)
        for (const part of parts) {
          const { transition, used } = receivePayment(order, NOW, 1, part)
          order = transition.order
          paid = paid.plus(used)
          expect(amountDue(first(order))).toBe(new Money(owed).minus(paid).toFixed())
        }
        const rest = receivePayment(order, NOW, 1, owed)
        expect(paid.plus(rest.used).toFixed()).toBe(owed)
        expect(first(rest.transition.order)).toMatchObject({ status: 'paid', amountPaid: owed })
      }),
    )
  })

  test('is past due a day after it is due, once, unless it is paid; nothing else ever happens to it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 90 * DAY }),
        fc.array(fc.integer({ min: 0, max: 200 * DAY }), { maxLength: 5 }),
        (ahead, stops) => {
          const order = issueInvoice(drafted([item('5')]), NOW, {
            issuedTime: null,
            dueTime: NOW + ahead,
          }).order
          const due = NOW + ahead + DAY
          expect(typesOf(order, due - 1)).toEqual([])
          expect(typesOf(order, due + 3_650 * DAY)).toEqual(['invoice-past-due'])
          // In pieces as at once.
          let [pieces, types] = [order, [] as string[]]
          for (const stop of [...stops.toSorted((a, b) => a - b), 3_650 * DAY]) {
            types = [...types, ...typesOf(pieces, due + stop)]
            pieces = advanceThrough(pieces, due + stop).order
          }
          expect([types, pieces]).toEqual([
            ['invoice-past-due'],
            advanceThrough(order, due + 3_650 * DAY).order,
          ])
          const paid = receivePayment(order, NOW, 1, '5').transition.order
          expect(typesOf(paid, due + 3_650 * DAY)).toEqual([])
        },
      ),
    )
  })

  test('may credit as much as it debits, and no more', () => {
    const lines = (credit: string) =>
      [item('10'), item(credit, 1, 'credit')].map((one) => ownLine(one, 'EUR'))
    expect(pricedDraft(lines('10'), 'EUR', NOW).amount).toBe('0')
    expect(() => pricedDraft(lines('10.01'), 'EUR', NOW)).toThrow(InvalidFieldsError)
    expect(first(issued([item('10'), item('10', 1, 'credit')], { chargeTime: NOW + DAY }))).toMatchObject({
      chargeTime: null,
      status: 'paid',
      paidTime: NOW,
    })
  })

  test('is issued once, with items, and not ahead of time', () => {
    const times = { issuedTime: null, dueTime: null }
    expect(() => issueInvoice(issued(), NOW, times)).toThrow(ConflictError)
    expect(() => issueInvoice(drafted([]), NOW, times)).toThrow(/without items/)
    expect(() => issueInvoice(drafted([item('1')]), NOW, { ...times, issuedTime: NOW + 1 })).toThrow(
      InvalidFieldsError,
    )
    expect(() => issueInvoice(drafted([item('1')]), NOW, { ...times, dueTime: NOW - 1 })).toThrow(
      InvalidFieldsError,
    )
    expect(first(issued([item('1')], { dueTime: NOW + DAY }))).toMatchObject({ dueTime: NOW + DAY })
    expect(first(issued([item('1')], { dueTime: NOW - DAY }))).toMatchObject({ dueTime: NOW })
    expect(first(issued())).toMatchObject({ dueTime: NOW + HOUR })
  })

  test('is charged when its draft says so, and again by the schedule after a decline', () => {
    const charging = {
      ...NOT_CHARGED,
      canCharge: true,
      instrumentId: 'inst',
      autopayRetries: [parseDuration('P1D')].flatMap((one) => one ?? []),
    }
    const order = issued([item('5')], { chargeTime: NOW + DAY }, charging)
    expect(first(order)).toMatchObject({ chargeTime: NOW + DAY, dueTime: NOW + DAY })
    expect(advanceThrough(order, NOW).gatewayCall).toEqual({ invoice: 1, at: NOW + DAY })
    const declined = declineCharge(beginCharge(order, NOW + DAY, 1).order, NOW + DAY, 1, {
      class: 'soft',
      instrumentId: 'inst',
    })
    expect(first(declined.order)).toMatchObject({ status: 'unpaid', chargeTime: NOW + 2 * DAY })
  })
})

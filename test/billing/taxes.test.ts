/** Taxes of invoice lines: to the cent, whole, and never credited beyond what was charged. */
import { describe, expect, test } from '@jest/globals'
import { creditedItem, creditMemoTotal } from '../../billing/credit-memos.ts'
import { type Discount, priced, withoutUnpaid } from '../../billing/discounts.ts'
import type { InvoiceLine } from '../../billing/invoices.ts'
import { changeItems } from '../../billing/item-changes.ts'
import { Money, sumOf } from '../../billing/money.ts'
import { type Order, placeOrder } from '../../billing/order.ts'
import { changeTerms } from '../../billing/order-commands.ts'
import { advanceThrough, upcomingInvoice } from '../../billing/order-lifecycle.ts'
import type { OrderTerms, PricedItem } from '../../billing/order-terms.ts'
import { drawCredits, subtotal } from '../../billing/proration.ts'
import {
  addedTax,
  keptTaxes,
  type TaxRate,
  type TaxTerms,
  taxesAt,
  taxOf,
  taxTotals,
} from '../../billing/taxes.ts'
import fc from '../support/fast-check.ts'
import { anyCommands, anyTerms, at, live, MONTHLY, terms } from './orders.ts'

const RUNS = { numRuns: 1_000 }
const VAT: TaxRate = { name: 'VAT', rate: '19', country: 'DE', region: null }
const REDUCED: TaxRate = { ...VAT, rate: '7' }
const GST: TaxRate = { name: 'GST', rate: '5', country: 'CA', region: 'QC' }
const QST: TaxRate = { name: 'QST', rate: '9.975', country: 'CA', region: 'QC' }
const at19 = (members: Partial<TaxTerms> = {}): TaxTerms => ({
  isInclusive: false,
  rates: [VAT],
  shipping: [VAT],
  byProduct: {},
  ...members,
})

const line = (amount: string, members: Partial<InvoiceLine> = {}): InvoiceLine => ({
  type: 'plan',
  itemId: 'item',
  planId: 'plan',
  productId: null,
  description: 'Plan',
  quantity: 1,
  unitPrice: amount,
  amount,
  ...members,
})
const amounts = fc.integer({ min: 0, max: 1_000_000 }).map((cents) => (cents / 100).toString())
const anyRate = fc.constantFrom('0', '2.1', '5', '7', '9.975', '19', '25', '100')
const anyTaxTerms = fc
  .record({
    isInclusive: fc.boolean(),
    rates: fc.array(anyRate, { maxLength: 2 }),
    shipping: fc.array(anyRate, { maxLength: 1 }),
    product: fc.array(anyRate, { maxLength: 2 }),
  })
  .map(({ isInclusive, rates, shipping, product }): TaxTerms => {
    const named = (list: readonly string[]) =>
      list.map((rate, index) => ({ ...VAT, name: `T${index}`, rate }))
    return {
      isInclusive,
      rates: named(rates),
      shipping: named(shipping),
      byProduct: { book: named(product) },
    }
  })
const anyLines = fc.array(
  fc
    .record({
      amount: amounts,
      type: fc.constantFrom('plan', 'setup', 'shipping'),
      productId: fc.constantFrom(null, 'book', 'seat', 'lamp'),
    })
    .map(({ amount, type, productId }) => line(amount, { type: type as InvoiceLine['type'], productId })),
  { maxLength: 6 },
)
const anyDiscounts = fc.array(
  fc.oneof(
    fc
      .integer({ min: 1, max: 100 })
      .map((percent) => ({ type: 'percent' as const, percent: String(percent) })),
    amounts.map((amount) => ({ type: 'fixed' as const, amount })),
  ),
  { maxLength: 3 },
)
const discounts = (values: readonly Discount['value'][]): Discount[] =>
  values.map((value, index) => ({
    couponId: `coupon-${index}`,
    redemptionId: `redemption-${index}`,
    description: '',
    value,
    planIds: null,
    productIds: null,
  }))
const netsOf = (lines: readonly InvoiceLine[]) =>
  lines.map(({ amount, discount = '0' }) => new Money(amount).minus(discount).toFixed())
const taxesOf = (lines: readonly InvoiceLine[]) =>
  taxTotals(lines).map(({ name, rate, base, amount }) => `${name} ${rate}% of ${base}: ${amount}`)

describe('the taxes of an invoice', () => {
  test('are added to what discounts leave of the prices, each rate on its own lines', () => {
    const lines = [
      line('100'),
      line('20', { productId: 'book', description: 'Book' }),
      line('5', { type: 'shipping', description: 'Shipping' }),
    ]
    const tenPercent = discounts([{ type: 'percent', percent: '10' }])
    const invoice = priced(lines, tenPercent, 'EUR', at19({ byProduct: { book: [REDUCED] } }))
    expect(taxesOf(invoice.lines)).toEqual(['VAT 19% of 95: 18.05', 'VAT 7% of 18: 1.26'])
    expect(invoice.amount).toBe('132.31')
    expect(invoice.lines.map(({ taxes }) => taxes?.map(({ amount }) => amount))).toEqual([
      ['17.1'],
      ['1.26'],
      ['0.95'],
    ])
  })

  test('are part of prices that include them, and leave the amount as it is', () => {
    const invoice = priced([line('119'), line('10.7', { productId: 'book' })], [], 'EUR', {
      ...at19({ byProduct: { book: [REDUCED] } }),
      isInclusive: true,
    })
    expect(taxesOf(invoice.lines)).toEqual(['VAT 19% of 100: 19', 'VAT 7% of 10: 0.7'])
    expect(invoice.amount).toBe('129.7')
  })

  test('of a product without rates of its own are the general ones, whatever its id', () => {
    const lines = ['__proto__', 'constructor', 'toString'].map((productId) => line('100', { productId }))
    const invoice = priced(lines, [], 'EUR', at19({ byProduct: { book: [REDUCED] } }))
    expect(taxesOf(invoice.lines)).toEqual(['VAT 19% of 300: 57'])
  })

  test('may be two of one place, such as those of Quebec', () => {
    const quebec = at19({ rates: [GST, QST], shipping: [] })
    const added = priced([line('100')], [], 'CAD', quebec)
    expect(taxesOf(added.lines)).toEqual(['GST 5% of 100: 5', 'QST 9.975% of 100: 9.98'])
    const included = priced([line('114.98')], [], 'CAD', { ...quebec, isInclusive: true })
    expect(taxesOf(included.lines)).toEqual(['GST 5% of 100: 5', 'QST 9.975% of 100: 9.98'])
  })

  test('are split to the cent: those of the lines sum to the rounded tax of each rate', () => {
    fc.assert(
      fc.property(anyLines, anyDiscounts, anyTaxTerms, (lines, values, taxes) => {
        const invoice = priced(lines, discounts(values), 'EUR', taxes)
        const nets = sumOf(netsOf(invoice.lines))
        expect(invoice.amount).toBe(sumOf([nets, addedTax(invoice.lines)]))
        expect(sumOf(taxTotals(invoice.lines).map(({ amount }) => amount))).toBe(taxOf(invoice.lines))
        if (!taxes.isInclusive) {
          for (const { base, rate, amount } of taxTotals(invoice.lines)) {
            expect(amount).toBe(new Money(base).times(rate).div(100).toDecimalPlaces(2).toFixed())
          }
        }
        for (const [index, { taxes: own = [] }] of invoice.lines.entries()) {
          for (const { amount, rate } of own) {
            const divisor = taxes.isInclusive ? sumOf(['100', ...own.map((one) => one.rate)]) : '100'
            const exact = new Money(netsOf(invoice.lines)[index] ?? 0).times(rate).div(divisor)
            // Within a cent of its share of the rounded tax, which is within half a cent of the exact one.
            expect(exact.minus(amount).abs().lessThan(0.015)).toBe(true)
            expect(new Money(amount).isNegative()).toBe(false)
          }
        }
      }),
      RUNS,
    )
  })

  test('are the same for a price without them and for that price with them', () => {
    fc.assert(
      fc.property(amounts, anyRate, (amount, rate) => {
        const rates = [{ ...VAT, rate }]
        const added = priced([line(amount)], [], 'EUR', at19({ rates }))
        const included = priced([line(added.amount)], [], 'EUR', at19({ rates, isInclusive: true }))
        expect([included.amount, taxOf(included.lines)]).toEqual([added.amount, taxOf(added.lines)])
      }),
      RUNS,
    )
  })

  test('do not change when a priced invoice is priced again', () => {
    fc.assert(
      fc.property(anyLines, anyDiscounts, anyTaxTerms, (lines, values, taxes) => {
        const invoice = priced(lines, discounts(values), 'EUR', taxes)
        expect(priced(invoice.lines, discounts(values), 'EUR', taxes)).toEqual(invoice)
        expect(priced(invoice.lines, discounts(values), 'EUR', keptTaxes(invoice.lines, null))).toEqual(
          invoice,
        )
      }),
      RUNS,
    )
  })

  test('follow a discount that ends because the invoice was not paid in time', () => {
    fc.assert(
      fc.property(anyLines, anyDiscounts, anyTaxTerms, (lines, values, taxes) => {
        const early = discounts(values).map((discount) => ({ ...discount, paidBy: 5 }))
        const late = withoutUnpaid(priced(lines, early, 'EUR', taxes), 5, 'EUR')
        expect(late).toEqual(priced(lines, [], 'EUR', taxes))
      }),
      RUNS,
    )
  })

  test('have the decimals of the currency', () => {
    expect(priced([line('99')], [], 'JPY', at19()).amount).toBe('118')
    expect(priced([line('0.101')], [], 'KWD', at19()).amount).toBe('0.12')
  })
})

describe('taxes from an instant on', () => {
  const schedule = [
    { from: 0, ...at19() },
    { from: at('2027-07-01'), ...at19({ rates: [{ ...VAT, rate: '16' }] }) },
  ]
  test.each([
    ['2027-06-30T23:59:59.999Z', '19'],
    ['2027-07-01T00:00:00Z', '16'],
  ])('at %s are of %s percent', (instant, rate) => {
    expect(taxesAt(schedule, at(instant))?.rates).toEqual([{ ...VAT, rate }])
  })

  test('are those of the issue of each invoice, however late it is made', () => {
    const order = placeOrder(terms({}, { createdTime: at('2027-05-01'), taxes: schedule })).order
    const { invoices } = advanceThrough(order, at('2027-08-15')).order
    expect(invoices.map(({ lines }) => taxesOf(lines))).toEqual([
      ['VAT 19% of 9.9: 1.88'],
      ['VAT 19% of 9.9: 1.88'],
      ['VAT 16% of 9.9: 1.58'],
      ['VAT 16% of 9.9: 1.58'],
    ])
  })
})

describe('a credit with taxes', () => {
  test('that is left becomes an item of a memo, which pays back as much', () => {
    fc.assert(
      fc.property(anyLines, anyTaxTerms, (lines, taxes) => {
        const credit = priced(lines, [], 'EUR', taxes).lines.map((one) => ({
          ...one,
          amount: new Money(one.amount).negated().toFixed(),
          taxes: (one.taxes ?? []).map((tax) => ({
            ...tax,
            amount: new Money(tax.amount).negated().toFixed(),
          })),
        }))
        const gross = new Money(sumOf([subtotal(credit), addedTax(credit)])).negated().toFixed()
        expect(creditMemoTotal(credit.map(creditedItem), '0', 'EUR')).toBe(gross)
      }),
      RUNS,
    )
  })

  const credits = fc.array(
    fc.tuple(fc.integer({ min: 1, max: 100_000 }), anyRate, fc.boolean()).map(([cents, rate, isIncluded]) => {
      const net = new Money(cents).div(100)
      const tax = net
        .times(rate)
        .div(isIncluded ? new Money(rate).plus(100) : 100)
        .toDecimalPlaces(2)
      return line(net.neg().toFixed(), {
        type: 'proration',
        taxes: [
          { ...VAT, rate, amount: tax.neg().toFixed(), ...(isIncluded ? { isIncluded: true as const } : {}) },
        ],
      })
    }),
    { maxLength: 4 },
  )
  const whole = (lines: readonly InvoiceLine[]) => sumOf([subtotal(lines), addedTax(lines)])

  test('is divided with its taxes: an invoice falls to zero at most, and nothing is lost', () => {
    fc.assert(
      fc.property(credits, amounts, (queue, amount) => {
        const { lines, left } = drawCredits(queue, amount, 'EUR')
        expect(sumOf([subtotal(lines), subtotal(left)])).toBe(subtotal(queue))
        expect(sumOf([taxOf(lines), taxOf(left)])).toBe(taxOf(queue))
        const total = new Money(amount).plus(whole(lines))
        expect(total.isNegative() && !total.isZero()).toBe(false)
        expect(left.length === 0 || total.isZero()).toBe(true)
        for (const { amount: part, taxes = [] } of [...lines, ...left]) {
          expect(
            [part, ...taxes.map((tax) => tax.amount)].every((one) => new Money(one).lessThanOrEqualTo(0)),
          ).toBe(true)
        }
      }),
      RUNS,
    )
  })
})

describe('an order with taxes', () => {
  const price = (amount: string, id = 'item'): PricedItem => ({
    id,
    quantity: 1,
    plan: { ...MONTHLY, id: `plan-${id}`, pricing: { formula: 'flat-rate', price: amount } },
  })
  const MIDDLE = at('2027-04-16')
  const placed = (amount: string, taxes: TaxTerms, members: Partial<OrderTerms> = {}): Order =>
    placeOrder(
      terms(
        {},
        { createdTime: at('2027-04-01'), items: [price(amount)], taxes: [{ from: 0, ...taxes }], ...members },
      ),
    ).order
  const begun = (amount: string, taxes: TaxTerms, instant = MIDDLE) =>
    advanceThrough(placed(amount, taxes), instant).order
  const withTaxes = (order: Order, taxes: TaxTerms): Order => ({
    ...order,
    terms: { ...order.terms, taxes: [{ from: 0, ...taxes }] },
  })
  const to = (order: Order, amount: string, instant = MIDDLE): Order =>
    changeItems(order, instant, {
      terms: { ...order.terms, items: [price(amount, `${order.nextInvoice}-${amount}`)] },
      prorated: true,
      renewalPolicy: 'retain',
    }).order

  test('charges the tax of the difference, and credits the same share of the tax as of the price', () => {
    const dearer = to(begun('10', at19()), '20')
    expect(dearer.invoices[1]).toMatchObject({ type: 'interim', amount: '5.95' })
    const cheaper = to(begun('20', at19()), '10')
    expect(cheaper.queue.map(({ amount, taxes }) => [amount, taxes?.[0]?.amount])).toEqual([
      ['-10', '-1.9'],
      ['5', '0.95'],
    ])
    const upcoming = upcomingInvoice(cheaper)
    const renewed = advanceThrough(cheaper, at('2027-05-01')).order.invoices[1]
    expect(renewed).toMatchObject({ amount: '5.95' })
    expect([upcoming?.amount, upcoming?.lines]).toEqual([renewed?.amount, renewed?.lines])
  })

  test('credits the tax that was charged, and taxes what is new at the rate of now', () => {
    const changed = to(withTaxes(begun('20', at19()), at19({ rates: [{ ...VAT, rate: '21' }] })), '20')
    expect(changed.invoices[1]?.lines.map(({ amount, taxes }) => [amount, taxes?.[0]?.amount])).toEqual([
      ['-10', '-1.9'],
      ['10', '2.1'],
    ])
    expect(changed.invoices[1]?.amount).toBe('0.2')
    // That of the interim invoice is credited at its rate, whatever the period's was.
    const back = to(withTaxes(changed, at19()), '1')
    expect(back.queue.map(({ amount, taxes }) => [amount, taxes?.[0]?.amount])).toEqual([
      ['-10', '-2.1'],
      ['0.5', '0.1'],
    ])
  })

  test('there and back at one instant comes to nothing, taxes too', () => {
    fc.assert(
      fc.property(
        amounts,
        amounts,
        fc.integer({ min: 0, max: 30 * 86_400 - 1 }),
        anyTaxTerms,
        (first, second, passed, taxes) => {
          const instant = at('2027-04-01') + passed * 1000
          const order = begun(first, taxes, instant)
          const there = to(order, second, instant)
          const back = changeItems(there, instant, {
            terms: order.terms,
            prorated: true,
            renewalPolicy: 'retain',
          }).order
          const lines = [...back.invoices.slice(1).flatMap((one) => one.lines), ...back.queue]
          expect([subtotal(lines), taxOf(lines)]).toEqual(['0', '0'])
        },
      ),
      RUNS,
    )
  })

  test('is credited no more tax for an item than it was charged for it', () => {
    const smallAmounts = fc.integer({ min: 1, max: 300 }).map((cents) => (cents / 100).toString())
    fc.assert(
      fc.property(
        fc.array(smallAmounts, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 0, max: 30 * 86_400 - 1 }),
        anyTaxTerms,
        (prices, passed, taxes) => {
          const instant = at('2027-04-01') + passed * 1000
          const items = prices.map((amount, index) => price(amount, `item-${index}`))
          const order = advanceThrough(placed('0', taxes, { items }), instant).order
          const changed = to(order, '0', instant)
          for (const credit of [...changed.invoices.slice(1).flatMap((one) => one.lines), ...changed.queue]) {
            const charged = order.invoices[0]?.lines.find(({ itemId }) => itemId === credit.itemId)
            expect(sumOf([taxOf(charged === undefined ? [] : [charged]), taxOf([credit])])).not.toMatch(/^-/)
          }
        },
      ),
      RUNS,
    )
  })

  test('an issued invoice keeps its taxes when rates change, also where it is drawn up again', () => {
    const order = { ...placed('10', at19()) }
    const issued = advanceThrough(
      { ...order, terms: { ...order.terms, canCharge: true } },
      at('2027-04-01'),
    ).order
    expect(issued).toMatchObject({ status: 'pending', invoices: [{ status: 'unpaid', amount: '11.9' }] })
    const later = { ...issued.terms, taxes: [{ from: 0, ...at19({ rates: [{ ...VAT, rate: '21' }] }) }] }
    const same = changeTerms(issued, MIDDLE, { ...later, shipping: null })
    expect(same.order.invoices[0]).toMatchObject({ amount: '11.9', lines: issued.invoices[0]?.lines })
    const shipped = changeTerms(issued, MIDDLE, { ...later, items: [price('20')] })
    expect(shipped.order.invoices[0]).toMatchObject({ amount: '23.8' })
    const untaxed = advanceThrough(
      { ...order, terms: { ...order.terms, taxes: null, canCharge: true } },
      at('2027-04-01'),
    ).order
    expect(changeTerms(untaxed, MIDDLE, { ...later, items: [price('20')] }).order.invoices[0]).toMatchObject({
      amount: '20',
    })
  })

  test('has the taxes of its net amounts within a cent a line, whatever happens to it', () => {
    fc.assert(
      fc.property(anyTerms, anyCommands, anyRate, fc.boolean(), (agreed, commands, rate, isInclusive) => {
        const rates = [{ ...VAT, rate }]
        const taxes = [{ from: 0, isInclusive, rates, shipping: rates, byProduct: {} }]
        const { order } = live({ ...agreed, taxes }, commands)
        const kept = order.invoices.filter(({ status }) => status !== 'voided')
        for (const { lines, amount } of kept) {
          expect(amount).toBe(sumOf([...netsOf(lines), addedTax(lines)]))
          expect(new Money(amount).isNegative() && !new Money(amount).isZero()).toBe(false)
        }
        const lines = [
          ...kept.flatMap((one) => one.lines),
          ...order.queue.filter(({ type }) => type === 'proration'),
        ]
        const exact = new Money(sumOf(netsOf(lines)))
          .times(rate)
          .div(isInclusive ? new Money(rate).plus(100) : 100)
        expect(
          exact
            .minus(taxOf(lines))
            .abs()
            .lessThanOrEqualTo(0.01 * lines.length),
        ).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})

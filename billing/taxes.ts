/** Taxes of invoice lines: rates in, amounts to the cent out. Amounts are exact decimal strings in the currency's units. */
import { lineAmount, Money, splitAmount, sumOf, sumOfMoney } from './money.ts'
import { ownValue } from './own-value.ts'

/** A tax of a place. */
export interface TaxRate {
  readonly name: string
  /** In percent. */
  readonly rate: string
  readonly country: string | null
  readonly region: string | null
  /** True if the customer owes the tax to the state: nothing is charged. */
  readonly isReverseCharge?: true
}

export interface LineTax extends TaxRate {
  /** Negative of a credit. */
  readonly amount: string
  /** True if the price includes it; otherwise it is added to the price. */
  readonly isIncluded?: true
}

/** The taxes of what an order sells. */
export interface TaxTerms {
  readonly isInclusive: boolean
  readonly rates: readonly TaxRate[]
  readonly shipping: readonly TaxRate[]
  /** By product, where they are not `rates`. */
  readonly byProduct: Readonly<Record<string, readonly TaxRate[]>>
}

/** Taxes and the instant from which they apply, the earliest first. */
export type TaxSchedule = readonly (TaxTerms & { readonly from: number })[]

export interface TaxableLine {
  readonly type: string
  readonly productId?: string | null
  readonly amount: string
  readonly discount?: string
  /** Left out where nothing is taxed. */
  readonly taxes?: readonly LineTax[]
}

/** A tax of an invoice: what its lines have of it. */
export interface TaxTotal extends LineTax {
  /** What is taxed, without the tax. */
  readonly base: string
}

/** Returns the taxes at an instant; null: nothing is taxed. */
export function taxesAt(schedule: TaxSchedule | null | undefined, at: number): TaxTerms | null {
  return schedule?.findLast(({ from }) => from <= at) ?? null
}

/**
 * Returns lines with the taxes of their amounts after discounts, which are `nets`. A tax is rounded half-up once for all
 * lines of its rate, and split over them: the parts sum to the whole. Prorations keep their taxes.
 */
export function taxed<Line extends TaxableLine>(
  lines: readonly Line[],
  nets: readonly string[],
  terms: TaxTerms | null,
  currency: string,
): Line[] {
  const found = lines.map(({ type, taxes = [] }): LineTax[] => (type === 'proration' ? [...taxes] : []))
  for (const { rate, divisor, places } of groupsOf(lines, terms)) {
    const weights = places.map((place) => new Money(nets[place] ?? 0))
    const whole = new Money(lineAmount(sumOfMoney(weights).times(rate.rate).div(divisor), currency))
    const parts = splitAmount(whole, weights, currency)
    for (const [index, place] of places.entries()) {
      const amount = (parts[index] ?? new Money(0)).toFixed()
      found[place]?.push({ ...rate, amount, ...(terms?.isInclusive === true ? { isIncluded: true } : {}) })
    }
  }
  return lines.map((line, index) => withTaxes(line, found[index] ?? []))
}

/** Returns what taxes add to the prices of lines. */
export function addedTax(lines: readonly Pick<TaxableLine, 'taxes'>[]): string {
  return sumOf(lines.flatMap(({ taxes = [] }) => taxes.flatMap((tax) => (tax.isIncluded ? [] : tax.amount))))
}

/** Returns the taxes of lines, those that are included too. */
export function taxOf(lines: readonly Pick<TaxableLine, 'taxes'>[]): string {
  return sumOf(lines.flatMap(({ taxes = [] }) => taxes.map(({ amount }) => amount)))
}

/** Returns a line with other amounts of its taxes. */
export function withTaxAmounts<Line extends TaxableLine>(
  line: Line,
  of: (amount: string, index: number) => string,
): Line {
  return withTaxes(
    line,
    (line.taxes ?? []).map((tax, index) => ({ ...tax, amount: of(tax.amount, index) })),
  )
}

/** Returns each tax of lines with what it taxes, in the order of the lines. */
export function taxTotals(lines: readonly TaxableLine[]): TaxTotal[] {
  const totals = new Map<string, TaxTotal>()
  for (const line of lines) {
    const { taxes = [], amount, discount = '0' } = line
    const included = sumOf(taxes.flatMap((tax) => (tax.isIncluded ? tax.amount : [])))
    const net = new Money(amount).minus(discount).minus(included).toFixed()
    for (const tax of taxes) {
      const { amount: _, ...kind } = tax
      const key = JSON.stringify(Object.entries(kind).toSorted())
      const known = totals.get(key) ?? { ...tax, amount: '0', base: '0' }
      totals.set(key, { ...known, amount: sumOf([known.amount, tax.amount]), base: sumOf([known.base, net]) })
    }
  }
  return [...totals.values()]
}

/**
 * Returns the taxes by which an invoice with these lines is drawn up again: those of its lines, whatever has changed since;
 * `current` for products that it did not have. One without taxes keeps to that.
 */
export function keptTaxes(lines: readonly TaxableLine[], current: TaxTerms | null): TaxTerms | null {
  const own = lines.filter(({ type }) => type !== 'proration')
  const first = own.flatMap(({ taxes = [] }) => taxes)[0]
  if (first === undefined) return null
  const ratesOf = (line: TaxableLine | undefined) => line && (line.taxes ?? []).map(rateOf)
  const sold = own.filter(({ type }) => type !== 'shipping')
  const byProduct = sold.flatMap((line) =>
    line.productId == null ? [] : [[line.productId, ratesOf(line) ?? []] as const],
  )
  return {
    isInclusive: first.isIncluded === true,
    rates: ratesOf(sold.find(({ productId }) => productId == null)) ?? current?.rates ?? [],
    shipping: ratesOf(own.find(({ type }) => type === 'shipping')) ?? current?.shipping ?? [],
    byProduct: { ...current?.byProduct, ...Object.fromEntries(byProduct) },
  }
}

/** Returns the rates of a line for its other parts; null: it is not taxed. */
export function lineTaxes({ taxes = [] }: TaxableLine): TaxTerms | null {
  const [first] = taxes
  if (first === undefined) return null
  const rates = taxes.map(rateOf)
  return { isInclusive: first.isIncluded === true, rates, shipping: rates, byProduct: {} }
}

/** Returns how a tax is called on an invoice, such as `VAT 19%`. */
export function taxText({ name, rate, isReverseCharge }: TaxRate): string {
  return isReverseCharge === true ? name : `${name} ${rate}%`
}

interface Group {
  readonly rate: TaxRate
  /** The tax is the rate over this of the lines: 100, or with included taxes 100 and their rates. */
  readonly divisor: string
  readonly places: readonly number[]
}

function groupsOf(lines: readonly TaxableLine[], terms: TaxTerms | null): Iterable<Group> {
  if (terms === null) return []
  const placesOf = new Map<readonly TaxRate[], number[]>()
  for (const [place, line] of lines.entries()) {
    if (line.type === 'proration') continue
    const rates = ratesFor(line, terms)
    const known = placesOf.get(rates)
    if (known === undefined) placesOf.set(rates, [place])
    else known.push(place)
  }
  const groups = new Map<string, Group>()
  for (const [rates, places] of placesOf) {
    const divisor = terms.isInclusive ? sumOf(['100', ...rates.map(({ rate }) => rate)]) : '100'
    for (const rate of rates) {
      const key = JSON.stringify([divisor, Object.entries(rate).toSorted()])
      const known = groups.get(key)
      const all = [...(known?.places ?? []), ...places].toSorted((one, other) => one - other)
      groups.set(key, { rate, divisor, places: all })
    }
  }
  return groups.values()
}

function ratesFor({ type, productId }: TaxableLine, terms: TaxTerms): readonly TaxRate[] {
  if (type === 'shipping') return terms.shipping
  return ownValue(terms.byProduct, productId ?? '') ?? terms.rates
}

function rateOf({ amount: _, isIncluded: __, ...rate }: LineTax): TaxRate {
  return rate
}

function withTaxes<Line extends TaxableLine>(line: Line, taxes: readonly LineTax[]): Line {
  const { taxes: _, ...plain } = line
  return (taxes.length === 0 ? plain : { ...plain, taxes }) as Line
}

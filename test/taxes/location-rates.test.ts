/** Taxes at the rates of countries and regions that an organization has set. */
import { describe, expect, test } from '@jest/globals'
import { type TaxId, vatCountry } from '../../billing/tax-ids.ts'
import type { FlatTaxes, TaxLocation } from '../../billing/tax-settings.ts'
import { taxesAt, taxText } from '../../billing/taxes.ts'
import { locationRates } from '../../taxes/location-rates.ts'

const FLAT: FlatTaxes = { rate: '20', isInclusive: false }
const at = (place: string, members: Partial<TaxLocation> = {}): TaxLocation => {
  const [country = '', region = null] = place.split('-')
  return {
    address: null,
    city: null,
    postalCode: null,
    country,
    region,
    name: 'VAT',
    rate: null,
    startTime: null,
    categories: [],
    ...members,
  }
}
const party = (place: string, vat: string | null = null) => {
  const [country = null, region = null] = place === '' ? [] : place.split('-')
  return { country, region, taxId: vat === null ? null : { type: 'eu-vat' as const, value: vat } }
}
const taxesOf = async (
  locations: readonly TaxLocation[],
  buyer: ReturnType<typeof party>,
  { seller = party('DE'), calculator = FLAT, instant = Date.parse('2027-01-01') } = {},
) => {
  const products = [
    { id: 'book', taxCategoryId: 'books' },
    { id: 'seat', taxCategoryId: null },
  ]
  const schedule = await locationRates({ calculator, locations })?.taxesOf({
    currency: 'EUR',
    seller,
    buyer,
    products,
  })
  const taxes = taxesAt(schedule, instant)
  if (taxes === null) throw new Error('nothing is taxed')
  const texts = (rates: typeof taxes.rates) => rates.map(taxText).join(' + ')
  return {
    rates: texts(taxes.rates),
    shipping: texts(taxes.shipping),
    book: texts(taxes.byProduct.book ?? taxes.rates),
    isInclusive: taxes.isInclusive,
  }
}

describe('taxes by location', () => {
  test('without a calculator are none', () => {
    expect(locationRates({ calculator: null, locations: [at('DE', { rate: '19' })] })).toBeNull()
  })

  test('without locations are one rate for everybody', async () => {
    expect(await taxesOf([], party('US-NY'))).toMatchObject({ rates: 'Tax 20%', shipping: 'Tax 20%' })
    expect(await taxesOf([], party(''))).toMatchObject({ rates: 'Tax 20%' })
  })

  test.each([
    ['of its country', 'FR', 'VAT 20%'],
    ['of its country, at its rate', 'DE-Bayern', 'VAT 19%'],
    ['of its region instead', 'ES-Canarias', 'IGIC 7%'],
    ['of its region in any case', 'ES-CANARIAS', 'IGIC 7%'],
    ['of the country in its other regions', 'ES-Madrid', 'VAT 21%'],
    ['two, where a region has two', 'CA-QC', 'GST 5% + QST 9.975%'],
    ['none, where none is collected', 'JP', ''],
    ['those of the seller, where nobody knows where the customer is', '', 'VAT 19%'],
  ])('are %s', async (_, place, rates) => {
    const locations = [
      at('FR'),
      at('DE', { rate: '19' }),
      at('ES', { rate: '21' }),
      at('ES-Canarias', { name: 'IGIC', rate: '7' }),
      at('CA', { name: 'GST', rate: '5' }),
      at('CA-QC', { name: 'GST', rate: '5' }),
      at('CA-QC', { name: 'QST', rate: '9.975' }),
    ]
    expect(await taxesOf(locations, party(place))).toMatchObject({ rates })
  })

  test('have other rates for categories of products, and for shipping', async () => {
    const categories = [
      { taxCategoryId: 'books', rate: '7' },
      { taxCategoryId: 'shipping', rate: '0' },
    ]
    expect(await taxesOf([at('DE', { rate: '19', categories })], party('DE'))).toMatchObject({
      rates: 'VAT 19%',
      book: 'VAT 7%',
      shipping: 'VAT 0%',
    })
  })

  test('change at the start time of a rate', async () => {
    const locations = [
      at('DE', { rate: '16', startTime: '2027-07-01T00:00:00Z' }),
      at('DE', { rate: '19' }),
      at('AT', { rate: '20', startTime: '2028-01-01T00:00:00Z' }),
    ]
    const rates = async (place: string, day: string) =>
      (await taxesOf(locations, party(place), { instant: Date.parse(day) })).rates
    expect(await rates('DE', '2027-06-30')).toBe('VAT 19%')
    expect(await rates('DE', '2027-07-01')).toBe('VAT 16%')
    expect(await rates('DE', '2029-01-01')).toBe('VAT 16%')
    expect(await rates('AT', '2027-06-30')).toBe('')
    expect(await rates('AT', '2028-01-01')).toBe('VAT 20%')
  })

  test.each([
    ['of another state', 'FR', 'FR 12 345678901', 'DE', null, 'Reverse charge'],
    [
      'of another state where nothing is collected',
      'PL',
      'PL1234563218',
      'DE',
      'DE123456789',
      'Reverse charge',
    ],
    ['of Greece, which writes EL', 'GR', 'EL123456789', 'DE', null, 'Reverse charge'],
    ['of the same state', 'DE', 'DE123456789', 'DE', null, 'VAT 19%'],
    ['of a wrong form', 'FR', 'FR1', 'DE', null, 'VAT 20%'],
    ['for a seller outside of the union', 'FR', 'FR12345678901', 'CH', null, 'VAT 20%'],
    [
      'for a seller who is registered in another state',
      'DE',
      'DE123456789',
      'CH',
      'PL1234563218',
      'Reverse charge',
    ],
  ])('with a VAT number %s', async (_, place, number, seller, sellersNumber, rates) => {
    const locations = [at('FR'), at('DE', { rate: '19' })]
    const taxes = await taxesOf(locations, party(place, number), { seller: party(seller, sellersNumber) })
    expect(taxes).toMatchObject({ rates, shipping: rates })
  })
})

describe('a VAT number', () => {
  test.each([
    ['ATU12345678', 'AT'],
    ['el 123.456.789', 'GR'],
    ['NL123456789B01', 'NL'],
    ['IE1234567FA', 'IE'],
    ['SE123456789001', 'SE'],
    ['DE12345678', null],
    ['GB123456789', null],
    ['123456789', null],
    ['', null],
  ])('%s is of %s', (value, country) => {
    expect(vatCountry({ type: 'eu-vat', value })).toBe(country)
  })

  test('is of no state where it is another kind of number, or none', () => {
    const other: TaxId = { type: 'other', value: 'DE123456789' }
    expect([vatCountry(other), vatCountry(null)]).toEqual([null, null])
  })
})

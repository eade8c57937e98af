import Type from 'typebox'
import { Amount, OrNull, ReadOnly } from './conventions.ts'

const rate = (description: string) => OrNull(Type.Number({ description }))
const amount = (description: string) => OrNull(Amount(description))

const members = {
  amount: Amount('Amount of the tax.'),
  description: Type.String({ description: 'Name and rate of the tax, or that it is a reverse charge.' }),
  rate: rate('Rate in percent.'),
  stateAmount: amount('What the state, province or region has of the amount.'),
  countyAmount: amount('What the county has of the amount.'),
  cityAmount: amount('What the city has of the amount.'),
  specialDistrictAmount: amount('What a special district has of the amount.'),
  stateRate: rate('Rate of the state, province or region.'),
  countyRate: rate('Rate of the county.'),
  cityRate: rate('Rate of the city.'),
  specialDistrictRate: rate('Rate of a special district.'),
  jurisdictions: OrNull(
    Type.Object(
      {
        country: OrNull(Type.String({ description: 'Two-letter ISO 3166 country code.' })),
        state: OrNull(Type.String({ description: 'State, province or region.' })),
        county: OrNull(Type.String({ description: 'County.' })),
        city: OrNull(Type.String({ description: 'City.' })),
      },
      { title: 'TaxJurisdictions', description: 'Where the tax is collected.' },
    ),
  ),
}

/** The taxes of an item as one. */
export const ItemTax = ReadOnly(
  OrNull(
    Type.Object(members, {
      title: 'TaxItem',
      description: 'Taxes of the item; of a credit, those that are credited. Null if it is not taxed.',
    }),
  ),
)

export const InvoiceTaxes = ReadOnly(
  Type.Object(
    {
      calculator: Type.Enum(['manual'], { description: 'How the taxes are computed.' }),
      amount: Amount('Sum of the taxes.'),
      isInclusive: Type.Boolean({
        description:
          'Whether the prices of the items include the taxes. Otherwise the taxes are added to them.',
      }),
      items: Type.Array(
        Type.Object(
          { ...members, taxableAmount: Amount('Amount that is taxed, without the tax.') },
          { title: 'InvoiceTaxItem', description: 'A tax and what the items of the invoice have of it.' },
        ),
        { description: 'Taxes by rate.' },
      ),
    },
    { description: 'Taxes of the invoice.' },
  ),
)

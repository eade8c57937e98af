import Type, { type TSchema } from 'typebox'
import { Amount, AsShown, Nullable, OrNull, Text } from './conventions.ts'

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

/** The names of what parts of a state have of a tax. */
export const TAX_PARTS = [
  'stateAmount',
  'countyAmount',
  'cityAmount',
  'specialDistrictAmount',
  'stateRate',
  'countyRate',
  'cityRate',
  'specialDistrictRate',
] as const

const part = (schema: TSchema) => Type.Optional({ ...schema, minimum: 0, default: null } as TSchema)
const place = (description: string) => Nullable(Text(description))

/** A tax that a caller states. */
export const GivenTax = Nullable(
  Type.Object(
    {
      amount: Amount('Amount of the tax.', { minimum: 0 }),
      description: Text('Name of the tax.'),
      rate: Nullable(Type.Number({ minimum: 0, maximum: 100, description: 'Rate in percent.' })),
      ...(Object.fromEntries(TAX_PARTS.map((name) => [name, part(members[name])])) as Record<
        (typeof TAX_PARTS)[number],
        ReturnType<typeof Nullable<ReturnType<typeof Type.Number>>>
      >),
      jurisdictions: Nullable(
        Type.Object(
          {
            country: Nullable(
              Type.String({ pattern: '^[A-Z]{2}$', description: 'Two-letter ISO 3166 country code.' }),
            ),
            state: place('State, province or region.'),
            county: place('County.'),
            city: place('City.'),
          },
          { additionalProperties: false, description: 'Where the tax is collected.' },
        ),
      ),
    },
    { title: 'CreditMemoTaxItem', additionalProperties: false, description: 'Tax that is credited.' },
  ),
)

/** The taxes of an item as one. */
export const ItemTax = AsShown(
  OrNull(
    Type.Object(members, {
      title: 'TaxItem',
      description: 'Taxes of the item; of a credit, those that are credited. Null if it is not taxed.',
    }),
  ),
)

/** Taxes follow from the settings of the organization: a caller cannot state them. */
export const InvoiceTaxes = AsShown(
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
    { description: 'Taxes of the invoice, by the tax settings of the organization.' },
  ),
  { calculator: 'manual' },
)

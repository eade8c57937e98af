import Type, { type Static } from 'typebox'
import { DEFAULT_BILLING_SETTINGS } from '../../billing/billing-settings.ts'
import { Contact } from './contact.ts'
import { Instant, Nullable, OrNull, PartlySupported, ReadOnly, resourceMembers, Text } from './conventions.ts'
import { notSupportedYet } from './not-supported.ts'
import { TaxNumber } from './tax-number.ts'

const Duration = (description: string) => Type.String({ format: 'duration', maxLength: 50, description })

const durations = (defaults: readonly string[], description: string) =>
  Type.Optional(
    Type.Array(Duration('ISO 8601 duration.'), { maxItems: 20, default: [...defaults], description }),
  )

const { autopayRetries, paydays, declinedRenewalsLimit } = DEFAULT_BILLING_SETTINGS

const Reminders = Type.Object(
  {
    renewal: durations([], 'Offsets before a renewal.'),
    trialEnd: durations([], 'Offsets before the end of a trial.'),
    abandon: durations([], 'Offsets before a pending order is abandoned.'),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'How long before each event reminders are sent.',
  },
)

const Billing = Type.Object(
  {
    pendingOrderTtl: Nullable(
      Duration(
        'How long a pending order without abandonTime is kept, counted from the later of its creation and its start time. If null, such orders are never abandoned.',
      ),
    ),
    reminders: Type.Optional(Reminders),
    autopayRetries: durations(
      autopayRetries,
      'When a declined charge of an invoice is retried, counted from the first decline. Charges that were declined for good are not retried until there is another payment instrument.',
    ),
    paydays: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: 31, description: 'Day of the month.' }), {
        maxItems: 31,
        uniqueItems: true,
        default: [...paydays],
        description:
          'Days of the month on which a charge that was declined for insufficient funds is retried, in place of `autopayRetries` and as often. In a shorter month, its last day. If none comes before the invoice is delinquent, `autopayRetries` apply.',
      }),
    ),
    declinedRenewalsLimit: Type.Optional(
      OrNull(Type.Integer({ minimum: 1, maximum: 1000 }), {
        default: declinedRenewalsLimit,
        description:
          'Number of renewal invoices in a row whose charges were all declined, after which an order is no longer charged until there is another payment instrument. Its invoices are still issued. If null, it is always charged.',
      }),
    ),
    ...notSupportedYet({
      orderDelinquencyPeriod: null,
      subtractRecurringDiscountsFromMrr: false,
      subtractOneTimeDiscountsFromMrr: false,
    }),
  },
  { additionalProperties: false, default: {}, description: 'Billing settings of all orders.' },
)

const Documents = Type.Object(
  {
    logo: Nullable(
      Type.String({
        maxLength: 90_000,
        description:
          'Logo on documents: a PNG or JPEG image of at most 64 KiB and 1000 by 1000 pixels, as a data URL in Base64.',
      }),
    ),
  },
  { additionalProperties: false, default: {}, description: 'Settings of the documents for customers.' },
)

const Rate = (description: string) => Type.Number({ minimum: 0, maximum: 100, description })

const TaxCalculator = Type.Object(
  {
    type: PartlySupported(
      ['flat'],
      Type.Enum(['taxjar', 'avalara', 'flat'], {
        description: 'Who knows the rates: `flat` is the organization itself.',
      }),
    ),
    rate: Nullable(Rate('Rate in percent of locations without a rate of their own.')),
    isInclusive: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether prices include their taxes. Otherwise taxes are added to them.',
      }),
    ),
  },
  { additionalProperties: false, description: 'How orders are taxed. If null, they are not.' },
)

const TaxLocation = Type.Object(
  {
    address: Nullable(Text('Street and number.')),
    city: Nullable(Text('City.')),
    region: Nullable(
      Text(
        'State, province or county, as addresses of customers have it. It has its own taxes in place of those of the country. If null, the whole country.',
      ),
    ),
    country: Type.String({ pattern: '^[A-Z]{2}$', description: 'Two-letter ISO 3166 country code.' }),
    postalCode: Nullable(Text('Postal code.')),
    name: Type.Optional(
      Text('Name of the tax on invoices, such as `VAT`.', { minLength: 1, maxLength: 50, default: 'Tax' }),
    ),
    rate: Nullable(Rate('Rate in percent. If null, that of `defaultTaxCalculator`.')),
    startTime: Nullable(
      Instant('When the rate comes into force. If null, it is in force; the latest of one tax applies.'),
    ),
    categories: Type.Optional(
      Type.Array(
        Type.Object(
          {
            taxCategoryId: Type.String({
              minLength: 1,
              maxLength: 50,
              description: 'Category of products, or `shipping`.',
            }),
            rate: Rate('Rate in percent.'),
          },
          { additionalProperties: false, description: 'The rate of a category.' },
        ),
        { maxItems: 200, default: [], description: 'Rates of products of some categories.' },
      ),
    ),
  },
  { additionalProperties: false, description: 'A tax of a country or region.' },
)

const Settings = Type.Object(
  {
    billing: Type.Optional(Billing),
    documents: Type.Optional(Documents),
    defaultTaxCalculator: Nullable(TaxCalculator),
    taxLocations: Type.Optional(
      Type.Array(TaxLocation, {
        maxItems: 500,
        default: [],
        description:
          'Where taxes are collected, with their rates. Locations of one place with different names are several taxes. If there are none, every customer is taxed at the rate of `defaultTaxCalculator`.',
      }),
    ),
    ...notSupportedYet({
      notifications: {
        notifyOnUserAccessChanges: false,
        notifyOnApiKeyAccessChanges: false,
        notificationEmailAddresses: [],
      },
      annualComplianceScreening: { enabled: false, monthDay: null },
      payoutRequestAllocationOrder: null,
    }),
  },
  { additionalProperties: false, default: {}, description: 'Settings of the organization.' },
)

const Questionnaire = Type.Object(
  {
    role: Nullable(Text('Role of the person who registered the organization.')),
    monthlyTransactions: Nullable(Text('Expected number of transactions per month.')),
    products: Type.Optional(
      OrNull(Type.Array(Text('A product of interest.'), { maxItems: 100 }), { default: null }),
    ),
    integrationType: Nullable(Text('How the organization integrates.')),
    launchTiming: Nullable(Text('When the organization plans to launch.')),
  },
  { additionalProperties: false, description: 'Answers given at the registration.' },
)

export const Organization = Type.Object(
  {
    ...resourceMembers,
    name: Text('Display name.', { minLength: 1 }),
    website: Nullable(Type.String({ maxLength: 2048, description: 'Website of the organization.' })),
    address: Nullable(Text('Street and number.')),
    address2: Nullable(Text('Second line of the address.')),
    city: Nullable(Text('City.')),
    region: Nullable(Text('State, province or county.')),
    country: Nullable(
      Type.String({ pattern: '^[A-Z]{2}$', description: 'Two-letter ISO 3166 country code.' }),
    ),
    postalCode: Nullable(Text('Postal code.')),
    phoneNumbers: Contact.properties.phoneNumbers,
    emails: Contact.properties.emails,
    taxDescriptor: Nullable(Text('Text about taxes for invoices.')),
    taxNumbers: Type.Optional(
      OrNull(Type.Array(TaxNumber, { maxItems: 100 }), { default: null, description: 'Tax numbers.' }),
    ),
    invoiceTimeZone: Type.Optional(
      Text('Time zone for invoices, a name of the IANA database.', { minLength: 1, default: 'UTC' }),
    ),
    reportCurrency: Nullable(Type.String({ format: 'currency', description: 'Currency of reports.' })),
    questionnaire: Nullable(Questionnaire),
    settings: Type.Optional(Settings),
    features: ReadOnly(
      Type.Array(
        Type.Object(
          { name: Type.String(), description: Type.String() },
          { description: 'An optional feature.' },
        ),
        {
          description: 'Optional features of the organization.',
        },
      ),
    ),
    ...notSupportedYet({ replayOrganizationId: null }),
  },
  {
    $id: 'Organization',
    additionalProperties: false,
    description: 'A merchant, which owns all other resources.',
  },
)
export type Organization = Static<typeof Organization>

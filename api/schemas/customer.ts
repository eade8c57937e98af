import Type, { type Static } from 'typebox'
import { Contact } from './contact.ts'
import {
  CustomFields,
  Id,
  Instant,
  Nullable,
  OrNull,
  ReadOnly,
  resourceMembers,
  Text,
} from './conventions.ts'
import { LeadSource } from './lead-source.ts'
import { NotSupportedYet, notSupportedYet } from './not-supported.ts'
import { TaxNumber } from './tax-number.ts'

const Count = (description: string) => ReadOnly(Type.Integer({ minimum: 0, description }))

/** An amount over all payments, which is only known if they have one currency. */
const Value = (description: string) =>
  ReadOnly(
    Type.Object(
      {
        currency: OrNull(Type.String({ description: 'ISO 4217 currency code.' })),
        amount: OrNull(Type.Number({ description: 'Value in the currency.' })),
        amountUsd: OrNull(Type.Number({ description: 'Value in US dollars. Null in other currencies.' })),
      },
      { description: `${description} Its members are null if there are payments in several currencies.` },
    ),
  )

export const Customer = Type.Object(
  {
    ...resourceMembers,
    organizationId: ReadOnly(Id('Organization of the customer.')),
    email: Nullable(Type.String({ format: 'email', maxLength: 255, description: 'E-mail address.' })),
    firstName: Nullable(Text('Given name.')),
    lastName: Nullable(Text('Family name.')),
    websiteId: Nullable(Id('Website through which the customer was acquired.')),
    defaultPaymentInstrument: Nullable(
      Type.Object(
        {
          method: Type.Enum(['payment-card']),
          paymentInstrumentId: Id('A payment instrument of the customer.'),
        },
        { additionalProperties: false, description: 'Payment instrument that is charged by default.' },
      ),
    ),
    defaultPaymentInstrumentId: Nullable(
      Id('Id of the payment instrument that is charged by default: another way to read and set it.'),
    ),
    paymentToken: Type.Optional(
      OrNull(
        Id(
          "A payment token. It is consumed to create a payment instrument, which becomes the customer's default.",
        ),
        {
          writeOnly: true,
        },
      ),
    ),
    primaryAddress: Nullable(Contact),
    locale: Nullable(
      Type.String({
        maxLength: 35,
        pattern: '^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$',
        description: 'Language of the customer as a BCP 47 tag, such as en or fr-CA.',
      }),
    ),
    taxNumbers: Nullable(
      Type.Array(TaxNumber, { maxItems: 20, description: 'Tax numbers of the customer.' }),
    ),
    leadSource: Nullable(LeadSource),
    tags: ReadOnly(
      Type.Array(
        Type.Object(
          {
            id: Id('Id of the tag.'),
            name: Type.String({ description: 'Name of the tag.' }),
            type: Type.Enum(['customer']),
          },
          { description: 'A tag of the customer.' },
        ),
        { description: 'Tags of the customer.' },
      ),
    ),
    customFields: CustomFields,
    paymentCount: Count('Number of approved payments.'),
    lastPaymentTime: ReadOnly(OrNull(Instant('When the most recent approved payment was made.'))),
    lifetimeRevenue: Value('Approved payments less refunds.'),
    averageValue: Value('Average amount of an approved payment.'),
    invoiceCount: Count('Number of issued invoices.'),
    hasFulfilledKyc: NotSupportedYet(
      ReadOnly(Type.Boolean({ description: 'Whether the customer has fulfilled a KYC request.' })),
      false,
    ),
    ...notSupportedYet({
      preferredPayoutInstrumentId: null,
      company: null,
      personId: null,
      notificationEmails: [],
    }),
  },
  { $id: 'Customer', additionalProperties: false, description: 'A customer of the organization.' },
)
export type Customer = Static<typeof Customer>

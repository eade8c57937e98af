import Type, { type Static, type TProperties, type TSchema } from 'typebox'
import { CARD_BRANDS } from '../../billing/cards.ts'
import { GATEWAY_NAMES } from '../../gateways/accounts.ts'
import { Amount, CustomFields, Nullable, OrNull, ReadOnly, resourceMembers } from './conventions.ts'
import { notSupportedYet } from './not-supported.ts'

const secret = (description: string) =>
  Type.String({ minLength: 8, maxLength: 255, pattern: '^[\\x21-\\x7e]+$', description, writeOnly: true })

export const GatewayAccount = Type.Object(
  {
    ...resourceMembers,
    gatewayName: Type.Enum([...GATEWAY_NAMES], {
      description: 'Payment provider. TestGateway exists in the sandbox only. It cannot be changed.',
    }),
    method: Type.Enum(['payment-card'], { description: 'Payment method that the account takes.' }),
    status: ReadOnly(
      Type.Enum(['active', 'inactive', 'closed'], {
        description:
          'Only an active account stores cards and charges; refunds go to the account that charged, whatever its status.',
      }),
    ),
    acceptedCurrencies: Type.Array(Type.String({ format: 'currency' }), {
      minItems: 1,
      maxItems: 200,
      uniqueItems: true,
      description: 'Currencies that the account charges in.',
    }),
    paymentCardSchemes: Type.Optional(
      Type.Array(Type.Enum([...CARD_BRANDS]), {
        maxItems: 20,
        uniqueItems: true,
        default: [],
        description: 'Card brands that the account takes. All if the array is empty.',
      }),
    ),
    priority: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1000,
        default: 0,
        description:
          'A new card is charged by the fitting active account that has the lowest number. It is stored with the next ones too, which charge it after a soft decline or above a daily limit.',
      }),
    ),
    dailyLimits: Type.Optional(
      Type.Array(
        Type.Object(
          {
            currency: Type.String({ format: 'currency', description: 'ISO 4217 currency code.' }),
            count: Type.Optional(
              OrNull(
                Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'Number of charges.' }),
                {
                  default: null,
                },
              ),
            ),
            amount: Type.Optional(OrNull(Amount('Sum of the charges.'), { default: null })),
          },
          {
            additionalProperties: false,
            title: 'GatewayAccountDailyLimit',
            description: 'A limit in a currency.',
          },
        ),
        {
          maxItems: 200,
          default: [],
          description:
            'What the account charges at most in a day (UTC), in each currency. Declined charges do not count. Above a limit, the next account that holds the card is charged; otherwise the charge is declined, and can be retried.',
        },
      ),
    ),
    takesCardNumbers: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "True if the provider has permitted you to send it card numbers. Otherwise cards are entered in the provider's own form.",
      }),
    ),
    descriptor: Nullable(
      Type.String({
        minLength: 2,
        maxLength: 22,
        pattern: '^[^<>"\'\\\\*]*[A-Za-z][^<>"\'\\\\*]*$',
        description:
          "What stands on the cardholder's statement beside the text of the provider's account. It has at least one letter.",
      }),
    ),
    credentials: Type.Optional(
      Type.Object(
        {
          secretKey: secret(
            'Secret key of the account at the provider. It is encrypted, and never returned.',
          ),
          publishableKey: Type.Optional(
            Type.String({
              maxLength: 255,
              pattern: '^[\\x21-\\x7e]+$',
              description: "Publishable key, with which the provider's form works in the browser.",
              writeOnly: true,
            }),
          ),
          webhookSecret: Type.Optional(
            secret(
              "Signing secret of the provider's webhook that points at the notifications of the account. It is encrypted, and never returned.",
            ),
          ),
        },
        {
          additionalProperties: false,
          writeOnly: true,
          description:
            'Credentials at the provider. Required to create an account of Stripe; those that a PUT does not contain stay.',
        },
      ),
    ),
    organizationId: ReadOnly(Type.String({ description: 'Organization that has the account.' })),
    customFields: CustomFields,
    ...notSupportedYet({
      acquirerName: null,
      merchantCategoryCode: null,
      dccMarkup: null,
      dccForceCurrency: null,
      dccForceConfirmation: false,
      dccForceRounding: false,
      cityField: null,
      excludedDccQuoteCurrencies: [],
      monthlyLimit: null,
      approvalWindowTtl: 0,
      reconciliationWindowEnabled: false,
      reconciliationWindowTtl: null,
      threeDSecure: false,
      dynamicDescriptor: false,
      digitalWallets: {},
      isDown: false,
      additionalFilters: null,
      timeout: null,
      token: null,
      sticky: true,
      setupInstruction: 'do-nothing',
      readyToPayoutInstruction: 'none',
      payoutLimits: null,
      transactionEmailAliasTemplate: null,
    }),
  },
  {
    $id: 'GatewayAccount',
    additionalProperties: false,
    description: "An account with a payment provider, through which customers' cards are charged.",
  },
)
export type GatewayAccount = Static<typeof GatewayAccount>

const { secretKey, publishableKey, webhookSecret } = GatewayAccount.properties.credentials.properties
const changedCredentials = Type.Optional(
  Type.Object(
    { secretKey: Type.Optional(secretKey), publishableKey, webhookSecret },
    {
      additionalProperties: false,
      writeOnly: true,
      description: 'Credentials at the provider that are changed; the others stay.',
    },
  ),
)

/** Every member of the account, none of them required. */
export const GatewayAccountPatch = Type.Object(
  {
    ...(Object.fromEntries(
      Object.entries(GatewayAccount.properties).map(([name, member]) => [name, withoutDefault(member)]),
    ) as TProperties),
    credentials: changedCredentials,
  },
  {
    $id: 'GatewayAccountPatch',
    additionalProperties: false,
    description: 'The members of a gateway account that are changed.',
  },
)
export type GatewayAccountPatch = Partial<Omit<GatewayAccount, 'credentials'>> & {
  readonly credentials?: Static<typeof changedCredentials>
}

function withoutDefault<T extends TSchema>(schema: T): T {
  const { default: _, ...rest } = schema as T & { default?: unknown }
  return Type.Optional(rest as unknown as T) as T
}

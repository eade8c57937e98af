import Type, { type Static, type TSchema } from 'typebox'
import type { RiskInput } from '../../billing/risk.ts'
import { Nullable, OrNull, ReadOnly, Text } from './conventions.ts'

const derived = (schema: TSchema) => ReadOnly(OrNull(schema))
const yesNo = (description: string) => derived(Type.Boolean({ description }))
const text = (description: string) => derived(Type.String({ description }))
const number = (description: string) => derived(Type.Number({ description }))

const BrowserData = Type.Object(
  {
    colorDepth: Type.Integer({ minimum: 0, maximum: 1024 }),
    isJavaEnabled: Type.Boolean(),
    language: Text('As the browser names it.'),
    screenWidth: Type.Integer({ minimum: 0, maximum: 100_000 }),
    screenHeight: Type.Integer({ minimum: 0, maximum: 100_000 }),
    timeZoneOffset: Type.Integer({
      minimum: -1440,
      maximum: 1440,
      description: 'Minutes, as getTimezoneOffset() gives them.',
    }),
    isAdBlockEnabled: Nullable(Type.Boolean()),
  },
  { additionalProperties: false, description: "What the payer's browser says of itself." },
)

/** Risk metadata (specification 2.4): what is told, and what is derived from it. */
export const RiskMetadata = Type.Object(
  {
    ipAddress: Nullable(Type.String({ format: 'ip', description: 'Address of the payer, IPv4 or IPv6.' })),
    fingerprint: Nullable(Text("Fingerprint of the payer's device.")),
    httpHeaders: Type.Optional(
      Type.Record(Type.String({ maxLength: 255 }), Type.String({ maxLength: 4096 }), {
        maxProperties: 100,
        default: {},
        description: "Headers of the payer's request.",
      }),
    ),
    browserData: Nullable(BrowserData),
    extraData: Type.Optional(
      Type.Record(Type.String({ maxLength: 255 }), Text('Identifier.'), {
        maxProperties: 50,
        default: {},
        description: 'Session identifiers of outside fraud tools, by tool.',
      }),
    ),
    isProxy: yesNo('Whether the address is a proxy.'),
    isVpn: yesNo('Whether it belongs to a VPN.'),
    isTor: yesNo('Whether it is a Tor exit.'),
    isHosting: yesNo('Whether it belongs to a hosting provider.'),
    hostingName: text('The hosting provider.'),
    isp: text('The access provider.'),
    country: text('Country of the address.'),
    region: text('Region of the address.'),
    city: text('City of the address.'),
    postalCode: text('Postal code of the address.'),
    timeZone: text('Time zone of the address.'),
    latitude: number('Of the address.'),
    longitude: number('Of the address.'),
    accuracyRadius: number('Of the coordinates, in kilometres.'),
    distance: number('From the address to the billing address, in kilometres.'),
    hasMismatchedBillingAddressCountry: yesNo('Country of the address against the billing address.'),
    hasMismatchedBankCountry: yesNo("Country of the card's bank against the billing address."),
    hasMismatchedTimeZone: yesNo("The browser's time zone against those of the billing country."),
    hasMismatchedHolderName: yesNo("The card's name against the billing address."),
    hasFakeName: yesNo('Whether the name looks made up.'),
    isHighRiskCountry: yesNo('Whether the country is one of high risk.'),
    paymentInstrumentVelocity: number('Tokens with this card in the last 24 hours.'),
    declinedPaymentInstrumentVelocity: number('Declined payments with this card in the last 24 hours.'),
    deviceVelocity: number('Tokens from this device in the last 24 hours.'),
    ipVelocity: number('Tokens from this address in the last 24 hours.'),
    emailVelocity: number('Tokens with this e-mail address in the last 24 hours.'),
    billingAddressVelocity: number('Tokens with this billing address in the last 24 hours.'),
    paymentInstrumentApprovedTransactionCount: number('Approved payments with this card.'),
    score: number('Risk score.'),
  },
  { additionalProperties: false, description: 'What is known of the risk; null where nothing is.' },
)

/** Risk metadata of a checked body as rows keep it; null for none. */
export function riskOf(given: Static<typeof RiskMetadata> | null | undefined): RiskInput | null {
  if (given == null) return null
  return {
    ipAddress: given.ipAddress ?? null,
    fingerprint: given.fingerprint ?? null,
    httpHeaders: given.httpHeaders ?? {},
    browserData: given.browserData ?? null,
    extraData: given.extraData ?? {},
  }
}

import Type, { type Static, type TSchema } from 'typebox'
import type { RiskInput } from '../../billing/risk.ts'
import { MapOf, Nullable, OrNull, ReadOnly, Text } from './conventions.ts'

const derived = (schema: TSchema) => ReadOnly(OrNull(schema))
const yesNo = (description: string) => derived(Type.Boolean({ description }))
const text = (description: string) => derived(Type.String({ description }))
const number = (description: string) => derived(Type.Number({ description }))

const BrowserData = Type.Object(
  {
    colorDepth: Type.Integer({ minimum: 0, maximum: 1024 }),
    isJavaEnabled: Type.Boolean(),
    language: Text('Language as reported by the browser.'),
    screenWidth: Type.Integer({ minimum: 0, maximum: 100_000 }),
    screenHeight: Type.Integer({ minimum: 0, maximum: 100_000 }),
    timeZoneOffset: Type.Integer({
      minimum: -1440,
      maximum: 1440,
      description: 'Time zone offset in minutes, as returned by getTimezoneOffset().',
    }),
    isAdBlockEnabled: Nullable(Type.Boolean()),
  },
  { title: 'BrowserData', additionalProperties: false, description: "Data reported by the payer's browser." },
)

/** Specification 2.4: what the merchant sends, and what is derived from it. */
export const RiskMetadata = Type.Object(
  {
    ipAddress: Nullable(Type.String({ format: 'ip', description: 'IPv4 or IPv6 address of the payer.' })),
    fingerprint: Nullable(Text("Fingerprint of the payer's device.")),
    httpHeaders: Type.Optional(
      MapOf(Type.String({ maxLength: 4096 }), {
        maxProperties: 100,
        default: {},
        description: "Headers of the payer's request.",
      }),
    ),
    browserData: Nullable(BrowserData),
    extraData: Type.Optional(
      MapOf(Text('Identifier.'), {
        maxProperties: 50,
        default: {},
        description: 'Session ids of third-party fraud tools, by tool.',
      }),
    ),
    isProxy: yesNo('Whether the IP address is a proxy.'),
    isVpn: yesNo('Whether the IP address belongs to a VPN.'),
    isTor: yesNo('Whether the IP address is a Tor exit node.'),
    isHosting: yesNo('Whether the IP address belongs to a hosting provider.'),
    hostingName: text('Name of the hosting provider.'),
    isp: text('Name of the internet service provider.'),
    country: text('Country of the IP address.'),
    region: text('Region of the IP address.'),
    city: text('City of the IP address.'),
    postalCode: text('Postal code of the IP address.'),
    timeZone: text('Time zone of the IP address.'),
    latitude: number('Latitude of the IP address.'),
    longitude: number('Longitude of the IP address.'),
    accuracyRadius: number('Accuracy radius of the coordinates, in kilometres.'),
    distance: number('Distance from the IP address to the billing address, in kilometres.'),
    hasMismatchedBillingAddressCountry: yesNo(
      'Whether the countries of the IP address and the billing address differ.',
    ),
    hasMismatchedBankCountry: yesNo(
      "Whether the countries of the card's bank and the billing address differ.",
    ),
    hasMismatchedTimeZone: yesNo("Whether the browser's time zone is not one of the billing country."),
    hasMismatchedHolderName: yesNo('Whether the names on the card and in the billing address differ.'),
    hasFakeName: yesNo('Whether the name appears to be fake.'),
    isHighRiskCountry: yesNo('Whether the country is a high-risk country.'),
    paymentInstrumentVelocity: number('Number of payment tokens with this card in the last 24 hours.'),
    declinedPaymentInstrumentVelocity: number(
      'Number of declined payments with this card in the last 24 hours.',
    ),
    deviceVelocity: number('Number of payment tokens from this device in the last 24 hours.'),
    ipVelocity: number('Number of payment tokens from this IP address in the last 24 hours.'),
    emailVelocity: number('Number of payment tokens with this e-mail address in the last 24 hours.'),
    billingAddressVelocity: number(
      'Number of payment tokens with this billing address in the last 24 hours.',
    ),
    paymentInstrumentApprovedTransactionCount: number('Number of approved payments with this card.'),
    score: number('Risk score.'),
  },
  {
    title: 'RiskMetadata',
    additionalProperties: false,
    description: 'Risk metadata of a payer. Members are null if unknown.',
  },
)

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

/** Risk metadata: what a caller tells of a payer's browser, and what the service makes of it. */

export interface BrowserData {
  colorDepth: number
  isJavaEnabled: boolean
  language: string
  screenWidth: number
  screenHeight: number
  /** Minutes by which UTC is ahead, as a browser's `getTimezoneOffset()` gives them. */
  timeZoneOffset: number
  isAdBlockEnabled?: boolean | null
}

/** What a caller may tell. */
export interface RiskInput {
  ipAddress: string | null
  fingerprint: string | null
  httpHeaders: Record<string, string>
  browserData: BrowserData | null
  extraData: Record<string, unknown>
}

/** How often something was seen in the organization, mostly in the last 24 hours; null where it was not told. */
export interface Velocities {
  /** Tokens, this one included. So are the others but the last two. */
  readonly paymentInstrumentVelocity: number | null
  readonly deviceVelocity: number | null
  readonly ipVelocity: number | null
  readonly emailVelocity: number | null
  readonly billingAddressVelocity: number | null
  /** Declined sales of the last 24 hours with this card. */
  readonly declinedPaymentInstrumentVelocity: number | null
  /** Approved sales with this card, ever. */
  readonly paymentInstrumentApprovedTransactionCount: number | null
}

/** What only somebody outside knows: null until an adapter supplies it, never guessed. */
const FROM_OUTSIDE = {
  isProxy: null,
  isVpn: null,
  isTor: null,
  isHosting: null,
  hostingName: null,
  isp: null,
  country: null,
  region: null,
  city: null,
  postalCode: null,
  timeZone: null,
  latitude: null,
  longitude: null,
  accuracyRadius: null,
  distance: null,
  hasMismatchedBillingAddressCountry: null,
  hasMismatchedBankCountry: null,
  hasMismatchedHolderName: null,
  hasFakeName: null,
  isHighRiskCountry: null,
  score: null,
} as const

export type DerivedRisk = { readonly [member in keyof typeof FROM_OUTSIDE]: null } & Velocities & {
    readonly hasMismatchedTimeZone: boolean | null
  }

/** The derived members; `now` in milliseconds. */
export function deriveRisk(
  { browserData }: RiskInput,
  billingCountry: string | null,
  velocities: Velocities,
  now: number,
): DerivedRisk {
  return {
    ...FROM_OUTSIDE,
    ...velocities,
    hasMismatchedTimeZone:
      browserData === null || billingCountry === null
        ? null
        : timeZoneMismatch(billingCountry, browserData.timeZoneOffset, now),
  }
}

/** Whether no time zone of the country has this offset at the instant; null for a country without known zones. */
function timeZoneMismatch(country: string, offset: number, now: number): boolean | null {
  const zones = zonesOf(country)
  return zones.length === 0 ? null : zones.every((zone) => browserOffset(zone, now) !== offset)
}

function zonesOf(country: string): readonly string[] {
  const locale = new Intl.Locale('und', { region: country }) as Intl.Locale & {
    getTimeZones?: () => string[] | undefined
  }
  return locale.getTimeZones?.() ?? []
}

function browserOffset(timeZone: string, now: number): number {
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(now)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT'
  const [, sign, hours = '0', minutes = '0'] = /^GMT([+-])(\d\d):(\d\d)/.exec(name) ?? []
  const ahead = Number(hours) * 60 + Number(minutes)
  return ahead === 0 ? 0 : sign === '-' ? ahead : -ahead
}

export interface BrowserData {
  colorDepth: number
  isJavaEnabled: boolean
  language: string
  screenWidth: number
  screenHeight: number
  /** Minutes by which UTC is ahead, as a browser's `getTimezoneOffset()` returns them. */
  timeZoneOffset: number
  isAdBlockEnabled?: boolean | null
}

export interface RiskInput {
  ipAddress: string | null
  fingerprint: string | null
  httpHeaders: Record<string, string>
  browserData: BrowserData | null
  extraData: Record<string, unknown>
}

/** How often a property occurred in the organization, mostly in the last 24 hours; null where it was not sent. */
export interface Velocities {
  /** Payment tokens, this one included; the same holds for all but the last two. */
  readonly paymentInstrumentVelocity: number | null
  readonly deviceVelocity: number | null
  readonly ipVelocity: number | null
  readonly emailVelocity: number | null
  readonly billingAddressVelocity: number | null
  /** Declined sales with this card in the last 24 hours. */
  readonly declinedPaymentInstrumentVelocity: number | null
  /** Approved sales with this card, without a time limit. */
  readonly paymentInstrumentApprovedTransactionCount: number | null
}

/** Only external services know these: null until an adapter supplies them, never guessed. */
const EXTERNAL_RISK = {
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

export type DerivedRisk = { readonly [member in keyof typeof EXTERNAL_RISK]: null } & Velocities & {
    readonly hasMismatchedTimeZone: boolean | null
  }

export function deriveRisk(
  { browserData }: RiskInput,
  billingCountry: string | null,
  velocities: Velocities,
  now: number,
): DerivedRisk {
  return {
    ...EXTERNAL_RISK,
    ...velocities,
    hasMismatchedTimeZone:
      browserData === null || billingCountry === null
        ? null
        : timeZoneMismatch(billingCountry, browserData.timeZoneOffset, now),
  }
}

/** Null for a country without known zones. */
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

/** Tax numbers: which state of the European Union has issued one, and who owes the tax of a sale between two states. */

export interface TaxId {
  readonly type: 'eu-vat' | 'other'
  readonly value: string
}

/** The forms of VAT numbers behind the letters of their state, as the European Commission lists them (VIES, question 11). */
const FORMS: Readonly<Record<string, RegExp>> = {
  AT: /^U\d{8}$/,
  BE: /^[01]\d{9}$/,
  BG: /^\d{9,10}$/,
  CY: /^\d{8}[A-Z]$/,
  CZ: /^\d{8,10}$/,
  DE: /^\d{9}$/,
  DK: /^\d{8}$/,
  EE: /^\d{9}$/,
  EL: /^\d{9}$/,
  ES: /^[A-Z\d]\d{7}[A-Z\d]$/,
  FI: /^\d{8}$/,
  FR: /^[A-Z\d]{2}\d{9}$/,
  HR: /^\d{11}$/,
  HU: /^\d{8}$/,
  IE: /^\d[A-Z\d+*]\d{5}[A-Z]{1,2}$/,
  IT: /^\d{11}$/,
  LT: /^(?:\d{9}|\d{12})$/,
  LU: /^\d{8}$/,
  LV: /^\d{11}$/,
  MT: /^\d{8}$/,
  NL: /^[A-Z\d+*]{12}$/,
  PL: /^\d{10}$/,
  PT: /^\d{9}$/,
  RO: /^\d{2,10}$/,
  SE: /^\d{12}$/,
  SI: /^\d{8}$/,
  SK: /^\d{10}$/,
}

/** Returns the country of a VAT number that has the form of its state; null for any other number. */
export function vatCountry(taxId: TaxId | null): string | null {
  if (taxId?.type !== 'eu-vat') return null
  const value = taxId.value.toUpperCase().replaceAll(/[\s.-]/g, '')
  const letters = value.slice(0, 2)
  return FORMS[letters]?.test(value.slice(2)) === true ? countryOf(letters) : null
}

/** Returns the number by which a party is taxed: the first VAT number of its state's form, else the first of all. */
export function decisiveTaxId(taxIds: readonly TaxId[] | null): TaxId | null {
  return taxIds?.find((taxId) => vatCountry(taxId) !== null) ?? taxIds?.[0] ?? null
}

export interface TaxedParty {
  /** ISO 3166; null: unknown. */
  readonly country: string | null
  readonly taxId: TaxId | null
}

/** True if the buyer owes the tax: a business with a VAT number of another state of the European Union than the seller's. */
export function isReverseCharge(seller: TaxedParty, buyer: TaxedParty): boolean {
  const from = vatCountry(seller.taxId) ?? (isMember(seller.country) ? seller.country : null)
  const to = vatCountry(buyer.taxId)
  return from !== null && to !== null && from !== to
}

function isMember(country: string | null): boolean {
  return Object.keys(FORMS).some((letters) => countryOf(letters) === country)
}

/** Greece writes its own letters. */
function countryOf(letters: string): string {
  return letters === 'EL' ? 'GR' : letters
}

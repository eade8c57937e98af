import {
  CARD_BRANDS,
  type CardBrand,
  cardDigits,
  cardIsExpired,
  networksOfBeginning,
  readCardNumber,
} from '../../../billing/cards.ts'
import { missing, OPEN, RIGHT, type Verdict, wrong } from './merchant-form.ts'

/** Validates a card number. Unless `finished`, a number is wrong only if no further digit can fix it. */
export function validateNumber(
  written: string,
  finished: boolean,
): Verdict & { readonly brand: CardBrand | null } {
  const text = written.trim()
  if (text === '') return { ...missing('the card number', finished), brand: null }
  const digits = cardDigits(finished ? text : text.replace(/-$/, ''))
  if (digits === null) return { ...wrong('Enter digits only, optionally in groups.'), brand: null }
  const networks = networksOfBeginning(digits)
  if (networks.length === 0) {
    return { ...wrong(`No card begins like that. Taken are ${CARD_BRANDS.join(', ')}.`), brand: null }
  }
  const known = networks.filter(({ whole }) => whole).map(({ network }) => network)
  const read = readCardNumber(digits)
  const brand = 'brand' in read ? read.brand : (known[0]?.brand ?? null)
  if ('brand' in read) return { state: 'right', message: `${read.brand}: the number is valid.`, brand }

  const lengths = [
    ...new Set(
      (known.length > 0 ? known : networks.map(({ network }) => network)).flatMap(
        (network) => network.lengths,
      ),
    ),
  ].sort((a, b) => a - b)
  const longest = lengths.at(-1) ?? 0
  const usual = lengths.findLast((length) => length <= 16) ?? longest
  const complete = lengths.includes(digits.length)
  if (digits.length > longest || (finished && !complete)) {
    return { ...wrong(`${brand ?? 'Card'} numbers have ${oneOf(lengths)} digits.`), brand }
  }
  if (complete && (finished || digits.length >= usual)) {
    return { ...wrong('The check digit is wrong. Check the number for a wrong or swapped digit.'), brand }
  }
  return { state: 'open', message: brand ?? '', brand }
}

/** Validates month and year of expiry against `now`, in milliseconds. */
export function validateExpiry(
  month: string,
  year: string,
  now: number,
  finished: { readonly month: boolean; readonly year: boolean },
): { readonly month: Verdict; readonly year: Verdict } {
  const expMonth = readMonth(month)
  const expYear = readYear(year)
  return {
    month: validateMonth(month.trim(), expMonth, finished.month),
    year: validateYear(year.trim(), expYear, expMonth, now, finished.year),
  }
}

function validateMonth(text: string, expMonth: number | null, finished: boolean): Verdict {
  if (text === '') return missing('the month', finished)
  if (expMonth !== null) return RIGHT
  return text === '0' && !finished ? OPEN : wrong('A month is a number from 1 to 12.')
}

function validateYear(
  text: string,
  expYear: number | null,
  expMonth: number | null,
  now: number,
  finished: boolean,
): Verdict {
  if (text === '') return missing('the year', finished)
  if (!/^\d{1,4}$/.test(text)) return wrong('A year has two or four digits.')
  // The 20 of a year 2031 that is still being typed is not the year 2020.
  const isComplete = finished || text.length === 4
  if (expYear === null) return isComplete ? wrong('A year has two or four digits, from 2000 to 2100.') : OPEN
  if (cardIsExpired(expMonth ?? 12, expYear, now)) return isComplete ? wrong('This card has expired.') : OPEN
  return RIGHT
}

export function validateCode(written: string, brand: CardBrand | null, finished: boolean): Verdict {
  const text = written.trim()
  if (text === '') return OPEN
  if (!/^\d+$/.test(text)) return wrong('Digits only.')
  const length = brand === 'American Express' ? 4 : 3
  if (text.length > (brand === null ? 4 : length) || (finished && text.length < length)) {
    return wrong(
      length === 4
        ? 'American Express codes have four digits.'
        : 'The code has three digits (four on American Express).',
    )
  }
  return text.length < length ? OPEN : RIGHT
}

export function readMonth(written: string): number | null {
  const text = written.trim()
  return /^(?:0?[1-9]|1[0-2])$/.test(text) ? Number(text) : null
}

/** Returns a full year, given two or four digits, or null if no card can have it. */
export function readYear(written: string): number | null {
  const text = written.trim()
  if (/^\d{2}$/.test(text)) return 2000 + Number(text)
  return /^(?:20\d\d|2100)$/.test(text) ? Number(text) : null
}

export function grouped(written: string): string {
  const digits = cardDigits(written.trim())
  if (digits === null) return written
  const [first] = networksOfBeginning(digits)
  const pattern = first?.network.brand === 'American Express' ? /^(\d{1,4})(\d{0,6})(\d*)$/ : /(\d{4})(?=\d)/g
  return first?.network.brand === 'American Express'
    ? digits.replace(pattern, '$1 $2 $3').trim()
    : digits.replace(pattern, '$1 ')
}

function oneOf(numbers: readonly number[]): string {
  const last = numbers.at(-1)
  return numbers.length < 2 ? String(last) : `${numbers.slice(0, -1).join(', ')} or ${last}`
}

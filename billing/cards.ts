import type { FieldCode, FieldProblem } from './errors.ts'

export const CARD_BRANDS = [
  'Visa',
  'MasterCard',
  'American Express',
  'Discover',
  'Maestro',
  'Solo',
  'Electron',
  'JCB',
  'Voyager',
  'Diners Club',
] as const
export type CardBrand = (typeof CARD_BRANDS)[number]

export interface Network {
  readonly brand: CardBrand
  readonly lengths: readonly number[]
  /** A single prefix, or the first and last of a range. */
  readonly prefixes: readonly (string | readonly [string, string])[]
}

const FROM_16_TO_19 = [16, 17, 18, 19]

/** The ranges that the networks publish. Where two match, the longer prefix wins. */
export const NETWORKS: readonly Network[] = [
  { brand: 'Visa', lengths: [13, 16, 18, 19], prefixes: ['4'] },
  {
    brand: 'Electron',
    lengths: [16],
    prefixes: ['4026', '417500', '4405', '4508', '4844', '4913', '4917'],
  },
  {
    brand: 'MasterCard',
    lengths: [16],
    prefixes: [
      ['51', '55'],
      ['2221', '2720'],
    ],
  },
  { brand: 'American Express', lengths: [15], prefixes: ['34', '37'] },
  {
    brand: 'Discover',
    lengths: FROM_16_TO_19,
    prefixes: ['6011', ['622126', '622925'], ['644', '649'], '65'],
  },
  {
    brand: 'Maestro',
    lengths: [12, 13, 14, 15, ...FROM_16_TO_19],
    prefixes: ['5018', '5020', '5038', '5893', '6304', '6759', '6761', '6762', '6763'],
  },
  { brand: 'Solo', lengths: [16, 18, 19], prefixes: ['6334', '6767'] },
  { brand: 'JCB', lengths: FROM_16_TO_19, prefixes: [['3528', '3589']] },
  { brand: 'Voyager', lengths: [15], prefixes: ['8699'] },
  {
    brand: 'Diners Club',
    lengths: [14, 15, ...FROM_16_TO_19],
    prefixes: [['300', '305'], '3095', '36', '38', '39'],
  },
]

export function cardBrand(pan: string): CardBrand | null {
  let best: { readonly brand: CardBrand; readonly length: number } | null = null
  for (const { brand, lengths, prefixes } of NETWORKS) {
    if (!lengths.includes(pan.length)) continue
    for (const prefix of prefixes) {
      const [first, last] = typeof prefix === 'string' ? [prefix, prefix] : prefix
      const leading = pan.slice(0, first.length)
      if (leading < first || leading > last) continue
      if (best === null || first.length > best.length) best = { brand, length: first.length }
    }
  }
  return best?.brand ?? null
}

/** Returns the networks possible for these first digits: complete prefixes first, longest in front. */
export function networksOfBeginning(
  digits: string,
): { readonly network: Network; readonly whole: boolean }[] {
  return NETWORKS.flatMap((network) => {
    const fitting = network.prefixes.flatMap((prefix) => {
      const [first, last] = typeof prefix === 'string' ? [prefix, prefix] : prefix
      const places = Math.min(first.length, digits.length)
      const leading = digits.slice(0, places)
      const fits = leading >= first.slice(0, places) && leading <= last.slice(0, places)
      return fits ? [{ whole: places === first.length, length: first.length }] : []
    })
    const length = Math.max(0, ...fitting.filter(({ whole }) => whole).map((fit) => fit.length))
    return fitting.length === 0 ? [] : [{ network, whole: length > 0, length }]
  })
    .sort((a, b) => b.length - a.length)
    .map(({ network, whole }) => ({ network, whole }))
}

/** True if the last digit is the check digit of the others (ISO/IEC 7812, Luhn). */
export function passesLuhn(digits: string): boolean {
  return luhnSums(digits)(0, digits.length) % 10 === 0
}

export function cardDigits(written: string): string | null {
  return /^\d+(?:[ -]\d+)*$/.test(written) ? written.replaceAll(/[ -]/g, '') : null
}

/** Returns the first instant at which a card is expired: it is valid through the end of its month, UTC. */
export function expiryOf(expMonth: number, expYear: number): number {
  return Date.UTC(expYear, expMonth, 1)
}

export function cardIsExpired(expMonth: number, expYear: number, now: number): boolean {
  return now >= expiryOf(expMonth, expYear)
}

/** Time before expiry at which the expiration reminder is due. Milliseconds. */
export const EXPIRY_NOTICE = 30 * 86_400_000

/** True if it can be charged (specification 2.6). The date decides: status `expired` may be by another clock. */
export function isUsable(
  instrument: { readonly status: string; readonly expMonth: number; readonly expYear: number },
  instant: number,
): boolean {
  const { status, expMonth, expYear } = instrument
  return (status === 'active' || status === 'expired') && !cardIsExpired(expMonth, expYear, instant)
}

export interface CardNumber {
  readonly pan: string
  readonly brand: CardBrand
  readonly bin: string
  readonly last4: string
}

/** Returns the parsed number, or the problem, whose message contains no digit of it. */
export function readCardNumber(written: string): CardNumber | { readonly problem: FieldProblem } {
  const pan = cardDigits(written)
  if (pan === null) return wrongNumber('wrong-format', 'must contain digits only, optionally in groups')
  const brand = cardBrand(pan)
  if (brand === null) return wrongNumber('not-allowed', `must be a card number of ${CARD_BRANDS.join(', ')}`)
  if (!passesLuhn(pan)) {
    return wrongNumber('wrong-format', 'must be a valid card number: its check digit is wrong')
  }
  return { pan, brand, bin: pan.slice(0, 6), last4: pan.slice(-4) }
}

function wrongNumber(code: FieldCode, message: string): { readonly problem: FieldProblem } {
  return { problem: { code, message } }
}

/** Digits in groups, with a space or hyphen between them: a card number may stand beside its expiry or CVV. */
const GROUPS_OF_DIGITS = /\d+(?:[ -]\d+)*/g
const SHORTEST_NUMBER = 12
const LONGEST_NUMBER = 19

/**
 * Replaces every card number in a text that may repeat a caller's input: whole groups of digits that are a number of a
 * known brand, and all groups together if their check digit fits. Takes time in proportion to the text.
 */
export function withoutCardNumbers(text: string): string {
  return text.replaceAll(GROUPS_OF_DIGITS, (run) => {
    if (run.length < SHORTEST_NUMBER) return run
    let kept = ''
    let end = 0
    for (const number of cardNumbersOf(run)) {
      if (number.end <= end) continue
      if (end === 0 || number.start >= end) kept += `${run.slice(end, number.start)}[card number]`
      end = number.end
    }
    return `${kept}${run.slice(end)}`
  })
}

interface Stretch {
  readonly start: number
  readonly end: number
}

/** Returns where card numbers stand in groups of digits, by their beginning, the longest first. */
function* cardNumbersOf(run: string): Generator<Stretch> {
  const groups = [...run.matchAll(/\d+/g)].map(({ index, 0: { length } }) => ({ index, length }))
  const digits = run.replaceAll(/[ -]/g, '')
  const checks = luhnSums(digits)
  let first = 0
  for (const [from, { index: start }] of groups.entries()) {
    let length = 0
    const found: Stretch[] = []
    for (const { index, length: more } of groups.slice(from, from + LONGEST_NUMBER)) {
      length += more
      if (length > LONGEST_NUMBER) break
      if (length < SHORTEST_NUMBER || checks(first, first + length) % 10 !== 0) continue
      const isWhole = length === digits.length
      if (isWhole || cardBrand(digits.slice(first, first + length)) !== null)
        found.push({ start, end: index + more })
    }
    yield* found.toReversed()
    first += groups[from]?.length ?? 0
  }
}

/** Returns the weighted sum of any part of the digits, a multiple of ten if its check digit is right. */
function luhnSums(digits: string): (from: number, to: number) => number {
  // Of those that double the digits at even places, and at odd ones.
  const sums = [0, 1].map((parity) => {
    const sum = new Int32Array(digits.length + 1)
    for (let place = 0; place < digits.length; place += 1) {
      const digit = Number(digits[place])
      const weighed = place % 2 === parity ? digit * 2 : digit
      sum[place + 1] = (sum[place] ?? 0) + (weighed > 9 ? weighed - 9 : weighed)
    }
    return sum
  })
  // The last digit is never doubled, the one before it is.
  return (from, to) => (sums[to % 2]?.[to] ?? 0) - (sums[to % 2]?.[from] ?? 0)
}

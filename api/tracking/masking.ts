/**
 * What the log of requests keeps of texts: bounded, and without card data, keys, tokens and passwords.
 *
 * Secrets are found by the names of their members and by their own form. A text need not be whole JSON.
 */
import { withoutCardNumbers } from '../../billing/cards.ts'

const MASK = '***'

/** Most characters of a body. */
export const LONGEST_BODY = 8_192
/** Most characters of a URL, and of a header. */
const LONGEST_LINE = 2_048
/** More than any secret that has a form of its own, so that none is cut in the middle and missed. */
const MARGIN = 4_096

const STRING = '"(?:[^"\\\\]|\\\\.)*(?:"|$)'
const NAMES = [
  'pan',
  'cvv',
  'cvc',
  'encryptedCvv',
  'accountNumber',
  'authorization',
  'nonce',
  'signature',
  'merchantSessionIdentifier',
  '[A-Za-z_]*(?:[Pp]assword|[Tt]oken|[Ss]ecret|[Kk]ey)',
].join('|')
const MEMBERS = new RegExp(`"(${NAMES})"(\\s*:\\s*)(?:${STRING}|-?\\d[\\d.eE+-]*)`, 'g')
/** The same in a document that is a string of the text. */
const QUOTED_MEMBERS = new RegExp(
  `"(${NAMES})(\\\\+"\\s*:\\s*)(?:\\\\+"(?:(?!\\\\+")[^"])*|-?\\d[\\d.eE+-]*)`,
  'g',
)
/** Custom headers of a webhook, whose values can be anything. */
const HEADER_LISTS = new RegExp(`"headers"\\s*:\\s*\\[(?:[^\\]"]|${STRING})*(?:\\]|$)`, 'g')
const HEADER_VALUES = new RegExp(`"value"(\\s*:\\s*)${STRING}`, 'g')
/** Keys, authentication and payment tokens, JWTs. */
const VALUES = /\b[a-z]{2}_[a-z]+_[A-Za-z0-9_-]{16,}|\btok_[0-9A-Z]{26}|\beyJ[\w-]{10,}\.[\w-]+(?:\.[\w-]*)?/g
const SECRET_HEADER = /authorization|cookie|apikey|token|secret/i

/** Returns a body's text as the log keeps it, or null for none. */
export function maskedBody(text: string | null): string | null {
  return text === null
    ? null
    : masked(text.slice(0, LONGEST_BODY + MARGIN))
        .slice(0, LONGEST_BODY)
        .toWellFormed()
}

/** Returns a URL or a header's value as the log keeps it. */
export function maskedLine(text: string): string {
  return withoutSecretValues(text.slice(0, LONGEST_LINE + MARGIN))
    .slice(0, LONGEST_LINE)
    .toWellFormed()
}

/** Returns headers as the log keeps them: those of a credential with their names alone. */
export function maskedHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      if (value === undefined) return []
      const text = Array.isArray(value) ? value.join(', ') : String(value)
      return [[name, SECRET_HEADER.test(name) ? MASK : maskedLine(text)]]
    }),
  )
}

function masked(text: string): string {
  return withoutSecretValues(
    text
      .replaceAll(HEADER_LISTS, (list) => list.replaceAll(HEADER_VALUES, `"value"$1"${MASK}"`))
      .replaceAll(MEMBERS, `"$1"$2"${MASK}"`)
      .replaceAll(QUOTED_MEMBERS, `"$1$2${MASK}`),
  )
}

function withoutSecretValues(text: string): string {
  return withoutCardNumbers(text.replaceAll(VALUES, MASK)).replaceAll('\0', '\uFFFD')
}

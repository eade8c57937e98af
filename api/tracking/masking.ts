/**
 * Texts for the log of requests: bounded, and without card data, keys, tokens and passwords. Secrets are
 * found by member name and by their own form; a text need not be whole JSON.
 */
import { withoutCardNumbers } from '../../billing/cards.ts'

export const MASK = '***'

export const LONGEST_BODY = 8_192
const LONGEST_LINE = 2_048
/** More than any secret that has a form of its own, so that none is cut in the middle and missed. */
const MARGIN = 4_096

// All of these match in one pass: none goes back over what it has read, whatever the text.
const STRING = '"(?:[^"\\\\]|\\\\[^])*(?:"|\\\\?$)'
/** Card numbers and security codes, as callers spell them. What a check of one resulted in is no secret. */
const CARD_NAME = new RegExp(
  `^(?!.*(?:check|response|result)$)(?:pan$|.*(?:${[
    'cvv|cvc|cvn|cv2|^csc|csc$|^cid$',
    'security[^a-z]*code|verification[^a-z]*(?:value|code|number)',
    '(?:card|account)[^a-z]*number$',
  ].join('|')}))`,
  'is',
)
/** The custom headers of a webhook can have any values. */
const SECRET_NAME =
  /^(?:authorization|headers|nonce|signature|merchantSessionIdentifier)$|(?:password|token|secret|key)$/i
/** Bounded, since a text can have a quotation mark anywhere. */
const NAME = '"([^"\\\\]{1,60})'
/** Other strings match too, without a name: what is in one must not begin a member. */
const MEMBERS = new RegExp(
  `"((?:[^"\\\\]|\\\\[^]){1,60})("\\s*:\\s*)(?:${STRING}|-?\\d[\\d.eE+-]*)|${STRING}`,
  'g',
)
/** A name of a document that is a string of the text, and its colon. */
const QUOTED_NAMES = new RegExp(`${NAME}(\\\\+"\\s*:\\s*)`, 'g')
/**
 * Its value. With `run` backslashes before its quotation mark, the next mark with as many ends it. A mark of the value itself
 * has twice as many and one more; before either a backslash of the value has one more than that.
 */
const QUOTED_VALUE =
  /(?<run>\\+)"(?:[^"\\]|\\+(?!["\\])|(?=\k<run>\\)(?!(?:\k<run>{2}\\{2})*\k<run>")\\+")*|-?\d[\d.eE+-]*/y
/** Members of both whose value is a list or object. */
const CONTAINERS = new RegExp(`${NAME}(\\\\*"\\s*:\\s*)[[{]`, 'g')
/** Headers in the shape of the contract, of which `KEPT_OF_HEADER` is no secret. */
const HEADER_LIST = `"headers"\\s*:\\s*\\[(?:[\\s,]|\\{(?:[^[\\]{}"]|${STRING})*(?:\\}|$))*(?:\\]|$)`
const HEADER_LISTS = new RegExp(HEADER_LIST, 'g')
const HEADER_LIST_HERE = new RegExp(HEADER_LIST, 'y')
const KEPT_OF_HEADER = /^(?:name|status)$/
/** What stands before the host of a URL. Of a member `host`, also without a scheme; a port is none of it. */
const USER_INFO = /(\/\/|"host"\s*:\s*")(?:[^\s/?#"]*|[^\s/?#"@:[]{0,255}:(?!\d*[/?#"])[^\s"]{0,255})@/g
/** Keys, authentication and payment tokens. */
const VALUES = /\b[a-z]{2}_[a-z]+_[A-Za-z0-9_-]{16,}|\btok_[0-9A-Z]{26}/g
/** As long as the shortest JWT, which may stand behind a hyphen or dot. */
const WORDS = /[\w.-]{15,}/g
const SECRET_HEADER = /authorization|cookie|(?:api|access|auth|private)[-_]?key|token|secret|password/i

export function maskedBody(text: string | null): string | null {
  return text === null
    ? null
    : masked(text.slice(0, LONGEST_BODY + MARGIN))
        .slice(0, LONGEST_BODY)
        .replaceAll('\0', '\uFFFD')
        .toWellFormed()
}

export function maskedLine(text: string): string {
  return storableLine(withoutSecretValues(text.slice(0, LONGEST_LINE + MARGIN)))
}

function storableLine(text: string): string {
  return text.slice(0, LONGEST_LINE).replaceAll('\0', '\uFFFD').toWellFormed()
}

/** A URL with a secret in it is returned decoded, because a secret can be encoded in many ways. */
export function maskedUrl(url: string, secrets: readonly string[]): string {
  const decoded = url.replaceAll('+', ' ').replaceAll(/(?:%[\da-f]{2})+/gi, decodedBytes)
  const known = secrets.filter((secret) => secret !== '')
  const shown = maskedLine(known.reduce((text, secret) => text.replaceAll(secret, MASK), decoded))
  return shown === storableLine(decoded) ? maskedLine(url) : shown
}

function decodedBytes(encoded: string): string {
  return Buffer.from(encoded.replaceAll('%', ''), 'hex').toString()
}

/** Headers of a credential keep their names alone. */
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
    withoutQuotedMembers(
      withoutMembers(
        withoutSecretContainers(text).replaceAll(HEADER_LISTS, (list) =>
          withoutMembers(list, (name) => !KEPT_OF_HEADER.test(name)),
        ),
        isSecret,
      ),
    ),
  )
}

/** The value of another member is not passed over: it may be a document too. */
function withoutQuotedMembers(text: string): string {
  let [kept, end] = ['', 0]
  for (const { index, 0: found, 1: name = '' } of text.matchAll(QUOTED_NAMES)) {
    const begin = index + found.length
    if (begin <= end || !isSecret(name)) continue
    QUOTED_VALUE.lastIndex = begin
    const value = QUOTED_VALUE.exec(text)?.[0]
    if (value === undefined) continue
    kept += text.slice(end, begin) + MASK
    end = begin + value.length
  }
  return kept + text.slice(end)
}

function withoutMembers(text: string, isMasked: (name: string) => boolean): string {
  return text.replaceAll(MEMBERS, (found, name: string | undefined, colon: string) =>
    name !== undefined && isMasked(name) ? `"${name}${colon}"${MASK}"` : found,
  )
}

function isSecret(name: string): boolean {
  return CARD_NAME.test(name) || SECRET_NAME.test(name)
}

/** Ends the text where a secret is a list or object, which no operation takes. */
function withoutSecretContainers(text: string): string {
  for (const { index, 1: name = '', 2: colon = '' } of text.matchAll(CONTAINERS)) {
    if (!isSecret(name) || isHeaderList(text, index)) continue
    const mask = colon.startsWith('"') ? `"${MASK}"` : MASK
    return `${text.slice(0, index)}"${name}${colon}${mask}`
  }
  return text
}

function isHeaderList(text: string, index: number): boolean {
  HEADER_LIST_HERE.lastIndex = index
  return HEADER_LIST_HERE.test(text)
}

function withoutSecretValues(text: string): string {
  return withoutCardNumbers(
    text.replaceAll(USER_INFO, `$1${MASK}@`).replaceAll(VALUES, MASK).replaceAll(WORDS, withoutJwt),
  )
}

function withoutJwt(word: string): string {
  const begin = word.search(/\beyJ/)
  return begin === -1 || !word.includes('.', begin) ? word : `${word.slice(0, begin)}${MASK}`
}

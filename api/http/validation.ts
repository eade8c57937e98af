/** AJV decides whether a value is valid; `invalidFieldsOf` finds why, until its caller has enough. */
import { isIP } from 'node:net'
import type { SchemaValidateFunction } from 'ajv'
import { Ajv2020, type Options } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import currencyCodes from 'currency-codes'
import type { TSchema } from 'typebox'
import { parseDuration } from '../../billing/durations.ts'
import type { InvalidField } from '../../billing/errors.ts'
import { isInRange, parseInstant } from '../../billing/instants.ts'
import { isNeutral } from '../schemas/not-supported.ts'
import { invalidFieldsOf } from './schema-walk.ts'

const { email, uri, date, hostname } = fullFormats

/** Yields the failing fields of a value, found one by one on demand; none if the value is valid. */
export type Validator = (value: unknown) => Iterable<InvalidField>

/** Sets defaults and coerces no types. */
export function createBodyValidator(): (schema: TSchema) => Validator {
  return compiler({ useDefaults: true, strict: true, allowUnionTypes: true, strictRequired: false })
}

/** Coerces types, because query parameters arrive as text. */
export function createQueryValidator(): (schema: TSchema) => Validator {
  return compiler({ useDefaults: true, coerceTypes: true, strict: true, allowUnionTypes: true })
}

function compiler(options: Options): (schema: TSchema) => Validator {
  // Without `allErrors` AJV stops at the first failure, and finds an array too long before it checks items.
  const ajv = new Ajv2020({
    ...options,
    formats: {
      email,
      uri,
      date,
      hostname,
      'date-time': isInstant,
      currency: isCurrency,
      duration: (text: string) => parseDuration(text) !== null,
      ip: (text: string) => isIP(text) !== 0,
    },
  })
  ajv.addKeyword('x-absent-when-unknown')
  ajv.addVocabulary(['x-variants', 'x-list-of', 'x-not-embedded', 'x-withheld', 'x-as-shown'])
  ajv.addKeyword({ keyword: 'x-neutral', errors: true, validate: neutralOnly })
  ajv.addKeyword({ keyword: 'x-supported', errors: true, validate: supportedOnly })
  return (schema) => {
    const { $id: _, ...anonymous } = schema as TSchema & { $id?: string }
    const validate = ajv.compile(anonymous)
    const findings = invalidFieldsOf(anonymous, (part) => ajv.compile(part))
    return (value) => (validate(value) ? [] : findings(value, validate.errors ?? []))
  }
}

const neutralOnly: SchemaValidateFunction = (neutral: unknown, value: unknown, parent) => {
  neutralOnly.errors = [{ keyword: 'x-neutral', params: { isWithheld: parent?.['x-withheld'] === true } }]
  return isNeutral(value, neutral)
}

/** Refuses known values that are not supported; other keywords refuse unknown ones. */
const supportedOnly: SchemaValidateFunction = (supported: readonly unknown[], value: unknown, parent) => {
  const known = parent?.enum as readonly unknown[] | undefined
  supportedOnly.errors = [{ keyword: 'x-supported', params: { supported } }]
  return typeof value !== 'string' || supported.includes(value) || known?.includes(value) === false
}

function isInstant(text: string): boolean {
  const instant = parseInstant(text)
  return instant !== null && isInRange(instant)
}

function isCurrency(code: string): boolean {
  return currencyCodes.code(code) !== undefined && code === code.toUpperCase()
}

/**
 * AJV with the schemas of the route table. It decides whether a value is valid; `invalidFieldsOf` finds out why, and
 * stops when its caller has enough.
 */
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

/** Returns the failing fields of a value, found one by one as they are asked for; none if the value is valid. */
export type Validator = (value: unknown) => Iterable<InvalidField>

/** Returns a validator for bodies, which sets defaults and coerces no types. */
export function createBodyValidator(): (schema: TSchema) => Validator {
  return compiler({ useDefaults: true, strict: true, allowUnionTypes: true, strictRequired: false })
}

/** Returns a validator for query parameters, which all arrive as text. */
export function createQueryValidator(): (schema: TSchema) => Validator {
  return compiler({ useDefaults: true, coerceTypes: true, strict: true, allowUnionTypes: true })
}

function compiler(options: Options): (schema: TSchema) => Validator {
  // Without `allErrors` it stops at the first failure, and finds an array too long before it looks at the items.
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
  ajv.addVocabulary(['x-variants', 'x-list-of', 'x-not-embedded'])
  ajv.addKeyword({
    keyword: 'x-neutral',
    validate: (neutral: unknown, value: unknown) => isNeutral(value, neutral),
  })
  ajv.addKeyword({ keyword: 'x-supported', errors: true, validate: supportedOnly })
  return (schema) => {
    const { $id: _, ...anonymous } = schema as TSchema & { $id?: string }
    const validate = ajv.compile(anonymous)
    const findings = invalidFieldsOf(anonymous, (part) => ajv.compile(part))
    return (value) => (validate(value) ? [] : findings(value, validate.errors ?? []))
  }
}

/** Validates a choice of which only some values are supported. What is no choice at all is left to the other keywords. */
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

/** AJV with the schemas of the route table, and its errors as fields and sentences. */
import { isIP } from 'node:net'
import type { SchemaValidateFunction } from 'ajv'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import currencyCodes from 'currency-codes'
import type { TSchema } from 'typebox'
import { parseDuration } from '../../billing/durations.ts'
import type { InvalidField } from '../../billing/errors.ts'
import { isNeutral } from '../schemas/not-supported.ts'

const { email, uri, date, hostname } = fullFormats
const rfc3339 = fullFormats['date-time']

/** Returns a validator for bodies that reports every invalid field, sets defaults and coerces no types. */
export function createBodyValidator(): (schema: TSchema) => (body: unknown) => InvalidField[] {
  return compiler({
    allErrors: true,
    useDefaults: true,
    strict: true,
    allowUnionTypes: true,
    strictRequired: false,
  })
}

/** Returns a validator for query parameters, which all arrive as text. */
export function createQueryValidator(): (schema: TSchema) => (query: unknown) => InvalidField[] {
  return compiler({
    allErrors: true,
    useDefaults: true,
    coerceTypes: true,
    strict: true,
    allowUnionTypes: true,
  })
}

function compiler(options: ConstructorParameters<typeof Ajv2020>[0]) {
  const ajv = new Ajv2020({
    ...options,
    formats: {
      email,
      uri,
      date,
      hostname,
      'date-time': isInstant,
      currency: isCurrency,
      duration: isDuration,
      ip: (text: string) => isIP(text) !== 0,
    },
  })
  ajv.addKeyword('x-absent-when-unknown')
  ajv.addKeyword({
    keyword: 'x-neutral',
    validate: (neutral: unknown, value: unknown) => isNeutral(value, neutral),
  })
  ajv.addKeyword({ keyword: 'x-supported', errors: true, validate: supportedOnly })
  return (schema: TSchema) => {
    const { $id: _, ...anonymous } = schema as TSchema & { $id?: string }
    const validate: ValidateFunction = ajv.compile(anonymous)
    return (value: unknown): InvalidField[] => (validate(value) ? [] : invalidFields(validate.errors ?? []))
  }
}

/** Validates a choice of which only some values are supported. What is no choice at all is left to the other keywords. */
const supportedOnly: SchemaValidateFunction = (supported: readonly unknown[], value: unknown, parent) => {
  const known = parent?.enum as readonly unknown[] | undefined
  supportedOnly.errors = [{ keyword: 'x-supported', params: { supported } }]
  return typeof value !== 'string' || supported.includes(value) || known?.includes(value) === false
}

/** True for RFC 3339 with an offset and a date that JavaScript and PostgreSQL both accept. */
function isInstant(text: string): boolean {
  if (typeof rfc3339 !== 'object' || !('validate' in rfc3339) || typeof rfc3339.validate !== 'function')
    return false
  return (
    (rfc3339.validate as (text: string) => boolean)(text) &&
    !Number.isNaN(Date.parse(text)) &&
    !text.startsWith('0000')
  )
}

function isDuration(text: string): boolean {
  return parseDuration(text) !== null
}

function isCurrency(code: string): boolean {
  return currencyCodes.code(code) !== undefined && code === code.toUpperCase()
}

function invalidFields(errors: readonly ErrorObject[]): InvalidField[] {
  // The error of a condition adds nothing to the errors of its branch.
  const fields = errors
    .filter(({ keyword }) => keyword !== 'if')
    .map((error) => ({ field: fieldOf(error), message: messageOf(error) }))
  const distinct = new Map(fields.map((field) => [`${field.field} ${field.message}`, field]))
  return [...distinct.values()]
}

function fieldOf({ instancePath, keyword, params }: ErrorObject): string {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (keyword === 'required') path.push(String(params.missingProperty))
  if (keyword === 'additionalProperties') path.push(String(params.additionalProperty))
  return path.join('.')
}

function messageOf({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return 'is not a supported member'
    case 'x-neutral':
      return 'is not supported yet: leave it out or send null'
    case 'enum':
      return `must be one of ${(params.allowedValues as unknown[]).slice(0, 20).map(String).join(', ')}${params.allowedValues.length > 20 ? ', …' : ''}`
    case 'x-supported':
      return `is not supported yet with this value: use ${(params.supported as unknown[]).join(' or ')}`
    case 'const':
      return `must be ${String(params.allowedValue)}`
    case 'format':
      return FORMAT_MESSAGES[params.format as string] ?? `must be a valid ${params.format}`
    case 'pattern':
      return params.pattern === '^[A-Za-z0-9_@~.-]{1,50}$'
        ? 'must be 1 to 50 letters, digits, or any of _ @ ~ - .'
        : `must match ${params.pattern}`
    case 'type':
      return `must be ${[params.type].flat().join(' or ')}`
    default:
      return message ?? 'is not valid'
  }
}

const FORMAT_MESSAGES: Readonly<Record<string, string>> = {
  'date-time': 'must be an ISO 8601 date-time with an offset, such as 2026-01-31T09:00:00Z',
  currency: 'must be an ISO 4217 currency code in capitals',
  duration: 'must be a positive ISO 8601 duration, such as P3D',
  uri: 'must be an absolute URI',
  email: 'must be an e-mail address',
  hostname: 'must be a domain name, such as shop.example',
  ip: 'must be an IPv4 or IPv6 address',
}

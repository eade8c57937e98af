/**
 * Finds one reason per field why a value does not fit. AJV stops at the first, or collects all of a million;
 * here each member is checked in turn. A value of the wrong type or with too many items is not entered.
 */
import type { ErrorObject, ValidateFunction } from 'ajv'
import { PERMISSION_PATTERN } from '../../access/access-lists.ts'
import type { FieldProblem, InvalidField } from '../../billing/errors.ts'
import { ID_PATTERN, ID_RULE } from '../../billing/id-format.ts'
import { parseInstant } from '../../billing/instants.ts'
import { fieldAt, type Path } from './invalid-fields.ts'

interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly default?: unknown
}

type Visit = (value: unknown, path: Path) => Generator<InvalidField>

/** The function yields at least one field, in the order of the body: that of AJV's own `errors`. */
export function invalidFieldsOf(
  schema: object,
  compile: (part: object) => ValidateFunction,
): (value: unknown, errors: readonly ErrorObject[]) => Generator<InvalidField> {
  const visit = visitorOf(schema as Schema, compile)
  return function* (value, errors) {
    let isFound = false
    for (const field of visit(value, [])) {
      isFound = true
      yield field
    }
    if (!isFound) yield failing(errors, value, [])
  }
}

function visitorOf(schema: Schema, compile: (part: object) => ValidateFunction): Visit {
  const {
    properties = {},
    patternProperties = {},
    additionalProperties = true,
    required = [],
    items,
    default: _,
    ...own
  } = schema
  // Compiled on demand, because most are never needed.
  let compiled: ValidateFunction | null = null
  const members = new Map(Object.entries(properties).map(([name, part]) => [name, visitorOf(part, compile)]))
  const patterns = Object.entries(patternProperties).map(
    ([pattern, part]) => [new RegExp(pattern, 'u'), visitorOf(part, compile)] as const,
  )
  const others = typeof additionalProperties === 'object' ? visitorOf(additionalProperties, compile) : null
  const item = items === undefined ? null : visitorOf(items, compile)

  function* visitMembers(value: Readonly<Record<string, unknown>>, path: Path): Generator<InvalidField> {
    for (const name of required) {
      if (!Object.hasOwn(value, name)) yield fieldAt([...path, name], 'required', 'is required')
    }
    for (const name in value) {
      const matching = [
        members.get(name) ?? [],
        patterns.filter(([pattern]) => pattern.test(name)).map(([, visit]) => visit),
      ].flat()
      const visits = matching.length === 0 && others !== null ? [others] : matching
      for (const visit of visits) yield* visit(value[name], [...path, name])
      if (visits.length === 0 && additionalProperties === false) {
        yield fieldAt([...path, name], 'unknown-member', 'is not a supported member')
      }
    }
  }

  return function* visit(value, path) {
    compiled ??= compile(own)
    if (!compiled(value)) {
      const errors = compiled.errors ?? []
      yield failing(errors, value, path)
      if (errors.some(({ keyword }) => NOT_ENTERED.includes(keyword))) return
    }
    if (Array.isArray(value)) {
      if (item === null) return
      for (const [index, one] of value.entries()) yield* item(one, [...path, index])
    } else if (typeof value === 'object' && value !== null) {
      yield* visitMembers(value as Readonly<Record<string, unknown>>, path)
    }
  }
}

const NOT_ENTERED = ['type', 'maxItems', 'maxProperties', 'x-neutral']

function failing(errors: readonly ErrorObject[], value: unknown, path: Path): InvalidField {
  // The error of a condition says less than that of its branch.
  const {
    instancePath = '',
    keyword = '',
    params = {},
    propertyName,
  } = errors.find((error) => error.keyword !== 'if') ?? {}
  const inner = instancePath
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (['required', 'dependentRequired'].includes(keyword)) inner.push(String(params.missingProperty))
  const { code, message } = EXPLANATIONS[keyword]?.(params, value) ?? UNEXPLAINED
  return fieldAt([...path, ...inner], code, propertyName === undefined ? message : `each name ${message}`)
}

type Explanation = (params: ErrorObject['params'], value: unknown) => FieldProblem

const atLeast = (limit: number, noun: string) =>
  limit === 1 ? 'must not be empty' : `must have at least ${limit} ${noun}`
const outOfRange = (relation: string): Explanation => {
  return ({ limit }) => ({ code: 'out-of-range', message: `must be ${relation} ${limit}` })
}

export const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  required: () => ({ code: 'required', message: 'is required' }),
  dependentRequired: ({ property }) => ({
    code: 'required',
    message: `is required with ${String(property)}`,
  }),
  'x-neutral': ({ isWithheld }) => ({
    code: 'not-supported',
    message: `${isWithheld === true ? 'cannot be set by customers' : 'is not supported yet'}: leave it out or send null`,
  }),
  'x-supported': ({ supported }) => ({
    code: 'not-supported',
    message: `is not supported yet with this value: use ${(supported as unknown[]).join(' or ')}`,
  }),
  type: ({ type }) => ({ code: 'wrong-type', message: `must be ${wordsOf(type)}` }),
  enum: ({ allowedValues }) => ({ code: 'not-one-of', message: `must be one of ${choices(allowedValues)}` }),
  const: ({ allowedValue }) => ({ code: 'not-one-of', message: `must be ${String(allowedValue)}` }),
  format: ({ format }, value) => formatProblem(format, value),
  pattern: ({ pattern }) => ({ code: 'wrong-format', message: PATTERNS[pattern] ?? 'has the wrong format' }),
  minLength: ({ limit }) => ({ code: 'too-short', message: atLeast(limit, 'characters') }),
  maxLength: ({ limit }) => ({ code: 'too-long', message: `must have at most ${limit} characters` }),
  minimum: outOfRange('at least'),
  maximum: outOfRange('at most'),
  exclusiveMinimum: outOfRange('above'),
  exclusiveMaximum: outOfRange('below'),
  minItems: ({ limit }) => ({ code: 'too-few', message: atLeast(limit, 'items') }),
  maxItems: ({ limit }) => ({ code: 'too-many', message: `must have at most ${limit} items` }),
  uniqueItems: () => ({ code: 'not-unique', message: 'must not contain the same item twice' }),
  minProperties: ({ limit }) => ({ code: 'too-few', message: atLeast(limit, 'members') }),
  maxProperties: ({ limit }) => ({ code: 'too-many', message: `must have at most ${limit} members` }),
}

const UNEXPLAINED: FieldProblem = { code: 'not-allowed', message: 'is not valid' }

function formatProblem(format: string, value: unknown): FieldProblem {
  if (format === 'date-time' && typeof value === 'string' && parseInstant(value) !== null) {
    return { code: 'out-of-range', message: 'must be a time between the years 1970 and 9999' }
  }
  return { code: 'wrong-format', message: FORMATS[format] ?? 'has the wrong format' }
}

export const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'must be an ISO 8601 date-time with an offset, such as 2026-01-31T09:00:00Z',
  date: 'must be an ISO 8601 date, such as 2026-01-31',
  currency: 'must be an ISO 4217 currency code in capitals',
  duration: 'must be a positive ISO 8601 duration, such as P3D',
  uri: 'must be an absolute URI',
  email: 'must be an e-mail address',
  hostname: 'must be a domain name, such as shop.example',
  ip: 'must be an IPv4 or IPv6 address',
}

export const PATTERNS: Readonly<Record<string, string>> = {
  [ID_PATTERN]: ID_RULE,
  [PERMISSION_PATTERN]: 'must be * or an operation id, such as GetDisputeCollection',
  '^[A-Z]{2}$': 'must be two capital letters',
  '^[^<>"\'\\\\*]*[A-Za-z][^<>"\'\\\\*]*$': 'must have a letter, and none of < > " \' \\ *',
  '^[A-Za-z0-9_]+$': 'must be letters, digits and _',
  '^https?://': 'must be an http or https URL',
  '^[\\x21-\\x7e]+$': 'must be printable characters without spaces',
  '^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$': 'must be letters and digits in parts joined by _ or -',
  '^[a-z0-9]+(-[a-z0-9]+)*$': 'must be lower-case letters and digits in parts joined by -',
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
}

function wordsOf(type: string | readonly string[]): string {
  return [type]
    .flat()
    .map((name) => TYPES[name] ?? name)
    .join(' or ')
}

const NAMED_CHOICES = 20

function choices(values: readonly unknown[]): string {
  const named = values.slice(0, NAMED_CHOICES).map(String).join(', ')
  return values.length > NAMED_CHOICES ? `${named}, …` : named
}

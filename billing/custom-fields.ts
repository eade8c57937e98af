import { fullFormats } from 'ajv-formats/dist/formats.js'
import currencyCodes from 'currency-codes'
import { RE2JS } from 're2js'
import { canonicalJson } from './canonical-json.ts'
import type { FieldCode, FieldProblem, InvalidField } from './errors.ts'
import { lastUsed } from './last-used.ts'
import { amountOf, amountProblem } from './money.ts'
import { ownValue } from './own-value.ts'

export const CUSTOM_FIELD_TYPES = [
  'array',
  'boolean',
  'date',
  'datetime',
  'integer',
  'number',
  'string',
  'monetary',
] as const
export type CustomFieldType = (typeof CUSTOM_FIELD_TYPES)[number]

export interface FieldConstraints {
  readonly allowedValues?: readonly string[]
  readonly maxLength?: number
  /** A regular expression of RE2, whose time is bounded by its own size times the length of the text. */
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly required?: boolean
  readonly default?: unknown
}

export interface FieldDefinition {
  readonly name: string
  readonly type: CustomFieldType
  readonly constraints: FieldConstraints
}

export type CustomValues = Readonly<Record<string, unknown>>

const TEXT_LENGTH = 255
export const MAX_TEXT_LENGTH = 4_000
const MAX_ELEMENTS = 1_000
/** Steps in which a pattern is matched, each of a few ten nanoseconds, which hold the process. */
const MOST_STEPS = 2_500_000
/** Milliseconds of CPU for all patterns of a record, of which there may be many, and older ones of any size. */
const MOST_TIME = 500
/** Patterns kept compiled: compiling an ordinary one often takes longer than matching it. */
const KEPT = 50

const APPLIES: Readonly<Record<CustomFieldType, readonly (keyof FieldConstraints)[]>> = {
  array: ['allowedValues', 'required', 'default'],
  boolean: ['required', 'default'],
  date: ['required', 'default'],
  datetime: ['required', 'default'],
  integer: ['minimum', 'maximum', 'required', 'default'],
  number: ['minimum', 'maximum', 'required', 'default'],
  string: ['allowedValues', 'maxLength', 'pattern', 'required', 'default'],
  monetary: ['required', 'default'],
}

export function definitionProblems({ type, constraints }: Omit<FieldDefinition, 'name'>): InvalidField[] {
  const problems: InvalidField[] = []
  const fail = (name: string, problem: FieldProblem) =>
    void problems.push({ field: `additionalSchema.${name}`, ...problem })
  for (const name of Object.keys(constraints)) {
    if (!APPLIES[type].includes(name as keyof FieldConstraints))
      fail(name, wrong('not-supported', `is not supported for fields of the type ${type}`))
  }
  const { minimum, maximum, maxLength, pattern, default: initial } = constraints
  if (minimum !== undefined && maximum !== undefined && minimum > maximum)
    fail('minimum', wrong('mismatch', 'must not be greater than maximum'))
  if (pattern !== undefined) {
    const problem = patternProblem(pattern, maxLength)
    if (problem !== null) fail('pattern', problem)
  }
  if (problems.length > 0 || initial === undefined) return problems
  const problem = valueProblem({ name: 'default', type, constraints }, initial, { milliseconds: MOST_TIME })
  if (problem !== null) fail('default', problem)
  return problems
}

/** A new record takes defaults; of a known one only what differs from `stored` is validated (D 2, PUT). */
export function checkedCustomFields(
  definitions: readonly FieldDefinition[],
  given: CustomValues,
  stored: CustomValues | null,
): { readonly values: CustomValues; readonly problems: readonly InvalidField[] } {
  // Not an object: a field may be named __proto__.
  const values = new Map(Object.entries(given))
  const budget = { milliseconds: MOST_TIME }
  const problems: InvalidField[] = []
  for (const definition of definitions) {
    const { name, constraints } = definition
    const known = ownValue(stored, name) ?? null
    if (stored === null && !values.has(name) && constraints.default !== undefined)
      values.set(name, constraints.default)
    const value = values.get(name) ?? null
    if (stored !== null && canonicalJson(value) === canonicalJson(known)) continue
    const missing = constraints.required ? wrong('required', 'is required') : null
    const problem = value === null ? missing : valueProblem(definition, value, budget)
    if (problem !== null) problems.push({ field: `customFields.${name}`, ...problem })
  }
  return { values: Object.fromEntries(values), problems }
}

/** What is left for the patterns of a record. */
interface Budget {
  milliseconds: number
}

function valueProblem(
  { type, constraints }: FieldDefinition,
  value: unknown,
  budget: Budget,
): FieldProblem | null {
  switch (type) {
    case 'array':
      return arrayProblem(value, constraints)
    case 'boolean':
      return typeof value === 'boolean' ? null : wrong('wrong-type', 'must be true or false')
    case 'date':
      return isFormat('date', value) ? null : wrong('wrong-format', 'must be a date such as 2026-01-31')
    case 'datetime':
      return isFormat('date-time', value)
        ? null
        : wrong('wrong-format', 'must be an ISO 8601 date-time with an offset, such as 2026-01-31T09:00:00Z')
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31
        ? rangeProblem(value, constraints)
        : wrong('wrong-type', 'must be an integer between -2147483648 and 2147483647')
    case 'number':
      return typeof value === 'number'
        ? rangeProblem(value, constraints)
        : wrong('wrong-type', 'must be a number')
    case 'string':
      return typeof value === 'string'
        ? textProblem(value, constraints, budget)
        : wrong('wrong-type', 'must be a string')
    case 'monetary':
      return monetaryProblem(value)
  }
}

function arrayProblem(value: unknown, { allowedValues }: FieldConstraints): FieldProblem | null {
  const isList = Array.isArray(value) && value.length <= MAX_ELEMENTS
  if (!isList || value.some((one) => typeof one !== 'string' || one.length > TEXT_LENGTH))
    return wrong(
      'wrong-type',
      `must be an array of at most ${MAX_ELEMENTS} strings of at most ${TEXT_LENGTH} characters`,
    )
  return value.every((one) => allowedValues?.includes(one) ?? true)
    ? null
    : wrong('not-one-of', `must only contain ${listed(allowedValues ?? [])}`)
}

function textProblem(
  value: string,
  { allowedValues, maxLength = TEXT_LENGTH, pattern }: FieldConstraints,
  budget: Budget,
): FieldProblem | null {
  if (value.length > maxLength) return wrong('too-long', `must not have more than ${maxLength} characters`)
  if (allowedValues !== undefined && !allowedValues.includes(value))
    return wrong('not-one-of', `must be one of ${listed(allowedValues)}`)
  if (pattern === undefined) return null
  switch (matches(pattern, value, budget)) {
    case true:
      return null
    case false:
      return wrong('wrong-format', `must match ${pattern}`)
    case null:
      return wrong('too-long', `is too long to be compared with ${pattern}`)
  }
}

function rangeProblem(value: number, { minimum, maximum }: FieldConstraints): FieldProblem | null {
  if (minimum !== undefined && value < minimum)
    return wrong('out-of-range', `must not be less than ${minimum}`)
  if (maximum !== undefined && value > maximum)
    return wrong('out-of-range', `must not be greater than ${maximum}`)
  return null
}

function monetaryProblem(value: unknown): FieldProblem | null {
  const { currency, amount, ...rest } = (value ?? {}) as Record<string, unknown>
  if (typeof currency !== 'string' || typeof amount !== 'number' || Object.keys(rest).length > 0)
    return wrong('wrong-type', 'must be an object of a currency and an amount')
  if (currencyCodes.code(currency) === undefined || currency !== currency.toUpperCase())
    return wrong('wrong-format', 'must have an ISO 4217 currency code in capitals')
  return amountProblem(amountOf(amount), currency)
}

function wrong(code: FieldCode, message: string): FieldProblem {
  return { code, message }
}

function listed(values: readonly string[]): string {
  return `${values.slice(0, 20).join(', ')}${values.length > 20 ? ', …' : ''}`
}

function patternProblem(pattern: string, maxLength = TEXT_LENGTH): FieldProblem | null {
  const regExp = compiled(pattern)
  if (regExp === null)
    return wrong('wrong-format', 'must be a regular expression without lookaround and backreferences')
  return stepsOf(regExp, maxLength) > MOST_STEPS
    ? wrong('too-long', `must be simpler for values of up to ${maxLength} characters`)
    : null
}

/** Returns null if it is not known: the pattern takes too long, or all before it have. */
function matches(pattern: string, value: string, budget: Budget): boolean | null {
  if (budget.milliseconds <= 0) return null
  const begun = process.threadCpuUsage()
  try {
    const regExp = compiled(pattern)
    if (regExp === null) return false
    return stepsOf(regExp, value.length) > MOST_STEPS ? null : regExp.matcher(value).find()
  } finally {
    const { user, system } = process.threadCpuUsage(begun)
    budget.milliseconds -= (user + system) / 1_000
  }
}

function stepsOf(regExp: RE2JS, length: number): number {
  return regExp.programSize() * (1 + length)
}

const compiled = lastUsed(
  KEPT,
  (pattern: string) => pattern,
  (pattern): RE2JS | null => {
    try {
      return RE2JS.compile(pattern)
    } catch {
      return null
    }
  },
)

function isFormat(name: 'date' | 'date-time', value: unknown): boolean {
  const format = fullFormats[name]
  return (
    typeof value === 'string' &&
    typeof format === 'object' &&
    'validate' in format &&
    typeof format.validate === 'function' &&
    (format.validate as (text: string) => boolean)(value)
  )
}

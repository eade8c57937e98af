import type { InvalidField } from '../../billing/errors.ts'
import { isInRange, parseInstant } from '../../billing/instants.ts'
import { listedRows } from '../../db/row-security.ts'
import { customField, type Field, type Fields } from './fields.ts'
import { type FilterClause, FilterSyntaxError, type FilterValue, parseFilter } from './filter.ts'

export interface Sql {
  readonly text: string
  readonly values: readonly unknown[]
}

export interface ListParameters {
  readonly filter?: string
  readonly q?: string
  readonly sort?: string
}

export interface ListOwner {
  readonly organizationId: string
  /** True if members of free-form `customFields` can be named. */
  readonly hasCustomFields: boolean
}

export interface ListQuery {
  readonly where: Sql
  readonly orderBy: Sql
}

export class ListQueryError extends Error {
  override readonly name = 'ListQueryError'
  readonly fields: readonly InvalidField[]

  constructor(fields: readonly InvalidField[]) {
    super(fields.map(({ field, message }) => `${field} ${message}`).join('; '))
    this.fields = fields
  }
}

/** Newest first; equal times by id, so that pages never overlap. */
const DEFAULT_ORDER = 'row.created_time desc, row.id asc'

/** `q` searches the expression `search`, over a row aliased `row`. Throws ListQueryError. */
export function listQuery(
  parameters: ListParameters,
  fields: Fields,
  search: string,
  { organizationId, hasCustomFields }: ListOwner,
): ListQuery {
  const failures: InvalidField[] = []
  const conditions: Sql[] = []
  const fieldOf = (name: string): Field | null =>
    (Object.hasOwn(fields, name) ? fields[name] : null) ?? (hasCustomFields ? customField(name) : null)

  if (parameters.filter !== undefined && parameters.filter !== '') {
    try {
      const hasRanges = (name: string) => ['number', 'time'].includes(fieldOf(name)?.type ?? '')
      for (const clause of parseFilter(parameters.filter, hasRanges))
        conditions.push(condition(clause, fieldOf(clause.name), organizationId))
    } catch (error) {
      if (!(error instanceof FilterSyntaxError)) throw error
      failures.push({ field: 'filter', code: error.code, message: error.message })
    }
  }
  if (parameters.q !== undefined && parameters.q !== '') {
    const pattern = parameters.q.replaceAll(/[\\%_]/g, (char) => `\\${char}`)
    // Lowercase is what PostgreSQL says: JavaScript has another one for a final sigma, or İ.
    conditions.push({ text: `${search} like lower(?)`, values: [`%${pattern}%`] })
  }
  const orders = (parameters.sort ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .flatMap((name) => {
      const descending = name.startsWith('-')
      const field = fieldOf(descending ? name.slice(1) : name)
      if (field === null) {
        const message = `cannot sort by ${descending ? name.slice(1) : name}`
        failures.push({ field: 'sort', code: 'not-one-of', message })
      }
      return field === null
        ? []
        : [
            {
              text: `${field.sql} ${descending ? 'desc' : 'asc'}${nullsOf(field, descending)}`,
              values: field.values ?? [],
            },
          ]
    })
  if (failures.length > 0) throw new ListQueryError(failures)
  return {
    where: {
      text: conditions.map(({ text }) => `(${text})`).join(' and ') || 'true',
      values: conditions.flatMap(({ values }) => values),
    },
    orderBy: {
      text: orders.length === 0 ? DEFAULT_ORDER : `${orders.map(({ text }) => text).join(', ')}, row.id asc`,
      values: orders.flatMap(({ values }) => values),
    },
  }
}

function nullsOf({ always }: Field, descending: boolean): string {
  if (always === true) return ''
  return descending ? ' nulls last' : ' nulls first'
}

function condition(
  { name, excludes, values }: FilterClause,
  field: Field | null,
  organizationId: string,
): Sql {
  if (field === null) throw new FilterSyntaxError(`cannot filter by ${name}`, 'not-one-of')
  const matches = values.map((value) => match(name, field, value, organizationId))
  const any = matches.map(({ text }) => text).join(' or ')
  // A missing value equals nothing, so excluding a value does not exclude it.
  const text = excludes ? `not coalesce(${any}, false)` : any
  return { text, values: matches.flatMap(({ values: bound }) => bound) }
}

function match(name: string, field: Field, value: FilterValue, organizationId: string): Sql {
  const { sql, type, folded = 'lower', refersTo, values: inside = [] } = field
  switch (value.kind) {
    case 'null':
      return { text: `${sql} is null`, values: inside }
    case 'literal':
      if (refersTo !== undefined) {
        return {
          text: `${sql} in (select id from ${listedRows(refersTo)} referred where organization_id = ? and lower(id) = lower(?))`,
          values: [organizationId, value.text],
        }
      }
      return type === 'text'
        ? {
            text: `${field.folded === undefined ? `lower(${sql})` : sql} = ${folded}(?)`,
            values: [...inside, value.text],
          }
        : {
            text: `${sql} = ?${boundAs(field, value.text)}`,
            values: [...inside, typed(name, type, value.text)],
          }
    case 'range': {
      const ends = [
        ...(value.from === null ? [] : [{ operator: '>=', text: value.from }]),
        ...(value.to === null ? [] : [{ operator: '<=', text: value.to }]),
      ]
      return {
        text: `(${ends.map(({ operator, text }) => `${sql} ${operator} ?${boundAs(field, text)}`).join(' and ')})`,
        values: ends.flatMap(({ text }) => [...inside, typed(name, type, text)]),
      }
    }
  }
}

const BOUND_AS = { text: '::text', number: '::numeric', time: '::timestamptz', boolean: '::boolean' } as const

/** A whole number is compared with a whole column as such. */
function boundAs({ type, whole }: Field, text: string): string {
  return whole === true && /^-?\d{1,18}$/.test(text) ? '::bigint' : BOUND_AS[type]
}

/** Returns the value in its type's notation, so that no unparsed text reaches the database. */
function typed(name: string, type: Field['type'], text: string): string {
  switch (type) {
    case 'text':
      return text
    case 'number':
      if (/^-?\d{1,30}(\.\d{1,30})?$/.test(text)) return text
      throw new FilterSyntaxError(`${name} must be a number, not ${text}`)
    case 'boolean':
      if (/^(true|false)$/i.test(text)) return text
      throw new FilterSyntaxError(`${name} must be true or false, not ${text}`)
    case 'time': {
      const instant = parseInstant(text)
      if (instant === null) {
        throw new FilterSyntaxError(`${name} must be a time such as 2026-01-31T09:00:00Z, not ${text}`)
      }
      if (isInRange(instant)) return new Date(instant).toISOString()
      throw new FilterSyntaxError(`${name} must be a time between the years 1970 and 9999`, 'out-of-range')
    }
  }
}

/** Which members of a resource can be filtered and sorted by, and where they stand in its table. */
import type { TSchema } from 'typebox'

export type FieldType = 'text' | 'number' | 'time' | 'boolean'

export interface Field {
  /** Expression over the row, which is aliased `row`; a `?` stands for each of `values`. */
  readonly sql: string
  readonly values?: readonly unknown[]
  readonly type: FieldType
  /**
   * The case in which every row has it: then a value is folded instead of the column, whose own index and statistics
   * (how common is each value?) can answer.
   */
  readonly folded?: 'lower' | 'upper'
  /** Whether it is an integer column: compared as one, for the same reason. */
  readonly whole?: boolean
  /**
   * The table whose ids it holds, of rows that are there as long as this one is: a value is looked up there by its index,
   * whatever its case, and then here as it is written.
   */
  readonly refersTo?: string
  /** Whether every row has it: then an order needs no place for nulls, and an index gives it as it stands. */
  readonly always?: boolean
}

export type Fields = Readonly<Record<string, Field>>

interface Member {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly writeOnly?: boolean
  readonly properties?: Readonly<Record<string, Member>>
}

/**
 * Every scalar member a schema shows, dots reaching into objects. A member stands in the column of its name, a member of
 * an object in the JSON document of that column; `overrides` says otherwise, or null where it cannot be asked for.
 */
export function fieldsOf(schema: TSchema, overrides: Readonly<Record<string, Field | null>> = {}): Fields {
  const found: Record<string, Field> = {}
  const visit = (members: Readonly<Record<string, Member>>, path: readonly string[]): void => {
    for (const [name, member] of Object.entries(members)) {
      const [full, dotted] = [[...path, name], [...path, name].join('.')]
      if (name.startsWith('_') || member.writeOnly === true || overrides[dotted] === null) continue
      const override = overrides[dotted]
      const type = scalarType(member)
      if (override !== undefined) found[dotted] = override
      else if (member.properties !== undefined) visit(member.properties, full)
      else if (type !== null)
        found[dotted] = {
          sql: expression(full, type),
          type,
          always: isAlways(member, full),
          ...known(member, full),
        }
    }
  }
  visit((schema as Member).properties ?? {}, [])
  for (const [name, override] of Object.entries(overrides)) if (override !== null) found[name] ??= override
  return found
}

/** A column that every row has and that names a row of another table, which is there as long as this one is. */
export function reference(column: string, refersTo: string): Field {
  return { sql: `row.${column}`, type: 'text', always: true, refersTo }
}

/** A member of the free-form `customFields`, compared as text; null for other names. */
export function customField(name: string): Field | null {
  const [first, ...rest] = name.split('.')
  if (first !== 'customFields' || rest.length === 0) return null
  return { sql: '(row.custom_fields #>> ?::text[])', values: [arrayText(rest)], type: 'text' }
}

/** A column of its own that is never null. */
function isAlways({ type }: Member, path: readonly string[]): boolean {
  return path.length === 1 && type !== undefined && ![type].flat().includes('null')
}

/** What a column of its own holds for sure. */
function known(
  { type, format, enum: values }: Member,
  path: readonly string[],
): Pick<Field, 'folded' | 'whole'> {
  if (path.length > 1) return {}
  if (format === 'currency') return { folded: 'upper' }
  if ([type].flat().includes('integer')) return { whole: true }
  const texts = (values ?? []).filter((value) => value !== null).map(String)
  return texts.length > 0 && texts.every((text) => text === text.toLowerCase()) ? { folded: 'lower' } : {}
}

function scalarType({ type, format, enum: values }: Member): FieldType | null {
  const types = [type ?? []].flat().filter((one) => one !== 'null')
  if (values?.some((value) => typeof value === 'string')) return 'text'
  if (types.length !== 1) return null
  switch (types[0]) {
    case 'string':
      return format === 'date-time' ? 'time' : 'text'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    default:
      return null
  }
}

const CASTS: Readonly<Record<FieldType, string>> = {
  text: '',
  number: '::numeric',
  time: '::timestamptz',
  boolean: '::boolean',
}

function expression([column = '', ...rest]: readonly string[], type: FieldType): string {
  const name = `row.${column.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)}`
  return rest.length === 0 ? name : `(${name} #>> '${arrayText(rest)}')${CASTS[type]}`
}

/** A path as PostgreSQL writes an array. */
function arrayText(parts: readonly string[]): string {
  return `{${parts.map((part) => `"${part.replaceAll(/["\\]/g, (char) => `\\${char}`)}"`).join(',')}}`
}

/** The members of a resource that can be filtered and sorted by, and where they are in its table. */
import type { TSchema } from 'typebox'

export type FieldType = 'text' | 'number' | 'time' | 'boolean'

export interface Field {
  /** Expression over the row, which is aliased `row`; each `?` stands for one of `values`. */
  readonly sql: string
  readonly values?: readonly unknown[]
  readonly type: FieldType
  /**
   * The case that every stored value has: the searched value is folded instead of the column, so that the column's
   * index and statistics apply.
   */
  readonly folded?: 'lower' | 'upper'
  /** True for an integer column, which is compared as one so that its index applies. */
  readonly whole?: boolean
  /**
   * The table whose ids it holds, of rows that live at least as long: a value is looked up there by its index, in any
   * case, and compared here as it is written there.
   */
  readonly refersTo?: string
  /** True if every row has a value: sorting then needs no place for nulls, and an index gives the order. */
  readonly always?: boolean
}

export type Fields = Readonly<Record<string, Field>>

interface Member {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly writeOnly?: boolean
  readonly 'x-neutral'?: unknown
  readonly properties?: Readonly<Record<string, Member>>
}

/**
 * Returns every scalar member of a schema; dots reach into objects. A member is in the column of its name, and a member
 * of an object is in the JSON document of that column. `overrides` replaces a field, or excludes it with null.
 */
export function fieldsOf(schema: TSchema, overrides: Readonly<Record<string, Field | null>> = {}): Fields {
  const found: Record<string, Field> = {}
  const visit = (members: Readonly<Record<string, Member>>, path: readonly string[]): void => {
    for (const [name, member] of Object.entries(members)) {
      const [full, dotted] = [[...path, name], [...path, name].join('.')]
      if (name.startsWith('_') || member.writeOnly === true || 'x-neutral' in member) continue
      if (overrides[dotted] === null) continue
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

/** Returns the field of a non-null column that refers to a row of another table, which lives at least as long. */
export function reference(column: string, refersTo: string): Field {
  return { sql: `row.${column}`, type: 'text', always: true, refersTo }
}

/** Returns a member of the free-form `customFields`, compared as text, or null for other names. */
export function customField(name: string): Field | null {
  const [first, ...rest] = name.split('.')
  if (first !== 'customFields' || rest.length === 0) return null
  return { sql: '(row.custom_fields #>> ?::text[])', values: [arrayText(rest)], type: 'text' }
}

/** True for a column of its own that is never null. */
function isAlways({ type }: Member, path: readonly string[]): boolean {
  return path.length === 1 && type !== undefined && ![type].flat().includes('null')
}

/** Returns what is known of the values of a column. */
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
  if (types.length > 1) return types.includes('string') ? 'text' : null
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

function arrayText(parts: readonly string[]): string {
  return `{${parts.map((part) => `"${part.replaceAll(/["\\]/g, (char) => `\\${char}`)}"`).join(',')}}`
}

import type { TSchema } from 'typebox'

export type FieldType = 'text' | 'number' | 'time' | 'boolean'

export interface Field {
  /** Expression over the row, which is aliased `row`; each `?` stands for one of `values`. */
  readonly sql: string
  readonly values?: readonly unknown[]
  readonly type: FieldType
  /** The case of every stored value: the searched value is folded, so that the column's index applies. */
  readonly folded?: 'lower' | 'upper'
  /** True for an integer column: comparing it as an integer lets its index apply. */
  readonly whole?: boolean
  /** The table whose ids it holds; its rows live at least as long. A value is found there by index, in any case. */
  readonly refersTo?: string
  /** True if every row has a value: an index then gives the order, without a place for nulls. */
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
 * Returns every scalar member: in the column of its name, or in that column's JSON document if a dot reaches
 * into an object. `overrides` replaces a field, or excludes it with null.
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

/** For a non-null column that refers to a row which lives at least as long. */
export function reference(column: string, refersTo: string): Field {
  return { sql: `row.${column}`, type: 'text', always: true, refersTo }
}

/** For a text that every row shows; null: none shows one. */
export function constant(value: string | null): Field {
  if (value === null) return { sql: 'null::text', type: 'text' }
  return { sql: `'${value}'::text`, type: 'text', folded: 'lower', always: true }
}

/** Free-form `customFields` are compared as text; null for other names. */
export function customField(name: string): Field | null {
  const [first, ...rest] = name.split('.')
  if (first !== 'customFields' || rest.length === 0) return null
  return { sql: '(row.custom_fields #>> ?::text[])', values: [arrayText(rest)], type: 'text' }
}

function isAlways({ type }: Member, path: readonly string[]): boolean {
  return path.length === 1 && type !== undefined && ![type].flat().includes('null')
}

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

import type { EntityClass } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/postgresql'

/** Missing members become null, or the default of a number or boolean. */
export interface NewRow {
  readonly entity: EntityClass<object>
  readonly row: object
}

export interface Insertion {
  readonly table: string
  /** With `?` for each value. */
  readonly text: string
  readonly values: readonly unknown[]
}

/** The text is the same for all rows of an entity. */
export function insertion(em: EntityManager, { entity, row }: NewRow): Insertion {
  const { tableName, props } = em.getMetadata().get(entity)
  const columns: string[] = []
  const values: unknown[] = []
  for (const {
    name,
    persist,
    default: initial,
    fieldNames: [column = name],
    columnTypes,
  } of props) {
    const given = (row as Record<string, unknown>)[name]
    const value = given ?? (typeof initial === 'number' || typeof initial === 'boolean' ? initial : null)
    if (persist === false) continue
    columns.push(`"${column}"`)
    values.push(columnTypes[0] === 'jsonb' && value !== null ? JSON.stringify(value) : value)
  }
  const places = columns.map(() => '?').join(', ')
  const text = `insert into "${tableName}" (${columns.join(', ')}) values (${places})`
  return { table: tableName, text, values }
}

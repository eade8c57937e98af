import { p } from '@mikro-orm/core'

/** At most 50 characters, unique only within its organization. */
export const id = () => p.string().length(50)
/** `timestamptz(3)`, so that rows, JavaScript dates and workflow clocks agree to the millisecond. */
export const instant = () => p.datetime().length(3)
export const json = <T>() => p.json().$type<T>()
/** The default of an array in JSON, for the database alone: the ORM would store the text as a JSON string. */
export const EMPTY_ARRAY = "'[]'"

export const tenantKey = { organizationId: id().primary(), id: id().primary() }
export const resourceColumns = {
  revision: p.integer().default(1),
  createdTime: instant(),
  updatedTime: instant(),
}

/** For records that time advances: set while advancing one fails, so that it stops no other. */
export const quarantineColumns = {
  quarantineCount: p.integer().default(0),
  quarantineReason: p.string().length(500).nullable(),
  /** When it is advanced again, unless a command or an operator does so before; null: not quarantined. */
  quarantinedUntil: instant().nullable(),
}

export const quarantineIndex = (table: string) => ({
  name: `${table}_quarantined_index`,
  expression: `create index "${table}_quarantined_index" on "${table}" ("quarantined_until") where "quarantined_until" is not null`,
})

/** What `q` searches: one lowercase text. Indexes and queries must use the same. */
export function searchExpression(...columns: string[]): string {
  const parts = ['"id"', ...columns.map((column) => `coalesce("${column}", '')`)]
  return `lower(${parts.join(" || E'\\n' || ")})`
}

export const newestIndex = (table: string) => ({
  name: `${table}_newest_index`,
  expression: `create index "${table}_newest_index" on "${table}" ("organization_id", "created_time" desc, "id")`,
})

/** For a case-insensitive filter, in the default order. The filter must use the same expression. */
export const filterIndex = (table: string, column: string, condition = '') => ({
  name: `${table}_by_${column}_index`,
  expression: `create index "${table}_by_${column}_index" on "${table}" ("organization_id", lower("${column}"), "created_time" desc, "id")${condition}`,
})

/** As `filterIndex`, for lowercase texts with few values. */
export const choiceIndex = (table: string, column: string) => ({
  name: `${table}_${column}_newest_index`,
  expression: `create index "${table}_${column}_newest_index" on "${table}" ("organization_id", "${column}", "created_time" desc, "id")`,
})

export const listIndexes = (table: string, search: string) => [
  newestIndex(table),
  {
    name: `${table}_by_id_index`,
    expression: `create index "${table}_by_id_index" on "${table}" ("organization_id", lower("id"))`,
  },
  {
    name: `${table}_search_index`,
    expression: `create index "${table}_search_index" on "${table}" using gin ("organization_id", (${search}) gin_trgm_ops)`,
  },
]

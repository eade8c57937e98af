/** Columns that every table spells the same way. */
import { p } from '@mikro-orm/core'

/** An id: text of at most 50 characters, unique in its organization only. */
export const id = () => p.string().length(50)
/** An instant: `timestamptz(3)`, so that rows, JavaScript dates and workflow clocks agree to the millisecond. */
export const instant = () => p.datetime().length(3)
/** A JSON document, kept as it was given. */
export const json = <T>() => p.json().$type<T>()

/** The key of a tenant's row: organization first. */
export const tenantKey = { organizationId: id().primary(), id: id().primary() }
/** What every resource carries: its revision and the times of creation and of the last change. */
export const resourceColumns = {
  revision: p.integer().default(1),
  createdTime: instant(),
  updatedTime: instant(),
}

/** Of a record that time advances: set while advancing it fails, so that it stops nothing else. */
export const quarantineColumns = {
  /** Failures in a row. */
  quarantineCount: p.integer().default(0),
  quarantineReason: p.string().length(500).nullable(),
  /** Advanced again then, or sooner by a command or an operator; null: it is not quarantined. */
  quarantinedUntil: instant().nullable(),
}

/** Finds the quarantined rows of a table. */
export const quarantineIndex = (table: string) => ({
  name: `${table}_quarantined_index`,
  expression: `create index "${table}_quarantined_index" on "${table}" ("quarantined_until") where "quarantined_until" is not null`,
})

/** What `q` searches: the id and the given columns as one text in lower case. Indexes and queries spell it alike. */
export function searchExpression(...columns: string[]): string {
  const parts = ['"id"', ...columns.map((column) => `coalesce("${column}", '')`)]
  return `lower(${parts.join(" || E'\\n' || ")})`
}

/** The index of a listed resource's default order. */
export const newestIndex = (table: string) => ({
  name: `${table}_newest_index`,
  expression: `create index "${table}_newest_index" on "${table}" ("organization_id", "created_time" desc, "id")`,
})

/** An index that answers a filter on a text, without case, in the default order. Filters spell it alike. */
export const filterIndex = (table: string, column: string, condition = '') => ({
  name: `${table}_by_${column}_index`,
  expression: `create index "${table}_by_${column}_index" on "${table}" ("organization_id", lower("${column}"), "created_time" desc, "id")${condition}`,
})

/** As `filterIndex`, for a text of few values that all are in lower case. */
export const choiceIndex = (table: string, column: string) => ({
  name: `${table}_${column}_newest_index`,
  expression: `create index "${table}_${column}_newest_index" on "${table}" ("organization_id", "${column}", "created_time" desc, "id")`,
})

/** Indexes of a listed resource: its default order, a filter on its id, and `q`. */
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

import type { EntityClass } from '@mikro-orm/core'
import { plainRowReader } from '../db/plain-rows.ts'
import { statement } from '../db/statement.ts'
import type { Expander } from './resource.ts'

/** An expander that embeds the row a member refers to, or what is shown of it; one query for a whole page. */
export function embedding<Row extends { id: string }, Other extends { organizationId: string; id: string }>(
  entity: EntityClass<Other>,
  reference: (row: Row) => string | null,
  present: (row: Other, baseUrl: string) => object | null,
): Expander<Row> {
  return async (rows, { em, organizationId, baseUrl }) => {
    const ids = [...new Set(rows.flatMap((row) => reference(row) ?? []))]
    if (ids.length === 0) return new Map()
    const { tableName } = em.getMetadata().get(entity as EntityClass<{ organizationId: string; id: string }>)
    const found = await statement<Record<string, unknown>>(
      em,
      `select * from ${tableName} where organization_id = ? and id = any(?::text[])`,
      [organizationId, ids],
    )
    const shown = new Map(
      found.map(plainRowReader(em, entity)).map((other) => [other.id, present(other, baseUrl)]),
    )
    return new Map(rows.map((row) => [row.id, shown.get(reference(row) ?? '') ?? null]))
  }
}

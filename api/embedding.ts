import type { EntityClass } from '@mikro-orm/core'
import type { Expander } from './resource.ts'

/** An expander that embeds the row a member refers to; one query for a whole page. */
export function embedding<Row extends { id: string }, Other extends { organizationId: string; id: string }>(
  entity: EntityClass<Other>,
  reference: (row: Row) => string | null,
  present: (row: Other, baseUrl: string) => object | null,
): Expander<Row> {
  return async (rows, { em, organizationId, baseUrl }) => {
    const ids = [...new Set(rows.flatMap((row) => reference(row) ?? []))]
    const found = (await em.find(entity as EntityClass<{ organizationId: string; id: string }>, {
      organizationId,
      id: { $in: ids },
    })) as Other[]
    const shown = new Map(found.map((other) => [other.id, present(other, baseUrl)]))
    return new Map(rows.map((row) => [row.id, shown.get(reference(row) ?? '') ?? null]))
  }
}

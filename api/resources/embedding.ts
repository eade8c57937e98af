import type { EntityClass } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/postgresql'
import { computedColumns } from '../../db/computed-columns.ts'
import { plainRowReader } from '../../db/plain-rows.ts'
import { composedStatement } from '../../db/statement.ts'
import type { OperationContext } from '../operation.ts'

export interface Embedding<Row> {
  readonly reference: (row: Row) => string | null
  readonly tableOf: (em: EntityManager) => string
  /** Computed members, as a select list over the table aliased `row`. */
  readonly computedOf: (em: EntityManager) => string
  /** From the record's row as JSON has it. */
  readonly show: (raw: Readonly<Record<string, unknown>>, em: EntityManager, baseUrl: string) => object | null
}

/** If the record has decimals, `present` receives them as numbers. */
export function embedding<Row, Other extends { organizationId: string; id: string }>(
  entity: EntityClass<Other>,
  reference: (row: Row) => string | null,
  present: (row: Other, baseUrl: string) => object | null,
): Embedding<Row> {
  return {
    reference,
    tableOf: (em) =>
      em.getMetadata().get(entity as EntityClass<{ organizationId: string; id: string }>).tableName,
    computedOf: (em) => computedColumns(em, entity, 'row'),
    show: (raw, em, baseUrl) => present(plainRowReader(em, entity)(raw), baseUrl),
  }
}

/** Reads all by one statement. Returns records by name of the embedding, then by row id; null if there is none. */
export async function findEmbedded<Row extends { id: string }>(
  rows: readonly Row[],
  embeddings: readonly (readonly [string, Embedding<Row>])[],
  { em, organizationId, baseUrl }: Pick<OperationContext, 'em' | 'organizationId' | 'baseUrl'>,
): Promise<[string, ReadonlyMap<string, unknown>][]> {
  const idsByTable = new Map<string, Set<string>>()
  const computedByTable = new Map<string, string>()
  for (const [, { tableOf, computedOf, reference }] of embeddings) {
    const table = tableOf(em)
    computedByTable.set(table, computedOf(em))
    const ids = idsByTable.get(table) ?? new Set()
    idsByTable.set(table, ids)
    for (const row of rows) {
      const id = reference(row)
      if (id !== null) ids.add(id)
    }
  }
  const wanted = [...idsByTable].filter(([, ids]) => ids.size > 0)
  const rawByTable = new Map(wanted.map(([table]) => [table, new Map<string, Record<string, unknown>>()]))
  if (wanted.length > 0) {
    const found = await composedStatement<{ table: string; row: Record<string, unknown> & { id: string } }>(
      em,
      wanted
        .map(
          ([table]) =>
            `select '${table}' as table, to_jsonb(found) as row from (
               select row.*${computedByTable.get(table)} from ${table} row
                where organization_id = ? and id = any(?::text[])) found`,
        )
        .join(' union all '),
      wanted.flatMap(([, ids]) => [organizationId, [...ids]]),
    )
    for (const { table, row } of found) rawByTable.get(table)?.set(row.id, row)
  }
  return embeddings.map(([name, { tableOf, reference, show }]) => {
    const raws = rawByTable.get(tableOf(em))
    const embedded = new Map<string, unknown>()
    for (const row of rows) {
      const raw = raws?.get(reference(row) ?? '')
      embedded.set(row.id, raw === undefined ? null : show(raw, em, baseUrl))
    }
    return [name, embedded]
  })
}

import type { EntityClass } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/postgresql'

/** Returns the entity's computed members for a select list over its table, each preceded by a comma. */
export function computedColumns<Row extends object>(
  em: EntityManager,
  entity: EntityClass<Row>,
  alias: string,
): string {
  const metadata = em.getMetadata().get(entity)
  const columns = metadata.createColumnMappingObject(alias)
  const table = { alias, name: metadata.tableName, qualifiedName: metadata.tableName, toString: () => alias }
  return metadata.props
    .flatMap(({ formula, name, fieldNames: [column = name] }) =>
      formula === undefined ? [] : [`, ${String(formula(columns, table))} as "${column}"`],
    )
    .join('')
}

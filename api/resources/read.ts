import { plainRowReader } from '../../db/plain-rows.ts'
import { composedStatement, statement } from '../../db/statement.ts'
import { isNotModified } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { notFound, type Resource, type ResourceRow } from './resource.ts'
import { isPart, respondWith } from './respond.ts'

interface Place {
  readonly id: string
  /** Condition over the row, beside the id. */
  readonly within: { readonly text: string; readonly values: readonly unknown[] }
}

/** Responds with 304 if the caller has this revision already. */
export async function readOne<Row extends ResourceRow>(
  context: OperationContext,
  resource: Resource<Row>,
  place?: Place,
): Promise<OperationResponse> {
  const row = await readRow(context, resource, place)
  const isNeverSame = isPart(context) || resource.isVolatile?.(row) === true
  if (!isNeverSame && isNotModified(context.preconditions, row.revision)) {
    return { status: 304, revision: row.revision }
  }
  return await respondWith(context, resource, row)
}

/** Skips the ORM's change tracking. Throws `not-found`, also for a row that is not the caller's. */
export async function readRow<Row extends ResourceRow>(
  context: OperationContext,
  resource: Resource<Row>,
  place?: Place,
): Promise<Row> {
  const id = place?.id ?? context.params.id ?? ''
  const restriction = place?.within ?? resource.restriction?.(context)
  const [condition, values] = ['row.organization_id = ? and row.id = ?', [context.organizationId, id]]
  const [found] =
    restriction === undefined
      ? await statement<Record<string, unknown>>(
          context.em,
          `read-${resource.table}`,
          selection(resource, condition),
          values,
        )
      : await composedStatement<Record<string, unknown>>(
          context.em,
          selection(resource, `${condition} and (${restriction.text})`),
          [...values, ...restriction.values],
        )
  if (found === undefined) throw notFound(resource, id)
  return plainRowReader(context.em, resource.entity)(found)
}

/** For rows that are not changed. `from` defaults to the resource's table. */
export function selection(
  { table, computed }: Pick<Resource<ResourceRow>, 'table' | 'computed'>,
  condition: string,
  from = table,
): string {
  return `select row.*${computed === undefined ? '' : `, ${computed}`} from ${from} row where ${condition}`
}

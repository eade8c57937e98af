import { plainRowReader } from '../../db/plain-rows.ts'
import { statement } from '../../db/statement.ts'
import { isNotModified } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { notFound, type Resource, type ResourceRow } from './resource.ts'
import { isPart, respondWith } from './respond.ts'

/** GET of one: 304 if the caller has this revision already. */
export async function readOne<Row extends ResourceRow>(
  context: OperationContext,
  resource: Resource<Row>,
): Promise<OperationResponse> {
  const id = context.params.id ?? ''
  const restriction = resource.restriction?.(context)
  const condition = `row.organization_id = ? and row.id = ?${restriction === undefined ? '' : ` and (${restriction.text})`}`
  const [found] = await statement<Record<string, unknown>>(
    context.em,
    `read-${restriction === undefined ? '' : 'own-'}${resource.table}`,
    selection(resource, condition),
    [context.organizationId, id, ...(restriction?.values ?? [])],
  )
  if (found === undefined) throw notFound(resource, id)
  const row = plainRowReader(context.em, resource.entity)(found)
  const isNeverSame = isPart(context) || resource.isVolatile?.(row) === true
  if (!isNeverSame && isNotModified(context.preconditions, row.revision)) {
    return { status: 304, revision: row.revision }
  }
  return await respondWith(context, resource, row)
}

/** Returns a select of rows to present, which are not changed. */
export function selection(
  { table, computed }: Pick<Resource<ResourceRow>, 'table' | 'computed'>,
  condition: string,
): string {
  return `select row.*${computed === undefined ? '' : `, ${computed}`} from ${table} row where ${condition}`
}

/** GET of one resource. */
import { plainRowReader } from '../../db/plain-rows.ts'
import { statement } from '../../db/statement.ts'
import { isNotModified } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { notFound, type Resource, type ResourceRow } from './resource.ts'
import { respondWith } from './respond.ts'

/** GET of one: 304 where the caller has it already. */
export async function readOne<Row extends ResourceRow>(
  context: OperationContext,
  resource: Resource<Row>,
): Promise<OperationResponse> {
  const id = context.params.id ?? ''
  const [found] = await statement<Record<string, unknown>>(
    context.em,
    `read-${resource.table}`,
    selection(resource, 'row.organization_id = ? and row.id = ?'),
    [context.organizationId, id],
  )
  if (found === undefined) throw notFound(resource, id)
  const row = plainRowReader(context.em, resource.entity)(found)
  const isNeverSame = context.query.expand !== undefined || resource.isVolatile?.(row) === true
  if (!isNeverSame && isNotModified(context.preconditions, row.revision)) {
    return { status: 304, revision: row.revision }
  }
  return await respondWith(context, resource, row)
}

/** Text of a select of rows that are shown, and that nothing will change. */
export function selection(
  { table, computed }: Pick<Resource<ResourceRow>, 'table' | 'computed'>,
  condition: string,
): string {
  return `select row.*${computed === undefined ? '' : `, ${computed}`} from ${table} row where ${condition}`
}

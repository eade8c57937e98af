import { plainRowReader } from '../../db/plain-rows.ts'
import { listedRows } from '../../db/row-security.ts'
import { composedStatement } from '../../db/statement.ts'
import { invalidFieldsProblem } from '../http/problems.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { type ListParameters, ListQueryError, listQuery } from '../query/list-sql.ts'
import type { Range } from '../query/paging.ts'
import { selection } from './read.ts'
import type { Resource, ResourceRow, Restriction } from './resource.ts'
import { presentAll } from './respond.ts'

export async function list<Row extends ResourceRow>(
  context: OperationContext,
  resource: Resource<Row>,
  restriction: Restriction = resource.restriction?.(context) ?? { text: 'true', values: [] },
): Promise<OperationResponse> {
  const { em, organizationId } = context
  const { limit, offset, ...parameters } = context.query as unknown as ListParameters & Range
  const { where, orderBy } = readListQuery(parameters, resource, organizationId)
  const { listed = 'true' } = resource
  const from = resource.rows ?? listedRows(resource.table)
  const condition = `row.organization_id = ? and ${listed} and (${restriction.text}) and ${where.text}`
  const values = [organizationId, ...restriction.values, ...where.values]
  const found =
    limit === 0
      ? []
      : await composedStatement<Record<string, unknown>>(
          em,
          selection(resource, `${condition} order by ${orderBy.text} limit ? offset ?`, from),
          [...values, ...orderBy.values, limit, offset],
        )
  const rows = found.map(plainRowReader(em, resource.entity))
  const total =
    rows.length > 0 && rows.length < limit
      ? offset + rows.length
      : ((
          await composedStatement<{ total: number }>(
            em,
            `select count(*)::int as total from ${from} row where ${condition}`,
            values,
          )
        )[0]?.total ?? 0)
  return {
    body: await presentAll(context, resource, rows),
    page: { total, limit, offset },
  }
}

function readListQuery(
  parameters: ListParameters,
  { fields, search, schema }: Pick<Resource<ResourceRow>, 'fields' | 'search' | 'schema'>,
  organizationId: string,
) {
  try {
    const { properties = {} } = schema as { properties?: object }
    const hasCustomFields = 'customFields' in properties
    return listQuery(parameters, fields, search, { organizationId, hasCustomFields })
  } catch (error) {
    if (!(error instanceof ListQueryError)) throw error
    throw invalidFieldsProblem('malformed-request', error.fields)
  }
}

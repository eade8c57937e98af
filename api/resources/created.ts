import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { resourceUrl } from '../../representations/links.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import type { Resource, ResourceRow } from './resource.ts'
import { respondIn } from './respond.ts'

/** As `respondIn`, with 201. */
export async function respondCreated<Row extends ResourceRow>(
  unit: UnitOfWork,
  context: OperationContext,
  resource: Resource<Row>,
  row: Row,
): Promise<OperationResponse> {
  return {
    ...(await respondIn(unit, context, resource, row)),
    ...createdAt(context, ...resource.path.split('/'), row.id),
  }
}

/** Returns 201 with `Location`, whose path is below that of the organization. */
export function createdAt(
  { baseUrl, organizationId }: Pick<OperationContext, 'baseUrl' | 'organizationId'>,
  ...path: readonly string[]
): Pick<OperationResponse, 'status' | 'location'> {
  return { status: 201, location: resourceUrl(baseUrl, organizationId, ...path) }
}

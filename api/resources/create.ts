import type { OperationContext, OperationResponse } from '../operation.ts'
import type { Resource, ResourceRow, Writer } from './resource.ts'
import { requireKnownExpansions, respondCreated } from './respond.ts'

/** POST: creates one under the id that `newId` returns. */
export async function create<Row extends ResourceRow, Body>(
  context: OperationContext,
  resource: Resource<Row>,
  writer: Pick<Writer<Row, Body>, 'create'>,
  newId: () => string,
): Promise<OperationResponse> {
  requireKnownExpansions(context, resource)
  const body = context.body<Body>()
  return await context.commit(async (unit) =>
    respondCreated(context, resource, await writer.create(unit, newId(), body, context)),
  )
}

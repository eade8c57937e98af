import type { OperationContext, OperationResponse } from '../operation.ts'
import { respondCreated } from './created.ts'
import { withCustomFields } from './custom-fields.ts'
import type { Resource, ResourceRow, Writer } from './resource.ts'
import { requireKnownExpansions } from './respond.ts'

export async function create<Row extends ResourceRow, Body>(
  context: OperationContext,
  resource: Resource<Row>,
  writer: Pick<Writer<Row, Body>, 'before' | 'create' | 'checksCustomFields'>,
  newId: () => string,
): Promise<OperationResponse> {
  requireKnownExpansions(context, resource)
  const body = context.body<Body>()
  await writer.before?.(context)
  return await context.commit(async (unit) => {
    const checked = await withCustomFields(unit, resource, writer, body, null)
    return await respondCreated(unit, context, resource, await writer.create(unit, newId(), checked, context))
  })
}

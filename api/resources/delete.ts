import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { notFound, type Resource, type ResourceRow } from './resource.ts'

/** Removes the resource of the path's id, unless `refuse` throws. */
export async function remove<Row extends ResourceRow>(
  context: OperationContext,
  resource: Resource<Row>,
  refuse: (unit: UnitOfWork, row: Row) => void | Promise<void> = () => {},
): Promise<OperationResponse> {
  const id = context.params.id ?? ''
  return await context.commit(async (unit) => {
    const row = await lockRow(unit, resource.entity, id)
    if (row === null) throw notFound(resource, id)
    requirePreconditions(context.preconditions, row.revision)
    await refuse(unit, row)
    unit.em.remove(row)
    return {}
  })
}

import { ConflictError } from '../../billing/errors.ts'
import { changeRow } from '../../db/change-row.ts'
import { lockRow } from '../../db/lock-row.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { withCustomFields } from './custom-fields.ts'
import { notFound, type Resource, type ResourceRow, type Writer } from './resource.ts'
import { requireKnownExpansions, respondIn } from './respond.ts'

interface Patch<Row extends ResourceRow, Body>
  extends Pick<Writer<Row, Body>, 'lock' | 'update' | 'changed'> {
  readonly changeable: readonly string[]
  /** False for a record that does not exist for the caller. */
  readonly isReachable?: (row: Row) => boolean
}

/**
 * Merges the body into the representation (RFC 7396), and validates what differs. Throws ConflictError
 * if a member that is not `changeable` differs.
 */
export async function patch<Row extends ResourceRow, Body>(
  context: OperationContext,
  resource: Resource<Row>,
  { changeable, isReachable = () => true, lock, update, changed: emit }: Patch<Row, Body>,
): Promise<OperationResponse> {
  const id = context.params.id ?? ''
  requireKnownExpansions(context, resource)
  return await context.commit(async (unit) => {
    const row = await (lock?.(unit, id) ?? lockRow(unit, resource.entity, id))
    if (row === null || !isReachable(row)) throw notFound(resource, id)
    requirePreconditions(context.preconditions, row.revision)
    const { body: patched, changed } = context.patchedBody<Body>(await resource.present(row, context))
    const fixed = changed.filter((name) => !changeable.includes(name))
    if (fixed.length > 0) {
      throw new ConflictError(`These members of a ${resource.label} cannot be changed: ${fixed.join(', ')}.`)
    }
    const body = await withCustomFields(unit, resource, {}, patched, row)
    const isChanged = await changeRow(unit, row, () => update(unit, row, body, context))
    if (isChanged) await emit?.(unit, row, context)
    return await respondIn(unit, context, resource, row)
  })
}

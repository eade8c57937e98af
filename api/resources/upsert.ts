import { UniqueConstraintViolationException } from '@mikro-orm/core'
import { ID_PATTERN, ID_RULE } from '../../billing/id-format.ts'
import { changeRow } from '../../db/change-row.ts'
import { lockRow } from '../../db/lock-row.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import { invalidFieldsProblem } from '../http/problems.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { respondCreated } from './created.ts'
import { withCustomFields } from './custom-fields.ts'
import type { Resource, ResourceRow, Writer } from './resource.ts'
import { requireKnownExpansions, respondIn } from './respond.ts'

/** Of two concurrent requests, only one creates the resource. */
export async function upsert<Row extends ResourceRow, Body>(
  context: OperationContext,
  resource: Resource<Row>,
  writer: Writer<Row, Body>,
): Promise<OperationResponse> {
  const id = context.params.id ?? ''
  requireKnownExpansions(context, resource)
  const attempt = () =>
    context.commit(async (unit) => {
      const lock = () => writer.lock?.(unit, id) ?? lockRow(unit, resource.entity, id)
      const row = await lock()
      if (row !== null) await writer.advance?.(unit, row)
      requirePreconditions(context.preconditions, row?.revision ?? null)
      const given = context.body<Body>(row ?? undefined)
      if (row !== null) {
        const body = await withCustomFields(unit, resource, writer, given, row)
        const changed = await changeRow(unit, row, () => writer.update(unit, row, body, context))
        if (changed) await writer.changed?.(unit, row, context)
        return await respondIn(unit, context, resource, row)
      }
      if (!new RegExp(ID_PATTERN).test(id)) {
        const field = { field: 'id', code: 'wrong-format', message: ID_RULE } as const
        throw invalidFieldsProblem('validation-error', [field])
      }
      const body = await withCustomFields(unit, resource, writer, given, null)
      await writer.lockOwner?.(unit, body)
      if (writer.lockOwner !== undefined && (await lock()) !== null) throw new AlreadyCreatedError()
      return await respondCreated(unit, context, resource, await writer.create(unit, id, body, context))
    })
  return await againstRivals(attempt)
}

/** Repeats an upsert while a rival creates its row first; several times if the row is deleted meanwhile. */
export async function againstRivals(attempt: () => Promise<OperationResponse>): Promise<OperationResponse> {
  for (let made = 1; ; made += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!isDuplicate(error) || made === MOST_ATTEMPTS) throw error
    }
  }
}

class AlreadyCreatedError extends Error {
  override readonly name = 'AlreadyCreatedError'
}

/** True if the ORM or the driver reports an existing row of that key. */
function isDuplicate(error: unknown): boolean {
  if (error instanceof UniqueConstraintViolationException || error instanceof AlreadyCreatedError) return true
  return Error.isError(error) && (error as { code?: unknown }).code === '23505'
}

/** How often an upsert may lose the race for its id before the cause must be another. */
const MOST_ATTEMPTS = 10

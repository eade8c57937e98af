import { LockMode } from '@mikro-orm/core'
import { canonicalJson } from '../../billing/canonical-json.ts'
import {
  type CustomFieldType,
  definitionProblems,
  type FieldConstraints,
} from '../../billing/custom-fields.ts'
import { ConflictError, InvalidFieldsError } from '../../billing/errors.ts'
import { createCustomField } from '../../commands/custom-fields.ts'
import { changeRow } from '../../db/change-row.ts'
import { customFieldSearch } from '../../db/entities/custom-field.ts'
import { CustomField as CustomFieldRow } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { presentCustomField } from '../../representations/custom-field.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import { invalidFieldsProblem, type Problem } from '../http/problems.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { respondCreated } from '../resources/created.ts'
import { list } from '../resources/list.ts'
import { readOne } from '../resources/read.ts'
import { notFound, type Resource } from '../resources/resource.ts'
import { respondIn } from '../resources/respond.ts'
import { againstRivals } from '../resources/upsert.ts'
import { CustomField } from '../schemas/custom-field.ts'

export const customFields: Resource<CustomFieldRow> = {
  name: 'CustomField',
  label: 'custom field',
  path: 'custom-fields/{resource}',
  schema: CustomField,
  entity: CustomFieldRow,
  table: 'custom_fields',
  search: customFieldSearch,
  // The list takes no sort and no filter.
  fields: {},
  present: (row, { baseUrl }) => presentCustomField(row, baseUrl),
}

export const listCustomFields = async (
  context: OperationContext,
  resources: readonly string[],
): Promise<OperationResponse> => await list(context, at(context, resources), within(context))

export const getCustomField = async (
  context: OperationContext,
  resources: readonly string[],
): Promise<OperationResponse> =>
  await readOne(context, at(context, resources), { id: nameOf(context), within: within(context) })

/** Responds with 409 for another type, because records may have values of the first one. */
export async function putCustomField(
  context: OperationContext,
  resources: readonly string[],
): Promise<OperationResponse> {
  const resource = at(context, resources)
  return await againstRivals(() =>
    context.commit(async (unit) => {
      const row = await lockedField(context, unit)
      requirePreconditions(context.preconditions, row?.revision ?? null)
      const values = valuesOf(context.body<CustomField>(), row)
      if (row === null) {
        if (!NAME.test(nameOf(context))) throw invalidName()
        const made = createCustomField(unit, resourceOf(context), nameOf(context), values)
        return await respondCreated(unit, context, resource, made)
      }
      if (values.type !== row.type) throw new ConflictError('The type of a custom field cannot be changed.')
      await changeRow(unit, row, () => void Object.assign(row, values))
      return await respondIn(unit, context, resource, row)
    }),
  )
}

const NAME = /^[A-Za-z0-9_-]{1,60}$/

function invalidName(): Problem {
  const message = 'must be 1 to 60 letters, digits, or any of _ -'
  return invalidFieldsProblem('validation-error', [{ field: 'name', code: 'wrong-format', message }])
}

/** Throws `not-found` for a resource without custom fields. */
function at(context: OperationContext, resources: readonly string[]): Resource<CustomFieldRow> {
  const resource = resourceOf(context)
  if (resources.includes(resource)) return { ...customFields, path: `custom-fields/${resource}` }
  throw notFound({ label: 'resource with custom fields' }, resource)
}

function within(context: OperationContext) {
  return { text: 'row.resource = ?', values: [resourceOf(context)] }
}

async function lockedField(
  context: OperationContext,
  { em, organizationId }: UnitOfWork,
): Promise<CustomFieldRow | null> {
  return await em.findOne(
    CustomFieldRow,
    { organizationId, resource: resourceOf(context), id: nameOf(context) },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  )
}

/** A definition of earlier times, which may have a pattern that is refused now, can be sent back. */
function valuesOf(
  { type, description, isEnabled, additionalSchema }: CustomField,
  row: CustomFieldRow | null,
) {
  const given = {
    type: type as CustomFieldType,
    description: description ?? null,
    isEnabled: isEnabled ?? true,
    additionalSchema: (additionalSchema ?? null) as FieldConstraints | null,
  }
  const isSame =
    row?.type === given.type && canonicalJson(row.additionalSchema) === canonicalJson(given.additionalSchema)
  if (isSame) return given
  const problems = definitionProblems({ type: given.type, constraints: given.additionalSchema ?? {} })
  if (problems.length > 0) throw new InvalidFieldsError(problems)
  return given
}

function resourceOf({ params }: OperationContext): string {
  return params.resource ?? ''
}

function nameOf({ params }: OperationContext): string {
  return params.name ?? ''
}

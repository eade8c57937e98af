import { ConflictError, InvalidFieldsError } from '../../billing/errors.ts'
import {
  createTag,
  findTag,
  lockTag,
  removeTag,
  renameTag,
  tagCustomers,
} from '../../commands/catalog/tag-customers.ts'
import { changeRow } from '../../db/change-row.ts'
import { Tag as TagRow } from '../../db/entities/index.ts'
import { tagSearch } from '../../db/entities/tag.ts'
import { presentTag } from '../../representations/tag.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf } from '../query/fields.ts'
import { readOne } from '../resources/read.ts'
import { notFound, type Resource, type Writer } from '../resources/resource.ts'
import { respondIn } from '../resources/respond.ts'
import { Tag, type TagChange, type TaggedCustomers } from '../schemas/tag.ts'

export const tags: Resource<TagRow> = {
  name: 'Tag',
  label: 'tag',
  path: 'tags',
  schema: Tag,
  entity: TagRow,
  table: 'tags',
  search: tagSearch,
  fields: fieldsOf(Tag),
  present: (row, { baseUrl }) => presentTag(row, baseUrl),
}

export const tagWriter: Pick<Writer<TagRow, Tag>, 'create'> = {
  create(unit, id, { name, type }) {
    if (type !== 'customer') {
      throw new InvalidFieldsError([
        { field: 'type', code: 'not-supported', message: 'is not supported yet: only customer is' },
      ])
    }
    return createTag(unit, id, name)
  },
}

export async function getTag(context: OperationContext): Promise<OperationResponse> {
  const id = await findTag(context, tagOf(context))
  if (id === null) throw notFound(tags, tagOf(context))
  return await readOne({ ...context, params: { ...context.params, id } }, tags)
}

export async function patchTag(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const tag = await lockedTag(context, unit, 'update')
    requirePreconditions(context.preconditions, tag.revision)
    const { name = tag.name, type = tag.type } = context.body<TagChange>()
    if (type !== tag.type) throw new ConflictError('The type of a tag cannot be changed.')
    await changeRow(unit, tag, () => renameTag(unit, tag, name))
    return await respondIn(unit, context, tags, tag)
  })
}

/** The tag leaves every customer that has it. */
export async function deleteTag(context: OperationContext): Promise<OperationResponse> {
  return await context.commit(async (unit) => {
    const tag = await lockedTag(context, unit, 'update')
    requirePreconditions(context.preconditions, tag.revision)
    await removeTag(unit, tag)
    return {}
  })
}

/** All of the customers, or none if one is unknown. */
export function changeTagOf(isAdded: boolean): (context: OperationContext) => Promise<OperationResponse> {
  return (context) =>
    context.commit(async (unit) => {
      const tag = await lockedTag(context, unit, 'share')
      const { customerIds } = context.body<TaggedCustomers>()
      const unknown = await tagCustomers(unit, tag, [...new Set(customerIds)], isAdded)
      if (unknown.length > 0) {
        throw new InvalidFieldsError(
          unknown.map((id) => ({
            field: `customerIds.${customerIds.indexOf(id)}`,
            code: 'not-found' as const,
            message: 'must be the id of an existing customer',
          })),
        )
      }
      return {}
    })
}

export function changeTagOfOne(isAdded: boolean): (context: OperationContext) => Promise<OperationResponse> {
  return (context) =>
    context.commit(async (unit) => {
      const { customerId = '' } = context.params
      const tag = await lockedTag(context, unit, 'share')
      const [unknown] = await tagCustomers(unit, tag, [customerId], isAdded)
      if (unknown !== undefined) throw notFound({ label: 'customer' }, unknown)
      return {}
    })
}

async function lockedTag(
  context: OperationContext,
  unit: Parameters<typeof lockTag>[0],
  mode: 'share' | 'update',
): Promise<TagRow> {
  const tag = await lockTag(unit, tagOf(context), mode)
  if (tag === null) throw notFound(tags, tagOf(context))
  return tag
}

function tagOf({ params }: OperationContext): string {
  return params.tag ?? ''
}

/** A customer holds a copy of its tags, so that reads and events need no other row. */
import { LockMode } from '@mikro-orm/core'
import { InvalidFieldsError } from '../../billing/errors.ts'
import { raiseRevision } from '../../db/change-row.ts'
import { Customer, Tag } from '../../db/entities/index.ts'
import { lockOrganization } from '../../db/organization-lock.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { customerEvent } from '../../events/customer-events.ts'
import { customerEntry } from '../../events/timeline.ts'

/** @throws InvalidFieldsError naming `name` if another tag has it. */
export async function createTag(unit: UnitOfWork, id: string, name: string): Promise<Tag> {
  await requireNewName(unit, name, id)
  return unit.create(Tag, { id, name, type: 'customer' })
}

/** Renames a locked tag, also in its customers. Throws InvalidFieldsError naming `name` if another tag has it. */
export async function renameTag(unit: UnitOfWork, tag: Tag, name: string): Promise<void> {
  if (name === tag.name) return
  await requireNewName(unit, name, tag.id)
  tag.name = name
  await changeTagged(unit, {
    name: 'rename',
    where: [
      'tags @> ?::jsonb and not tags @> ?::jsonb',
      tagsOf({ id: tag.id }),
      tagsOf({ id: tag.id, name }),
    ],
    tags: [
      `jsonb_agg(case when tag ->> 'id' = ? then jsonb_set(tag, '{name}', to_jsonb(?::text)) else tag end order by ordinal)`,
      tag.id,
      name,
    ],
  })
}

export async function removeTag(unit: UnitOfWork, tag: Tag): Promise<void> {
  await changeTagged(unit, {
    name: 'remove',
    where: ['tags @> ?::jsonb', tagsOf({ id: tag.id })],
    tags: [`coalesce(jsonb_agg(tag order by ordinal) filter (where tag ->> 'id' <> ?), '[]')`, tag.id],
  })
  unit.em.remove(tag)
}

function tagsOf(members: { readonly id: string; readonly name?: string }): string {
  return JSON.stringify([members])
}

interface TaggedChange {
  readonly name: string
  /** A condition of the customers that have to change, and its values. */
  readonly where: readonly [sql: string, ...values: string[]]
  /** An aggregate over each `tag` of a customer and its `ordinal`, and its values. */
  readonly tags: readonly [sql: string, ...values: string[]]
}

/**
 * Changes the customers of a tag that is locked against use, locked in the order of their ids. Until none is to be found: a
 * merge of customers copies tags, and one that was under way has given the tag to a customer that had not had it.
 */
async function changeTagged(
  { em, organizationId, now }: UnitOfWork,
  { name, where: [where, ...values], tags: [tags, ...tagsValues] }: TaggedChange,
): Promise<void> {
  const found = `select id from customers where organization_id = ? and tags <> '[]' and ${where}`
  let isFound = true
  while (isFound) {
    await statement(
      em,
      `change-tagged-${name}`,
      `with tagged as (${found} order by id for update)
       update customers
          set tags = (select ${tags} from jsonb_array_elements(tags) with ordinality as each (tag, ordinal)),
              revision = revision + 1, updated_time = greatest(updated_time, ?)
         from tagged where customers.organization_id = ? and customers.id = tagged.id`,
      [organizationId, ...values, ...tagsValues, now, organizationId],
    )
    const left = await statement(em, `find-tagged-${name}`, `${found} limit 1`, [organizationId, ...values])
    isFound = left.length > 0
  }
}

/** Returns the unknown ids, and then changes nothing. Emits `customer-updated` for each customer that changes. */
export async function tagCustomers(
  unit: UnitOfWork,
  { id, name }: Tag,
  customerIds: readonly string[],
  isAdded: boolean,
): Promise<string[]> {
  const { em, organizationId, now } = unit
  const customers = await em.find(
    Customer,
    { organizationId, id: { $in: [...customerIds] } },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true, orderBy: { id: 'asc' } },
  )
  const known = new Set(customers.map((customer) => customer.id))
  const unknown = customerIds.filter((one) => !known.has(one))
  if (unknown.length > 0) return unknown
  for (const customer of customers) {
    if (customer.tags.some((tag) => tag.id === id) === isAdded) continue
    customer.tags = isAdded
      ? [...customer.tags, { id, name, type: 'customer' }]
      : customer.tags.filter((tag) => tag.id !== id)
    raiseRevision(customer, unit)
    unit.emit(customerEvent(customer, 'customer-updated', unit))
    const [type, said] = isAdded ? ['customer-tagged', 'added'] : ['customer-untagged', 'removed']
    const message = `Customer ${customer.id}: tag ${name} ${said}.`
    unit.addTimelineEntry(customerEntry(customer.id, type, message, now))
  }
  return []
}

/** Returns the tag of that id, else of that name, locked against changes, or with `update` against use too. */
export async function lockTag(
  { em, organizationId }: UnitOfWork,
  idOrName: string,
  mode: 'share' | 'update',
): Promise<Tag | null> {
  const found = await findTag({ em, organizationId }, idOrName)
  if (found === null) return null
  const lockMode = mode === 'share' ? LockMode.PESSIMISTIC_READ : LockMode.PESSIMISTIC_WRITE
  return await em.findOne(Tag, { organizationId, id: found }, { lockMode, refresh: true })
}

export async function findTag(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  idOrName: string,
): Promise<string | null> {
  const [row] = await statement<{ id: string }>(
    em,
    'find-tag',
    `select id from tags where organization_id = ? and (id = ? or (type = 'customer' and lower(name) = lower(?)))
      order by id = ? desc limit 1`,
    [organizationId, idOrName, idOrName, idOrName],
  )
  return row?.id ?? null
}

/** The organization's lock serializes creations: nobody could tell two tags of one name apart. */
async function requireNewName(unit: UnitOfWork, name: string, id: string): Promise<void> {
  await lockOrganization(unit)
  const [taken] = await statement(
    unit.em,
    'find-tag-of-name',
    `select id from tags where organization_id = ? and type = 'customer' and lower(name) = lower(?) and id <> ?`,
    [unit.organizationId, name, id],
  )
  if (taken !== undefined)
    throw new InvalidFieldsError([
      { field: 'name', code: 'not-unique', message: 'must not be the name of another tag' },
    ])
}

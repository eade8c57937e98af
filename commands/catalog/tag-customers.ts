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
  await statement(
    unit.em,
    'rename-tag-of-customers',
    `${TAGGED} update customers
        set tags = (select jsonb_agg(case when tag ->> 'id' = ? then jsonb_set(tag, '{name}', to_jsonb(?::text)) else tag end
                      order by ordinal) from jsonb_array_elements(tags) with ordinality as each (tag, ordinal)),
            revision = revision + 1, updated_time = greatest(updated_time, ?)
       from tagged where customers.organization_id = ? and customers.id = tagged.id`,
    [...tagged(unit, tag), tag.id, name, unit.now, unit.organizationId],
  )
}

export async function removeTag(unit: UnitOfWork, tag: Tag): Promise<void> {
  await statement(
    unit.em,
    'remove-tag-of-customers',
    `${TAGGED} update customers
        set tags = (select coalesce(jsonb_agg(tag order by ordinal), '[]')
                      from jsonb_array_elements(tags) with ordinality as each (tag, ordinal) where tag ->> 'id' <> ?),
            revision = revision + 1, updated_time = greatest(updated_time, ?)
       from tagged where customers.organization_id = ? and customers.id = tagged.id`,
    [...tagged(unit, tag), tag.id, unit.now, unit.organizationId],
  )
  unit.em.remove(tag)
}

/** The customers of a tag, locked in the order of their ids. */
const TAGGED = `with tagged as (select id from customers
  where organization_id = ? and tags <> '[]' and tags @> ?::jsonb order by id for update)`

function tagged({ organizationId }: UnitOfWork, { id }: Tag): unknown[] {
  return [organizationId, JSON.stringify([{ id }])]
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

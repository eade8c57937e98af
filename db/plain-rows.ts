/** Plain objects, because the ORM's change tracking is most of the cost of reading an entity. */
import type { EntityClass } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/postgresql'
import { storedInstant } from './stored-instant.ts'

type Reader = (raw: Readonly<Record<string, unknown>>) => Record<string, unknown>

const readers = new WeakMap<object, Reader>()

/** Column names become member names, and values their members' types. */
export function plainRowReader<Row extends object>(
  em: EntityManager,
  entity: EntityClass<Row>,
): (raw: Readonly<Record<string, unknown>>) => Row {
  const known = readers.get(entity)
  const reader = known ?? makeReader(em, entity)
  if (known === undefined) readers.set(entity, reader)
  return reader as (raw: Readonly<Record<string, unknown>>) => Row
}

function makeReader(em: EntityManager, entity: EntityClass<object>): Reader {
  const members = em
    .getMetadata()
    .get(entity)
    .props.filter(({ persist, formula }) => persist !== false || formula !== undefined)
    .map(({ name, fieldNames: [column = name], runtimeType }) => ({ name, column, runtimeType }))
  return (raw) => {
    const row: Record<string, unknown> = {}
    for (const { name, column, runtimeType } of members) row[name] = typed(raw[column] ?? null, runtimeType)
    return row
  }
}

function typed(value: unknown, runtimeType: string): unknown {
  if (typeof value !== 'string') return value
  // The driver returns instants and 64-bit integers as text.
  if (runtimeType === 'Date') return new Date(storedInstant(value))
  if (runtimeType === 'number') return Number(value)
  return value
}

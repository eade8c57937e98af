/**
 * SQL of our own, with its values bound by PostgreSQL. (The ORM's `execute` splices them into the text: such a statement
 * is parsed and planned at every call, and cannot be kept by name.)
 */
import type { EntityManager } from '@mikro-orm/postgresql'

/** Thrown where a statement would lock or write outside of a transaction that it needs. */
export class TransactionNeededError extends Error {
  override readonly name = 'TransactionNeededError'
}

const readers = new WeakSet<EntityManager>()

/**
 * Does work whose statements by `em` fail where they lock or write: what they do would not end with the work that they are
 * part of.
 */
export async function onlyReading<T>(em: EntityManager, work: () => Promise<T>): Promise<T> {
  readers.add(em)
  try {
    return await work()
  } finally {
    readers.delete(em)
  }
}

const DOES_MORE = /\b(insert|update|delete|share)\b/i

const numbered = new Map<string, string>()
/** Texts whose placeholders are remembered: what callers compose of filters comes by once. */
const REMEMBERED = 1_000

/**
 * Runs one statement, each `?` in it standing for the next value, in the transaction of `em` where there is one.
 *
 * @returns the rows it gives; none where it gives nothing.
 * @throws TransactionNeededError where `em` is only for reading and it does more.
 */
export async function statement<Row extends object>(
  em: EntityManager,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  if (readers.has(em) && DOES_MORE.test(text)) throw new TransactionNeededError()
  const connection = em.getConnection()
  await connection.ensureConnection()
  const client = em.getTransactionContext<ReturnType<typeof connection.getClient>>() ?? connection.getClient()
  const { rows } = await client.executeQuery<Row>({
    sql: withNumbers(text),
    parameters: values,
    query: { kind: 'RawNode', sqlFragments: [], parameters: [] },
    queryId: QUERY_ID,
  })
  return rows
}

/** Only plugins of the query builder read it, and there are none. */
const QUERY_ID = { queryId: 'statement' }

function withNumbers(text: string): string {
  const known = numbered.get(text)
  if (known !== undefined) return known
  let number = 0
  const made = text.replaceAll('?', () => {
    number += 1
    return `$${number}`
  })
  if (numbered.size < REMEMBERED) numbered.set(text, made)
  return made
}

/** PostgreSQL binds the values: the ORM's `execute` splices them in, and each call is planned anew. */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Statement } from './driver.ts'

const numbered = new Map<string, string>()

/**
 * Runs a prepared statement, in the transaction of `em` if there is one; each `?` stands for the next value.
 * Every connection parses and plans it once by its name, so that a name must always have the same text.
 */
export async function statement<Row extends object>(
  em: EntityManager,
  name: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return await run<Row>(em, numberedOnce(text), values, { name })
}

/** Commits the transaction of `em` in the same round trip. Throws also when the outcome is unknown. */
export async function lastStatement<Row extends object>(
  em: EntityManager,
  name: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return await run<Row>(em, numberedOnce(text), values, { name, commits: true })
}

/** For texts composed from requests, which are unlimited in number, and are not prepared. */
export async function composedStatement<Row extends object>(
  em: EntityManager,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return await run<Row>(em, withNumbers(text), values)
}

async function run<Row extends object>(
  em: EntityManager,
  sql: string,
  values: readonly unknown[],
  options: Pick<Statement, 'name' | 'commits'> = {},
): Promise<Row[]> {
  const connection = em.getConnection()
  await connection.ensureConnection()
  const client = em.getTransactionContext<ReturnType<typeof connection.getClient>>() ?? connection.getClient()
  // The query builder passes it unchanged to our driver.
  const query: Statement = {
    ...options,
    sql,
    parameters: values,
    query: { kind: 'RawNode', sqlFragments: [], parameters: [] },
    queryId: QUERY_ID,
  }
  const { rows } = await client.executeQuery<Row>(query)
  return rows
}

/** Only plugins of the query builder read it, and there are none. */
const QUERY_ID = { queryId: 'statement' }

function numberedOnce(text: string): string {
  const known = numbered.get(text) ?? withNumbers(text)
  numbered.set(text, known)
  return known
}

function withNumbers(text: string): string {
  let number = 0
  return text.replaceAll('?', () => {
    number += 1
    return `$${number}`
  })
}

/**
 * SQL of our own, with its values bound by PostgreSQL. (The ORM's `execute` splices them into the text: such a statement
 * is parsed and planned at every call.)
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Statement } from './driver.ts'

const numbered = new Map<string, string>()

/**
 * Runs a prepared statement, each `?` in it standing for the next value, in the transaction of `em` where there is one.
 * Every connection parses and plans it once, by its name: a name stands for one text.
 *
 * @returns the rows it gives; none where it gives nothing.
 */
export async function statement<Row extends object>(
  em: EntityManager,
  name: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return await run<Row>(em, numberedOnce(text), values, { name })
}

/**
 * As `statement`, and commits the transaction of `em` in the same round trip: nothing of it may follow.
 *
 * @throws Error also where the commit fails, or its outcome is unknown.
 */
export async function lastStatement<Row extends object>(
  em: EntityManager,
  name: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return await run<Row>(em, numberedOnce(text), values, { name, commits: true })
}

/** As `statement`, for a text that is composed of what a caller asks for: such texts have no end, and are not kept. */
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
  // The query builder hands it to our driver as it is.
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

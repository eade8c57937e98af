/**
 * SQL of our own, with its values bound by PostgreSQL. (The ORM's `execute` splices them into the text: such a statement
 * is parsed and planned at every call.)
 */
import type { EntityManager } from '@mikro-orm/postgresql'

const numbered = new Map<string, string>()
/** Raised whenever a table has changed under a prepared statement: all are prepared anew. */
let generation = 0

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
  const known = numbered.get(text) ?? withNumbers(text)
  numbered.set(text, known)
  const prepared = generation
  try {
    return await run<Row>(em, { name: `${name}.${prepared}`, text: known }, values)
  } catch (error) {
    if (isOutdatedStatement(error) && prepared === generation) generation += 1
    throw error
  }
}

/** As `statement`, for a text that is composed of what a caller asks for: such texts have no end, and are not kept. */
export async function composedStatement<Row extends object>(
  em: EntityManager,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return await run<Row>(em, withNumbers(text), values)
}

/** Whether an error says that a table has changed under a prepared statement. The next call is fine. */
export function isOutdatedStatement(error: unknown): boolean {
  return Error.isError(error) && (error as { routine?: unknown }).routine === 'RevalidateCachedQuery'
}

async function run<Row extends object>(
  em: EntityManager,
  sql: string | { readonly name: string; readonly text: string },
  values: readonly unknown[],
): Promise<Row[]> {
  const connection = em.getConnection()
  await connection.ensureConnection()
  const client = em.getTransactionContext<ReturnType<typeof connection.getClient>>() ?? connection.getClient()
  const { rows } = await client.executeQuery<Row>({
    // The query builder hands it to the driver as it is, which takes a name as well.
    sql: sql as string,
    parameters: values,
    query: { kind: 'RawNode', sqlFragments: [], parameters: [] },
    queryId: QUERY_ID,
  })
  return rows
}

/** Only plugins of the query builder read it, and there are none. */
const QUERY_ID = { queryId: 'statement' }

function withNumbers(text: string): string {
  let number = 0
  return text.replaceAll('?', () => {
    number += 1
    return `$${number}`
  })
}

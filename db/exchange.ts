/**
 * The driver's own pipeline ends every statement with a Sync, after which PostgreSQL continues regardless: a
 * statement would run although the `begin` before it failed. Here one Sync ends them all.
 */
import pg, {
  type ClientBase,
  type Connection,
  type QueryConfig,
  type QueryResult,
  type Submittable,
} from 'pg'

/** Runs statements in one write. Throws the error of the first that failed; those after it have not run. */
export async function exchange(
  client: ClientBase,
  statements: readonly QueryConfig[],
): Promise<QueryResult[]> {
  try {
    return await new Promise<QueryResult[]>((resolve, reject) => {
      client.query(
        new Exchange(statements, client, (error, results) =>
          error === null ? resolve(results) : reject(error),
        ),
      )
    })
  } catch (error) {
    // Adds the caller's stack; the driver's own starts at the socket.
    if (Error.isError(error)) Error.captureStackTrace(error)
    throw error
  }
}

/** The interface that the driver's client requires of its active query. */
interface ActiveQuery {
  /** Read once the statement is parsed, to record it as prepared. */
  readonly name: string | undefined
  readonly text: string | undefined
  handleRowDescription(message: unknown): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: Connection): void
  handleEmptyQuery(connection: Connection): void
  handleError(error: Error, connection: Connection): void
  handleReadyForQuery(connection: Connection): void
}

/** A query of the driver, with a method that its type omits. */
type Query = ActiveQuery & { submit(connection: Connection): Error | null | undefined }

/** What the driver's type omits: the names of statements that are being prepared. */
type Preparing = Connection & { readonly submittedNamedStatements: Record<string, string> }

class Exchange implements Submittable, ActiveQuery {
  readonly #queries: readonly Query[]
  readonly #results: QueryResult[] = []
  #descriptions: Descriptions | null = null
  #description: unknown = null
  #running = 0
  #failure: Error | null = null
  /** The client wraps it to stop its timer. */
  callback: (error: Error | null, results: QueryResult[]) => void

  constructor(
    statements: readonly QueryConfig[],
    types: pg.CustomTypesConfig,
    callback: Exchange['callback'],
  ) {
    this.callback = callback
    const done = (error: Error | undefined, result: unknown): void => {
      if (error == null) this.#results.push(result as QueryResult)
      else this.#failure ??= error
    }
    this.#queries = statements.map(
      (statement) =>
        new pg.Query({ ...statement, types, queryMode: 'extended' } as QueryConfig, done) as unknown as Query,
    )
  }

  get name(): string | undefined {
    return this.#queries[this.#running]?.name
  }

  get text(): string | undefined {
    return this.#queries[this.#running]?.text
  }

  submit(connection: Connection): void {
    connection.stream.cork()
    const { withoutSync, withoutDescribe, descriptions } = viewsOf(connection)
    this.#descriptions = descriptions
    for (const query of this.#queries) {
      const description = query.name === undefined ? undefined : descriptions.get(query.name)
      // The error of a query that cannot be sent fails the exchange, after the queries before it have run.
      const unsent = query.submit(description === undefined ? withoutSync : withoutDescribe) ?? null
      this.#failure ??= unsent
      if (this.#failure !== null) break
      if (description != null) query.handleRowDescription(description)
    }
    connection.sync()
    connection.stream.uncork()
  }

  handleRowDescription(message: unknown): void {
    this.#description = message
    this.#queries[this.#running]?.handleRowDescription(message)
  }

  handleDataRow(message: unknown): void {
    this.#queries[this.#running]?.handleDataRow(message)
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    const { name } = this
    if (name !== undefined && this.#descriptions?.has(name) === false) {
      this.#descriptions.set(name, this.#description)
    }
    this.#description = null
    this.#queries[this.#running]?.handleCommandComplete(message, connection)
    this.#running += 1
  }

  handleEmptyQuery(): void {
    this.#running += 1
  }

  handleError(error: Error, connection: Connection): void {
    const { submittedNamedStatements } = connection as Preparing
    for (const { name } of this.#queries.slice(this.#running)) {
      if (name !== undefined) delete submittedNamedStatements[name]
    }
    this.callback(error, [])
  }

  handleReadyForQuery(connection: Connection): void {
    for (const query of this.#queries.slice(0, this.#running)) query.handleReadyForQuery(connection)
    this.callback(this.#failure, this.#results)
  }
}

/** By name; null for a statement without rows. */
type Descriptions = Map<string, unknown>

interface Views {
  /** For queries of the driver, each of which would end with a Sync. */
  readonly withoutSync: Connection
  /** For those whose rows are known: PostgreSQL need not describe them again. */
  readonly withoutDescribe: Connection
  readonly descriptions: Descriptions
}

const views = new WeakMap<Connection, Views>()

function viewsOf(connection: Connection): Views {
  const known = views.get(connection)
  if (known !== undefined) return known
  const withoutSync: Connection = Object.create(connection, { sync: { value: () => {} } })
  const withoutDescribe: Connection = Object.create(withoutSync, { describe: { value: () => {} } })
  const made = { withoutSync, withoutDescribe, descriptions: new Map() }
  views.set(connection, made)
  return made
}

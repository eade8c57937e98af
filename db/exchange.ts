/**
 * Several statements in one write: PostgreSQL runs them in order, and skips the rest after a failure.
 *
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

/**
 * Runs the statements.
 *
 * @returns their results, in order.
 * @throws the error of the first failed statement; those after it have not run.
 */
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

/** The prepared statement names that the driver has sent. */
type Parsing = Connection & { readonly submittedNamedStatements: Record<string, string> }

class Exchange implements Submittable, ActiveQuery {
  readonly #queries: readonly Query[]
  readonly #results: QueryResult[] = []
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
    this.#queries = statements.map(
      (statement) =>
        new pg.Query(
          { ...statement, types, queryMode: 'extended' } as QueryConfig,
          (error: Error | undefined, result: unknown) => {
            if (error == null) this.#results.push(result as QueryResult)
            else this.#failure ??= error
          },
        ) as unknown as Query,
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
    const withoutSync: Connection = Object.create(connection, { sync: { value: () => {} } })
    for (const query of this.#queries) {
      // The error of a query that cannot be sent fails the exchange, after the queries before it have run.
      const unsent = query.submit(withoutSync) ?? null
      this.#failure ??= unsent
      if (this.#failure !== null) break
    }
    connection.sync()
    connection.stream.uncork()
  }

  handleRowDescription(message: unknown): void {
    this.#queries[this.#running]?.handleRowDescription(message)
  }

  handleDataRow(message: unknown): void {
    this.#queries[this.#running]?.handleDataRow(message)
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    this.#queries[this.#running]?.handleCommandComplete(message, connection)
    this.#running += 1
  }

  handleEmptyQuery(): void {
    this.#running += 1
  }

  handleError(error: Error, connection: Connection): void {
    const { submittedNamedStatements } = connection as Parsing
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

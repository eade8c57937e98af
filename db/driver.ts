/**
 * `begin` is sent with the first statement of a transaction, and `commit` with one that is marked as the
 * last, so that a transaction of one statement is one round trip.
 */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresDialect,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import pg, { type Pool, type PoolClient, type QueryConfig } from 'pg'
import { exchange } from './exchange.ts'
import { ORGANIZATION_SETTING } from './organization-scope.ts'

export interface Statement extends CompiledQuery {
  /** The connection keeps it prepared under this name. */
  readonly name?: string
  /** Commits the transaction if it succeeds. */
  readonly commits?: boolean
}

/** Returns the organization that a connection's next transaction is held to; undefined: none. */
export type Organization = () => string | undefined

export class PooledDialect extends PostgresDialect {
  readonly #pool: Pool
  readonly #organization: Organization

  constructor(pool: Pool, organization: Organization) {
    super({ pool })
    this.#pool = pool
    this.#organization = organization
  }

  override createDriver(): Driver {
    return new PooledDriver(this.#pool, this.#organization)
  }
}

/** True if a table has changed under a prepared statement. The next call succeeds. */
export function isOutdatedStatement(error: unknown): boolean {
  return Error.isError(error) && (error as { routine?: unknown }).routine === 'RevalidateCachedQuery'
}

class PooledDriver implements Driver {
  readonly #pool: Pool
  readonly #organization: Organization
  readonly #prepared = { generation: 0 }

  constructor(pool: Pool, organization: Organization) {
    this.#pool = pool
    this.#organization = organization
    // A pooled connection may be lost at any time; its user gets the error from its next statement.
    pool.on('error', () => {})
    pool.on('connect', (client) => void client.on('error', () => {}))
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const organization = this.#organization()
    return new LentConnection(await this.#pool.connect(), this.#prepared, organization)
  }

  async beginTransaction(connection: LentConnection, settings: TransactionSettings): Promise<void> {
    if (settings.isolationLevel !== undefined || settings.accessMode !== undefined) {
      throw new Error('transactions are read committed')
    }
    connection.begin()
  }

  async commitTransaction(connection: LentConnection): Promise<void> {
    await connection.commit()
  }

  async rollbackTransaction(connection: LentConnection): Promise<void> {
    await connection.rollback()
  }

  async savepoint(connection: LentConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`savepoint ${pg.escapeIdentifier(name)}`))
  }

  async rollbackToSavepoint(connection: LentConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`rollback to ${pg.escapeIdentifier(name)}`))
  }

  async releaseSavepoint(connection: LentConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`release ${pg.escapeIdentifier(name)}`))
  }

  async releaseConnection(connection: LentConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {
    await this.#pool.end()
  }
}

/** SQLSTATE of a server that takes no writes. */
const READ_ONLY = '25006'

const BEGIN: QueryConfig = { name: 'begin', text: 'begin' }
const COMMIT: QueryConfig = { name: 'commit', text: 'commit' }

/** For the policies of `db/row-security.ts`. */
function holdingTo(organization: string): QueryConfig {
  return {
    name: 'hold-to-organization',
    // Sets it, and returns no row to be parsed.
    text: `select where set_config('${ORGANIZATION_SETTING}', $1, true) is null`,
    values: [organization],
  }
}

class LentConnection implements DatabaseConnection {
  readonly #client: PoolClient
  readonly #before: readonly QueryConfig[]
  /** Incremented to prepare every statement again, under another name. */
  readonly #prepared: { generation: number }
  /** `begun`: nothing sent yet. `ended`: committed by its last statement. `failed`: that was its only one, and failed. */
  #transaction: 'none' | 'begun' | 'open' | 'ended' | 'failed' = 'none'
  /** The state of the protocol is unknown, or the server is read-only: the connection cannot be reused. */
  #isLost = false

  constructor(client: PoolClient, prepared: { generation: number }, organization: string | undefined) {
    this.#client = client
    this.#prepared = prepared
    this.#before = organization === undefined ? [] : [holdingTo(organization)]
  }

  begin(): void {
    this.#transaction = 'begun'
  }

  async executeQuery<Row>({ sql, parameters, name, commits }: Statement): Promise<QueryResult<Row>> {
    if (this.#transaction === 'ended') throw new Error('the transaction has committed')
    if (this.#transaction === 'failed') throw new Error('the transaction was rolled back')
    if (commits && this.#transaction === 'none') throw new Error('there is no transaction to commit')
    const { generation } = this.#prepared
    const statement: QueryConfig = {
      text: sql,
      values: [...parameters],
      ...(name === undefined ? {} : { name: `${name}.${generation}` }),
    }
    try {
      const [result] = await this.#run(statement, commits === true)
      const { command, rowCount, rows } = result ?? {}
      const isChange = command !== undefined && ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command)
      return { rows: rows ?? [], ...(isChange ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}) }
    } catch (error) {
      if (isOutdatedStatement(error) && generation === this.#prepared.generation) {
        this.#prepared.generation += 1
      }
      throw error
    }
  }

  // biome-ignore lint/correctness/useYield: nothing of the service reads by a cursor
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('statements are not streamed')
  }

  /** @throws Error when PostgreSQL did not commit, or the outcome is unknown. */
  async commit(): Promise<void> {
    if (this.#transaction === 'failed') throw new Error('the transaction was rolled back')
    if (this.#transaction === 'open') requireCommitted(await this.#send([COMMIT]))
    this.#transaction = 'none'
  }

  /** Never fails: a lost connection ends its transaction as well. */
  async rollback(): Promise<void> {
    // One that has failed is rolled back already: a rollback of none is a warning. It shows whether the connection is still there.
    if ((this.#transaction === 'open' || this.#transaction === 'failed') && !this.#isLost)
      await this.#send([{ text: this.#transaction === 'open' ? 'rollback' : 'select' }]).catch(() => {})
    this.#transaction = 'none'
  }

  release(): void {
    this.#client.release(this.#isLost || this.#transaction !== 'none')
  }

  /** Sends the `begin` or `commit` that the statement needs with it. */
  async #run(statement: QueryConfig, commits: boolean): Promise<pg.QueryResult[]> {
    const isWhole = this.#transaction === 'begun' && commits
    if (this.#transaction === 'none' || isWhole) {
      if (isWhole) this.#transaction = 'failed'
      // Without `begin`, the statements of one write are a transaction of their own; a commit that fails is an error.
      const results = await this.#send([...this.#before, statement])
      if (isWhole) this.#transaction = 'ended'
      return results.slice(this.#before.length)
    }
    const before = this.#transaction === 'begun' ? [BEGIN, ...this.#before] : []
    // From here on a transaction may exist, even if no response arrives.
    this.#transaction = 'open'
    const results = await this.#send([...before, statement, ...(commits ? [COMMIT] : [])])
    if (commits) {
      requireCommitted(results)
      this.#transaction = 'ended'
    }
    return results.slice(before.length)
  }

  async #send(statements: readonly QueryConfig[]): Promise<pg.QueryResult[]> {
    try {
      const [only, ...others] = statements
      if (only === undefined || only.name !== undefined || others.length > 0)
        return await exchange(this.#client, statements)
      const result = await this.#client.query(only)
      // A text without values may contain several statements.
      return Array.isArray(result) ? result.slice(-1) : [result]
    } catch (error) {
      // A read-only server was the primary before a failover: a new connection finds the one that is.
      if (!(error instanceof pg.DatabaseError) || error.code === READ_ONLY) this.#isLost = true
      throw error
    }
  }
}

/** PostgreSQL reports the commit of a failed transaction as successful, with the tag ROLLBACK. */
function requireCommitted(results: readonly pg.QueryResult[]): void {
  if (results.at(-1)?.command !== 'COMMIT') throw new Error('the transaction was rolled back')
}

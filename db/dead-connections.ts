/**
 * Gives back what a transaction held when its connection died.
 *
 * The query builder below the ORM keeps a connection whose ROLLBACK fails, for good (kysely issue 1990): each one that dies in
 * the middle of a transaction would take a place of the pool with it, until none is left and the pool can never be closed.
 */
import type { Pool, PoolClient } from 'pg'

/** Has the pool drop a connection that ends while it is lent out. */
export function dropDeadConnections(pool: Pool): void {
  const lent = new WeakSet<PoolClient>()
  pool.on('acquire', (client) => void lent.add(client))
  pool.on('release', (_, client) => void lent.delete(client))
  pool.on('connect', (client) => {
    client.once('end', () => {
      if (!lent.has(client)) return
      client.release(true)
      // It is out of the pool; whoever had it may still want to give it back.
      client.release = () => {}
    })
  })
}

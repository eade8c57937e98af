import type { EntityManager } from '@mikro-orm/postgresql'
import type { Statement } from '../../db/driver.ts'

/** An entity manager for raw statements; `happens` runs when the statement of this name has been carried out. */
export function afterStatement(em: EntityManager, name: string, happens: () => Promise<void>): EntityManager {
  const connection = em.getConnection()
  const client = {
    async executeQuery(query: Statement) {
      const result = await connection.getClient().executeQuery(query)
      if (query.name === name) await happens()
      return result
    },
  }
  return {
    getConnection: () => ({ ensureConnection: () => connection.ensureConnection(), getClient: () => client }),
    getTransactionContext: () => undefined,
  } as unknown as EntityManager
}

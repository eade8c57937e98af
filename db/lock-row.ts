import { type EntityClass, LockMode } from '@mikro-orm/core'
import type { UnitOfWork } from './unit-of-work.ts'

/** Returns the current row, locked until the transaction ends; null when it does not exist. */
export async function lockRow<Row extends { organizationId: string; id: string }>(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  entity: EntityClass<Row>,
  id: string,
): Promise<Row | null> {
  const row = await em.findOne(
    entity as EntityClass<{ organizationId: string; id: string }>,
    { organizationId, id },
    // Without the refresh the identity map would return a copy from before the lock.
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  )
  return row as Row | null
}

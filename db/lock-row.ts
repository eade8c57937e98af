/** Rows that are about to be changed, held for one transaction at a time. */
import { type EntityClass, LockMode } from '@mikro-orm/core'
import type { UnitOfWork } from './unit-of-work.ts'

/**
 * A row of the unit's organization, locked until the transaction ends, as the database has it now; null when there is
 * none.
 */
export async function lockRow<Row extends { organizationId: string; id: string }>(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  entity: EntityClass<Row>,
  id: string,
): Promise<Row | null> {
  const row = await em.findOne(
    entity as EntityClass<{ organizationId: string; id: string }>,
    { organizationId, id },
    // Without the refresh the identity map would hand back a copy read before the lock was ours.
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  )
  return row as Row | null
}

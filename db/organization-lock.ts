import { LockMode } from '@mikro-orm/core'
import { Organization } from './entities/index.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/**
 * The organization's row, locked until the transaction ends. Makes rules that count over its rows hold under concurrency:
 * one such change at a time.
 */
export async function lockOrganization({ em, organizationId }: UnitOfWork): Promise<Organization> {
  return await em.findOneOrFail(
    Organization,
    { id: organizationId },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  )
}

import { LockMode } from '@mikro-orm/core'
import { Organization } from './entities/index.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/**
 * Returns the organization's row, locked until the transaction ends. The lock serialises changes whose rules
 * count the organization's rows.
 */
export async function lockOrganization({ em, organizationId }: UnitOfWork): Promise<Organization> {
  return await em.findOneOrFail(
    Organization,
    { id: organizationId },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  )
}

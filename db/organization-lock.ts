import { LockMode } from '@mikro-orm/core'
import { Organization } from './entities/index.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** Serializes changes whose rules count the organization's rows, until the transaction ends. */
export async function lockOrganization({ em, organizationId }: UnitOfWork): Promise<Organization> {
  return await em.findOneOrFail(
    Organization,
    { id: organizationId },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  )
}

import { LockMode } from '@mikro-orm/core'
import { Organization } from './entities/index.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** Makes rules that count over an organization's rows hold under concurrency: one such change at a time. */
export async function lockOrganization({ em, organizationId }: UnitOfWork): Promise<void> {
  await em.findOneOrFail(
    Organization,
    { id: organizationId },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  )
}

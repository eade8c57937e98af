import type { Config } from '../../config/config.ts'
import { lockUntilCommit } from '../../db/advisory-locks.ts'
import { ApiKey, Organization } from '../../db/entities/index.ts'
import type { Database } from '../../db/open.ts'
import { inOrganization } from '../../db/organization-scope.ts'
import { inUnitOfWork, type UnitOfWork } from '../../db/unit-of-work.ts'
import { createApiKey } from './create-api-key.ts'
import { createOrganization } from './create-organization.ts'

/** Creates the organization of BOOTSTRAP_* or its key if missing; several processes may call it at once. */
export async function bootstrap(
  { orm, vault, installation }: Database,
  config: Pick<Config, 'bootstrapOrganizationId' | 'bootstrapSecretKey' | 'environment' | 'baseUrl'>,
  now: Date,
): Promise<void> {
  const { bootstrapOrganizationId: organizationId, bootstrapSecretKey: value, environment, baseUrl } = config
  if (organizationId === null || value === null) return
  const store = { vault, installation, environment }
  const create = async (unit: UnitOfWork): Promise<void> => {
    await lockUntilCommit(unit.em, 'bootstrap')
    if ((await unit.em.count(Organization, { id: organizationId })) === 0) {
      await createOrganization(unit, store, { name: organizationId, secretKey: value })
    } else if ((await unit.em.count(ApiKey, { keyHash: installation.hashKey(value) })) === 0) {
      await createApiKey(unit, store, { type: 'secret', description: 'Key of BOOTSTRAP_SECRET_KEY', value })
    }
  }
  await inOrganization(organizationId, () =>
    inUnitOfWork(orm.em.fork(), { organizationId, baseUrl, now }, create),
  )
}

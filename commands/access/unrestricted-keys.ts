import { isUnrestricted } from '../../access/reach.ts'
import { ConflictError } from '../../billing/errors.ts'
import type { ApiKey } from '../../db/entities/index.ts'
import { lockOrganization } from '../../db/organization-lock.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

/**
 * Keeps one unrestricted secret key, also under concurrency: no organization locks itself out.
 * @throws ConflictError
 */
export async function requireAnotherUnrestricted(unit: UnitOfWork, row: ApiKey): Promise<void> {
  if (row.type !== 'secret' || !isUnrestricted({ acl: row.acl ?? null, allowedIps: row.allowedIps ?? null }))
    return
  await lockOrganization(unit)
  const others = await statement<object>(
    unit.em,
    'find-other-secret-key',
    `select 1 from api_keys where organization_id = ? and id <> ? and type = 'secret' and acl is null and allowed_ips is null limit 1`,
    [unit.organizationId, row.id],
  )
  if (others.length === 0)
    throw new ConflictError('The last unrestricted secret key cannot be restricted or deleted.')
}

import { grantedPermissions, isFor, isWithin, listProblem, permits } from '../../access/access-lists.ts'
import { allowedIpProblem } from '../../access/allowed-ips.ts'
import { isUnrestricted, type Reach, reaches } from '../../access/reach.ts'
import { canonicalJson } from '../../billing/canonical-json.ts'
import { ConflictError, type InvalidField, InvalidFieldsError } from '../../billing/errors.ts'
import { createApiKey } from '../../commands/access/create-api-key.ts'
import { requireAnotherUnrestricted } from '../../commands/access/unrestricted-keys.ts'
import type { AccessRule } from '../../db/entities/api-key.ts'
import { apiKeySearch } from '../../db/entities/api-key.ts'
import { ApiKey as ApiKeyRow } from '../../db/entities/index.ts'
import { resourceUrl } from '../../representations/links.ts'
import { Problem } from '../http/problems.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf } from '../query/fields.ts'
import { remove } from '../resources/delete.ts'
import type { Resource, Writer } from '../resources/resource.ts'
import { ApiKey } from '../schemas/api-key.ts'

export const apiKeys: Resource<ApiKeyRow> = {
  name: 'ApiKey',
  label: 'API key',
  path: 'api-keys',
  schema: ApiKey,
  entity: ApiKeyRow,
  table: 'api_keys',
  search: apiKeySearch,
  fields: fieldsOf(ApiKey, { secretKey: null }),
  present: presentApiKey,
}

export const apiKeyWriter: Writer<ApiKeyRow, ApiKey> = {
  async create(unit, id, body, context) {
    const reach = { acl: body.acl ?? null, allowedIps: body.allowedIps ?? null }
    requireNoEscalation(reach, context)
    requireValid(reach, unit.organizationId)
    const { key } = await createApiKey(unit, context.keys, {
      id,
      type: body.type ?? 'secret',
      description: body.description,
      ...reach,
    })
    return key
  },
  async update(unit, row, body, context) {
    const present = { acl: row.acl ?? null, allowedIps: row.allowedIps ?? null }
    const reach = {
      acl: context.has('acl') ? (body.acl ?? null) : present.acl,
      allowedIps: context.has('allowedIps') ? (body.allowedIps ?? null) : present.allowedIps,
    }
    // Also as it stands: else a weaker key could reduce a stronger one to its own level and read its value.
    requireNoEscalation(present, context)
    requireNoEscalation(reach, context)
    // A list of earlier times may be longer.
    const isSame = canonicalJson(reach.acl) === canonicalJson(present.acl)
    requireValid({ ...reach, acl: isSame ? null : reach.acl }, unit.organizationId)
    if (body.type !== undefined && body.type !== row.type)
      throw new ConflictError('The type of an API key cannot be changed.')
    if (!isUnrestricted(reach)) await requireAnotherUnrestricted(unit, row)
    Object.assign(row, { description: body.description, ...reach })
  },
}

export async function deleteApiKey(context: OperationContext): Promise<OperationResponse> {
  return await remove(context, apiKeys, (unit, row) => requireAnotherUnrestricted(unit, row))
}

/** The value is shown only if the reader's credential permits as much. */
async function presentApiKey(
  row: ApiKeyRow,
  { keys, baseUrl, credential }: OperationContext,
): Promise<object> {
  const value = await keys.vault.open(row.keyCipher)
  const mayRead =
    isUnrestricted(credential) ||
    reaches(credential, { acl: row.acl ?? null, allowedIps: row.allowedIps ?? null }, row.organizationId)
  return {
    id: row.id,
    description: row.description,
    type: row.type,
    acl: row.acl ?? null,
    allowedIps: row.allowedIps ?? null,
    apiUser: row.apiUser,
    secretKey: mayRead ? value : `${value.slice(0, 11)}…${value.slice(-4)}`,
    revision: row.revision,
    createdTime: row.createdTime.toISOString(),
    updatedTime: row.updatedTime.toISOString(),
    _links: [{ rel: 'self', href: resourceUrl(baseUrl, row.organizationId, 'api-keys', row.id) }],
  }
}

export function listProblems(acl: readonly AccessRule[], organizationId: string): InvalidField[] {
  const problem = listProblem(acl)
  if (problem !== null) return [{ field: 'acl', ...problem }]
  return acl.flatMap((rule, index) =>
    isFor(rule, organizationId)
      ? []
      : [
          {
            field: `acl.${index}.scope.organizationId`,
            code: 'mismatch',
            message: 'must include this organization',
          },
        ],
  )
}

export function mayCall({ credential, organizationId }: OperationContext, operationId: string): boolean {
  return permits(credential.acl, organizationId, operationId)
}

/** Throws `forbidden` for rules that exceed the calling credential's. */
export function requireGrantable(
  acl: readonly AccessRule[],
  { credential, organizationId }: OperationContext,
): void {
  const wanted = grantedPermissions(acl, organizationId)
  if (!isWithin(wanted, grantedPermissions(credential.acl, organizationId))) {
    throw new Problem('forbidden', 'A credential cannot grant permissions that it does not have.')
  }
}

function requireValid({ acl, allowedIps }: Reach, organizationId: string): void {
  const failures = listProblems(acl ?? [], organizationId)
  for (const [index, entry] of (allowedIps ?? []).entries()) {
    const problem = allowedIpProblem(entry)
    if (problem !== null) failures.push({ field: `allowedIps.${index}`, ...problem })
  }
  if (failures.length > 0) throw new InvalidFieldsError(failures)
}

function requireNoEscalation(wanted: Reach, { credential, organizationId }: OperationContext): void {
  if (!reaches(credential, wanted, organizationId)) {
    throw new Problem(
      'forbidden',
      'An API key cannot have more permissions than the key that creates or updates it.',
    )
  }
}

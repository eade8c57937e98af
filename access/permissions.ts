/** What an access list grants. A permission is the id of an operation; `*` is all of them. */

export interface AccessRule {
  scope?: { organizationId?: string[] }
  permissions: string[]
}

export const EVERYTHING = '*'

/** The shape of a permission's name. One that this release lacks is kept and grants nothing. */
export const PERMISSION_PATTERN = '^(\\*|(Storefront)?(Get|Post|Put|Patch|Delete)[A-Z][A-Za-z]+)$'

/** Permissions granted in an organization; null: everything. */
export function grantedPermissions(
  acl: readonly AccessRule[] | null,
  organizationId: string,
): ReadonlySet<string> | null {
  if (acl === null) return null
  const rules = acl.filter(
    ({ scope }) => scope?.organizationId === undefined || scope.organizationId.includes(organizationId),
  )
  const granted = new Set(rules.flatMap(({ permissions }) => permissions))
  return granted.has(EVERYTHING) ? null : granted
}

export function permits(granted: ReadonlySet<string> | null, operationId: string): boolean {
  return granted === null || granted.has(operationId)
}

/** Whether everything of `wanted` is granted by `held` already. */
export function isWithin(wanted: ReadonlySet<string> | null, held: ReadonlySet<string> | null): boolean {
  if (held === null) return true
  return wanted !== null && [...wanted].every((permission) => held.has(permission))
}

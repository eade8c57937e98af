export interface AccessRule {
  scope?: { organizationId?: string[] }
  permissions: string[]
}

export const EVERYTHING = '*'

/** A permission is an operation's id, or `*`. One that is unknown to this release is stored and grants nothing. */
export const PERMISSION_PATTERN = '^(\\*|(Storefront)?(Get|Post|Put|Patch|Delete)[A-Z][A-Za-z]+)$'

/** Returns the permissions granted in an organization; null: all. */
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

export function isWithin(wanted: ReadonlySet<string> | null, held: ReadonlySet<string> | null): boolean {
  if (held === null) return true
  return wanted !== null && [...wanted].every((permission) => held.has(permission))
}

import type { FieldProblem } from '../billing/errors.ts'

export interface AccessRule {
  scope?: { organizationId?: string[] }
  permissions: string[]
}

export const EVERYTHING = '*'

/** A permission is an operation's id, or `*`. One that is unknown to this release is stored and grants nothing. */
export const PERMISSION_PATTERN = '^(\\*|(Storefront)?(Get|Post|Put|Patch|Delete)[A-Z][A-Za-z]+)$'

/** Names in all rules of a list, which is read on every request of its credential. */
export const MOST_NAMES = 1_000

/** Returns why a list is too long; null if it is not. */
export function listProblem(acl: readonly AccessRule[]): FieldProblem | null {
  const permissions = acl.flatMap((rule) => rule.permissions)
  const organizations = acl.flatMap(({ scope }) => scope?.organizationId ?? [])
  return Math.max(permissions.length, organizations.length) > MOST_NAMES
    ? {
        code: 'too-many',
        message: `must not have more than ${MOST_NAMES} permissions or ${MOST_NAMES} organizations in all rules`,
      }
    : null
}

/** Returns the permissions granted in an organization; null: all. */
export function grantedPermissions(
  acl: readonly AccessRule[] | null,
  organizationId: string,
): ReadonlySet<string> | null {
  if (acl === null) return null
  const rules = acl.filter((rule) => isFor(rule, organizationId))
  const granted = new Set(rules.flatMap(({ permissions }) => permissions))
  return granted.has(EVERYTHING) ? null : granted
}

export function permits(
  acl: readonly AccessRule[] | null,
  organizationId: string,
  operationId: string,
): boolean {
  if (acl === null) return true
  return acl.some(
    (rule) =>
      isFor(rule, organizationId) &&
      (rule.permissions.includes(EVERYTHING) || rule.permissions.includes(operationId)),
  )
}

export function isFor({ scope }: AccessRule, organizationId: string): boolean {
  return scope?.organizationId === undefined || scope.organizationId.includes(organizationId)
}

export function isWithin(wanted: ReadonlySet<string> | null, held: ReadonlySet<string> | null): boolean {
  if (held === null) return true
  return wanted !== null && [...wanted].every((permission) => held.has(permission))
}

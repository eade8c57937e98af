/** What a key may do and from where; no key can make or change one that reaches further than it does itself. */

import { type AccessRule, grantedPermissions, isWithin } from './access-lists.ts'
import { areWithin } from './allowed-ips.ts'

export interface Reach {
  /** null: every operation. */
  readonly acl: readonly AccessRule[] | null
  /** null: every address. */
  readonly allowedIps: readonly string[] | null
}

export function reaches(holder: Reach, wanted: Reach, organizationId: string): boolean {
  return (
    isWithin(
      grantedPermissions(wanted.acl, organizationId),
      grantedPermissions(holder.acl, organizationId),
    ) && areWithin(wanted.allowedIps, holder.allowedIps)
  )
}

export function isUnrestricted({ acl, allowedIps }: Reach): boolean {
  return acl === null && allowedIps === null
}

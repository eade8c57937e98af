/**
 * The organization that the running code may see. The API's statements are held to it by row-level security
 * (`db/row-security.ts`); outside a scope, the API sees no organization's rows.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** The setting of PostgreSQL that names the organization of a transaction; its policies read it. */
export const ORGANIZATION_SETTING = 'billing.organization'

const scope = new AsyncLocalStorage<string>()

/**
 * Runs `work`, and all that it awaits, for the organization.
 * @throws Error within the scope of another one: nothing works for two.
 */
export function inOrganization<T>(organizationId: string, work: () => T): T {
  const outer = scope.getStore()
  if (outer !== undefined && outer !== organizationId) {
    throw new Error(`code that works for ${outer} cannot work for ${organizationId}`)
  }
  return scope.run(organizationId, work)
}

/** Runs `work` outside of any organization: what follows from requests of several is not done for the one that began it. */
export function outsideOrganizations<T>(work: () => T): T {
  return scope.exit(work)
}

/** Returns the organization of the running code; undefined outside a scope. */
export function organizationInScope(): string | undefined {
  return scope.getStore()
}

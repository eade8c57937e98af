/** Row-level security holds the API's statements to the scope; outside of one, they see no organization's rows. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** The setting of PostgreSQL that names the organization of a transaction; policies read it. */
export const ORGANIZATION_SETTING = 'billing.organization'

const scope = new AsyncLocalStorage<string>()

/** Runs `work`, and all that it awaits. Throws within the scope of another organization: nothing works for two. */
export function inOrganization<T>(organizationId: string, work: () => T): T {
  const outer = scope.getStore()
  if (outer !== undefined && outer !== organizationId) {
    throw new Error(`code that works for ${outer} cannot work for ${organizationId}`)
  }
  return scope.run(organizationId, work)
}

/** What follows from requests of several organizations is not done for the one that began it. */
export function outsideOrganizations<T>(work: () => T): T {
  return scope.exit(work)
}

export function organizationInScope(): string | undefined {
  return scope.getStore()
}

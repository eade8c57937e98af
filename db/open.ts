import type { MikroORM } from '@mikro-orm/postgresql'
import { ConfigurationError } from '../config/config.ts'
import { type InstallationFacts, loadInstallation } from './installation.ts'
import { type DatabaseOptions, openOrm } from './orm.ts'
import { requireOwnRelease } from './release.ts'
import { type ApiAccess, apiAccess, requireEveryOrganization } from './row-security.ts'
import { createVault, type Vault, VaultError } from './vault.ts'

export interface Database {
  readonly orm: MikroORM
  readonly vault: Vault
  readonly installation: InstallationFacts
}

type Options = DatabaseOptions & { readonly masterKeys: readonly string[] }

/**
 * For work on all organizations. Throws if row-level security withholds them, or if the database is not migrated to
 * this release.
 */
export async function openDatabase(options: Options): Promise<Database> {
  const database = await open(options)
  try {
    await requireEveryOrganization(database.orm.em.fork())
    return database
  } catch (error) {
    await database.orm.close(true)
    throw error
  }
}

/** For the API: statements see the organization in scope alone (`db/organization-scope.ts`). */
export async function openApiDatabase(options: Options): Promise<Database & { readonly access: ApiAccess }> {
  const access = await apiAccess(options.databaseUrl)
  return { ...(await open({ ...options, role: access.role, isScoped: true })), access }
}

async function open(options: Options): Promise<Database> {
  const vault = createVault(options.masterKeys)
  const orm = await openOrm(options)
  try {
    await requireOwnRelease(orm.em.fork())
    return { orm, vault, installation: await loadInstallation(orm.em.fork(), vault) }
  } catch (error) {
    await orm.close(true)
    if (error instanceof VaultError)
      throw new ConfigurationError([`MASTER_KEY has no key of this database: ${error.message}`])
    throw error
  }
}

/** Opens the database for a process: ORM, vault, and the facts of the installation. */
import type { MikroORM } from '@mikro-orm/postgresql'
import { type InstallationFacts, loadInstallation } from './installation.ts'
import { type DatabaseOptions, openOrm } from './orm.ts'
import { createVault, type Vault } from './vault.ts'

export interface Database {
  readonly orm: MikroORM
  readonly vault: Vault
  readonly installation: InstallationFacts
}

export async function openDatabase(
  options: DatabaseOptions & { readonly masterKeys: readonly string[] },
): Promise<Database> {
  const vault = createVault(options.masterKeys)
  const orm = await openOrm(options)
  try {
    return { orm, vault, installation: await loadInstallation(orm.em.fork(), vault) }
  } catch (error) {
    await orm.close(true)
    throw error
  }
}

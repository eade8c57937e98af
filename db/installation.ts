/** What an installation is, made once when its database is first used. */
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import { ulid } from 'ulid'
import { Installation } from './entities/index.ts'
import { statement } from './statement.ts'
import type { Vault } from './vault.ts'

export interface InstallationFacts {
  /** Stands in the name of the task queue: two installations on one Temporal never take each other's work. */
  readonly id: string
  /** Keyed hash a presented API key is looked up by. */
  hashKey(value: string): string
}

/** Reads the facts of this installation, making the missing ones; several processes may call it at once. */
export async function loadInstallation(em: EntityManager, vault: Vault): Promise<InstallationFacts> {
  const id = await factOnce(em, 'id', async () => ulid().toLowerCase())
  const sealed = await factOnce(em, 'lookup-key', () => vault.seal(randomBytes(32).toString('base64')))
  // A key object: preparing one from bytes for every request costs more than the hash.
  const lookupKey = createSecretKey(Buffer.from(await vault.open(sealed), 'base64'))
  return { id, hashKey: (value) => createHmac('sha256', lookupKey).update(value).digest('hex') }
}

/**
 * Requires that every process of the installation has the same public address: API and worker sign with it.
 *
 * @returns the address that the installation has already, where it is another one.
 */
export async function otherBaseUrl(em: EntityManager, baseUrl: string): Promise<string | null> {
  const agreed = await factOnce(em, BASE_URL_FACT, async () => baseUrl)
  return agreed === baseUrl ? null : agreed
}

/** Gives the installation another public address, which its processes are then started with. */
export async function changeBaseUrl(em: EntityManager, baseUrl: string): Promise<void> {
  await statement(
    em,
    'change-base-url',
    `insert into installation (name, value) values (?, ?)
     on conflict (name) do update set value = excluded.value`,
    [BASE_URL_FACT, baseUrl],
  )
}

const BASE_URL_FACT = 'base-url'

async function factOnce(em: EntityManager, name: string, make: () => Promise<string>): Promise<string> {
  const found = await em.findOne(Installation, { name }, { disableIdentityMap: true })
  if (found !== null) return found.value
  await statement(
    em,
    'keep-installation-fact',
    'insert into installation (name, value) values (?, ?) on conflict (name) do nothing',
    [name, await make()],
  )
  return (await em.findOneOrFail(Installation, { name }, { disableIdentityMap: true })).value
}

/** The facts of an installation, created when its database is first used. */
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import pg from 'pg'
import { ulid } from 'ulid'
import { connectionOptions } from './connection.ts'
import { Installation } from './entities/index.ts'
import { statement } from './statement.ts'
import type { Vault } from './vault.ts'

export interface InstallationFacts {
  /** Part of the task queues' names, so that two installations on one Temporal never share work. */
  readonly id: string
  /** For looking up a presented API key. */
  hashKey(value: string): string
}

/** Creates missing facts; several processes may call it at once. */
export async function loadInstallation(em: EntityManager, vault: Vault): Promise<InstallationFacts> {
  const id = await factOnce(em, 'id', async () => ulid().toLowerCase())
  const sealed = await factOnce(em, 'lookup-key', () => vault.seal(randomBytes(32).toString('base64')))
  // A key object, because preparing a key from bytes for every request costs more than the hash.
  const lookupKey = createSecretKey(Buffer.from(await vault.open(sealed), 'base64'))
  return { id, hashKey: (value) => createHmac('sha256', lookupKey).update(value).digest('hex') }
}

/** Keeps the first process's address: API and worker both sign with it. Returns the stored one if it is another. */
export async function otherBaseUrl(em: EntityManager, baseUrl: string): Promise<string | null> {
  return await otherFact(em, BASE_URL_FACT, baseUrl)
}

/** Returns what the first process has kept in a database, which may be of an earlier release or new; null: nothing. */
export async function keptInstallation(
  databaseUrl: string,
): Promise<Readonly<Record<'baseUrl' | 'environment', string | null>>> {
  const client = new pg.Client(connectionOptions({ databaseUrl, name: 'billing installation' }))
  client.on('error', () => {}) // a lost connection fails the query
  try {
    await client.connect()
    const { rows: tables } = await client.query<{ found: boolean }>(
      `select to_regclass('installation') is not null as found`,
    )
    const { rows } = tables[0]?.found
      ? await client.query<{ name: string; value: string }>('select name, value from installation')
      : { rows: [] }
    const factOf = (name: string) => rows.find((row) => row.name === name)?.value ?? null
    return { baseUrl: factOf(BASE_URL_FACT), environment: factOf(ENVIRONMENT_FACT) }
  } finally {
    await client.end()
  }
}

/** Keeps the first process's environment for good. Returns the stored one if it is the other. */
export async function otherEnvironment(em: EntityManager, environment: string): Promise<string | null> {
  return await otherFact(em, ENVIRONMENT_FACT, environment)
}

/** Returns the environment of the first process that used the database; null: there was none. */
export async function keptEnvironment(em: EntityManager): Promise<string | null> {
  return await keptFact(em, ENVIRONMENT_FACT)
}

/** The installation's processes have to be restarted with it. */
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
const ENVIRONMENT_FACT = 'environment'

async function otherFact(em: EntityManager, name: string, own: string): Promise<string | null> {
  const agreed = await factOnce(em, name, async () => own)
  return agreed === own ? null : agreed
}

async function keptFact(em: EntityManager, name: string): Promise<string | null> {
  return (await em.findOne(Installation, { name }, { disableIdentityMap: true }))?.value ?? null
}

async function factOnce(em: EntityManager, name: string, make: () => Promise<string>): Promise<string> {
  const kept = await keptFact(em, name)
  if (kept !== null) return kept
  await statement(
    em,
    'keep-installation-fact',
    'insert into installation (name, value) values (?, ?) on conflict (name) do nothing',
    [name, await make()],
  )
  return (await em.findOneOrFail(Installation, { name }, { disableIdentityMap: true })).value
}

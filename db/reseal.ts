import type { EntityManager } from '@mikro-orm/postgresql'
import { statement } from './statement.ts'
import type { Vault } from './vault.ts'

/** Every column with secrets of the vault, and its rows with one. */
export const SEALED = [
  { table: 'installation', column: 'value', where: "name = 'lookup-key'" },
  { table: 'api_keys', column: 'key_cipher', where: 'true' },
  { table: 'authentication_tokens', column: 'token_cipher', where: 'token_cipher is not null' },
  { table: 'customer_token_keys', column: 'key_cipher', where: 'true' },
  { table: 'gateway_accounts', column: 'credentials_cipher', where: 'credentials_cipher is not null' },
  { table: 'idempotency_records', column: 'response_cipher', where: 'true' },
  { table: 'password_tokens', column: 'token_cipher', where: 'true' },
  { table: 'payment_tokens', column: 'card_cipher', where: 'card_cipher is not null' },
  { table: 'service_credentials', column: 'auth_cipher', where: 'true' },
  { table: 'signing_keys', column: 'private_cipher', where: 'true' },
  { table: 'webhooks', column: 'header_values_cipher', where: 'header_values_cipher is not null' },
] as const

const BATCH = 200

/**
 * Encrypts every secret of another key with the first of the ring, so that the older key can be destroyed.
 * The service may run meanwhile; a repetition continues. Returns the number of secrets; 0: no other key is
 * needed any more. Throws VaultError when the ring lacks a key.
 */
export async function resealAll(em: EntityManager, vault: Vault): Promise<number> {
  let resealed = 0
  for (const place of SEALED) {
    for (let last = BATCH; last === BATCH; resealed += last) last = await resealBatch(em, vault, place)
  }
  return resealed
}

async function resealBatch(
  em: EntityManager,
  vault: Vault,
  { table, column, where }: (typeof SEALED)[number],
): Promise<number> {
  return await em.transactional(async (trx) => {
    const rows = await statement<{ place: string; sealed: string }>(
      trx,
      `read-sealed-${table}`,
      `select ctid as place, ${column} as sealed from ${table}
        where ${where} and not starts_with(${column}, ?) limit ${BATCH} for update`,
      [vault.beginning],
    )
    const anew = await Promise.all(
      rows.map(async ({ place, sealed }) => ({ place, sealed: await vault.seal(await vault.open(sealed)) })),
    )
    await statement(
      trx,
      `reseal-${table}`,
      `update ${table} set ${column} = anew.sealed
         from jsonb_to_recordset(?::jsonb) as anew (place text, sealed text)
        where ${table}.ctid = anew.place::tid`,
      [JSON.stringify(anew)],
    )
    return rows.length
  })
}

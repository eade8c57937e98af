import type { EntityManager } from '@mikro-orm/postgresql'
import type { StoredHeader, WebhookHeader } from '../db/entities/webhook.ts'
import { statement } from '../db/statement.ts'
import type { Vault } from '../db/vault.ts'
import { sealHeaders } from './webhook-headers.ts'

const BATCH = 200

/**
 * Encrypts header values that an earlier release has stored in the clear; a migration has no master key. Returns
 * the number of webhooks. Several processes may run it at once.
 */
export async function sealPlainHeaders(em: EntityManager, vault: Vault): Promise<number> {
  let sealed = 0
  for (let last = BATCH; last === BATCH; sealed += last) last = await sealBatch(em, vault)
  return sealed
}

async function sealBatch(em: EntityManager, vault: Vault): Promise<number> {
  return await em.transactional(async (trx) => {
    const rows = await statement<{ organization_id: string; id: string; headers: StoredHeader[] }>(
      trx,
      'read-plain-headers',
      `select organization_id, id, headers from webhooks
        where header_values_cipher is null and jsonb_path_exists(headers, '$[*].value')
        limit ${BATCH} for update skip locked`,
    )
    for (const { organization_id: organizationId, id, headers } of rows) {
      const plain: WebhookHeader[] = headers.map(({ value = '', ...header }) => ({ ...header, value }))
      const sealed = await sealHeaders(plain, vault)
      await statement(
        trx,
        'seal-headers',
        'update webhooks set headers = ?::jsonb, header_values_cipher = ? where organization_id = ? and id = ?',
        [JSON.stringify(sealed.headers), sealed.headerValuesCipher, organizationId, id],
      )
    }
    return rows.length
  })
}

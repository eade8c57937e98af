import type { ServiceCredential } from '../db/entities/index.ts'
import type { WebhookAuth } from '../db/entities/service-credential.ts'
import type { Vault } from '../db/vault.ts'
import { resourceUrl } from './links.ts'

/** Never shows the password. */
export async function presentServiceCredential(
  credential: ServiceCredential,
  baseUrl: string,
  vault: Pick<Vault, 'open'>,
) {
  const auth = JSON.parse(await vault.open(credential.authCipher)) as WebhookAuth
  const href = resourceUrl(
    baseUrl,
    credential.organizationId,
    'service-credentials',
    'webhook',
    credential.id,
  )
  return {
    id: credential.id,
    hash: credential.id,
    type: 'webhook',
    host: credential.host,
    auth: auth.type === 'basic' ? { type: auth.type, username: auth.username } : { type: auth.type },
    status: credential.status,
    deactivationTime: credential.deactivationTime?.toISOString() ?? null,
    revision: credential.revision,
    createdTime: credential.createdTime.toISOString(),
    updatedTime: credential.updatedTime.toISOString(),
    _links: [{ rel: 'self', href }],
  }
}

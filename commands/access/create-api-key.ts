import { randomBytes } from 'node:crypto'
import type { Environment } from '../../config/config.ts'
import type { AccessRule, ApiKeyType } from '../../db/entities/api-key.ts'
import { ApiKey } from '../../db/entities/index.ts'
import type { InstallationFacts } from '../../db/installation.ts'
import { newId } from '../../db/new-id.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { Vault } from '../../db/vault.ts'

export interface KeyStore {
  readonly vault: Vault
  readonly installation: InstallationFacts
  readonly environment: Environment
}

export interface NewApiKey {
  readonly type: ApiKeyType
  readonly description: string
  readonly value?: string
  readonly id?: string
  /** null, the default: every operation that its type permits. */
  readonly acl?: readonly AccessRule[] | null
  /** null, the default: any address. */
  readonly allowedIps?: readonly string[] | null
}

export function newKeyValue(type: ApiKeyType, environment: Environment): string {
  return `${type === 'secret' ? 'sk' : 'pk'}_${environment}_${randomBytes(24).toString('base64url')}`
}

/** Adds a key and returns its value, which is stored only encrypted and hashed. */
export async function createApiKey(
  unit: UnitOfWork,
  { vault, installation, environment }: KeyStore,
  given: NewApiKey,
): Promise<{ key: ApiKey; value: string }> {
  const { type, description, value = newKeyValue(type, environment), id = newId('api_key') } = given
  const key = unit.create(ApiKey, {
    id,
    description,
    type,
    acl: given.acl == null ? null : [...given.acl],
    allowedIps: given.allowedIps == null ? null : [...given.allowedIps],
    apiUser: id,
    keyHash: installation.hashKey(value),
    keyCipher: await vault.seal(value),
  })
  return { key, value }
}

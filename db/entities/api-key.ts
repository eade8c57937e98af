import { defineEntity, p } from '@mikro-orm/core'
import { json, listIndexes, resourceColumns, searchText, tenantKey } from './columns.ts'

export type ApiKeyType = 'secret' | 'publishable'

export interface AccessRule {
  scope?: { organizationId?: string[] }
  permissions: string[]
}

const ApiKeySchema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  indexes: listIndexes('api_keys'),
  properties: {
    ...tenantKey,
    description: p.text(),
    type: p.string().length(20).$type<ApiKeyType>(),
    acl: json<AccessRule[]>().nullable(),
    allowedIps: json<string[]>().nullable(),
    apiUser: p.string(),
    /** Keyed hash of the value: what a presented key is looked up by. */
    keyHash: p.string().length(64).unique('api_keys_key_hash_unique'),
    /** The value itself, encrypted by the vault. */
    keyCipher: p.text(),
    searchText: searchText('"description"', '"api_user"'),
    ...resourceColumns,
  },
})

/** A credential of an organization. */
export class ApiKey extends ApiKeySchema.class {}
ApiKeySchema.setClass(ApiKey)

import { defineEntity, p } from '@mikro-orm/core'
import type { AccessRule } from '../../access/access-lists.ts'
import { json, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export type { AccessRule }
export type ApiKeyType = 'secret' | 'publishable'

export const apiKeySearch = searchExpression('description', 'api_user')

const ApiKeySchema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  indexes: listIndexes('api_keys', apiKeySearch),
  properties: {
    ...tenantKey,
    description: p.text(),
    type: p.string().length(20).$type<ApiKeyType>(),
    acl: json<AccessRule[]>().nullable(),
    allowedIps: json<string[]>().nullable(),
    apiUser: p.string(),
    keyHash: p.string().length(64).unique('api_keys_key_hash_unique'),
    keyCipher: p.text(),
    ...resourceColumns,
  },
})

export class ApiKey extends ApiKeySchema.class {}
ApiKeySchema.setClass(ApiKey)

import { defineEntity, p } from '@mikro-orm/core'
import { id, instant, json, newestIndex, searchExpression, tenantKey } from './columns.ts'

/** Without an index for `q`, because requests are inserted far more often than they are searched. */
export const apiRequestSearch = searchExpression(
  'url',
  'route',
  'method',
  'api_key_id',
  'user_id',
  'ip_address',
  'user_agent',
)

const ApiRequestSchema = defineEntity({
  name: 'ApiRequest',
  tableName: 'api_requests',
  indexes: [
    newestIndex('api_requests'),
    {
      name: 'api_requests_created_index',
      expression: 'create index "api_requests_created_index" on "api_requests" using brin ("created_time")',
    },
  ],
  properties: {
    /** The id is that of `Request-Id`. */
    ...tenantKey,
    status: p.integer(),
    /** With credentials masked, as every text here. */
    url: p.text(),
    /** The path with the names of its parameters. */
    route: p.text(),
    method: p.string().length(10),
    request: p.text().nullable(),
    response: p.text().nullable(),
    requestHeaders: json<Record<string, string>>(),
    responseHeaders: json<Record<string, string>>(),
    /** An API key, or a customer's token. */
    apiKeyId: id().nullable(),
    userId: id().nullable(),
    ipAddress: p.string().length(45),
    userAgent: p.text().nullable(),
    relatedResourceIds: json<string[]>(),
    /** Milliseconds. */
    duration: p.integer(),
    /** When the request began; real time. */
    createdTime: instant(),
    updatedTime: instant(),
    revision: p.integer().default(1),
  },
})

export class ApiRequest extends ApiRequestSchema.class {}
ApiRequestSchema.setClass(ApiRequest)

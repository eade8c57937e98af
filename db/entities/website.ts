import { defineEntity, p } from '@mikro-orm/core'
import { json, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export const websiteSearch = searchExpression('name', 'url', 'service_phone', 'service_email')

const WebsiteSchema = defineEntity({
  name: 'Website',
  tableName: 'websites',
  indexes: listIndexes('websites', websiteSearch),
  properties: {
    ...tenantKey,
    name: p.string(),
    url: p.text().nullable(),
    servicePhone: p.string().nullable(),
    serviceEmail: p.string().nullable(),
    customFields: json<Record<string, unknown>>().nullable(),
    ...resourceColumns,
  },
})

export class Website extends WebsiteSchema.class {}
WebsiteSchema.setClass(Website)

import { defineEntity, p } from '@mikro-orm/core'
import { id, json, listIndexes, resourceColumns, searchText, tenantKey } from './columns.ts'

const CustomerSchema = defineEntity({
  name: 'Customer',
  tableName: 'customers',
  indexes: listIndexes('customers'),
  properties: {
    ...tenantKey,
    email: p.string().nullable(),
    firstName: p.string().nullable(),
    lastName: p.string().nullable(),
    websiteId: id().nullable(),
    customFields: json<Record<string, unknown>>().nullable(),
    searchText: searchText('"email"', '"first_name"', '"last_name"', '"website_id"'),
    ...resourceColumns,
  },
})

/** Whom an organization bills. */
export class Customer extends CustomerSchema.class {}
CustomerSchema.setClass(Customer)

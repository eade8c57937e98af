import { defineEntity, p } from '@mikro-orm/core'
import type { Contact } from '../../billing/contacts.ts'
import { id, json, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

/** What `q` searches. */
export const customerSearch = searchExpression('email', 'first_name', 'last_name', 'website_id')

const CustomerSchema = defineEntity({
  name: 'Customer',
  tableName: 'customers',
  indexes: [
    ...listIndexes('customers', customerSearch),
    { name: 'customers_website_index', properties: ['organizationId', 'websiteId'] },
  ],
  properties: {
    ...tenantKey,
    email: p.string().nullable(),
    firstName: p.string().nullable(),
    lastName: p.string().nullable(),
    websiteId: id().nullable(),
    /** The instrument that is charged where an order names none. */
    defaultPaymentInstrumentId: id().nullable(),
    primaryAddress: json<Contact>().nullable(),
    leadSource: json<Record<string, string | null>>().nullable(),
    customFields: json<Record<string, unknown>>().nullable(),
    ...resourceColumns,
  },
})

/** Whom an organization bills. */
export class Customer extends CustomerSchema.class {}
CustomerSchema.setClass(Customer)

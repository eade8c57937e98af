import { defineEntity, p } from '@mikro-orm/core'
import type { Contact } from '../../billing/contacts.ts'
import { id, json, listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

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
    /** Charged when an order names no instrument. */
    defaultPaymentInstrumentId: id().nullable(),
    primaryAddress: json<Contact>().nullable(),
    leadSource: json<Record<string, string | null>>().nullable(),
    customFields: json<Record<string, unknown>>().nullable(),
    ...resourceColumns,
  },
})

export class Customer extends CustomerSchema.class {}
CustomerSchema.setClass(Customer)

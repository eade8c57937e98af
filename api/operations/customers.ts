import { createCustomer, type NewCustomer } from '../../db/commands/create-customer.ts'
import { customerEvent } from '../../db/customer-events.ts'
import { customerSearch } from '../../db/entities/customer.ts'
import { Customer as CustomerRow, Website } from '../../db/entities/index.ts'
import { references } from '../../db/references.ts'
import { presentCustomer } from '../../db/representations/customer.ts'
import { fieldsOf } from '../query/fields.ts'
import type { Resource, Writer } from '../resource.ts'
import { Customer } from '../schemas/customer.ts'

export const customers: Resource<CustomerRow> = {
  name: 'Customer',
  label: 'customer',
  path: 'customers',
  schema: Customer,
  entity: CustomerRow,
  table: 'customers',
  search: customerSearch,
  fields: fieldsOf(Customer),
  present: (row, { baseUrl }) => presentCustomer(row, baseUrl),
}

export const customerWriter: Writer<CustomerRow, Customer> = {
  create: (unit, id, body) => createCustomer(unit, id, valuesOf(body)),
  async update(unit, row, body) {
    const found = references(unit)
    await found.optional(Website, 'websiteId', body.websiteId ?? null)
    found.check()
    Object.assign(row, valuesOf(body))
  },
  changed: (unit, row) => unit.emit(customerEvent(row, 'customer-updated', unit)),
}

function valuesOf(body: Customer): NewCustomer {
  return {
    email: body.email ?? null,
    firstName: body.firstName ?? null,
    lastName: body.lastName ?? null,
    websiteId: body.websiteId ?? null,
    customFields: body.customFields ?? {},
  }
}

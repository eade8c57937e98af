import { canonicalJson } from '../../billing/canonical-json.ts'
import { endAccessOf } from '../../commands/access/end-access.ts'
import {
  checkedCustomer,
  createCustomer,
  type NewCustomer,
  type TokenPayment,
} from '../../commands/catalog/create-customer.ts'
import { requireUnreferenced } from '../../commands/references.ts'
import { customerSearch } from '../../db/entities/customer.ts'
import { Customer as CustomerRow } from '../../db/entities/index.ts'
import { customerEvent } from '../../events/customer-events.ts'
import { presentCustomer } from '../../representations/customer.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf } from '../query/fields.ts'
import { remove } from '../resources/delete.ts'
import type { Resource, Writer } from '../resources/resource.ts'
import { contactOf } from '../schemas/contact.ts'
import { Customer } from '../schemas/customer.ts'
import { leadSourceOf } from '../schemas/lead-source.ts'

export const customers: Resource<CustomerRow> = {
  name: 'Customer',
  label: 'customer',
  path: 'customers',
  schema: Customer,
  entity: CustomerRow,
  table: 'customers',
  search: customerSearch,
  fields: fieldsOf(Customer, {
    'primaryAddress.hash': null,
    'defaultPaymentInstrument.method': null,
    'defaultPaymentInstrument.paymentInstrumentId': {
      sql: 'row.default_payment_instrument_id',
      type: 'text',
    },
  }),
  present: (row, { baseUrl }) => presentCustomer(row, baseUrl),
}

export const customerWriter: Writer<CustomerRow, Customer> = {
  create: (unit, id, body, context) => createCustomer(unit, id, valuesOf(body), tokenOf(body, context)),
  async update(unit, row, body, context) {
    const known = canonicalJson(row.leadSource ?? null)
    Object.assign(row, await checkedCustomer(unit, row.id, valuesOf(body), tokenOf(body, context)))
    if (canonicalJson(row.leadSource) === known) return
    row.revision += 1
    row.updatedTime = unit.now
    unit.emit(customerEvent(row, 'lead-source-changed', unit))
  },
  changed: (unit, row) => unit.emit(customerEvent(row, 'customer-updated', unit)),
}

/** DELETE: 409 while the customer has an order, a transaction or an instrument. The customer's credentials and tokens end. */
export async function deleteCustomer(context: OperationContext): Promise<OperationResponse> {
  return await remove(context, customers, async (unit, row) => {
    await requireUnreferenced(unit, 'customers', row.id)
    await endAccessOf(unit, row.id)
  })
}

function tokenOf({ paymentToken }: Customer, { keys, gateway }: OperationContext): TokenPayment | null {
  return paymentToken == null ? null : { token: paymentToken, path: { vault: keys.vault, gateway } }
}

function valuesOf(body: Customer): NewCustomer {
  return {
    email: body.email ?? null,
    firstName: body.firstName ?? null,
    lastName: body.lastName ?? null,
    websiteId: body.websiteId ?? null,
    defaultPaymentInstrumentId: body.defaultPaymentInstrument?.paymentInstrumentId ?? null,
    primaryAddress: contactOf(body.primaryAddress),
    leadSource: leadSourceOf(body.leadSource),
    customFields: body.customFields ?? {},
  }
}

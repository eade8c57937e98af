import { defineEntity, p } from '@mikro-orm/core'
import { id } from './columns.ts'

/** Its row is locked while numbers are given. */
const InvoiceCounterSchema = defineEntity({
  name: 'InvoiceCounter',
  tableName: 'invoice_counters',
  properties: {
    organizationId: id().primary(),
    lastNumber: p.integer(),
  },
})

export class InvoiceCounter extends InvoiceCounterSchema.class {}
InvoiceCounterSchema.setClass(InvoiceCounter)

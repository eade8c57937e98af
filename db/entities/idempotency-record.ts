import { defineEntity, p } from '@mikro-orm/core'
import { id, instant } from './columns.ts'

const IdempotencyRecordSchema = defineEntity({
  name: 'IdempotencyRecord',
  tableName: 'idempotency_records',
  indexes: [{ name: 'idempotency_records_created_index', properties: ['createdTime'] }],
  properties: {
    organizationId: id().primary(),
    /** Unless the key is a secret one, after its form, and the customer: `customer/cus_…/PostToken`. */
    operation: p.string().length(150).primary(),
    key: p.string().length(255).primary(),
    /** Digest of path and body of the first request. */
    requestHash: p.string().length(64),
    responseCipher: p.text(),
    createdTime: instant(),
  },
})

export class IdempotencyRecord extends IdempotencyRecordSchema.class {}
IdempotencyRecordSchema.setClass(IdempotencyRecord)

import { defineEntity, p } from '@mikro-orm/core'
import { id, instant } from './columns.ts'

const IdempotencyRecordSchema = defineEntity({
  name: 'IdempotencyRecord',
  tableName: 'idempotency_records',
  indexes: [{ name: 'idempotency_records_created_index', properties: ['createdTime'] }],
  properties: {
    organizationId: id().primary(),
    operation: p.string().length(100).primary(),
    key: p.string().length(255).primary(),
    /** Digest of the path and the body of the first request. */
    requestHash: p.string().length(64),
    /** Its answer, encrypted by the vault. */
    responseCipher: p.text(),
    createdTime: instant(),
  },
})

/** What the first request of an `Idempotency-Key` was answered. */
export class IdempotencyRecord extends IdempotencyRecordSchema.class {}
IdempotencyRecordSchema.setClass(IdempotencyRecord)

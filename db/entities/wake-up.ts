import { defineEntity, p } from '@mikro-orm/core'
import { id, instant } from './columns.ts'

const WakeUpSchema = defineEntity({
  name: 'WakeUp',
  tableName: 'wake_ups',
  indexes: [{ name: 'wake_ups_due_index', properties: ['canWait', 'dueTime', 'id'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    /** Workflow name of `workflows/contract.ts`. */
    workflow: p.string().length(30),
    organizationId: id(),
    recordId: id(),
    /** Whether the record is new: nothing follows it yet. */
    starts: p.boolean().default(false),
    /** Whether it may be carried a minute late while many records are made. */
    canWait: p.boolean().default(false),
    /** Not before this; later than creation only after the engine refused it. */
    dueTime: instant(),
    refusals: p.integer().default(0),
    lastError: p.text().nullable(),
  },
})

/** Outbox row: the workflow of a record has to look again. Written by the transaction that changed the record. */
export class WakeUp extends WakeUpSchema.class {}
WakeUpSchema.setClass(WakeUp)

import { defineEntity, p } from '@mikro-orm/core'
import { id, instant, json } from './columns.ts'

const WakeUpSchema = defineEntity({
  name: 'WakeUp',
  tableName: 'wake_ups',
  indexes: [
    {
      name: 'wake_ups_order_index',
      expression: 'create index "wake_ups_order_index" on "wake_ups" ("gateway_call" desc, "due_by", "id")',
    },
    { name: 'wake_ups_record_index', properties: ['organizationId', 'recordId'] },
  ],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    /** Workflow name of `workflows/contract.ts`. */
    workflow: p.string().length(30),
    organizationId: id(),
    recordId: id(),
    /** Whether the record is new: it has no execution yet, and the new one sleeps until `dueBy`. */
    starts: p.boolean().default(false),
    /** Whether the payment gateway has to be called: such wake-ups are carried first. */
    gatewayCall: p.boolean().default(false),
    /** The record's next deadline in real time: of two wake-ups, the nearer is carried first. */
    dueBy: instant(),
    /** Search attributes for the start of an execution, by name. */
    attributes: json<Record<string, string | null>>().nullable(),
    /** Not before this; set after Temporal refused it. */
    notBefore: instant().nullable(),
    refusals: p.integer().default(0),
    lastError: p.text().nullable(),
    /** The relay that carries it now, and until when. */
    leaseOwner: p.string().length(50).nullable(),
    leaseUntil: instant().nullable(),
  },
})

/** Outbox row: the workflow of a record has to run. Written by the transaction that changed the record. */
export class WakeUp extends WakeUpSchema.class {}
WakeUpSchema.setClass(WakeUp)

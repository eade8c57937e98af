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
    /** The workflow's name in `workflows/contract.ts`. */
    workflow: p.string().length(30),
    organizationId: id(),
    recordId: id(),
    /** True for a new record: its execution starts, and sleeps until `dueBy`. */
    starts: p.boolean().default(false),
    /** True if the payment gateway has to be called: such wake-ups are relayed first. */
    gatewayCall: p.boolean().default(false),
    /** The record's next deadline in real time; the nearer one is relayed first. */
    dueBy: instant(),
    /** Search attributes by name, for the start of an execution. */
    attributes: json<Record<string, string | null>>().nullable(),
    /** Not relayed before this; set when Temporal refused it. */
    notBefore: instant().nullable(),
    refusals: p.integer().default(0),
    lastError: p.text().nullable(),
    /** The relay that has claimed it, until `leaseUntil`. */
    leaseOwner: p.string().length(50).nullable(),
    /** Past, not null, if it was offered before and may have been accepted. */
    leaseUntil: instant().nullable(),
  },
})

/** Outbox row: a record's workflow has to run. The transaction that changed the record writes it. */
export class WakeUp extends WakeUpSchema.class {}
WakeUpSchema.setClass(WakeUp)

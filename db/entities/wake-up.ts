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
    /** A new record: its execution starts, and sleeps until `dueBy`. */
    starts: p.boolean().default(false),
    /** Such wake-ups are relayed first. */
    gatewayCall: p.boolean().default(false),
    /** The record's next deadline in real time; the nearer one is relayed first. */
    dueBy: instant(),
    attributes: json<Record<string, string | null>>().nullable(),
    /** Not relayed before this; set when Temporal refused it. */
    notBefore: instant().nullable(),
    refusals: p.integer().default(0),
    lastError: p.text().nullable(),
    leaseOwner: p.string().length(50).nullable(),
    /** Past, not null, if it was offered before and may have been accepted. */
    leaseUntil: instant().nullable(),
  },
})

export class WakeUp extends WakeUpSchema.class {}
WakeUpSchema.setClass(WakeUp)

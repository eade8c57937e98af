import { defineEntity } from '@mikro-orm/core'
import { id, instant, json } from './columns.ts'

const WorkerProcessSchema = defineEntity({
  name: 'WorkerProcess',
  tableName: 'worker_processes',
  properties: {
    /** Random for every start; the owner in its leases. */
    id: id().primary(),
    /** Renewed while it runs; after this its leases are free. */
    aliveUntil: instant(),
    /** By receiver, at the last renewal. */
    inFlight: json<Record<string, number>>(),
  },
})

export class WorkerProcess extends WorkerProcessSchema.class {}
WorkerProcessSchema.setClass(WorkerProcess)

import { defineEntity } from '@mikro-orm/core'
import { id, instant, json } from './columns.ts'

const WorkerProcessSchema = defineEntity({
  name: 'WorkerProcess',
  tableName: 'worker_processes',
  properties: {
    /** Random, made anew at every start: what its leases name as their owner. */
    id: id().primary(),
    /** Renewed while it runs; afterwards its leases are free. */
    aliveUntil: instant(),
    /** Attempts in flight by receiver, as of the last renewal. */
    inFlight: json<Record<string, number>>(),
  },
})

/** A worker that runs, or ran until a moment ago. */
export class WorkerProcess extends WorkerProcessSchema.class {}
WorkerProcessSchema.setClass(WorkerProcess)

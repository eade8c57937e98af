/**
 * The least that an order takes with all that follows: Koa, AJV, one `insert`, an execution asleep until the order is
 * due, and its events signed and posted. Nothing of it is recorded, tried again or locked.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Connection, WorkflowClient } from '@temporalio/client'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import pg from 'pg'
import { serveCalls } from '../helper.ts'
import type * as workflows from './bare-order-workflow.ts'
import { serveBareOrders } from './bare-orders.ts'
import { createPoster } from './sign-and-post.ts'

export interface BaselineServices {
  readonly databaseUrl: string
  readonly temporalAddress: string
  readonly namespace: string
  readonly providerPort: number
}

export interface DueTogether {
  readonly workflow: keyof typeof workflows
  readonly count: number
  readonly start: number
}

export type OrderBaselineCalls = {
  connect(services: BaselineServices): Promise<void>
  /** Orders start at once: their executions sleep until the next period. Returns the port. */
  listen(webhook: { url: string; events: number }): Promise<number>
  /** Resolves when every order that was placed has its execution, and its events are posted. */
  drained(argument: null): Promise<void>
  /** Places orders that are due at one instant, with their executions. */
  arm(orders: DueTogether): Promise<void>
  /** Returns the seconds from the instant until the last of them was activated. */
  activated(orders: DueTogether): Promise<number>
}

const TASK_QUEUE = 'bench-baseline'
const PERIOD = 30 * 24 * 3_600_000
/** Orders that may wait for their execution and webhooks before the next one is accepted. */
const BACKLOG = 200
const ARMED_AT_ONCE = 20

let pool: pg.Pool
let client: WorkflowClient
const inProgress = new Set<Promise<void>>()
let failure: unknown = null

const startAsleep = async (
  workflow: DueTogether['workflow'],
  id: string,
  milliseconds: number,
): Promise<void> => {
  await client.start<(id: string) => Promise<void>>(workflow, {
    workflowId: `baseline/${id}`,
    taskQueue: TASK_QUEUE,
    args: [id],
    startDelay: milliseconds,
  })
}

serveCalls({
  async connect({ databaseUrl, temporalAddress: address, namespace, providerPort }: BaselineServices) {
    Runtime.install({ logger: new DefaultLogger('ERROR') })
    pool = new pg.Pool({ connectionString: databaseUrl, max: 20 })
    await pool.query(`create table if not exists bench_due_orders (
      id text primary key, start_time timestamptz not null, activated_time timestamptz)`)
    client = new WorkflowClient({ connection: await Connection.connect({ address }), namespace })
    const worker = await Worker.create({
      connection: await NativeConnection.connect({ address }),
      namespace,
      taskQueue: TASK_QUEUE,
      workflowsPath: fileURLToPath(new URL('bare-order-workflow.ts', import.meta.url)),
      activities: {
        charge: async (id: string) => {
          const response = await fetch(`http://127.0.0.1:${providerPort}/v1/payment_intents`, {
            method: 'POST',
            headers: { 'Idempotency-Key': id },
            body: 'amount=990&currency=eur',
          })
          await response.text()
          if (!response.ok) throw new Error(`the provider answered ${response.status}`)
        },
        activate: async (id: string) =>
          void (await pool.query('update bench_due_orders set activated_time = now() where id = $1', [id])),
      },
    })
    worker.run().catch((error: unknown) => {
      failure = error
    })
  },
  async listen({ url, events }: { url: string; events: number }) {
    const signAndPost = await createPoster()
    return await serveBareOrders(pool, async (row) => {
      const body = JSON.stringify(row)
      const following = Promise.all([
        startAsleep('bareOrder', String(row.id), PERIOD),
        ...Array.from({ length: events }, () => signAndPost(url, body)),
      ])
        .catch((error: unknown) => {
          failure = error
        })
        .then(() => void inProgress.delete(following))
      inProgress.add(following)
      if (inProgress.size > BACKLOG) await Promise.race(inProgress)
    })
  },
  async drained() {
    await Promise.all(inProgress)
    if (failure !== null) throw failure
  },
  async arm({ workflow, count, start }: DueTogether) {
    const numbers = Array.from({ length: count }, (_, number) => number).values()
    const one = async (): Promise<void> => {
      for (const number of numbers) {
        const id = `due-${start}-${number}`
        await pool.query('insert into bench_due_orders values ($1, $2)', [id, new Date(start)])
        await startAsleep(workflow, id, start - Date.now())
      }
    }
    await Promise.all(Array.from({ length: ARMED_AT_ONCE }, one))
  },
  async activated({ count, start }: DueTogether) {
    for (;;) {
      await delay(50)
      if (failure !== null) throw failure
      const { rows } = await pool.query<{ done: number; last: number }>(
        `select count(*)::int as done, extract(epoch from max(activated_time))::float8 * 1000 as last
           from bench_due_orders where start_time = $1 and activated_time is not null`,
        [new Date(start)],
      )
      const [row] = rows
      if (row?.done === count) return (row.last - start) / 1000
    }
  },
})

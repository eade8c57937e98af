/**
 * The relay: carries wake-ups from the outbox to the engine.
 *
 * A wake-up leaves the outbox by the transaction that waited for the engine to take it, so a killed relay loses
 * nothing and blocks nothing. While the engine cannot be reached nothing fails and nothing is counted: the outbox
 * waits, and the engine is asked again every second.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import { type Client, isGrpcServiceError } from '@temporalio/client'
import type { Logger } from 'pino'
import { CHANGED_SIGNAL, type FollowInput, type WorkflowName, workflowId } from '../workflows/contract.ts'
import { type Loop, startLoop } from './loop.ts'

const BATCH = 100
/** How long the engine may take to accept one signal. */
const SIGNAL_TIMEOUT = 5_000
const POLL = 1_000

export interface RelayOptions {
  readonly em: () => EntityManager
  readonly client: Client
  readonly taskQueue: string
  readonly log: Logger
}

interface WakeUpRow {
  workflow: WorkflowName
  organization_id: string
  record_id: string
  refusals: number
}

/** Thrown inside a batch's transaction to put all of it back. */
class EngineUnreachableError extends Error {
  override readonly name = 'EngineUnreachableError'
}

export function startRelay({ em, client, taskQueue, log }: RelayOptions): Loop {
  let reachable = true

  const turn = async (): Promise<boolean> => {
    if (!reachable && !(await probe())) return false
    try {
      return (await carryBatch()) === BATCH
    } catch (error) {
      if (!(error instanceof EngineUnreachableError)) throw error
      reachable = false
      log.warn({ err: error.cause }, 'the workflow engine cannot be reached; wake-ups wait in the outbox')
      return false
    }
  }

  const probe = async (): Promise<boolean> => {
    try {
      await client.connection.withDeadline(Date.now() + POLL, () => client.workflowService.getSystemInfo({}))
      log.info('the workflow engine is back')
      reachable = true
    } catch {
      // Said once already.
    }
    return reachable
  }

  /** Carries up to a batch and gives its size. */
  const carryBatch = async (): Promise<number> => {
    return await em().transactional(async (trx) => {
      const sql = (text: string, values: unknown[]) =>
        trx.getConnection().execute<WakeUpRow[]>(text, values, 'all', trx.getTransactionContext())
      const rows = await sql(
        `delete from wake_ups where id in (
           select id from wake_ups where due_time <= now() order by due_time, id limit ? for update skip locked)
         returning workflow, organization_id, record_id, refusals`,
        [BATCH],
      )
      const distinct = new Map(
        rows.map((row) => [workflowId(row.workflow, row.organization_id, row.record_id), row]),
      )
      await Promise.all(
        [...distinct].map(async ([id, row]) => {
          try {
            await wake(id, row)
          } catch (error) {
            if (isUnreachable(error)) throw new EngineUnreachableError('engine unreachable', { cause: error })
            const reason = Error.isError(error) ? error.message : String(error)
            log.error(
              { err: error, workflowId: id },
              'the workflow engine refused a wake-up; it will be offered again',
            )
            await sql(
              `insert into wake_ups (workflow, organization_id, record_id, due_time, refusals, last_error)
               values (?, ?, ?, now() + make_interval(secs => ?), ?, ?)`,
              [
                row.workflow,
                row.organization_id,
                row.record_id,
                Math.min(30, 2 ** row.refusals),
                row.refusals + 1,
                reason.slice(0, 500),
              ],
            )
          }
        }),
      )
      return rows.length
    })
  }

  const wake = async (id: string, row: WakeUpRow): Promise<void> => {
    const input: FollowInput = { organizationId: row.organization_id, recordId: row.record_id }
    await client.connection.withDeadline(Date.now() + SIGNAL_TIMEOUT, () =>
      client.workflow.signalWithStart(row.workflow, {
        workflowId: id,
        taskQueue,
        args: [input],
        signal: CHANGED_SIGNAL,
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        staticSummary: `${row.workflow} ${row.record_id} of ${row.organization_id}`,
      }),
    )
  }

  return startLoop({ name: 'relay', interval: POLL, log, turn })
}

/** Whether the engine could not be asked at all, rather than having said no. gRPC: 1 cancelled, 4 deadline, 14 unavailable. */
function isUnreachable(error: unknown): boolean {
  for (let cause = error; Error.isError(cause); cause = cause.cause) {
    if (isGrpcServiceError(cause)) return [1, 4, 14].includes(cause.code)
  }
  return false
}

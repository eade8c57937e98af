/**
 * The relay: carries wake-ups from the outbox to the engine.
 *
 * A wake-up leaves the outbox by the transaction that waited for the engine to take it, so a killed relay loses
 * nothing and blocks nothing. While the engine cannot be reached nothing fails and nothing is counted: the outbox
 * waits, and the engine is asked again every second. What the engine took before it went away stays taken: an engine
 * that is slow after a restart is not asked the same again, which would keep it slow.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EntityManager } from '@mikro-orm/postgresql'
import { type Client, isGrpcServiceError, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import type { Logger } from 'pino'
import { statement } from '../db/statement.ts'
import {
  CHANGED_SIGNAL,
  type FollowInput,
  type SettleInput,
  type SettleResult,
  type WorkflowName,
  workflowId,
} from '../workflows/contract.ts'
import { searchAttributes } from '../workflows/labels.ts'
import { type Loop, startLoop } from './loop.ts'

const BATCH = 64
/** Of them, what is kept for executions that can wait, however much there is that cannot. */
const SHARE = 16
/** Wake-ups offered to the engine at a time. */
const CONCURRENCY = 8
/** How long the engine may take to accept one signal. */
const SIGNAL_TIMEOUT = 5_000
const POLL = 1_000
/**
 * While this many records are made within a second, and more than a batch wait for their executions, the cores are left to
 * those who make them: executions that can wait begin afterwards, or once they have waited `LONGEST_WAIT` seconds.
 */
const RUSH = 50
const LONGEST_WAIT = 60
/** Between looks meanwhile. Milliseconds. */
const RUSH_PAUSE = 250

export interface RelayOptions {
  readonly em: () => EntityManager
  readonly client: Client
  /** The pollers of this process, while there are any. */
  readonly pollers: () => Pollers | null
  readonly taskQueue: string
  readonly log: Logger
  /** Milliseconds between looks when nothing nudges. */
  readonly poll?: number
}

/** What polls in this process: it can begin at once with what its own client starts. */
export interface Pollers {
  readonly client: Client
  /** What is read of records; null where something may be due, which is for their workflows. */
  readonly look: Readonly<Partial<Record<WorkflowName, (input: SettleInput) => Promise<SettleResult | null>>>>
}

interface WakeUpRow {
  id: string
  workflow: WorkflowName
  organization_id: string
  record_id: string
  starts: boolean
  refusals: number
}

export function startRelay({ em, client, pollers, taskQueue, log, poll = POLL }: RelayOptions): Loop {
  let reachable = true

  const turn = async (): Promise<boolean> => {
    if (!reachable && !(await probe())) return false
    const { taken, unreachable, isRush } = await carryBatch()
    // Every one of those records nudges.
    if (isRush && taken === 0) await sleep(RUSH_PAUSE)
    // Where nothing can wait, a full batch is smaller.
    if (unreachable === null) return taken >= BATCH - SHARE
    reachable = false
    log.warn({ err: unreachable }, 'the workflow engine cannot be reached; wake-ups wait in the outbox')
    return false
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

  /** Carries up to a batch, or as much of it as the engine takes before it cannot be reached. */
  const carryBatch = async (): Promise<{ taken: number; unreachable: unknown; isRush: boolean }> => {
    const isRush = await isRushed(em())
    return await em().transactional(async (trx) => {
      const rows = await statement<WakeUpRow>(
        trx,
        'take-wake-ups',
        `with urgent as (
           select * from wake_ups where not can_wait and due_time <= now()
            order by due_time, id limit ? for update skip locked
         ), patient as (
           select * from wake_ups where can_wait and due_time <= now() - make_interval(secs => ?)
            order by due_time, id limit ? - (select count(*) from urgent) for update skip locked
         )
         select id, workflow, organization_id, record_id, starts, refusals
           from (select * from urgent union all select * from patient) wake_up order by can_wait, due_time, id`,
        [BATCH - SHARE, isRush ? LONGEST_WAIT : 0, BATCH],
      )
      if (rows.length === 0) return { taken: 0, unreachable: null, isRush }
      const waiting = Map.groupBy(rows, (row) => workflowId(row.workflow, row.organization_id, row.record_id))
      const offers = [...waiting]
      const taken: string[] = []
      const refused: { row: WakeUpRow; reason: string }[] = []
      let unreachable: unknown = null
      const carry = async (): Promise<void> => {
        for (let offer = offers.shift(); offer !== undefined; offer = offers.shift()) {
          const [id, [row, ...again]] = offer
          if (row === undefined || unreachable !== null) return
          try {
            await wake(id, row)
          } catch (error) {
            if (isUnreachable(error)) {
              unreachable = error
              return
            }
            log.error(
              { err: error, workflowId: id },
              'the workflow engine refused a wake-up; it will be offered again',
            )
            refused.push({ row, reason: Error.isError(error) ? error.message : String(error) })
            taken.push(...again.map((other) => other.id))
            continue
          }
          taken.push(row.id, ...again.map((other) => other.id))
        }
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, carry))
      await statement(
        trx,
        'delete-wake-ups',
        'delete from wake_ups using jsonb_array_elements_text(?::jsonb) as taken where id = taken::bigint',
        [JSON.stringify(taken)],
      )
      for (const { row, reason } of refused) {
        await statement(
          trx,
          'defer-wake-up',
          `update wake_ups set due_time = now() + make_interval(secs => ?), refusals = ?, last_error = ? where id = ?`,
          [Math.min(30, 2 ** row.refusals), row.refusals + 1, reason.slice(0, 500), row.id],
        )
      }
      return { taken: rows.length, unreachable, isRush }
    })
  }

  const wake = async (id: string, row: WakeUpRow): Promise<void> => {
    const input: FollowInput = { organizationId: row.organization_id, recordId: row.record_id }
    const execution = {
      workflowId: id,
      taskQueue,
      args: [input],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: `${row.workflow} ${row.record_id} of ${row.organization_id}`,
    } as const
    const here = pollers()
    const { connection, workflow } = here?.client ?? client
    const inTime = <T>(ask: () => Promise<T>) => connection.withDeadline(Date.now() + SIGNAL_TIMEOUT, ask)
    if (row.starts) {
      const seen = await firstLook(here, row, input)
      const labels = seen?.labels ?? null
      try {
        await inTime(() =>
          workflow.start(row.workflow, {
            ...execution,
            args: [seen === null ? input : { ...input, seen }],
            ...(labels === null ? {} : { typedSearchAttributes: searchAttributes(labels) }),
            requestEagerStart: here !== null,
          }),
        )
        return
      } catch (error) {
        // Carried before, and the answer was lost; or the sweep was faster.
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
      }
    }
    await inTime(() => workflow.signalWithStart(row.workflow, { ...execution, signal: CHANGED_SIGNAL }))
  }

  /**
   * Looks at a new record before its execution is started, which then has nothing to do but wait: one task and one event
   * instead of several.
   */
  const firstLook = async (
    here: Pollers | null,
    { workflow, record_id: recordId }: WakeUpRow,
    input: FollowInput,
  ): Promise<SettleResult | null> => {
    try {
      return (await here?.look[workflow]?.({ ...input, clock: Date.now(), base: null })) ?? null
    } catch (error) {
      log.warn({ err: error, workflow, recordId }, 'a new record could not be read ahead of its workflow')
      return null
    }
  }

  return startLoop({ name: 'relay', interval: poll, log, turn })
}

/** Whether records are being made faster than their executions are begun. */
async function isRushed(em: EntityManager): Promise<boolean> {
  const [found] = await statement<{ is_rushed: boolean }>(
    em,
    'find-rush',
    `select (select count(*) from (
               select from wake_ups where can_wait and due_time > now() - interval '1 second' limit ?) made) = ?
        and exists (select from wake_ups where can_wait offset ? limit 1) as is_rushed`,
    [RUSH, RUSH, BATCH],
  )
  return found?.is_rushed ?? false
}

/** Whether the engine could not be asked at all, rather than having said no. gRPC: 1 cancelled, 4 deadline, 14 unavailable. */
function isUnreachable(error: unknown): boolean {
  for (let cause = error; Error.isError(cause); cause = cause.cause) {
    if (isGrpcServiceError(cause)) return [1, 4, 14].includes(cause.code)
  }
  return false
}

/** Sandbox only. A clock's move that stalls or fails is ended; the clock stays where it is. */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import { STALLED_AFTER } from '../billing/fast-forward.ts'
import { failIfMoving, failIfStalled } from '../commands/orders/fast-forward.ts'
import type { AgreedClock } from '../db/clock-agreement.ts'
import { statement } from '../db/statement.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import { type RecordKey, workflowId } from '../workflows/contract.ts'
import { eachByItself } from './each-by-itself.ts'
import { type Loop, startLoop } from './loop.ts'

const INTERVAL = 60_000
/** Milliseconds for Temporal to stop skipping time. */
const CALL_TIMEOUT = 3_000

export interface StalledMovesOptions {
  readonly em: () => EntityManager
  readonly baseUrl: string
  readonly now: () => number
}

export function startStalledMoves(
  options: StalledMovesOptions & { readonly clock: AgreedClock; readonly log: Logger },
): Loop {
  const { log, clock } = options
  return startLoop({
    name: 'stalled moves',
    interval: INTERVAL,
    log,
    clock,
    async iterate(_, stopping) {
      const givenUp = await giveUpStalledMoves(options, stopping)
      if (givenUp > 0) log.warn({ givenUp }, "gave up moves of orders' clocks that made no progress")
      return false
    },
  })
}

/**
 * Ends the move of an order that is quarantined on its way, and the skipping of time before it: its execution would skip
 * the quarantine too, and be quarantined thousands of times until the target. While time may still stop, no other move
 * begins. What was not stopped, as Temporal or this process failed, is asked for again with the next quarantine.
 */
export async function endMove(
  { em, baseUrl, now }: StalledMovesOptions,
  { client, log }: { readonly client: Client; readonly log: Logger },
  { organizationId, recordId }: RecordKey,
): Promise<void> {
  const tenant = { organizationId, baseUrl, now: new Date(now()) }
  const [order] = await statement<{ isMoving: boolean }>(
    em(),
    'find-moved-clock',
    `select moving_to is not null as "isMoving" from subscriptions
      where organization_id = ? and id = ? and (moving_to is not null or clock_offset <> 0)`,
    [organizationId, recordId],
  )
  if (order === undefined) return
  const execution = workflowId('subscription', organizationId, recordId)
  try {
    await client.connection.withDeadline(Date.now() + CALL_TIMEOUT, () =>
      client.workflowService.updateWorkflowExecutionOptions({
        namespace: client.options.namespace,
        workflowExecution: { workflowId: execution },
        workflowExecutionOptions: { timeSkippingConfig: { enabled: false } },
        updateMask: { paths: ['time_skipping_config'] },
      }),
    )
  } catch (error) {
    log.warn(
      { err: error, workflowId: execution },
      'the execution of a quarantined order may go on skipping time',
    )
  }
  if (order.isMoving) await inUnitOfWork(em(), tenant, (unit) => failIfMoving(unit, recordId))
}

export async function giveUpStalledMoves(
  { em, baseUrl, now }: StalledMovesOptions,
  stopping?: AbortSignal,
): Promise<number> {
  const stalled = await statement<{ organization_id: string; subscription_id: string }>(
    em(),
    'find-stalled-moves',
    "select organization_id, subscription_id from fast_forwards where status = 'running' and progress_time < ?",
    [new Date(now() - STALLED_AFTER)],
  )
  let givenUp = 0
  type Stalled = (typeof stalled)[number]
  const giveUp = async ({ organization_id: organizationId, subscription_id: id }: Stalled): Promise<void> => {
    const tenant = { organizationId, baseUrl, now: new Date(now()) }
    if (await inUnitOfWork(em(), tenant, (unit) => failIfStalled(unit, id))) givenUp += 1
  }
  await eachByItself(stalled, giveUp, { stopping })
  return givenUp
}

/**
 * The transaction a command runs in: one instant, one organization, and what must follow from it.
 *
 * Everything a command changes, the events of the change, their deliveries and the wake-ups of workflows commit
 * together or not at all; wake-ups are written last.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { WorkflowName } from '../workflows/contract.ts'
import { type NewEvent, type NewTimelineEntry, writeConsequences } from './events.ts'
import { nudge } from './nudge.ts'

export interface UnitOfWork {
  readonly em: EntityManager
  readonly organizationId: string
  /** Real time at which the transaction began. */
  readonly now: Date
  /** Public address of the deployment, for `_links`. */
  readonly baseUrl: string
  /** Has the event, and a delivery for every webhook that wants it, written with the transaction. */
  emit(event: NewEvent): void
  /** Has the entry written to its order's timeline with the transaction. */
  note(entry: NewTimelineEntry): void
  /** Has the record's workflow look again once the transaction is committed. */
  wake(workflow: WorkflowName, recordId: string): void
}

export interface UnitOfWorkOptions {
  readonly organizationId: string
  readonly now: Date
  readonly baseUrl: string
}

/** Runs `work` in one transaction and commits it with its events, deliveries and wake-ups. */
export async function inUnitOfWork<T>(
  em: EntityManager,
  options: UnitOfWorkOptions,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  const { result, channels } = await em.transactional(async (trx) => {
    const events: NewEvent[] = []
    const timeline: NewTimelineEntry[] = []
    const wakeUps = new Map<string, readonly [WorkflowName, string]>()
    const result = await work({
      ...options,
      em: trx,
      emit: (event) => void events.push(event),
      note: (entry) => void timeline.push(entry),
      wake: (workflow, recordId) => void wakeUps.set(`${workflow}/${recordId}`, [workflow, recordId]),
    })
    await trx.flush()
    const consequences = { events, timeline, wakeUps: [...wakeUps.values()] }
    return { result, channels: await writeConsequences(trx, options, consequences) }
  })
  nudge(em, channels)
  return result
}

import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { isInfrastructureFailure } from '../db/infrastructure-failure.ts'
import { endQuarantine, quarantineRecord } from '../db/quarantine.ts'
import {
  type AdvanceInput,
  type AdvanceResult,
  type RecordKey,
  searchAttributesOf,
  type WorkflowName,
} from '../workflows/contract.ts'

export interface Quarantine {
  /** Returns the instant, in milliseconds, at which the record is advanced again. */
  add(workflow: WorkflowName, key: RecordKey, error: unknown): Promise<number>
  /** Advances a record, and quarantines it on any error that our infrastructure did not cause. */
  guard<Result extends AdvanceResult | null>(
    workflow: WorkflowName,
    input: AdvanceInput,
    advance: () => Promise<Result>,
  ): Promise<Result | AdvanceResult>
}

export interface QuarantineOptions {
  readonly em: () => EntityManager
  readonly log: Logger
  readonly now: () => number
  readonly counter: { inc(labels: { workflow: WorkflowName }): void }
  /** Has an order that is being fast-forwarded wait in real time. Absent where none is. */
  readonly endMove?: (order: RecordKey) => Promise<void>
}

export function createQuarantine({ em, log, counter, now, endMove }: QuarantineOptions): Quarantine {
  const add = async (workflow: WorkflowName, key: RecordKey, error: unknown): Promise<number> => {
    const until = await quarantineRecord(em(), workflow, key, String(error))
    counter.inc({ workflow })
    log.error({ err: error, workflow, ...key, until }, 'a record could not be advanced and is quarantined')
    if (workflow === 'subscription') {
      await endMove?.(key).catch((err) =>
        log.warn({ err, ...key }, 'the move of a quarantined order goes on'),
      )
    }
    return until?.getTime() ?? now()
  }
  return {
    add,
    async guard(workflow, input, advance) {
      try {
        const result = await advance()
        // The quarantine of an order ends with the commit that advances the order.
        if (workflow !== 'subscription') await endQuarantine(em(), workflow, input)
        return result
      } catch (error) {
        if (isInfrastructureFailure(error)) throw error
        return quarantinedResult(workflow, input, await add(workflow, input, error), now())
      }
    },
  }
}

export function quarantinedResult(
  workflow: WorkflowName,
  { organizationId, recordId, clock, base }: AdvanceInput,
  until: number,
  now: number,
): AdvanceResult {
  const time = new Date(until).toISOString()
  return {
    next: clock + (base ?? 0) + Math.max(0, until - now),
    base: base ?? 0,
    visibility: {
      details: `**Quarantined**: advancing ${workflow} ${recordId} failed. Its row and the log have the reason; \`npm run quarantine -- release ${workflow}/${organizationId}/${recordId}\` tries again at once.`,
      timer: `quarantined until ${time}`,
      attributes: searchAttributesOf({ organizationId, status: 'quarantined', nextDeadline: time }),
    },
  }
}

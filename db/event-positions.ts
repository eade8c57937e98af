/**
 * An event's position is the id of the writing transaction plus the installation's offset, shifted by 20 bits, plus
 * the ordinal within the transaction (ADR 28). PostgreSQL's ids begin anew in another server, and are used again
 * after a restore to an earlier time: the offset then goes up, so that new positions come after all earlier ones.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import { statement } from './statement.ts'

const OFFSET_FACT = 'event-position-offset'

/** None until the first restore. */
const OFFSET = `coalesce((select value::bigint from installation where name = '${OFFSET_FACT}'), 0)`

/** Of the first event of a transaction. */
export const NEW_POSITION = `((pg_current_xact_id()::text::bigint + ${OFFSET}) << 20)`

/**
 * The condition of every list of events: only those before the oldest open transaction of the database. No
 * later commit adds an event before them, so a reader that continues from the last position misses none.
 */
export const COMMITTED_EVENTS = `row.position < ((pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ${OFFSET}) << 20)`

/** The upper part of the highest position; an index has it for each organization. */
const HIGHEST = `(
  select coalesce(max(last.position) >> 20, 0)
    from organizations organization cross join lateral
         (select position from events where organization_id = organization.id order by position desc limit 1) last)`

/** As in a dump that was restored into another server. Events ahead are not listed, and new ones come before them. */
export async function positionsLieAhead(em: EntityManager): Promise<boolean> {
  const [row] = await statement<{ ahead: boolean }>(
    em,
    'compare-positions',
    `select ${HIGHEST} >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ${OFFSET} as ahead`,
  )
  return row?.ahead === true
}

/** More transactions than a backup can lack. There is room for two thousand such steps. */
const STEP = 2 ** 32

/**
 * Has new positions come after every earlier one, those of lost events included. Returns the least new one. Safe
 * beside the running service: every transaction has written its events before the step, or writes them after it.
 */
export async function advancePositions(em: EntityManager): Promise<string> {
  return await em.transactional(async (transaction) => {
    await statement(transaction, 'lock-events', 'lock table events in share row exclusive mode')
    const [row] = await statement<{ position: string }>(
      transaction,
      'advance-positions',
      `with taken as (
         select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as xmin, ${HIGHEST} as highest
       ), advanced as (
         insert into installation (name, value)
         select '${OFFSET_FACT}', (greatest(${OFFSET}, highest - xmin) + ${STEP})::text from taken
         on conflict (name) do update set value = excluded.value
         returning value::bigint as "offset"
       )
       select ((xmin + "offset") << 20)::text as position from taken, advanced`,
    )
    if (row === undefined) throw new Error('the position of new events was not written')
    return row.position
  })
}

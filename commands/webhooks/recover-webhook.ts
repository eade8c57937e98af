import { encodeTime } from 'ulid'
import { ConflictError } from '../../billing/errors.ts'
import { RESEND_CHANNEL } from '../../db/channels.ts'
import { Webhook } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

/** Rows that are read in one commit. Outcomes of all organizations may wait for its lock of the webhook. */
const BATCH = 5_000

type Commit = <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>

/**
 * Makes one attempt more, at once, of each delivery that failed, if it was made since an instant or an attempt of it has
 * failed since; a schedule goes on beside it. Goes on in batches, each in a commit of its own; a repetition leaves out what
 * still waits for its attempt. Returns how many; null: no such webhook. Throws ConflictError when the webhook is inactive.
 */
export async function recoverWebhook(commit: Commit, id: string, since: Date): Promise<number | null> {
  let recovered = 0
  for (const recover of [recoverSince, recoverOlder]) {
    for (let place: Place | null = { time: null, id: '', through: null }; place !== null; ) {
      const from: Place = place
      const done: Batch | null = await commit(async (unit) => {
        // A deactivation locks the same row.
        const webhook = await lockRow(unit, Webhook, id)
        if (webhook === null) return null
        if (webhook.status !== 'active') throw new ConflictError('The webhook is inactive.')
        const { count, seen, ...last } = await recover(unit, { id, since, from })
        if (count > 0) unit.nudge(RESEND_CHANNEL)
        return { count, next: seen < BATCH ? null : last }
      })
      if (done === null) return null
      recovered += done.count
      place = done.next
    }
  }
  return recovered
}

interface Batch {
  readonly count: number
  /** null: none is left. */
  readonly next: Place | null
}

/** Where a batch begins. Times as PostgreSQL writes them. */
interface Place {
  readonly time: string | null
  readonly id: string
  /** When the first batch began; null: it is the first. */
  readonly through: string | null
}

interface Given {
  readonly id: string
  readonly since: Date
  readonly from: Place
}

type Recovered = Place & { readonly count: number; readonly seen: number }

/** SQL, which binds organization and webhook. One that is under way is resent again, as it began before. */
const RESEND_FAILED = `update deliveries set resend_due = true, resend_again = lease_owner is not null
        where organization_id = ? and webhook_id = ?
          and status in ('retrying', 'exhausted', 'canceled') and attempts > 0
          and case when lease_owner is null then not resend_due else not resend_again end`

/** Of what was made since, in the order of ids. */
async function recoverSince(unit: UnitOfWork, { id, since, from }: Given): Promise<Recovered> {
  const { em, organizationId } = unit
  const [done] = await statement<Recovered>(
    em,
    'recover-deliveries-since',
    `with seen as materialized (
       select id from deliveries where organization_id = ? and id > ? order by id limit ?
     ), recovered as (
       ${RESEND_FAILED} and id = any (array(select id from seen)) and created_time >= ?
       returning 1
     )
     select (select count(*)::int from recovered) as count, count(*)::int as seen, coalesce(max(id), '') as id,
            null as time, null as through
       from seen`,
    [organizationId, from.id || firstId(since), BATCH, organizationId, id, since],
  )
  return one(done)
}

/**
 * Of what was made before and has failed since, in the order of attempts from the last one back. A delivery is found by the
 * last of its attempts, so that it is resent once, also if that fails before an earlier one is read.
 */
async function recoverOlder(unit: UnitOfWork, { id, since, from }: Given): Promise<Recovered> {
  const { em, organizationId } = unit
  const [done] = await statement<Recovered>(
    em,
    'recover-older-deliveries',
    `with given as materialized (
       select coalesce(?::timestamptz, now()) as through, ?::timestamptz as since, ?::timestamptz as earliest
     ), seen as materialized (
       select id, created_time, webhook_id, delivery_id, attempt, initiated_time, failure from delivery_attempts
        where organization_id = ? and created_time >= (select earliest from given)
          and created_time <= coalesce(?::timestamptz, (select through from given))
          and (created_time < ?::timestamptz or id > ?)
        order by created_time desc, id limit ?
     ), failed as (
       select delivery_id from seen, given
        where webhook_id = ? and initiated_time >= given.since and failure is not null
          and not exists (select from delivery_attempts later
                           where later.organization_id = ? and later.delivery_id = seen.delivery_id
                             and later.attempt > seen.attempt and later.created_time <= given.through
                             and later.initiated_time >= given.since and later.failure is not null)
     ), recovered as (
       ${RESEND_FAILED} and id = any (array(select delivery_id from failed))
          and not (id > ? and created_time >= (select since from given))
       returning 1
     ), last as (
       select created_time, id from seen order by created_time, id desc limit 1
     )
     select (select count(*)::int from recovered) as count, (select count(*)::int from seen) as seen,
            coalesce((select id from last), '') as id, (select created_time::text from last) as time,
            given.through::text as through
       from given`,
    [
      ...[from.through, since, new Date(since.getTime() - CLOCK_MARGIN)],
      ...[organizationId, from.time, from.time, from.id, BATCH],
      ...[id, organizationId],
      ...[organizationId, id, firstId(since)],
    ],
  )
  return one(done)
}

function one(done: Recovered | undefined): Recovered {
  if (done === undefined) throw new Error('a batch has one result')
  return done
}

/** Ids of deliveries begin with their time, so that a range of the primary key holds them. */
function firstId(since: Date): string {
  return `dlv_${encodeTime(Math.max(0, since.getTime() - CLOCK_MARGIN))}`
}

/** Milliseconds. A range of an index begins so much early, as the clocks of processes and database differ. */
const CLOCK_MARGIN = 60_000

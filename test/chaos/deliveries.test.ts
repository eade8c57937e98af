/**
 * Attempts are numbered without a gap; each wait counts from the end of the attempt before, to the millisecond; the
 * receiver gets every attempt, always the same bytes. `KILL_SEEDS` (default 6) is how many times.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { WorkflowExecutionInfo } from '@temporalio/client'
import { defaultPayloadConverter } from '@temporalio/common'
import type { temporal } from '@temporalio/proto'
import pg from 'pg'
import { createVerifier } from '../../dev/verify-webhook.ts'
import type { AdvanceInput, AdvanceResult } from '../../workflows/contract.ts'
import type { Catalogue } from '../support/catalogue.ts'
import { mulberry32 } from '../support/random.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { skipTime } from '../support/time-skipping.ts'
import { waitFor } from '../support/wait-for.ts'
import { delay, type Environment, killEverything, startEnvironment, stubborn } from './environment.ts'

const SEEDS = Number(process.env.KILL_SEEDS ?? 6)
const DELIVERIES = 12
/** The kills of a seed fall into this time, in milliseconds. */
const KILLING = 6_000
const HOUR = 3_600_000
const WAITS = [HOUR / 2, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 16 * HOUR]
const TOTAL = 32 * HOUR
/** How much later than promised an attempt may be if everything was down, in milliseconds. */
const OUTAGE = 60_000

interface Attempt {
  readonly attempt: number
  /** Milliseconds, real time. */
  readonly initiated: number
  readonly duration: number
  readonly status: number | null
}

describe('a dozen deliveries in their schedule, with everything killed once meanwhile', () => {
  let environment: Environment
  let receiver: Receiver
  let database: pg.Pool
  const recovered = new Set<string>()

  beforeAll(async () => {
    environment = await startEnvironment()
    database = new pg.Pool({ connectionString: environment.databaseUrl, max: 4 })
    database.on('error', () => {}) // its server was killed; the next call opens another
    receiver = await startReceiver()
    receiver.respondWith(
      ({ event }, response) => void response.writeHead(recovered.has(event.eventId) ? 200 : 500).end(),
    )
  }, 180_000)
  afterAll(async () => {
    await database?.end()
    await receiver?.close()
    await environment?.stop()
  }, 120_000)

  test.each(Array.from({ length: SEEDS }, (_, index) => index + 1))(
    'seed %i: no attempt is burnt, no wait shifted, no delivery lost',
    async (seed) => {
      const random = mulberry32(seed)
      const merchant = await environment.merchant(`org_seed_${seed}`, receiver.url)
      const killing = killEverything(environment, random, KILLING)
      for (let made = 0; made < DELIVERIES; made += 1) {
        await stubborn('a customer to be made', async () => {
          const { status } = await merchant.api.post('customers', { firstName: `${made}` })
          if (status !== 201) throw new Error(`answered ${status}`)
        })
      }
      const deliveries = await stubborn('every first attempt to have failed', () => retrying(merchant))
      const walking = Promise.all(
        deliveries.map(async ({ id, event_id: eventId }, index) => {
          // Every other receiver recovers somewhere in the schedule; the rest never do.
          const recoversAfter = index % 2 === 0 ? random() * KILLING : null
          await Promise.all([
            walk(merchant, id, random),
            recoversAfter === null ? null : delay(recoversAfter).then(() => recovered.add(eventId)),
          ])
          return { id, eventId, recovers: recoversAfter !== null }
        }),
      )
      // Together: a part that does not come back is reported at once, not by a walk that timed out.
      const [fates] = await Promise.all([walking, killing])
      for (const { id, eventId, recovers } of fates) {
        await ended(merchant, id)
        const attempts = await ask<Attempt>(
          `select attempt, (extract(epoch from initiated_time) * 1000)::float8 as initiated, duration, status
             from delivery_attempts where organization_id = $1 and delivery_id = $2
            order by attempt`,
          [merchant.organizationId, id],
        )
        expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, index) => index + 1))
        const last = attempts.at(-1)
        const wasDelivered = last?.status === 200
        if (!wasDelivered) expect(attempts).toHaveLength(WAITS.length + 1)
        if (!recovers) expect(wasDelivered).toBe(false)
        expect(attempts.slice(0, -1).map(({ status }) => status)).toEqual(
          attempts.slice(0, -1).map(() => 500),
        )
        expect(
          await ask('select status from deliveries where organization_id = $1 and id = $2', [
            merchant.organizationId,
            id,
          ]),
        ).toEqual([{ status: wasDelivered ? 'delivered' : 'exhausted' }])
        await requireSchedule(merchant, id, attempts)
        await requireReceived(merchant, eventId, attempts.length)
      }
    },
    900_000,
  )

  /** Connections are made anew when they have died. */
  async function ask<T>(text: string, values: unknown[]): Promise<T[]> {
    return await stubborn('the database to answer', async () => {
      const { rows: found } = await database.query(text, values)
      return found as T[]
    })
  }

  async function retrying(merchant: Catalogue): Promise<{ id: string; event_id: string }[]> {
    const found = await ask<{ id: string; event_id: string }>(
      `select delivery.id, delivery.event_id from deliveries delivery
         join events event on event.organization_id = delivery.organization_id and event.id = delivery.event_id
        where delivery.organization_id = $1 and event.type = 'customer-created' and delivery.status = 'retrying'
        order by delivery.id`,
      [merchant.organizationId],
    )
    // One more: the catalogue's own customer; a creation whose response was lost may have added others.
    if (found.length <= DELIVERIES) throw new Error(`only ${found.length}`)
    return found
  }

  const execution = (merchant: Catalogue, id: string): string =>
    `webhook-delivery/${merchant.organizationId}/${id}`

  async function walk(merchant: Catalogue, id: string, random: () => number): Promise<void> {
    for (let step = 0; step < 8; step += 1) {
      await delay(random() * 800)
      await skip(merchant, id, random() * (TOTAL / 4))
    }
  }

  async function skip(merchant: Catalogue, id: string, milliseconds: number): Promise<void> {
    const move = async () => {
      const [delivery] = await ask<{ status: string }>(
        'select status from deliveries where organization_id = $1 and id = $2',
        [merchant.organizationId, id],
      )
      if (delivery?.status !== 'retrying') return
      await skipTime(environment.temporal, execution(merchant, id), milliseconds)
    }
    // An attempt that a kill cut off is made again after its 30 s, and a kill of Temporal loses the call besides.
    await stubborn(`the execution of ${id} to move`, move, 300_000)
  }

  async function ended(merchant: Catalogue, id: string): Promise<void> {
    await waitFor(
      `delivery ${id} to end`,
      async () => {
        await skip(merchant, id, TOTAL)
        const { status } = await stubborn('Temporal to answer', () =>
          environment.temporal.workflow.getHandle(execution(merchant, id)).describe(),
        )
        return status.name === 'COMPLETED' || null
      },
      300_000,
    )
  }

  /** Compares every advance of the execution with the schedule: its clock, and its result. */
  async function requireSchedule(
    merchant: Catalogue,
    id: string,
    attempts: readonly Attempt[],
  ): Promise<void> {
    const outcomes = await outcomesOf(merchant, id)
    const [first] = attempts
    let due: number | null = first === undefined ? null : first.initiated + first.duration + (WAITS[0] ?? 0)
    let number = 1
    for (const { clock, next } of outcomes) {
      if (due !== null && clock >= due) {
        number += 1
        expect(clock - due).toBeLessThan(OUTAGE)
        const made = attempts[number - 1]
        const wait = WAITS[number - 1]
        const goesOn = made?.status !== 200 && wait !== undefined
        expect(next).toBe(goesOn ? clock + (made?.duration ?? Number.NaN) + wait : null)
      } else if (due !== null) {
        expect(next).toBe(due)
      }
      due = next
    }
    expect(number).toBe(attempts.length)
  }

  async function outcomesOf(
    merchant: Catalogue,
    id: string,
  ): Promise<{ clock: number; next: number | null }[]> {
    const found: { clock: number; next: number | null }[] = []
    for (const runId of await runs(merchant, id)) {
      const { events } = await stubborn('the history', () =>
        environment.temporal.workflow.getHandle(execution(merchant, id), runId).fetchHistory(),
      )
      found.push(...recordedOutcomes(events ?? []))
    }
    return found
  }

  /** Oldest first: a start that a crash repeats makes another execution, which finds the delivery ended. */
  async function runs(merchant: Catalogue, id: string): Promise<string[]> {
    return await stubborn('its executions to be listed', async () => {
      const latest = await environment.temporal.workflow.getHandle(execution(merchant, id)).describe()
      const listed: WorkflowExecutionInfo[] = []
      const query = `WorkflowId = '${execution(merchant, id)}'`
      for await (const one of environment.temporal.workflow.list({ query })) listed.push(one)
      if (!listed.some(({ runId }) => runId === latest.runId)) throw new Error('the latest is not listed yet')
      return listed
        .toSorted((one, other) => one.startTime.getTime() - other.startTime.getTime())
        .map(({ runId }) => runId)
    })
  }

  function recordedOutcomes(events: readonly temporal.api.history.v1.IHistoryEvent[]) {
    const clocks = new Map<string, number>()
    const found: { clock: number; next: number | null }[] = []
    for (const event of events) {
      const input = event.activityTaskScheduledEventAttributes?.input?.payloads?.[0]
      if (input != null) {
        clocks.set(String(event.eventId), defaultPayloadConverter.fromPayload<AdvanceInput>(input).clock)
      }
      const completed = event.activityTaskCompletedEventAttributes
      const result = completed?.result?.payloads?.[0]
      if (completed == null || result == null) continue
      const { next, base } = defaultPayloadConverter.fromPayload<AdvanceResult>(result)
      const clock = clocks.get(String(completed.scheduledEventId)) ?? Number.NaN
      found.push({ clock, next: next === null ? null : next - base })
    }
    return found
  }

  async function requireReceived(merchant: Catalogue, eventId: string, attempts: number): Promise<void> {
    const came = receiver.received.filter(({ event }) => event.eventId === eventId)
    expect(came.length).toBeGreaterThanOrEqual(attempts)
    const verifier = createVerifier({
      issuer: `${environment.baseUrl}/`,
      organizationId: merchant.organizationId,
    })
    for (const { headers, body, at } of came) {
      expect(body.equals(came[0]?.body ?? Buffer.alloc(0))).toBe(true)
      await verifier.verify(String(headers['security-signature']), body, new Date(at))
    }
  }
})

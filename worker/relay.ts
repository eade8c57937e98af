/**
 * Claims wake-ups and commits before calling Temporal, so that no transaction waits for the network. A wake-up may
 * be carried twice, which does no harm; none is lost.
 */
import { randomUUID } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import type { Logger } from 'pino'
import type { AgreedClock } from '../db/clock-agreement.ts'
import type { Attributes } from '../db/outbox.ts'
import { statement } from '../db/statement.ts'
import {
  CHANGED_SIGNAL,
  longestHistory,
  searchAttributesOf,
  type WorkflowInput,
  type WorkflowName,
  workflowId,
} from '../workflows/contract.ts'
import { searchAttributePairs } from '../workflows/search-attributes.ts'
import { type Loop, startLoop } from './loop.ts'
import type { SearchAttributes } from './search-attributes.ts'
import { createThrottle, GRPC, grpcCodeOf, hadNoResponse } from './throttle.ts'
import type { Watchdog } from './watchdog.ts'

const BATCH = 100
/** Longer than any batch takes. */
const LEASE_SECONDS = 60
/** Milliseconds for Temporal to accept one wake-up. */
const CALL_TIMEOUT = 5_000
const POLL = 1_000
/** How long a new due order waits for the batch of another order's timer. Milliseconds. */
const HELD = 250
/** Seconds. */
const LONGEST_DEFERRAL = 30

export interface RelayOptions {
  readonly em: () => EntityManager
  readonly client: Client
  readonly taskQueue: string
  readonly searchAttributes: Pick<SearchAttributes, 'areAccepted' | 'forget'>
  readonly clock: AgreedClock
  readonly log: Logger
  readonly watchdog?: Watchdog
  readonly poll?: number
}

interface WakeUpRow {
  id: string
  workflow: WorkflowName
  organizationId: string
  recordId: string
  starts: boolean
  dueBy: Date | string
  attributes: Attributes | null
  refusals: number
  /** True if it may have been accepted before: its lease ended without a result, or no response came. */
  wasOffered: boolean
}

interface Offer {
  readonly workflowId: string
  readonly rows: readonly WakeUpRow[]
}

interface Refusal {
  readonly ids: readonly string[]
  readonly seconds: number
  /** Null if the failure was not caused by the wake-up. */
  readonly reason: string | null
  readonly isUncertain: boolean
}

export function startRelay(options: RelayOptions): Loop {
  const { em, client, searchAttributes, clock, log, watchdog, poll = POLL } = options
  const owner = randomUUID()
  const throttle = createThrottle()

  const iterate = async (progress: () => void, stopping: AbortSignal): Promise<boolean> => {
    if (throttle.isOpen && !(await probe())) return false
    const offers = await claim(em(), owner)
    if (offers.length === 0) return false
    const areFound = await searchAttributes.areAccepted()
    const taken: string[] = []
    const refused: Refusal[] = []
    let reachable: Promise<boolean> | null = null
    const isReachable = (): Promise<boolean> => {
      reachable ??= responds()
      return reachable
    }
    const released: WakeUpRow[] = []
    const carry = async (offer: Offer): Promise<void> => {
      // Before each call, which has its own deadline: a slow Temporal must not count as a stalled loop.
      progress()
      const ids = offer.rows.map(({ id }) => id)
      if (throttle.isOpen || stopping.aborted) return void released.push(...offer.rows)
      try {
        await untilStopping(stopping, () => wake(options, offer, areFound))
        throttle.succeeded()
        taken.push(...ids)
      } catch (error) {
        if (stopping.aborted)
          return void released.push(...offer.rows.map((row) => ({ ...row, wasOffered: true })))
        throttle.failed(error)
        if (hadNoResponse(error) && !(await isReachable())) throttle.open()
        refused.push(refusalOf(offer, error))
        if (isRefusal(error)) {
          // As a new namespace does that has none yet.
          searchAttributes.forget()
          log.error(
            { err: error, workflowId: offer.workflowId },
            'Temporal refused a wake-up; it will be offered again',
          )
        }
      }
    }
    await throttle.run(offers, carry, stopping)
    await finish(em(), owner, { taken, refused, released })
    if (throttle.isOpen) log.warn('Temporal cannot be reached; wake-ups wait in the outbox')
    return !throttle.isOpen && offers.length > 0
  }

  /** Calls to Temporal are canceled: while it is slow, those of a batch would hold up a stop for a minute. */
  const untilStopping = async (stopping: AbortSignal, call: () => Promise<void>): Promise<void> => {
    // A signal for each, because the client listens to it for good.
    const canceling = new AbortController()
    const cancel = () => canceling.abort()
    stopping.addEventListener('abort', cancel)
    try {
      await client.connection.withAbortSignal(canceling.signal, call)
    } finally {
      stopping.removeEventListener('abort', cancel)
    }
  }

  const responds = async (): Promise<boolean> => {
    try {
      await client.connection.withDeadline(Date.now() + POLL, () => client.workflowService.getSystemInfo({}))
      return true
    } catch {
      return false
    }
  }

  const probe = async (): Promise<boolean> => {
    if (!(await responds())) return false
    log.info('Temporal is back')
    throttle.close()
    return true
  }

  return startLoop({ name: 'relay', interval: poll, log, watchdog, clock, iterate })
}

/**
 * Claims gateway calls first, then by deadline. Of an organization's new orders that are due, one is claimed and
 * the others are held: its timer advances them all, so their executions start asleep until the next deadline. Other
 * orders that are due, which `npm run rearm` wakes, are not held: the batch leaves the deadline of their starts as it is.
 */
async function claim(em: EntityManager, owner: string): Promise<Offer[]> {
  const rows = await statement<WakeUpRow & { isHeld: boolean }>(
    em,
    'claim-wake-ups',
    `with first as (
       select id, organization_id, lease_until is not null as was_offered,
              workflow = 'subscription' and starts and not gateway_call and due_by <= now()
                and (attributes ->> 'status' is not distinct from 'pending') as is_due
         from wake_ups
        where (not_before is null or not_before <= now()) and (lease_until is null or lease_until < now())
        order by gateway_call desc, due_by, id limit ${BATCH} for update skip locked
     ), ordered as (
       select id, was_offered, is_due and row_number() over (partition by organization_id, is_due order by id) > 1 as is_held
         from first
     ), claimed as (
       update wake_ups
          set lease_owner = case when not is_held then ? end,
              lease_until = case when is_held then lease_until else now() + interval '${LEASE_SECONDS} seconds' end,
              not_before = case when is_held then now() + interval '${HELD} milliseconds' else not_before end
         from ordered where wake_ups.id = ordered.id
       returning wake_ups.*, is_held, was_offered
     )
     select id, workflow, organization_id as "organizationId", record_id as "recordId", starts, due_by as "dueBy", attributes,
            refusals, is_held as "isHeld", was_offered as "wasOffered", set_config('synchronous_commit', 'off', true)
       from claimed order by gateway_call desc, due_by, id`,
    [owner],
  )
  const claimed = rows.filter(({ isHeld }) => !isHeld)
  const byExecution = Map.groupBy(claimed, (row) =>
    workflowId(row.workflow, row.organizationId, row.recordId),
  )
  return [...byExecution].map(([id, folded]) => ({ workflowId: id, rows: folded }))
}

/**
 * Starts the execution of a new record, asleep until its deadline, or signals it. A start that may have been
 * accepted before is not delayed: that execution may have ended since, and a second one would sleep beside a
 * finished record.
 */
async function wake(
  { client, taskQueue, log }: RelayOptions,
  { workflowId: id, rows }: Offer,
  hasSearchAttributes: boolean,
): Promise<void> {
  const [row] = rows
  if (row === undefined) return
  const { workflow, organizationId, recordId } = row
  const input: WorkflowInput = { organizationId, recordId, longestHistory: longestHistory(workflow) }
  // Where tasks have to wait, organizations take turns. Activities inherit it, and so do later runs.
  const priority = { fairnessKey: organizationId }
  const execution = {
    workflowId: id,
    taskQueue,
    args: [input],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    priority,
    staticSummary: `${workflow} ${recordId} of ${organizationId}`,
  } as const
  const inTime = <T>(call: () => Promise<T>) =>
    client.connection.withDeadline(Date.now() + CALL_TIMEOUT, call)
  let existed = false
  if (rows.some(({ starts }) => starts)) {
    const newest = rows.reduce((one, other) => (BigInt(one.id) > BigInt(other.id) ? one : other))
    const dueBy = new Date(newest.dueBy)
    const attributes = rows.find((one) => one.attributes !== null)?.attributes ?? null
    const isRepeated = rows.some(({ wasOffered }) => wasOffered)
    try {
      await inTime(() =>
        client.workflow.start(workflow, {
          ...execution,
          ...(isRepeated
            ? {}
            : {
                startDelay: Math.max(0, dueBy.getTime() - Date.now()),
                staticDetails: `Asleep until ${dueBy.toISOString()}, its first deadline.`,
              }),
          ...(hasSearchAttributes
            ? {
                typedSearchAttributes: searchAttributePairs(
                  searchAttributesOf({
                    organizationId,
                    customerId: attributes?.customerId,
                    webhookId: attributes?.webhookId,
                    status: attributes?.status ?? null,
                    nextDeadline: dueBy.toISOString(),
                  }),
                ),
              }
            : {}),
        }),
      )
      return
    } catch (error) {
      // The wake-up was carried before and the response was lost, or the sweep woke the record meanwhile.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
      existed = true
    }
  }
  await inTime(() => client.workflow.signalWithStart(workflow, { ...execution, signal: CHANGED_SIGNAL }))
  if (!existed) return
  // One of a release that knew no fairness keys gets its own by `npm run rearm`. A server may not have the call.
  await inTime(() =>
    client.workflowService.updateWorkflowExecutionOptions({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: id },
      workflowExecutionOptions: { priority },
      updateMask: { paths: ['priority'] },
    }),
  ).catch((error: unknown) => log.debug({ err: error, workflowId: id }, 'an execution got no fairness key'))
}

/** Deletes accepted wake-ups, defers refused ones and releases others, if the owner still holds them. */
async function finish(
  em: EntityManager,
  owner: string,
  {
    taken,
    refused,
    released,
  }: {
    readonly taken: readonly string[]
    readonly refused: readonly Refusal[]
    readonly released: readonly WakeUpRow[]
  },
): Promise<void> {
  if (taken.length > 0) {
    await statement(
      em,
      'delete-wake-ups',
      `delete from wake_ups using jsonb_array_elements_text(?::jsonb) as taken
        where id = taken::bigint and lease_owner = ?`,
      [JSON.stringify(taken), owner],
    )
  }
  const rows = [
    ...refused.flatMap(({ ids, ...refusal }) => ids.map((id) => ({ id, ...refusal }))),
    ...released.map(({ id, wasOffered }) => ({ id, seconds: 0, reason: null, isUncertain: wasOffered })),
  ]
  if (rows.length === 0) return
  await statement(
    em,
    'defer-wake-ups',
    `update wake_ups set lease_owner = null,
            lease_until = case when given."isUncertain" then now() end,
            not_before = now() + given.seconds * interval '1 second',
            refusals = refusals + case when given.reason is null then 0 else 1 end,
            last_error = coalesce(given.reason, last_error)
       from jsonb_to_recordset(?::jsonb) as given (id bigint, seconds double precision, reason text, "isUncertain" boolean)
      where wake_ups.id = given.id and lease_owner = ?`,
    [JSON.stringify(rows), owner],
  )
}

function refusalOf({ rows }: Offer, error: unknown): Refusal {
  const ids = rows.map(({ id }) => id)
  const refusals = Math.max(...rows.map((row) => row.refusals))
  const wasOffered = rows.some((row) => row.wasOffered)
  if (!isRefusal(error)) {
    const isUncertain = wasOffered || !isExhausted(error)
    return { ids, seconds: isSlow(error) ? 2 : 0.5, reason: null, isUncertain }
  }
  return {
    ids,
    isUncertain: wasOffered,
    seconds: Math.min(LONGEST_DEFERRAL, 2 ** refusals),
    reason: String(error).slice(0, 500),
  }
}

/** True if Temporal itself refused this wake-up. */
function isRefusal(error: unknown): boolean {
  const code = grpcCodeOf(error)
  return code === null || !PASSING.includes(code)
}

function isSlow(error: unknown): boolean {
  return grpcCodeOf(error) === GRPC.deadlineExceeded
}

/** Temporal had no capacity for the call, which it therefore did not carry out. */
function isExhausted(error: unknown): boolean {
  return grpcCodeOf(error) === GRPC.resourceExhausted
}

const PASSING: readonly number[] = Object.values(GRPC)

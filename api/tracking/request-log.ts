/**
 * Requests wait in memory, within bounds, and one statement writes many. Under overload and in long outages
 * of the database, requests are dropped and counted. A process that dies loses what waits.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { isInfrastructureFailure } from '../../db/infrastructure-failure.ts'
import { inOrganization, outsideOrganizations } from '../../db/organization-scope.ts'
import { statement } from '../../db/statement.ts'
import type { TrackedRequest } from './tracked-request.ts'

export interface RequestLog {
  /** Never throws, and never waits. */
  add(request: TrackedRequest): void
  /** Writes what waits, and ends. */
  close(): Promise<void>
}

export interface RequestLogOptions {
  readonly em: () => EntityManager
  readonly log: Logger
  readonly dropped: { inc(count?: number): void }
  /** Milliseconds that a request waits for others; default 500. */
  readonly interval?: number
  readonly bounds?: RequestLogBounds
}

export interface RequestLogBounds {
  readonly requests: number
  /** Of all bodies together. */
  readonly characters: number
}

const BOUNDS: RequestLogBounds = { requests: 10_000, characters: 32 * 1024 * 1024 }
const BATCH = 100
/** Milliseconds until the database is tried again. */
const RETRY = 2_000

export function createRequestLog({
  em,
  log,
  dropped,
  interval = 500,
  bounds = BOUNDS,
}: RequestLogOptions): RequestLog {
  let waiting: TrackedRequest[] = []
  let characters = 0
  let timer: NodeJS.Timeout | null = null
  let writing: Promise<void> | null = null
  let isClosed = false

  const schedule = (delay: number): void => {
    timer ??= setTimeout(() => {
      timer = null
      writing ??= outsideOrganizations(write).finally(() => {
        writing = null
      })
    }, delay)
  }

  const write = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH)
      try {
        for (const [organizationId, requests] of Map.groupBy(batch, (one) => one.organization_id)) {
          await inOrganization(organizationId, () => insert(em(), requests))
        }
      } catch (error) {
        const isTemporary = isInfrastructureFailure(error)
        if (isTemporary && !isClosed) {
          log.warn({ err: error, waiting: waiting.length }, 'the log of requests cannot be written for now')
          return schedule(RETRY)
        }
        // A process that ends does not wait for an unavailable database.
        drop(isTemporary ? waiting : batch, error)
        if (isTemporary) return
        continue
      }
      remove(batch)
    }
  }

  const remove = (requests: readonly TrackedRequest[]): void => {
    waiting = waiting.slice(requests.length)
    characters -= sizeOf(requests)
  }

  const drop = (requests: readonly TrackedRequest[], error: unknown): void => {
    log.error({ err: error, requests: requests.length }, 'requests were dropped from the log')
    dropped.inc(requests.length)
    remove(requests)
  }

  return {
    add(request) {
      const size = sizeOf([request])
      if (isClosed || waiting.length >= bounds.requests || characters + size > bounds.characters) {
        return dropped.inc()
      }
      waiting.push(request)
      characters += size
      schedule(interval)
    },
    async close() {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      await writing
      await outsideOrganizations(write)
    },
  }
}

function sizeOf(requests: readonly TrackedRequest[]): number {
  return requests.reduce(
    (sum, { request, response }) => sum + (request ?? '').length + (response ?? '').length,
    0,
  )
}

/** Does not wait for the disk: a crash of the database loses only log entries. */
async function insert(em: EntityManager, requests: readonly TrackedRequest[]): Promise<void> {
  await statement(
    em,
    'record-requests',
    `with recorded as (
       insert into api_requests (${COLUMNS}, updated_time)
       select ${COLUMNS}, created_time from jsonb_to_recordset(?::jsonb) as given (${COLUMN_TYPES})
       on conflict do nothing
     )
     select set_config('synchronous_commit', 'off', true)`,
    [JSON.stringify(requests)],
  )
}

const COLUMN_TYPES =
  'organization_id text, id text, status int, url text, route text, method text, request text, response text, request_headers jsonb, response_headers jsonb, api_key_id text, user_id text, ip_address text, user_agent text, related_resource_ids jsonb, duration int, created_time timestamptz'
const COLUMNS = COLUMN_TYPES.split(', ')
  .map((column) => column.split(' ')[0])
  .join(', ')

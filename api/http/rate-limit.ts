/** The limit on an organization's non-GET requests, counted in PostgreSQL and shared by every API process. */
import pg from 'pg'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import { connectionOptions } from '../../db/connection.ts'
import { Problem } from './problems.ts'

export interface Usage {
  readonly limit: number
  readonly remaining: number
  /** When the window ends; null unless the request is over the limit. */
  readonly exceededUntil: Date | null
}

export interface RateLimit {
  count(organizationId: string): Promise<Usage>
  close(): Promise<void>
}

export interface RateLimitOptions {
  readonly databaseUrl: string
  readonly limit: number
  readonly windowSeconds: number
  /** How long a request waits for a connection, in milliseconds; default 3,000. */
  readonly connectTimeout?: number | undefined
}

/** Creates a counter with its own connections, outside the transactions of commands. */
export function createRateLimit({
  databaseUrl,
  limit,
  windowSeconds,
  connectTimeout = 3_000,
}: RateLimitOptions): RateLimit {
  // Asynchronous commit: a count lost in a crash of the database only lets a few more requests through.
  const pool = new pg.Pool({
    ...connectionOptions({
      databaseUrl,
      name: 'billing rate limit',
      parameters: { synchronous_commit: 'off' },
    }),
    max: 5,
    connectionTimeoutMillis: connectTimeout,
  })
  pool.on('error', () => {}) // an idle connection was lost; the next request opens another
  const limiter = new RateLimiterPostgres({
    storeClient: pool,
    points: limit,
    duration: windowSeconds,
    tableName: 'rate_limits',
    tableCreated: true,
    clearExpiredByTimeout: false,
    keyPrefix: '',
  })
  return {
    async count(organizationId) {
      try {
        const { remainingPoints } = await limiter.consume(organizationId)
        return { limit, remaining: remainingPoints, exceededUntil: null }
      } catch (error) {
        if (!(error instanceof RateLimiterRes)) throw error
        return { limit, remaining: 0, exceededUntil: new Date(Date.now() + error.msBeforeNext) }
      }
    },
    close: () => pool.end(),
  }
}

export function rateHeaders({ limit, remaining }: Usage): Record<string, string> {
  return { 'X-RateLimit-Limit': String(limit), 'X-RateLimit-Remaining': String(remaining) }
}

/** @throws Problem `rate-limit-exceeded` with the end of the window. */
export function requireWithinLimit({ limit, exceededUntil }: Usage, now: Date): void {
  if (exceededUntil === null) return
  const seconds = Math.ceil((exceededUntil.getTime() - now.getTime()) / 1000)
  throw new Problem(
    'rate-limit-exceeded',
    `The organization has exceeded its limit of ${limit} requests per window.`,
    {
      headers: {
        'X-RateLimit-Retry-After': String(Math.ceil(exceededUntil.getTime() / 1000)),
        'Retry-After': String(Math.max(1, seconds)),
      },
    },
  )
}

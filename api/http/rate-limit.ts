/**
 * Limits of an organization's requests (D 2): writes counted in PostgreSQL, reads in each process's memory. How many,
 * and in which window, are settings: `RATE_LIMIT` and those after it in config/config.ts.
 */
import pg from 'pg'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterPostgres } from 'rate-limiter-flexible'
import { connectionOptions } from '../../db/connection.ts'
import { together } from '../together.ts'
import { Problem } from './problems.ts'

export interface Usage {
  readonly limit: number
  readonly remaining: number
  /** Seconds. */
  readonly window: number
  readonly until: Date
  readonly isExceeded: boolean
}

export interface Caller {
  readonly organizationId: string
  readonly id: string
  readonly form: 'secret' | 'publishable' | 'customer'
}

export interface RateLimit {
  /**
   * Counts a write against the limit of the organization. A write by a form that a browser holds counts against the
   * browsers' shared tenth, and, unless that is exceeded, against the limit of the organization too.
   */
  countWrite(caller: Caller): Promise<Usage>
  /** Counts a write that was refused to the credential, against this credential alone. */
  countRefused(caller: Caller): Promise<Usage>
  /** Counts a read by the same rules, against the limit of reads. */
  countRead(caller: Caller): Promise<Usage>
  close(): Promise<void>
}

export interface RateLimitOptions {
  readonly databaseUrl: string
  readonly role?: string | null
  readonly limit: number
  readonly readLimit: number
  readonly windowSeconds: number
  /** Longest wait for a connection, in milliseconds; default 3,000. */
  readonly connectTimeout?: number | undefined
}

type Counter = (key: string) => Promise<Usage>

/** Counts on connections of its own, outside the transactions of commands. */
export function createRateLimit({
  databaseUrl,
  role,
  limit,
  readLimit,
  windowSeconds,
  connectTimeout = 3_000,
}: RateLimitOptions): RateLimit {
  /** Each request has the number that it would have alone. */
  const counter = (limiter: RateLimiterAbstract): Counter =>
    together(async (key, requests) => {
      const { consumedPoints, msBeforeNext } = await limiter.penalty(key, requests)
      const until = new Date(Date.now() + msBeforeNext)
      return (place) => {
        const limit = limiter.points
        const count = consumedPoints - requests + place + 1
        const remaining = Math.max(0, limit - count)
        return { limit, remaining, window: windowSeconds, until, isExceeded: count > limit }
      }
    })
  // Asynchronous commit: a count lost in a crash only lets a few more requests through.
  const pool = new pg.Pool({
    ...connectionOptions({
      databaseUrl,
      role,
      name: 'billing rate limit',
      parameters: { synchronous_commit: 'off' },
    }),
    max: 5,
    connectionTimeoutMillis: connectTimeout,
  })
  pool.on('error', () => {}) // an idle connection was lost; the next request opens another
  const inDatabase = (points: number, keyPrefix: string) =>
    counter(
      new RateLimiterPostgres({
        storeClient: pool,
        points,
        duration: windowSeconds,
        tableName: 'rate_limits',
        tableCreated: true,
        clearExpiredByTimeout: false,
        keyPrefix,
      }),
    )
  const writes = inDatabase(limit, '')
  const browserWrites = inDatabase(shareOf(limit), 'browser')
  const refused = inDatabase(limit, 'refused')
  const inMemory = (points: number) => counter(new RateLimiterMemory({ points, duration: windowSeconds }))
  const reads = inMemory(readLimit)
  const browserReads = inMemory(shareOf(readLimit))

  const countWithin =
    (all: Counter, browsers: Counter) =>
    async ({ organizationId, form }: Caller): Promise<Usage> => {
      if (form === 'secret') return await all(organizationId)
      const share = await browsers(organizationId)
      if (share.isExceeded) return share
      const whole = await all(organizationId)
      return whole.isExceeded || whole.remaining < share.remaining ? whole : share
    }
  return {
    countWrite: countWithin(writes, browserWrites),
    countRefused: ({ organizationId, id }) => refused(`${organizationId}/${id}`),
    countRead: countWithin(reads, browserReads),
    close: () => pool.end(),
  }
}

/** Browsers share this part of the limit, because anyone can have a publishable key. */
const BROWSER_SHARE = 10

const shareOf = (limit: number): number => Math.max(1, Math.floor(limit / BROWSER_SHARE))

/** Returns the headers of the contract and of the IETF draft (seconds until the window ends). */
export function rateHeaders({ limit, remaining, window, until }: Usage): Record<string, string> {
  const seconds = Math.max(0, Math.ceil((until.getTime() - Date.now()) / 1000))
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'RateLimit-Policy': `"default";q=${limit};w=${window}`,
    RateLimit: `"default";r=${remaining};t=${seconds}`,
  }
}

export function requireWithinLimit({ limit, window, isExceeded, until }: Usage, now: Date): void {
  if (!isExceeded) return
  throw new Problem(
    'rate-limit-exceeded',
    `The limit of ${limit} requests in ${window} seconds has been exceeded.`,
    { headers: retryHeaders(until, now) },
  )
}

export function retryHeaders(until: Date, now: Date): Record<string, string> {
  const seconds = Math.ceil((until.getTime() - now.getTime()) / 1000)
  return {
    'X-RateLimit-Retry-After': String(Math.ceil(until.getTime() / 1000)),
    'Retry-After': String(Math.max(1, seconds)),
  }
}

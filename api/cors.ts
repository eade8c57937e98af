/**
 * CORS: open to every origin on the operations that take a credential made for browsers, closed on all others.
 *
 * A secret key never belongs into a page, so an operation that accepts nothing else answers no other origin.
 */
import type { Route } from './routes.ts'

/** How long a browser may remember a preflight, in seconds. */
const PREFLIGHT_KEPT_FOR = 86_400

type Accepting = Pick<Route, 'accepts'>

/** Whether pages of other origins may call the operation. */
export function isOpenToBrowsers({ accepts }: Accepting): boolean {
  return accepts.some((form) => form !== 'secret')
}

/** Headers of every answer of an open operation, refusals too: a page must be able to read why. */
export const OPEN_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'ETag, Location, Pagination-Limit, Pagination-Offset, Pagination-Total, Request-Id, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Retry-After',
} as const

/** Answer to a browser that asks whether it may send `requested` to a path with these open methods. */
export function preflightHeaders(
  openMethods: readonly string[],
  requested: string,
): Readonly<Record<string, string>> {
  if (!openMethods.includes(requested)) return {}
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': openMethods.join(', '),
    'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match',
    'Access-Control-Max-Age': String(PREFLIGHT_KEPT_FOR),
  }
}

/**
 * Cross-origin requests (Fetch standard) are open to every origin on operations that a browser's credential may call,
 * and closed on all others. Keys travel in a header of their own and never in cookies, so any origin is safe.
 */
import type { Route } from '../routes.ts'

export function crossOriginHeaders(route: Pick<Route, 'accepts'>): Readonly<Record<string, string>> {
  if (!isForBrowsers(route)) return {}
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers':
      'ETag, Idempotency-Replayed, Link, Location, Pagination-Limit, Pagination-Offset, Pagination-Total, RateLimit, RateLimit-Policy, Request-Id, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Retry-After',
  }
}

export function preflightHeaders(
  route: Pick<Route, 'accepts'>,
  method: string,
): Readonly<Record<string, string>> {
  if (!isForBrowsers(route)) return {}
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': method,
    'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match',
    'Access-Control-Max-Age': '7200',
  }
}

function isForBrowsers({ accepts }: Pick<Route, 'accepts'>): boolean {
  return accepts.some((form) => form !== 'secret')
}

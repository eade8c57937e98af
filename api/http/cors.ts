/** Operations for a browser's credential are open to every origin: keys travel in a header, never in cookies. */
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

import type { Route } from '../routes.ts'
import { KEY_HEADER } from './authentication.ts'
import { crossOriginHeaders } from './cors.ts'

/** Returns the headers of every response of an operation: none is kept by a cache or shared between credentials. */
export function operationHeaders(route: Pick<Route, 'accepts'>): Readonly<Record<string, string>> {
  const crossOrigin = crossOriginHeaders(route)
  const isCrossOrigin = Object.keys(crossOrigin).length > 0
  return {
    'Cache-Control': 'no-store',
    Vary: `Authorization, ${KEY_HEADER}${isCrossOrigin ? ', Origin' : ''}`,
    ...crossOrigin,
  }
}

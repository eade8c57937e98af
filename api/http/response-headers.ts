import type { Route } from '../routes.ts'
import { KEY_HEADER } from './authentication.ts'
import { crossOriginHeaders } from './cors.ts'

/** Headers of every response: no cache keeps one or shares it between credentials. */
export function operationHeaders(route: Pick<Route, 'accepts'>): Readonly<Record<string, string>> {
  const crossOrigin = crossOriginHeaders(route)
  const isCrossOrigin = Object.keys(crossOrigin).length > 0
  return {
    'Cache-Control': 'no-store',
    Vary: `Authorization, ${KEY_HEADER}${isCrossOrigin ? ', Origin' : ''}`,
    ...crossOrigin,
  }
}

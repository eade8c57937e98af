import type { Middleware } from 'koa'
import { newId } from '../../db/new-id.ts'
import type { ApiState } from './state.ts'

/** The id is in the caller's `Request-Id` and in each log line. */
export const requestId: Middleware<ApiState> = async (ctx, next) => {
  ctx.state.requestId = newId('req')
  ctx.set('Request-Id', ctx.state.requestId)
  await next()
}

import type { Middleware } from 'koa'
import { newId } from '../../db/ids.ts'
import type { ApiState } from './state.ts'

/** Gives every request an id, which the caller gets in `Request-Id` and operators in each log line. */
export const requestId: Middleware<ApiState> = async (ctx, next) => {
  ctx.state.requestId = newId('req')
  ctx.set('Request-Id', ctx.state.requestId)
  await next()
}

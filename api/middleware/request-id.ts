import type { Middleware } from 'koa'
import { ulid } from 'ulid'
import type { ApiState } from '../state.ts'

/** Gives every request an id, told to the caller in `Request-Id` and to operators in each log line. */
export const requestId: Middleware<ApiState> = async (ctx, next) => {
  ctx.state.requestId = ulid()
  ctx.set('Request-Id', ctx.state.requestId)
  await next()
}

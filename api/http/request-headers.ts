import type { Context } from 'koa'

/**
 * Returns a request header, with surrounding spaces removed; null if it was not sent. (Koa returns an empty text for
 * that, as it does for an empty header.)
 */
export function headerOf(ctx: Context, name: string): string | null {
  const value = ctx.req.headers[name.toLowerCase()]
  return typeof value === 'string' ? value : null
}

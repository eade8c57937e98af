import type { Context } from 'koa'

/** Returns null if the header was not sent; Koa returns an empty text for that, as for an empty header. */
export function headerOf(ctx: Context, name: string): string | null {
  const value = ctx.req.headers[name.toLowerCase()]
  return typeof value === 'string' ? value : null
}

import { gzipSync } from 'node:zlib'
import type { Context } from 'koa'

export interface Compressible {
  readonly plain: Buffer
  readonly gzip: Buffer
}

/** Compresses a text once, so that no response pays for it. */
export function compressible(text: string): Compressible {
  const plain = Buffer.from(text)
  return { plain, gzip: gzipSync(plain) }
}

export function respondCompressed(ctx: Context, { plain, gzip }: Compressible): void {
  ctx.vary('Accept-Encoding')
  const isAccepted = ctx.acceptsEncodings('gzip', 'identity') === 'gzip'
  if (isAccepted) ctx.set('Content-Encoding', 'gzip')
  ctx.body = isAccepted ? gzip : plain
}

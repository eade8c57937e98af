/**
 * The demo pages of the sandbox: they hold no data, and load their style and modules from here alone.
 *
 * The browser runs our own TypeScript less its types, the card rules of `billing/` among it, so that a number is judged
 * by one rule on both sides.
 */
import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import type Router from '@koa/router'
import type { ApiState } from '../http/state.ts'

/** What the browser may load, by path from the root; the modules import each other by these. */
const MODULES = [
  'api/demo/browser/card-form.ts',
  'api/demo/browser/checkout.ts',
  'api/demo/browser/merchant-form.ts',
  'api/demo/browser/order.ts',
  'api/demo/browser/page.ts',
  'billing/cards.ts',
] as const

const SECURITY_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    'img-src data:',
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}

/** Adds the pages and what they load, each read when it is first asked for. */
export function demoPages(router: Router<ApiState>): void {
  const serve = (path: string, type: string, read: () => Promise<string>): void => {
    let text: Promise<string> | null = null
    router.get(path, async (ctx) => {
      text ??= read()
      ctx.set(SECURITY_HEADERS)
      ctx.type = type
      ctx.body = await text
    })
  }
  serve('/demo/checkout', 'text/html; charset=utf-8', () => source('api/demo/checkout.html'))
  // Whether there is such an order is found out with the key, by the page.
  serve('/demo/orders/:id', 'text/html; charset=utf-8', () => source('api/demo/order.html'))
  serve('/demo/demo.css', 'text/css; charset=utf-8', () => source('api/demo/demo.css'))
  for (const path of MODULES) {
    serve(`/demo/modules/${path}`, 'text/javascript; charset=utf-8', async () =>
      stripTypeScriptTypes(await source(path)),
    )
  }
}

function source(path: string): Promise<string> {
  return readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
}

/** The demo pages of the sandbox. The browser runs our TypeScript with its types stripped, card rules included. */
import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import type Router from '@koa/router'
import { ID_PATTERN } from '../../billing/id-format.ts'
import type { ApiState } from '../http/state.ts'
import { PROVIDER_POLICY, withProviderForm } from './provider-form.ts'

/** What the browser may load. The modules import each other by these paths. */
const MODULES = [
  'api/demo/browser/account.ts',
  'api/demo/browser/card-fields.ts',
  'api/demo/browser/card-form.ts',
  'api/demo/browser/checkout.ts',
  'api/demo/browser/live-form.ts',
  'api/demo/browser/merchant-form.ts',
  'api/demo/browser/order.ts',
  'api/demo/browser/page.ts',
  'api/demo/browser/provider-form.ts',
  'billing/cards.ts',
  'billing/id-format.ts',
] as const

const ID = new RegExp(ID_PATTERN)

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

/** @param publishableKey that of the organization's gateway account at Stripe; null if it has none. */
export function demoPages(
  router: Router<ApiState>,
  publishableKey: (organizationId: string) => Promise<string | null>,
): void {
  const serve = (path: string, type: string, read: () => Promise<string>): void => {
    let text: Promise<string> | null = null
    router.get(path, async (ctx) => {
      text ??= read()
      ctx.set(SECURITY_HEADERS)
      ctx.type = type
      ctx.body = await text
    })
  }
  let checkout: Promise<string> | null = null
  router.get('/demo/checkout', async (ctx) => {
    const { organization } = ctx.query
    const isId = typeof organization === 'string' && ID.test(organization)
    const key = isId ? await publishableKey(organization) : null
    checkout ??= source('api/demo/checkout.html')
    ctx.set(SECURITY_HEADERS)
    if (key !== null) ctx.set('Content-Security-Policy', PROVIDER_POLICY)
    ctx.type = 'text/html; charset=utf-8'
    ctx.body = withProviderForm(await checkout, key)
  })
  serve('/demo/account', 'text/html; charset=utf-8', () => source('api/demo/account.html'))
  // The page itself checks, with the key, whether the order exists.
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

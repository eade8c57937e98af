/** `/docs`: Redoc from its npm package. It writes styles into the page, so inline styles are permitted. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type Router from '@koa/router'
import { type Compressible, compressible, respondCompressed } from '../http/compressible.ts'
import type { ApiState } from '../http/state.ts'

const SECURITY_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'unsafe-inline'",
    "connect-src 'self'",
    'img-src data:',
    'font-src data:',
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

export function docsPages(router: Router<ApiState>, baseUrl: string): void {
  // The path below which a proxy shows the service.
  const root = new URL(baseUrl).pathname.replace(/\/$/, '')
  let script: Compressible | null = null
  router.get('/docs', (ctx) => {
    ctx.set(SECURITY_HEADERS)
    ctx.type = 'text/html; charset=utf-8'
    ctx.body = page(root)
  })
  router.get('/docs/redoc.js', (ctx) => {
    script ??= compressible(redoc())
    ctx.set(SECURITY_HEADERS)
    ctx.set('Cache-Control', 'public, max-age=3600')
    ctx.type = 'text/javascript; charset=utf-8'
    respondCompressed(ctx, script)
  })
}

const page = (root: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Subscription Billing Service API</title>
<link rel="icon" href="data:,">
<style>
body{margin:0;font-family:system-ui,sans-serif}
/* What it offers sends the reference to other hosts. */
[data-testid="page-actions"]{display:none}
</style>
</head>
<body>
<noscript><p>The reference needs JavaScript. The contract is <a href="${root}/openapi.json">openapi.json</a>.</p></noscript>
<redoc spec-url="${root}/openapi.json" disable-telemetry="true"></redoc>
<script type="module" src="${root}/docs/redoc.js"></script>
</body>
</html>
`

/** Redoc's own logo, which it would load from its makers' host. */
const LOGO = /https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(-full)?\.svg/g
const LOGO_HERE =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 width=%2246%22 height=%2214%22%3E%3Ctext y=%2211%22 font-family=%22sans-serif%22 font-size=%2212%22 fill=%22%23fff%22%3ERedocly%3C/text%3E%3C/svg%3E'

function redoc(): string {
  const path = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js')
  return readFileSync(path, 'utf8').replaceAll(LOGO, LOGO_HERE)
}

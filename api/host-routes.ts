/** Routes without authentication: status, keys, the contract and the problem pages; in the sandbox the demo. */
import type Router from '@koa/router'
import type { MikroORM } from '@mikro-orm/postgresql'
import { stripePublishableKey } from '../commands/payments/gateway-accounts.ts'
import type { Config } from '../config/config.ts'
import { RELEASE } from '../config/release.ts'
import { inOrganization } from '../db/organization-scope.ts'
import type { Vault } from '../db/vault.ts'
import { publishedKeys } from '../delivery/signing-keys.ts'
import type { Gateways } from '../gateways/gateways.ts'
import type { Readiness } from '../ops/readiness.ts'
import { demoPages } from './demo/demo-pages.ts'
import { type Compressible, compressible, respondCompressed } from './http/compressible.ts'
import { PROBLEMS, Problem, type ProblemCode } from './http/problems.ts'
import type { ApiState } from './http/state.ts'
import { openApiDocument } from './openapi.ts'
import { docsPages } from './pages/docs-page.ts'
import { PLAIN_PAGE_HEADERS, plainPage } from './pages/plain-page.ts'
import { problemPage } from './pages/problem-page.ts'
import { routesOf } from './routes.ts'
import { approvalPages } from './test-gateway/approval-pages.ts'

export interface HostDependencies {
  readonly config: Pick<Config, 'environment' | 'baseUrl'>
  readonly orm: MikroORM
  readonly vault: Pick<Vault, 'open'>
  readonly readiness: Readiness
  readonly gateway: Pick<Gateways, 'approvals'>
}

export function hostRoutes(
  router: Router<ApiState>,
  { config, orm, vault, readiness, gateway: { approvals } }: HostDependencies,
): void {
  // Made at its first request, so that a start does not wait for it.
  let document: Compressible | null = null

  if (config.environment === 'sandbox') {
    demoPages(router, (organizationId) =>
      inOrganization(organizationId, () => stripePublishableKey(orm.em.fork(), vault, organizationId)),
    )
  }
  if (approvals !== null)
    approvalPages(router, { approvals, em: () => orm.em.fork(), baseUrl: config.baseUrl })
  router.get(['/status', '/organizations/:organizationId/status'], (ctx) => {
    ctx.body = { status: 'ok', time: new Date().toISOString(), release: RELEASE }
  })
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' }
  })
  router.get('/readyz', async (ctx) => {
    const { status, checks } = await readiness.report()
    // Names only: reasons can contain addresses, and are on the operators' port.
    const failing = Object.keys(checks).filter((name) => checks[name] !== 'ok')
    if (status === 'not ready') {
      throw new Problem('unavailable', `Not ready: ${failing.join(', ')}.`, {
        headers: { 'Retry-After': '5' },
      })
    }
    ctx.body = { status, failing }
  })
  router.get('/.well-known/keys', async (ctx) => {
    ctx.set('Cache-Control', 'public, max-age=3600')
    ctx.set('Access-Control-Allow-Origin', '*')
    ctx.body = { keys: await publishedKeys(orm.em.fork(), new Date()) }
  })
  router.get('/openapi.json', (ctx) => {
    ctx.set('Access-Control-Allow-Origin', '*')
    ctx.type = 'application/json'
    document ??= compressible(
      JSON.stringify(openApiDocument(config.baseUrl, routesOf(config.environment), config.environment)),
    )
    respondCompressed(ctx, document)
  })
  docsPages(router, config.baseUrl)
  router.get('/problems/:slug', (ctx) => {
    const { slug = '' } = ctx.params
    if (!Object.hasOwn(PROBLEMS, slug)) throw new Problem('not-found', 'No problem type has this name.')
    ctx.set(PLAIN_PAGE_HEADERS)
    ctx.type = 'text/html; charset=utf-8'
    ctx.body = problemPage(slug as ProblemCode)
  })
  router.get('/returned', (ctx) => {
    ctx.set(PLAIN_PAGE_HEADERS)
    ctx.type = 'text/html; charset=utf-8'
    ctx.body = plainPage('Thank you', '<p>Your bank has answered. You can close this page.</p>')
  })
}

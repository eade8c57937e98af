/** The HTTP server: middleware in the order in which a request is judged, operations from the route table. */
import { createServer as createHttpServer, type Server } from 'node:http'
import Router, { type RouterMiddleware } from '@koa/router'
import type { MikroORM } from '@mikro-orm/postgresql'
import Koa, { type Context } from 'koa'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import type { InstallationFacts } from '../db/installation.ts'
import type { Metrics } from '../ops/metrics.ts'
import { authenticate, authorize } from './authentication.ts'
import { hostRoutes } from './host-routes.ts'
import { requestId } from './middleware/request-id.ts'
import { Problem, problemBody, problemOf, summary } from './problems.ts'
import { readJsonBody } from './request-body.ts'
import { ROUTES, type Route } from './routes.ts'
import { bodySchema, writablePart } from './schemas/conventions.ts'
import type { ApiState } from './state.ts'
import { createBodyValidator } from './validation.ts'

export interface ApiDependencies {
  readonly config: Pick<Config, 'environment' | 'baseUrl' | 'trustProxy'>
  readonly orm: MikroORM
  readonly installation: InstallationFacts
  readonly metrics: Metrics
  readonly log: Logger
}

const ORGANIZATION_PATH = '/organizations/:organizationId'

/** The server, not yet listening. */
export function createServer(dependencies: ApiDependencies): Server {
  const { config, log } = dependencies
  const app = new Koa<ApiState>({ proxy: config.trustProxy })
  app.silent = true
  const router = new Router<ApiState>({ strict: true })
  const validator = createBodyValidator()
  for (const route of ROUTES) {
    const path = `${ORGANIZATION_PATH}/${route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`
    router.register(path, [route.method.toLowerCase()], operation(route, dependencies, validator))
  }
  hostRoutes(router, dependencies)

  app.use(requestId)
  app.use(logged(log, dependencies.metrics))
  app.use(problems(config.baseUrl))
  app.use(router.routes())
  app.use(unmatched(router))

  const server = createHttpServer(
    { requestTimeout: 60_000, headersTimeout: 20_000, keepAliveTimeout: 65_000 },
    app.callback(),
  )
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const problem = new Problem('malformed-request', 'The request is not HTTP as this server reads it.')
    const body = JSON.stringify(problemBody(problem, config.baseUrl, 'unread'))
    socket.end(
      `HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  })
  return server
}

/** One operation of the table: who calls, may they, is the body what it should be, then the handler. */
function operation(
  route: Route,
  { orm, installation, config }: ApiDependencies,
  validator: ReturnType<typeof createBodyValidator>,
): RouterMiddleware<ApiState> {
  const invalidFieldsOf = route.takesBody ? validator(bodySchema(route.resource)) : null
  return async (ctx) => {
    ctx.state.operationId = route.operationId
    const em = orm.em.fork()
    const params = ctx.params as Record<string, string>
    const organizationId = params.organizationId ?? ''
    ctx.state.credential = await authenticate(ctx, em, installation)
    authorize(ctx.state.credential, organizationId, route.accepts)
    let body: unknown = null
    if (invalidFieldsOf !== null) {
      body = await readJsonBody(ctx)
      const invalidFields = invalidFieldsOf(body)
      if (invalidFields.length > 0)
        throw new Problem('validation-error', summary(invalidFields), { invalidFields })
      body = writablePart(route.resource, body)
    }
    const answer = await route.handler({
      organizationId,
      params,
      query: {},
      body,
      em,
      baseUrl: config.baseUrl,
      now: () => new Date(),
      log: ctx.state.log,
    })
    ctx.status = route.success
    if (answer.location !== undefined) ctx.set('Location', answer.location)
    if (answer.revision !== undefined) ctx.set('ETag', `"${answer.revision}"`)
    if (answer.body !== undefined) {
      ctx.set('Content-Type', 'application/json; charset=utf-8')
      ctx.body = JSON.stringify(answer.body)
    }
  }
}

/** The one catch: whatever is thrown becomes a problem document. */
function problems(baseUrl: string): Koa.Middleware<ApiState> {
  return async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      const problem = problemOf(error)
      if (problem.status >= 500) ctx.state.log.error({ err: problem.cause ?? error }, problem.message)
      ctx.status = problem.status
      ctx.set({ ...problem.extras.headers })
      ctx.set('Content-Type', 'application/problem+json')
      ctx.body = JSON.stringify(problemBody(problem, baseUrl, ctx.state.requestId))
      // What was not read of the body must not be taken for the next request.
      if (!ctx.req.complete) ctx.set('Connection', 'close')
    }
  }
}

/** 404 for a path that is not there; OPTIONS, and 405 with `Allow`, for one that is. */
function unmatched(router: Router<ApiState>): Koa.Middleware<ApiState> {
  return async (ctx) => {
    const methods = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods))
    if (methods.size === 0) throw new Problem('not-found', 'There is no such path.')
    const allow = [...methods, 'OPTIONS'].join(', ')
    if (ctx.method !== 'OPTIONS') {
      throw new Problem('method-not-allowed', `Use one of ${allow}.`, { headers: { Allow: allow } })
    }
    ctx.set('Allow', allow)
    ctx.status = 204
  }
}

/** One line per request, by operation and not by address: ids in a path may be secrets. */
function logged(log: Logger, metrics: Metrics): Koa.Middleware<ApiState> {
  return async (ctx, next) => {
    const started = performance.now()
    ctx.state.log = log.child({ requestId: ctx.state.requestId })
    await next()
    const duration = Math.round((performance.now() - started) * 10) / 10
    metrics.requests.observe(
      { operation: ctx.state.operationId ?? 'none', method: ctx.method, status: ctx.status },
      duration / 1000,
    )
    ctx.state.log.info(
      {
        operation: ctx.state.operationId,
        method: ctx.method,
        status: ctx.status,
        duration,
        keyId: ctx.state.credential?.id,
      },
      'request',
    )
  }
}

export type { Context }

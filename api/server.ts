import {
  createServer as createHttpServer,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { Duplex } from 'node:stream'
import Router from '@koa/router'
import type { MikroORM } from '@mikro-orm/postgresql'
import Koa, { type Context } from 'koa'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import type { InstallationFacts } from '../db/installation.ts'
import type { Vault } from '../db/vault.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { Readiness } from '../ops/readiness.ts'
import { hostRoutes } from './host-routes.ts'
import { preflightHeaders } from './http/cors.ts'
import { Problem, problemBody, problemOf } from './http/problems.ts'
import { requireProtocol, unreadResponse } from './http/protocol-errors.ts'
import { requestId } from './http/request-id.ts'
import type { ApiState } from './http/state.ts'
import { type OperationDependencies, sharedSteps, stepsOf } from './request-steps.ts'
import { fullPath, ROUTES, routesOf } from './routes.ts'
import type { RequestLog } from './tracking/request-log.ts'
import { trackedRequest } from './tracking/tracked-request.ts'

export interface ApiDependencies {
  readonly config: Pick<Config, 'environment' | 'baseUrl' | 'trustProxy' | 'webhookAllowedCidrs'>
  readonly orm: MikroORM
  readonly installation: InstallationFacts
  readonly vault: Vault
  readonly metrics: Metrics
  readonly readiness: Readiness
  readonly log: Logger
  /** How long a client may leave a response unread, in milliseconds; default 30,000. */
  readonly unreadTimeout?: number
}

type ServerDependencies = ApiDependencies & OperationDependencies & { readonly requestLog: RequestLog }

export function createServer(dependencies: ServerDependencies): Server {
  const { config, log } = dependencies
  // The trusted proxy wrote only the last of the forwarded addresses; the others are the caller's claims.
  const app = new Koa<ApiState>({ proxy: config.trustProxy, maxIpsCount: 1 })
  app.silent = true
  const router = new Router<ApiState>({ strict: true, sensitive: true })
  const shared = sharedSteps(dependencies)
  for (const route of routesOf(config.environment)) {
    const path = fullPath(route).replaceAll(/\{(\w+)\}/g, ':$1')
    router.register(path, [route.method.toLowerCase()], stepsOf(route, dependencies, shared), {
      name: route.operationId,
    })
  }
  hostRoutes(router, dependencies)

  app.use(requestId)
  app.use(protectResponse(dependencies.unreadTimeout ?? UNREAD_TIMEOUT))
  app.use(async (ctx, next) => {
    await next()
    // A stop waits for requests in progress, and the connection must not bring others.
    if (!server.listening) ctx.set('Connection', 'close')
  })
  app.use(logged(log, dependencies.metrics))
  app.use(tracked(dependencies.requestLog, config.baseUrl))
  app.use(problems(config.baseUrl))
  app.use(requireProtocol)
  app.use(oneTrailingSlash)
  app.use(router.routes())
  app.use(unmatched(router))

  const handle = app.callback()
  const server = createHttpServer(HTTP_OPTIONS, handle)
  server.on('checkExpectation', handle)
  respondToUnreadRequests(server, config.baseUrl, log)
  return server
}

const UNREAD_TIMEOUT = 30_000

/** Browsers guess no other type, and an unread response ends, so that it holds no memory. */
function protectResponse(unreadTimeout: number): Koa.Middleware<ApiState> {
  return async (ctx, next) => {
    ctx.set('X-Content-Type-Options', 'nosniff')
    ctx.res.once('prefinish', () => {
      ctx.res.setTimeout(unreadTimeout, () => ctx.req.socket.destroy())
    })
    await next()
  }
}

/** Times in milliseconds, size in bytes. */
const HTTP_OPTIONS: ServerOptions = {
  requestTimeout: 60_000,
  headersTimeout: 20_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  // The server itself would respond without a body.
  requireHostHeader: false,
}

/** Milliseconds in which a caller can read the response to an unfinished request. */
const LINGER = 1_000

/** Responds to requests that cannot be read, and closes each connection after an earlier response on it. */
export function respondToUnreadRequests(server: Server, baseUrl: string, log: Logger): void {
  const latest = new WeakMap<Duplex, ServerResponse>()
  const responded = new WeakSet<Duplex>()
  server.on('request', (request, response) => void latest.set(request.socket, response))
  server.on('checkExpectation', (request, response) => void latest.set(request.socket, response))
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    // The parser reports its error again for every further packet.
    if (responded.has(socket)) return
    if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    responded.add(socket)
    const response = latest.get(socket)
    const isInProgress = response !== undefined && !response.writableFinished
    if (isInProgress && response.req.complete) response.once('finish', () => respond(socket, code))
    else if (isInProgress && response.headersSent) socket.destroy()
    else respond(socket, code)
  })

  function respond(socket: Duplex, code: string | undefined): void {
    const { requestId, status, text } = unreadResponse(code, baseUrl)
    log.info({ requestId, status, reason: code }, 'request')
    socket.end(text)
    // At once, data that the caller still sends would reset the connection before the response is read.
    setTimeout(() => socket.destroy(), LINGER).unref()
  }
}

function tracked(requestLog: RequestLog, baseUrl: string): Koa.Middleware<ApiState> {
  const paths = new Map(ROUTES.map((route) => [route.operationId, fullPath(route)]))
  return async (ctx, next) => {
    const startedAt = Date.now()
    const started = performance.now()
    await next()
    const { credential, requestId: id, operationId = '', params = {}, given, responded } = ctx.state
    if (credential === undefined) return
    const duration = performance.now() - started
    const route = paths.get(operationId) ?? ''
    const facts = { id, operationId, credential, route, params, given, responded, startedAt, duration }
    const add = () => requestLog.add(trackedRequest(ctx, facts, baseUrl))
    // It is closed already if the client gave up meanwhile.
    if (ctx.res.closed) add()
    else ctx.res.once('close', add)
  }
}

/** The only catch: every error becomes a problem document. */
function problems(baseUrl: string): Koa.Middleware<ApiState> {
  return async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      const problem = problemOf(error)
      if (problem.status >= 500) ctx.state.log.error({ err: problem.cause ?? error }, problem.message)
      ctx.status = problem.status
      const { challenge } = ctx.state
      if (problem.status === 401 && challenge !== undefined) ctx.set('WWW-Authenticate', challenge)
      ctx.set({ ...problem.extras.headers })
      ctx.set('Content-Type', 'application/problem+json')
      ctx.set('Cache-Control', 'no-store')
      ctx.body = problemBody(problem, baseUrl, ctx.state.requestId)
      // An unread rest of the body must not be parsed as the next request.
      if (!ctx.req.complete) ctx.set('Connection', 'close')
    }
  }
}

/** Many clients send one (D 2, Paths). */
const oneTrailingSlash: Koa.Middleware<ApiState> = async (ctx, next) => {
  if (ctx.path.length > 1 && ctx.path.endsWith('/') && !ctx.path.endsWith('//'))
    ctx.path = ctx.path.slice(0, -1)
  await next()
}

/** 404 for an unknown path; OPTIONS, and 405 with `Allow`, for a known one. */
function unmatched(router: Router<ApiState>): Koa.Middleware<ApiState> {
  return async (ctx) => {
    const methods = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods))
    if (methods.size === 0) throw new Problem('not-found', 'The path does not exist.')
    const allow = [...methods, 'OPTIONS'].join(', ')
    if (ctx.method !== 'OPTIONS') {
      throw new Problem('method-not-allowed', `Use one of ${allow}.`, { headers: { Allow: allow } })
    }
    ctx.set('Allow', allow)
    ctx.set({ ...preflight(router, ctx) })
    ctx.status = 204
  }
}

function preflight(router: Router<ApiState>, ctx: Context): Readonly<Record<string, string>> {
  const wanted = ctx.get('Access-Control-Request-Method')
  const [layer] = router.match(ctx.path, wanted).pathAndMethod
  const route = ROUTES.find(({ operationId }) => operationId === layer?.name)
  return route === undefined ? {} : preflightHeaders(route, wanted)
}

/** Logs the operation instead of the path, because ids in a path may be secrets. */
function logged(log: Logger, metrics: Metrics): Koa.Middleware<ApiState> {
  // These lines contain no secret, so redaction would only cost time.
  const lines = log.child({}, { redact: [] })
  return async (ctx, next) => {
    const started = performance.now()
    ctx.state.log = log.child({ requestId: ctx.state.requestId })
    await next()
    const duration = Math.round((performance.now() - started) * 10) / 10
    metrics.requests.observe(
      { operation: ctx.state.operationId ?? 'none', method: ctx.method, status: ctx.status },
      duration / 1000,
    )
    lines.info(
      {
        requestId: ctx.state.requestId,
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

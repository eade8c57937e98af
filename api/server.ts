/** The HTTP server: middleware in the order in which a request is judged, operations from the route table. */
import { createServer as createHttpServer, type Server } from 'node:http'
import Router, { type RouterMiddleware } from '@koa/router'
import type { MikroORM } from '@mikro-orm/postgresql'
import Koa, { type Context } from 'koa'
import type { Logger } from 'pino'
import Type from 'typebox'
import type { InvalidField } from '../billing/errors.ts'
import type { Config } from '../config/config.ts'
import type { InstallationFacts } from '../db/installation.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import type { Vault } from '../db/vault.ts'
import type { AddressGuard } from '../delivery/address-guard.ts'
import type { Gateway } from '../gateways/port.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { Readiness } from '../ops/readiness.ts'
import { authenticate, authorize, type Credential } from './authentication.ts'
import { crossOriginHeaders, preflightHeaders } from './cors.ts'
import { customerTokenReader } from './customer-jwt.ts'
import type { Engine } from './engine.ts'
import { hostRoutes } from './host-routes.ts'
import {
  claimKey,
  type IdempotentRequest,
  keepAnswer,
  keepableRefusal,
  keptAnswer,
  replay,
  requestHash,
} from './idempotency.ts'
import { requestId } from './middleware/request-id.ts'
import type { OperationAnswer, OperationContext } from './operation.ts'
import { entityTag } from './preconditions.ts'
import { Problem, problemBody, problemOf, summary } from './problems.ts'
import { type RateLimit, rateHeaders, requireWithinLimit } from './rate-limit.ts'
import { isStorable, readJsonBody } from './request-body.ts'
import { fullPath, ROUTES, type Route, routesOf } from './routes.ts'
import { bodySchema, withoutAnswers, writablePart } from './schemas/conventions.ts'
import type { ApiState } from './state.ts'
import { createBodyValidator, createQueryValidator } from './validation.ts'

export interface ApiDependencies {
  readonly config: Pick<Config, 'environment' | 'baseUrl' | 'trustProxy' | 'webhookAllowedCidrs'>
  readonly orm: MikroORM
  readonly installation: InstallationFacts
  readonly vault: Vault
  readonly metrics: Metrics
  readonly readiness: Readiness
  readonly log: Logger
}

interface ServerDependencies extends ApiDependencies {
  readonly gateway: Gateway
  /** null: this API is connected to no engine. */
  readonly engine: Engine | null
  readonly rateLimit: RateLimit
  readonly addressGuard: AddressGuard
  readonly sendWebhook: OperationContext['sendWebhook']
}

/** What judges requests, made once for all operations. */
interface Judges {
  readonly customerToken: ReturnType<typeof customerTokenReader>
  readonly body: ReturnType<typeof createBodyValidator>
  readonly query: ReturnType<typeof createQueryValidator>
}

/** The server, not yet listening. */
export function createServer(dependencies: ServerDependencies): Server {
  const { config, log } = dependencies
  // Of the forwarded addresses only the last was written by the trusted proxy; the others are what the caller claims.
  const app = new Koa<ApiState>({ proxy: config.trustProxy, maxIpsCount: 1 })
  app.silent = true
  const router = new Router<ApiState>({ strict: true })
  const judges: Judges = {
    customerToken: customerTokenReader(dependencies.vault, config.baseUrl),
    body: createBodyValidator(),
    query: createQueryValidator(),
  }
  for (const route of routesOf(config.environment)) {
    const path = fullPath(route).replaceAll(/\{(\w+)\}/g, ':$1')
    router.register(path, [route.method.toLowerCase()], operation(route, dependencies, judges), {
      name: route.operationId,
    })
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

/**
 * One operation of the table, judged in the order the contract promises: credential, permission, rate, body's form; then
 * the handler finds the resource, holds the preconditions, and asks for the checked body.
 */
function operation(
  route: Route,
  dependencies: ServerDependencies,
  judges: Judges,
): RouterMiddleware<ApiState> {
  const { orm, vault, installation, config, rateLimit, gateway, engine, addressGuard, sendWebhook } =
    dependencies
  const invalidBody = route.takesBody ? judges.body(bodySchema(route.body ?? route.resource)) : null
  const invalidQuery = judges.query(route.query ?? Type.Object({}, { additionalProperties: false }))
  const keys = { vault, installation, environment: config.environment }
  const sources = { installation, readCustomerToken: judges.customerToken }
  return async (ctx) => {
    ctx.state.operationId = route.operationId
    ctx.set({ ...crossOriginHeaders(route) })
    const em = orm.em.fork()
    const params = storable(ctx.params as Record<string, string>)
    const { organizationId = '' } = params
    const credential = await authenticate(ctx, em, sources, route)
    ctx.state.credential = credential
    const counted = route.method === 'GET' ? null : await rateLimit.count(credential.organizationId)
    if (counted !== null) ctx.set(rateHeaders(counted))
    authorize(credential, organizationId, route, ctx.ip)
    if (counted !== null) requireWithinLimit(counted, new Date())

    const given = invalidBody === null ? null : await readJsonBody(ctx)
    const query = { ...ctx.query }
    const wrongParameters = [...invalidQuery(query), ...unstorableParameters(query)]
    if (wrongParameters.length > 0) {
      throw new Problem('malformed-request', summary(wrongParameters), { invalidFields: wrongParameters })
    }
    const unit = { organizationId, baseUrl: config.baseUrl }
    const request = idempotentRequest(ctx, route, credential, given, installation.hashKey)
    const commit: OperationContext['commit'] = (work) =>
      inUnitOfWork(em, { ...unit, now: new Date() }, async (inside) => {
        if (request === null) return await work(inside)
        const kept = await claimKey(inside, vault, request)
        if (kept !== null) return replay(kept)
        const answer = await work(inside)
        await keepAnswer(inside.em, vault, request, { status: answer.status ?? route.success, answer })
        return answer
      })
    const context: OperationContext = {
      organizationId,
      credential,
      params,
      query,
      preconditions: { ifMatch: ctx.get('If-Match') || null, ifNoneMatch: ctx.get('If-None-Match') || null },
      em,
      keys,
      webhookTargets: { guard: addressGuard, environment: config.environment },
      sendWebhook,
      gateway,
      engine,
      baseUrl: config.baseUrl,
      now: () => new Date(),
      idempotencyKey: request?.key ?? null,
      log: ctx.state.log,
      body<T>(stored: object = {}) {
        const schema = route.body ?? route.resource
        const { body, kept } = withoutAnswers(schema, structuredClone(given), stored)
        const invalidFields = invalidBody?.(body) ?? []
        if (invalidFields.length > 0)
          throw new Problem('validation-error', summary(invalidFields), { invalidFields })
        return writablePart(schema, { ...(body as object), ...kept }) as T
      },
      has: (member) => typeof given === 'object' && given !== null && Object.hasOwn(given, member),
      commit,
    }
    respond(ctx, route, await answered(context, route, request, vault))
  }
}

/** What the key was answered before, or else what the handler answers; its refusals are kept under the key as well. */
async function answered(
  context: OperationContext,
  route: Route,
  request: IdempotentRequest | null,
  vault: Vault,
): Promise<OperationAnswer> {
  if (request === null) return await route.handler(context)
  const kept = route.continues === true ? null : await keptAnswer(context.em, vault, request)
  if (kept !== null) return replay(kept)
  try {
    return await route.handler(context)
  } catch (error) {
    const refusal = keepableRefusal(problemOf(error))
    if (refusal !== null) await keepAnswer(context.em.fork(), vault, request, refusal)
    throw error
  }
}

/** Path parameters as the database can be asked for them: what no id can hold must not make a query fail. */
function storable(params: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, value.toWellFormed().replaceAll('\0', '\uFFFD')]),
  )
}

function unstorableParameters(query: Readonly<Record<string, unknown>>): InvalidField[] {
  return Object.entries(query)
    .filter(([, value]) => typeof value === 'string' && !isStorable(value))
    .map(([field]) => ({ field, message: 'must not hold a NUL character' }))
}

function idempotentRequest(
  ctx: Context,
  route: Route,
  credential: Credential,
  body: unknown,
  hash: (text: string) => string,
): IdempotentRequest | null {
  const key = ctx.get('Idempotency-Key')
  if (route.method !== 'POST' || key === '') return null
  if (key.length > 255)
    throw new Problem('malformed-request', 'An Idempotency-Key has at most 255 characters.')
  return {
    organizationId: credential.organizationId,
    operation: route.operationId,
    key,
    // What a caller may do is part of the request: a kept answer can show more than another caller may see.
    requestHash: requestHash(hash, ctx.path + ctx.search, [body, credential.acl, credential.allowedIps]),
  }
}

function respond(ctx: Context, route: Route, answer: OperationAnswer): void {
  ctx.status = answer.status ?? route.success
  if (answer.location !== undefined) ctx.set('Location', answer.location)
  if (answer.revision !== undefined) ctx.set('ETag', entityTag(answer.revision))
  if (answer.headers !== undefined) ctx.set({ ...answer.headers })
  if (answer.body === undefined) return
  ctx.set('Content-Type', 'application/json; charset=utf-8')
  ctx.body = JSON.stringify(answer.body)
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
    ctx.set({ ...preflight(router, ctx) })
    ctx.status = 204
  }
}

/** What a preflight is told of the operation it asks for. */
function preflight(router: Router<ApiState>, ctx: Context): Readonly<Record<string, string>> {
  const wanted = ctx.get('Access-Control-Request-Method')
  const [layer] = router.match(ctx.path, wanted).pathAndMethod
  const route = ROUTES.find(({ operationId }) => operationId === layer?.name)
  return route === undefined ? {} : preflightHeaders(route, wanted)
}

/** One line per request, by operation and not by address: ids in a path may be secrets. */
function logged(log: Logger, metrics: Metrics): Koa.Middleware<ApiState> {
  // These lines hold only what is named below, none of it secret: taking secrets out of them would cost for nothing.
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

/**
 * The steps of an operation, in the order of the contract: credential, permission, rate, query, preconditions,
 * idempotency key, and the body when the handler asks for it. Named middleware shows in a stack trace where a
 * request was refused.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { RouterMiddleware } from '@koa/router'
import type { MikroORM } from '@mikro-orm/postgresql'
import type { Context } from 'koa'
import Type from 'typebox'
import type { PasswordHasher } from '../access/password-hash.ts'
import type { InvalidField } from '../billing/errors.ts'
import { createRequestCards } from '../commands/payments/request-cards.ts'
import { TokenRefusedError } from '../commands/payments/use-payment-token.ts'
import type { Config } from '../config/config.ts'
import type { InstallationFacts } from '../db/installation.ts'
import { inOrganization } from '../db/organization-scope.ts'
import { inUnitOfWork } from '../db/unit-of-work.ts'
import type { Vault } from '../db/vault.ts'
import type { AddressGuard } from '../delivery/address-guard.ts'
import type { Gateways } from '../gateways/gateways.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { Wallet } from '../wallets/port.ts'
import {
  type Credential,
  type CredentialSources,
  challenge,
  authenticate as findCredential,
  keyFinder,
  authorize as requirePermission,
} from './http/authentication.ts'
import { customerTokenReader } from './http/customer-jwt.ts'
import {
  claimKey,
  endLease,
  findStoredResponse,
  type IdempotentRequest,
  leaseKey,
  RENEWAL,
  readIdempotencyKey,
  renewLease,
  replay,
  requestHash,
  type StoredResponse,
  stillRunning,
  storableRefusal,
  storeRefusal,
  storeResponse,
} from './http/idempotency.ts'
import { entityTag, type Preconditions, readPreconditions } from './http/preconditions.ts'
import { problemOf, requireNoInvalidFields } from './http/problems.ts'
import { type RateLimit, rateHeaders, requireWithinLimit } from './http/rate-limit.ts'
import { isStorable, type JsonBody, readBytes, readJsonBody } from './http/request-body.ts'
import { operationHeaders } from './http/response-headers.ts'
import type { ApiState } from './http/state.ts'
import { createBodyValidator, createQueryValidator, type Validator } from './http/validation.ts'
import type { OperationContext, OperationHandler, OperationResponse, SignedHandler } from './operation.ts'
import { pageHeaders } from './query/paging.ts'
import { withJoinedLists } from './query/query-parameters.ts'
import { selectedMembers, unknownMembers } from './query/selected-members.ts'
import { differingMembers, equalMembers, mergePatch } from './resources/merge-patch.ts'
import { isOfHost, type Route } from './routes.ts'
import {
  bodySchema,
  responseSchema,
  withEmptyMaps,
  withoutNulls,
  withoutReadOnly,
  withoutShown,
  writablePart,
} from './schemas/body-and-response.ts'
import { neutralMembersOf } from './schemas/not-supported.ts'
import type { TemporalService } from './temporal.ts'
import type { Turn } from './turns.ts'

export interface OperationDependencies {
  readonly config: Pick<Config, 'environment' | 'baseUrl'>
  readonly orm: MikroORM
  readonly installation: InstallationFacts
  readonly vault: Vault
  readonly passwords: (turn: Turn) => PasswordHasher
  readonly gateway: Gateways
  readonly wallet: Wallet
  readonly temporal: TemporalService | null
  readonly rateLimit: RateLimit
  readonly addressGuard: AddressGuard
  readonly sendWebhook: OperationContext['sendWebhook']
  readonly metrics: Pick<Metrics, 'notifications'>
}

interface RequestState extends ApiState {
  credential: NonNullable<ApiState['credential']>
  em: OperationContext['em']
  params: Record<string, string>
  query: Record<string, unknown>
  given: unknown
  bodyProblem: JsonBody['problem']
  preconditions: Preconditions
  idempotencyKey: string | null
  idempotent: IdempotentRequest | null
}
type Step = RouterMiddleware<RequestState>

const NO_BODY: JsonBody = { value: null, problem: null }

export interface SharedSteps {
  readonly sources: CredentialSources
  readonly validatorOf: ReturnType<typeof createBodyValidator>
  readonly queryValidatorOf: ReturnType<typeof createQueryValidator>
}

export function sharedSteps({ orm, vault, installation, config }: OperationDependencies): SharedSteps {
  return {
    sources: {
      installation,
      findKey: keyFinder(() => orm.em.fork()),
      readCustomerToken: customerTokenReader(vault, config.baseUrl),
    },
    validatorOf: createBodyValidator(),
    queryValidatorOf: createQueryValidator(),
  }
}

export function stepsOf(
  route: Route,
  dependencies: OperationDependencies,
  shared: SharedSteps,
): RouterMiddleware<ApiState>[] {
  const { orm, vault, installation, rateLimit } = dependencies
  const { handler } = route
  if (typeof handler !== 'function') return signedSteps(route, handler, dependencies, shared)
  const invalidBody = route.takesBody ? shared.validatorOf(bodySchema(route.body ?? route.resource)) : null
  const invalidQuery = shared.queryValidatorOf(route.query ?? NO_PARAMETERS)

  const presentSuccess = presenterOf(route)
  // What is accepted for later has a shape of its own.
  const presentAccepted = presenterOf({ ...route, resource: route.accepted ?? route.resource })

  const authenticate: Step = async (ctx, next) => {
    const { state } = ctx
    state.operationId = route.operationId
    state.challenge = challenge(route.accepts)
    ctx.set({ ...operationHeaders(route) })
    state.em = orm.em.fork()
    state.params = storable(ctx.params as Record<string, string>)
    state.credential = await findCredential(ctx, state.em, shared.sources, route)
    if (isOfHost(route)) state.params.organizationId = state.credential.organizationId
    await next()
  }

  const authorize: Step = async (ctx, next) => {
    const { credential, params } = ctx.state
    const isRead = route.method === 'GET'
    try {
      requirePermission(credential, params.organizationId ?? '', route, ctx.ip)
    } catch (error) {
      if (!isRead) ctx.set(rateHeaders(await rateLimit.countRefused(credential)))
      throw error
    }
    const usage = await (isRead ? rateLimit.countRead(credential) : rateLimit.countWrite(credential))
    if (!isRead) ctx.set(rateHeaders(usage))
    requireWithinLimit(usage, new Date())
    await next()
  }

  const enterOrganization: Step = async (ctx, next) =>
    await inOrganization(ctx.state.credential.organizationId, next)

  const readRequest: Step = async (ctx, next) => {
    const { state } = ctx
    const sent = invalidBody === null ? NO_BODY : await readJsonBody(ctx)
    state.given = sent.value
    state.bodyProblem = sent.problem
    state.query = withJoinedLists(ctx.query, route.query)
    requireNoInvalidFields('malformed-request', [
      ...invalidQuery(state.query),
      ...unstorableParameters(state.query),
      ...unknownMembers(route.resource, state.query.fields),
    ])
    state.preconditions = readPreconditions(ctx)
    state.idempotencyKey = readIdempotencyKey(ctx)
    await next()
  }

  const identifyRequest: Step = async (ctx, next) => {
    ctx.state.idempotent = idempotentRequest(ctx, route, ctx.state, installation.hashKey)
    await next()
  }

  const handle: Step = async (ctx) => {
    const context = operationContext(ctx, route, dependencies, invalidBody)
    const { idempotent } = ctx.state
    const response =
      idempotent === null
        ? await handler(context)
        : await handleOnce(context, { ...route, handler }, idempotent, vault)
    const present = response.status === 202 ? presentAccepted : presentSuccess
    respond(ctx, route, response, present, dependencies.config.baseUrl)
  }

  return [
    authenticate,
    authorize,
    enterOrganization,
    readRequest,
    identifyRequest,
    handle,
  ] as unknown as RouterMiddleware<ApiState>[]
}

/** The handler verifies the signature over the body, in place of a credential. */
function signedSteps(
  route: Route,
  { signed }: SignedHandler,
  { orm, gateway, metrics, config }: OperationDependencies,
  shared: SharedSteps,
): RouterMiddleware<ApiState>[] {
  const invalidQuery = shared.queryValidatorOf(route.query ?? NO_PARAMETERS)
  const present = presenterOf(route)

  const handleSigned: Step = async (ctx) => {
    const { state } = ctx
    state.operationId = route.operationId
    ctx.set({ ...operationHeaders(route) })
    state.query = { ...ctx.query }
    requireNoInvalidFields('malformed-request', invalidQuery(state.query))
    const params = storable(ctx.params as Record<string, string>)
    const { organizationId = '' } = params
    const em = orm.em.fork()
    const sent = {
      body: await readBytes(ctx),
      header: (name: string) => ctx.get(name),
      receivedTime: Date.now(),
    }
    const response = await inOrganization(organizationId, () =>
      signed({
        organizationId,
        params,
        em,
        gateway,
        log: state.log,
        sent,
        notifications: metrics.notifications,
        commit: (work) =>
          inUnitOfWork(
            em,
            { organizationId, baseUrl: config.baseUrl, now: new Date(sent.receivedTime) },
            work,
          ),
      }),
    )
    respond(ctx, route, response, present, config.baseUrl)
  }

  return [handleSigned] as unknown as RouterMiddleware<ApiState>[]
}

const NO_PARAMETERS = Type.Object({}, { additionalProperties: false })

function operationContext(
  ctx: Parameters<Step>[0],
  route: Route,
  {
    config,
    installation,
    vault,
    passwords,
    addressGuard,
    sendWebhook,
    gateway,
    wallet,
    temporal,
  }: OperationDependencies,
  invalidBody: Validator | null,
): OperationContext {
  const { credential, params, query, preconditions, em, given, bodyProblem, idempotent, log } = ctx.state
  const { organizationId = '' } = params
  const { baseUrl, environment } = config
  const schema = route.body ?? route.resource
  const sent = withEmptyMaps(schema, given)
  /** Members in `known` are taken whatever they hold: what the service stored may have outgrown a bound. */
  const checkedBody = (
    content: unknown,
    stored: object,
    { known = [], isRead = false }: { readonly known?: readonly string[]; readonly isRead?: boolean },
  ): object => {
    if (bodyProblem !== null) throw bodyProblem
    const written = withoutShown(schema, withoutNulls(schema, structuredClone(content)), [stored], isRead)
    const { body, stored: readOnlyValues } = withoutReadOnly(schema, written, stored)
    requireNoInvalidFields('validation-error', outside(known, invalidBody?.(body) ?? []))
    return writablePart(schema, { ...(body as object), ...readOnlyValues }) as object
  }
  const isGone = () => ctx.req.socket.destroyed
  const cards = createRequestCards({
    em: () => em.fork(),
    vault,
    gateway,
    organizationId,
    hash: installation.hashKey,
    owner: idempotent === null ? randomUUID() : ownerOf(idempotent),
    now: () => new Date(),
  })
  return {
    organizationId,
    credential,
    params,
    query,
    preconditions,
    em,
    environment,
    keys: { vault, installation, environment },
    passwords: passwords({ organizationId, isGone }),
    address: ctx.ip,
    webhookTargets: { guard: addressGuard, environment },
    sendWebhook,
    gateway,
    cards,
    wallet,
    temporal,
    baseUrl,
    now: () => new Date(),
    idempotencyKey: idempotent?.key ?? null,
    log,
    body: <T>(stored?: object) => checkedBody(sent, stored ?? {}, { isRead: stored !== undefined }) as T,
    patchedBody<T>(current: object) {
      const merged = mergePatch(current, sent)
      const before = checkedBody(current, current, { known: Object.keys(current) })
      const body = checkedBody(merged, current, { known: equalMembers(current, merged) })
      return { body: body as T, changed: differingMembers(before, body) }
    },
    isGone,
    prefers: (mediaType) => ctx.accepts('application/json', mediaType) === mediaType,
    has: (member) => typeof given === 'object' && given !== null && Object.hasOwn(given, member),
    async commit(work) {
      // An attempt that is undone may have changed what its entity manager holds.
      const managers = [em]
      try {
        return await cards.run(() =>
          inUnitOfWork(
            managers.pop() ?? em.fork(),
            { organizationId, baseUrl, now: new Date() },
            async (unit) => {
              if (idempotent === null) return await work(unit)
              const stored = await claimKey(unit, vault, idempotent)
              if (stored !== null) return replay(stored)
              const response = await work(unit)
              await storeResponse(unit.em, vault, idempotent, {
                status: response.status ?? route.success,
                response,
              })
              return response
            },
          ),
        )
      } catch (error) {
        if (idempotent === null || !(error instanceof TokenRefusedError)) throw error
        // No lock marks the request during the gateway call: a repetition may use the token, or have used it.
        const stored = await findStoredResponse(em.fork(), vault, idempotent)
        if (stored !== null) return replay(stored)
        throw error.isOwn || error.isFreeAgain ? stillRunning() : error
      }
    },
  }
}

/** Yields the fields that are not inside one of these members. */
function* outside(members: readonly string[], fields: Iterable<InvalidField>): Iterable<InvalidField> {
  for (const field of fields) if (!members.includes(field.field.split('.')[0] ?? '')) yield field
}

/** Returns the same name for every repetition of a request. */
function ownerOf({ operation, key, requestHash }: IdempotentRequest): string {
  return createHash('sha256').update([operation, key, requestHash].join('\n')).digest('base64url')
}

/** Error responses are stored under the key as well. */
async function handleOnce(
  context: OperationContext,
  route: Pick<Route, 'continues' | 'sendsOnce' | 'success'> & { readonly handler: OperationHandler },
  request: IdempotentRequest,
  vault: Vault,
): Promise<OperationResponse> {
  const stored = route.continues === true ? null : await findStoredResponse(context.em, vault, request)
  if (stored !== null) return replay(stored)
  if (route.sendsOnce === true) return await handleUnderLease(context, route, request, vault)
  try {
    return await route.handler(context)
  } catch (error) {
    const refusal = storableRefusal(problemOf(error))
    const other = refusal === null ? null : await storeRefusal(context.em.fork(), vault, request, refusal)
    if (other !== null && route.continues !== true) return replay(other)
    throw error
  }
}

/** The handler commits nothing of the request's own: its response is stored here. */
async function handleUnderLease(
  context: OperationContext,
  route: Pick<Route, 'success'> & { readonly handler: OperationHandler },
  request: IdempotentRequest,
  vault: Vault,
): Promise<OperationResponse> {
  const other = await leaseKey(context.em.fork(), vault, request)
  if (other !== null) return replay(other)
  const end = (stored: StoredResponse | null) => endLease(context.em.fork(), vault, request, stored)
  // Refused by a database that is away, a renewal is made again by the next.
  const renewal = setInterval(
    () => void renewLease(context.em.fork(), request).catch(() => undefined),
    RENEWAL,
  )
  try {
    const response = await route.handler(context)
    await end({ status: response.status ?? route.success, response })
    return response
  } catch (error) {
    await end(storableRefusal(problemOf(error)))
    throw error
  } finally {
    clearInterval(renewal)
  }
}

/** Returns path parameters that PostgreSQL accepts: a text that no id can contain must not make a query fail. */
function storable(params: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, value.toWellFormed().replaceAll('\0', '\uFFFD')]),
  )
}

function unstorableParameters(query: Readonly<Record<string, unknown>>): InvalidField[] {
  return Object.entries(query)
    .filter(([, value]) => typeof value === 'string' && !isStorable(value))
    .map(([field]) => ({ field, code: 'wrong-format', message: 'must not contain a NUL character' }))
}

function idempotentRequest(
  ctx: Context,
  route: Route,
  { credential, given, idempotencyKey: key }: Pick<RequestState, 'credential' | 'given' | 'idempotencyKey'>,
  hash: (text: string) => string,
): IdempotentRequest | null {
  if (route.method !== 'POST' || key === null) return null
  return {
    organizationId: credential.organizationId,
    operation: holderOf(credential) + route.operationId,
    key,
    // Permissions are part of the request: a stored response can contain more than another caller may see.
    requestHash: requestHash(hash, ctx.path + ctx.search, [given, credential.acl, credential.allowedIps]),
  }
}

/** Each form of credential has keys of its own, and each customer too. */
function holderOf({ form, customerId }: Credential): string {
  if (form === 'secret') return ''
  return customerId === null ? `${form}/` : `${form}/${customerId}/`
}

/** Adds members that are not supported yet, and keeps only the requested ones. */
function presenterOf({
  resource,
  returns,
}: Route): (body: unknown, query: Record<string, unknown>) => unknown {
  const complete = neutralMembersOf(responseSchema(resource))
  return (body, query) => {
    const present = (one: unknown) => selectedMembers(complete(one), query.fields)
    return returns === 'many' && Array.isArray(body) ? body.map(present) : present(body)
  }
}

function respond(
  ctx: Parameters<Step>[0],
  route: Route,
  response: OperationResponse,
  present: ReturnType<typeof presenterOf>,
  baseUrl: string,
): void {
  ctx.status = response.status ?? route.success
  if (response.location !== undefined) ctx.set('Location', response.location)
  if (response.revision !== undefined) ctx.set('ETag', entityTag(response.revision))
  if (response.page !== undefined) ctx.set(pageHeaders(response.page, `${baseUrl}${ctx.path}${ctx.search}`))
  const { Vary: dimension, ...headers } = response.headers ?? {}
  ctx.set(headers)
  // Beside the credential, on which every response depends.
  if (dimension !== undefined) ctx.vary(dimension)
  if (response.body === undefined) return
  if (response.body instanceof Uint8Array) {
    ctx.body = Buffer.from(response.body)
    return
  }
  ctx.state.responded = response.body
  ctx.set('Content-Type', 'application/json; charset=utf-8')
  ctx.body = JSON.stringify(present(response.body, ctx.state.query))
}

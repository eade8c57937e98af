import type { Context } from 'koa'
import { ID_PATTERN } from '../../billing/id-format.ts'
import type { Credential } from '../http/authentication.ts'
import { isObject } from '../schemas/is-object.ts'
import { MASK, maskedBody, maskedHeaders, maskedLine, maskedUrl } from './masking.ts'

export interface TrackedRequest {
  readonly organization_id: string
  readonly id: string
  readonly status: number
  readonly url: string
  readonly route: string
  readonly method: string
  readonly request: string | null
  readonly response: string | null
  readonly request_headers: Readonly<Record<string, string>>
  readonly response_headers: Readonly<Record<string, string>>
  readonly api_key_id: string | null
  readonly user_id: string | null
  readonly ip_address: string
  readonly user_agent: string | null
  readonly related_resource_ids: readonly string[]
  readonly duration: number
  readonly created_time: string
}

export interface TrackedFacts {
  readonly id: string
  readonly operationId: string
  readonly credential: Credential
  /** The path with the names of its parameters. */
  readonly route: string
  readonly params: Readonly<Record<string, string>>
  readonly given: unknown
  readonly responded: unknown
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly duration: number
}

export function trackedRequest(ctx: Context, facts: TrackedFacts, baseUrl: string): TrackedRequest {
  const { credential, params, given, responded } = facts
  const isKey = credential.form !== 'customer'
  const { body } = ctx
  return {
    organization_id: credential.organizationId,
    id: facts.id,
    status: ctx.status,
    url: maskedUrl(
      `${baseUrl}${ctx.originalUrl}`,
      SECRET_PARAMETERS.flatMap((name) => params[name] ?? []),
    ),
    route: facts.route,
    method: ctx.method,
    request: maskedBody(given == null ? null : JSON.stringify(loggable(given, facts))),
    response: maskedBody(typeof body === 'string' && body !== '' && ctx.method !== 'HEAD' ? body : null),
    request_headers: maskedHeaders(ctx.req.headers),
    response_headers: maskedHeaders(ctx.res.getHeaders()),
    api_key_id: isKey ? credential.id : null,
    user_id: isKey ? null : credential.id,
    ip_address: ctx.ip.slice(0, 45),
    user_agent: ctx.get('User-Agent') === '' ? null : maskedLine(ctx.get('User-Agent')),
    related_resource_ids: relatedIds(params, given, responded),
    duration: Math.round(facts.duration),
    created_time: new Date(facts.startedAt).toISOString(),
  }
}

const KEPT_OF_TOKEN = ['method', 'paymentInstrument', 'billingAddress', 'riskMetadata', 'leadSource']
const KEPT_OF_CARD = ['expMonth', 'expYear']

/** Of the body of a payment token, what is known to be no card data: a security code can be in a member of any name. */
function loggable(given: unknown, { operationId }: TrackedFacts): unknown {
  if (operationId !== 'PostToken') return given
  const token = onlyValuesOf(given, KEPT_OF_TOKEN)
  return isObject(token) && 'paymentInstrument' in token
    ? { ...token, paymentInstrument: onlyValuesOf(token.paymentInstrument, KEPT_OF_CARD) }
    : token
}

function onlyValuesOf(value: unknown, names: readonly string[]): unknown {
  if (!isObject(value)) return MASK
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, names.includes(name) ? member : MASK]),
  )
}

const SECRET_PARAMETERS = ['token']

const MOST_IDS = 50
const ID = new RegExp(ID_PATTERN)
const ID_MEMBER = /^id$|Ids?$/

function relatedIds(
  { organizationId: _, ...params }: Readonly<Record<string, string>>,
  given: unknown,
  responded: unknown,
): string[] {
  const ofPath = Object.entries(params).flatMap(([name, id]) =>
    SECRET_PARAMETERS.includes(name) ? [] : [id],
  )
  const ids = new Set([...ofPath, ...idsIn(given), ...idsIn(responded)])
  return [...ids].filter((id) => ID.test(id) && maskedLine(id) === id).slice(0, MOST_IDS)
}

function idsIn(value: unknown): string[] {
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name !== 'organizationId' && ID_MEMBER.test(name)
      ? [member].flat().filter((id): id is string => typeof id === 'string')
      : [],
  )
}

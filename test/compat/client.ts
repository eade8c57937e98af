import type { ApiClient, ApiResponse } from '../support/api-client.ts'
import { waitFor } from '../support/wait-for.ts'
import { bodyOf, without } from './bodies.ts'
import { type Call, titleOf } from './call.ts'
import { addFindings, compare, type Findings, noFindings, shapeOfValue } from './comparison.ts'
import { DIFFERENCES } from './differences.ts'
import { bodyShape, isList, OPERATIONS, responseShapes } from './facts.ts'
import { isObject, type JsonObject, shapeOf } from './json-shape.ts'
import type { Operation } from './operations.ts'
import { filledIn, pathOf, type Records } from './records.ts'
import { expectedRefusals, invalidFields, isAtOrBelow, notSupportedOf } from './refusals.ts'
import type { ShapeName } from './shapes.ts'

export interface Memory {
  readonly records: Records
  readonly findings: Map<ShapeName, Findings>
  readonly notSupported: Map<ShapeName, ReadonlySet<string>>
}

/**
 * Returns where the response differs from what clients expect. What is listed in `DIFFERENCES` or in the call
 * differs if it no longer does so.
 */
export async function makeCall(api: ApiClient, given: Call, memory: Memory): Promise<string[]> {
  const query = filledIn({ ...given.query }, memory.records) as Record<string, string>
  const call = { ...given, query }
  const differs: string[] = []
  const send = sender(api, call, pathOf(call, memory.records))
  const response =
    call.body === undefined ? await read(call, send, differs) : await write(call, send, memory, differs)
  const { notYet, status = OPERATIONS[call.operation].status[0] } = call
  const expected = notYet === undefined ? status : 422
  if (response.status !== expected)
    return [...differs, `returns ${response.status} instead of ${expected}${detailOf(response)}`]
  if (notYet !== undefined) return differs
  if (typeof call.body === 'object') differs.push(...checkUnchanged(call.body.held, response, memory))
  differs.push(...checkResponse(call, response, memory), ...(await checkFields(call, send)))
  if (call.as !== undefined) memory.records[call.as] = response.body
  return differs
}

/** True if there is no such operation: without a credential, one that exists returns 401. */
export async function isAbsent(
  baseUrl: string,
  organizationId: string,
  operation: Operation,
): Promise<boolean> {
  const [method = '', path = ''] = operation.split(' ')
  const below = `organizations/${organizationId}/${path.replaceAll(/\{\w+\}/g, 'x')}`
  // The paths of organizations are those of the host.
  const ofHost = path.replaceAll(/\{\w+\}/g, organizationId)
  const statuses = await Promise.all(
    [below, ofHost].map(async (one) => (await fetch(`${baseUrl}/${one}`, { method })).status),
  )
  return statuses.every((status) => status === 404 || status === 405)
}

type Send = (query: string, body: JsonObject | null) => Promise<ApiResponse<unknown>>

function sender(api: ApiClient, { operation, fromRoot }: Call, path: string): Send {
  const [method = ''] = operation.split(' ')
  // As client libraries write it: a collection that something is added to ends with a slash.
  const slash = method === 'POST' && !operation.includes('{') ? '/' : ''
  return (query, body) =>
    api.send(method, `${fromRoot === true ? '/' : ''}${path}${slash}${query === '' ? '' : `?${query}`}`, {
      headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
      ...(body === null ? {} : { body: JSON.stringify(body) }),
    })
}

async function read(call: Call, send: Send, differs: string[]): Promise<ApiResponse<unknown>> {
  const response = await sendQuery(call, send, null, differs)
  const { until } = call
  if (until === undefined) return response
  return await waitFor(`${titleOf(call)}: ${JSON.stringify(until)}`, async () => {
    const again = await sendQuery(call, send, null, [])
    return [again.body].flat().some((item) => has(item, until)) ? again : null
  })
}

/** If the body is refused for members that this release lacks, it is sent again without them. */
async function write(
  call: Call,
  send: Send,
  memory: Memory,
  differs: string[],
): Promise<ApiResponse<unknown>> {
  const body = bodyOf(call, memory.records)
  const response = await sendQuery(call, send, body, differs)
  if (call.notYet !== undefined) return response
  // What was read can be sent back whole.
  const expected = typeof call.body === 'object' ? [] : expectedRefusals(call, body)
  const named = response.status === 422 ? invalidFields(response) : []
  const others = named.filter(({ field }) => !expected.some((member) => isAtOrBelow(field, member)))
  const taken = expected.filter((member) => !named.some(({ field }) => isAtOrBelow(field, member)))
  differs.push(...others.map(({ field, message }) => `refuses ${field}: ${message}`))
  differs.push(...taken.map((member) => `takes ${member}`))
  if (named.length === 0) return response
  const shape = bodyShape(call)
  if (shape !== undefined) {
    const all = memory.notSupported.get(shape) ?? new Set()
    memory.notSupported.set(shape, new Set([...all, ...notSupportedOf(named)]))
  }
  const rest = without(body, [...expected, ...named.map(({ field }) => field)])
  return await sendQuery(call, send, rest, [])
}

/** Sends every query parameter of the operation, and again without those that it was refused for. */
async function sendQuery(
  call: Call,
  send: Send,
  body: JsonObject | null,
  differs: string[],
): Promise<ApiResponse<unknown>> {
  const query = new URLSearchParams(queryOf(call))
  const response = await send(query.toString(), body)
  const named = response.status === 400 ? invalidFields(response).map(({ field }) => field) : []
  differs.push(...named.map((name) => `refuses the query ${name}`))
  if (named.length === 0) return response
  for (const name of named) query.delete(name)
  return await send(query.toString(), body)
}

/** `fields` is left out, because it leaves nothing to compare. */
function queryOf(call: Call): Record<string, string> {
  if (!call.operation.startsWith('GET ')) return call.query ?? {}
  const [shape] = responseShapes(call)
  const embedded = shape === undefined ? {} : (shapeOf(shape).properties?._embedded?.properties ?? {})
  const values: Readonly<Record<string, string>> = {
    limit: '50',
    offset: '0',
    sort: '-createdTime',
    filter: 'createdTime:2020-01-01T00:00:00Z..',
    q: '0',
    expand: Object.keys(embedded).join(','),
  }
  const { query = [] } = OPERATIONS[call.operation]
  return Object.fromEntries(query.flatMap((name) => (values[name] ? [[name, values[name]]] : [])))
}

function checkResponse(call: Call, { body, headers }: ApiResponse<unknown>, memory: Memory): string[] {
  const shapes = responseShapes(call)
  if (shapes.length === 0 && call.ownShape !== true) return []
  if (!isList(call)) return compareOne(shapes, body, memory)
  if (!Array.isArray(body)) return ['is not a list']
  const paging = ['Total', 'Limit', 'Offset'].map((name) => headers.get(`Pagination-${name}`))
  return [
    ...(paging.every((text) => /^\d+$/.test(text ?? '')) ? [] : ['has no paging headers']),
    ...(body.length === 0 ? ['is an empty list'] : []),
    ...new Set(body.flatMap((item) => compareOne(shapes, item, memory))),
  ]
}

function compareOne(shapes: readonly ShapeName[], value: unknown, { findings }: Memory): string[] {
  if (shapes.length === 0) return []
  const name = shapeOfValue(shapes, value)
  const found = compare(name, value)
  const all = findings.get(name) ?? noFindings()
  addFindings(all, found)
  findings.set(name, all)
  const known = DIFFERENCES[name]?.otherwise ?? {}
  const others = [...found.otherwise].filter(([path]) => !Object.hasOwn(known, path))
  return others.map(([path, text]) => `returns ${path}: ${text}`)
}

function checkUnchanged(held: string, { body }: ApiResponse<unknown>, { records }: Memory): string[] {
  const revision = (one: unknown) => (isObject(one) ? one.revision : undefined)
  return revision(body) === revision(records[held]) ? [] : ['raises the revision although nothing changes']
}

async function checkFields({ operation }: Call, send: Send): Promise<string[]> {
  if (OPERATIONS[operation].query?.includes('fields') !== true) return []
  const { status, body } = await send('fields=id,createdTime', null)
  if (status !== 200) return ['refuses the query fields']
  const selected = [body].flat().map((item) =>
    Object.keys(isObject(item) ? item : {})
      .toSorted()
      .join(),
  )
  return selected.every((names) => names === 'createdTime,id') ? [] : ['ignores the query fields']
}

function has(item: unknown, members: JsonObject): boolean {
  return isObject(item) && Object.entries(members).every(([name, value]) => item[name] === value)
}

function detailOf({ body }: ApiResponse<unknown>): string {
  return isObject(body) && typeof body.detail === 'string' ? `: ${body.detail}` : ''
}

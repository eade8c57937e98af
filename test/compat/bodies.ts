/** Members are named by path: `items.plan.id` is that of any item. */
import type { Call } from './call.ts'
import { UNUSED } from './differences.ts'
import { bodyShape } from './facts.ts'
import { isObject, type Json, type JsonObject } from './json-shape.ts'
import { filledIn, type Records } from './records.ts'
import { full, nulls, required } from './sampler.ts'

export function bodyOf(call: Call, records: Records): JsonObject {
  return filledIn(unfilledBody(call, records), records) as JsonObject
}

/** Returns the members of the body that a call samples or is given. */
export function writtenMembers(call: Call): string[] {
  return membersOf(unfilledBody(call, {})).map(({ path }) => path)
}

export interface Member {
  readonly path: string
  /** False if the value says that the feature is not used: null, false, 0, "", [] or {}, for example. */
  readonly used: boolean
}

export function membersOf(value: Json, path: readonly string[] = []): Member[] {
  if (Array.isArray(value)) return value.flatMap((item) => membersOf(item, path))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const memberPath = [...path, name]
    const joined = memberPath.join('.')
    const used = isUsed(member) && UNUSED[joined] !== member
    return [{ path: joined, used }, ...membersOf(member, memberPath)]
  })
}

export function without(value: JsonObject, paths: readonly string[]): JsonObject {
  return withoutMembers(value, paths, []) as JsonObject
}

function withoutMembers(value: Json, paths: readonly string[], path: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((item) => withoutMembers(item, paths, path))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const memberPath = [...path, name]
      return paths.includes(memberPath.join('.')) ? [] : [[name, withoutMembers(member, paths, memberPath)]]
    }),
  )
}

function isUsed(value: Json): boolean {
  if (Array.isArray(value)) return value.length > 0
  return isObject(value) ? Object.values(value).some(isUsed) : Boolean(value)
}

function unfilledBody(call: Call, records: Records): JsonObject {
  return without({ ...sampled(call, records), ...call.with }, call.omit ?? [])
}

/** As clients in PHP send it: an empty map has become an empty list. */
function withListsForEmptyMaps(value: Json): Json {
  if (Array.isArray(value)) return value.map(withListsForEmptyMaps)
  if (!isObject(value)) return value
  const members = Object.entries(value)
  if (members.length === 0) return []
  return Object.fromEntries(members.map(([name, member]) => [name, withListsForEmptyMaps(member)]))
}

function sampled(call: Call, records: Records): JsonObject {
  const { body } = call
  if (typeof body === 'object') return withListsForEmptyMaps(records[body.held] as JsonObject) as JsonObject
  if (body === undefined || body === 'given') return {}
  const shape = bodyShape(call)
  if (shape === undefined) throw new Error(`${call.operation} has no shape to sample`)
  return { full, nulls, required }[body](shape)
}

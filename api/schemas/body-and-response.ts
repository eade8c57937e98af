/** What of one schema per resource a body may hold, and what a response shows: read-only, write-only and unset members. */
import type { TSchema } from 'typebox'
import { parseInstant } from '../../billing/instants.ts'
import { ownValue } from '../../billing/own-value.ts'
import { isObject } from './is-object.ts'

interface JsonSchema {
  readonly readOnly?: boolean
  readonly writeOnly?: boolean
  readonly 'x-absent-when-unknown'?: boolean
  readonly 'x-read-only-values'?: readonly string[]
  readonly 'x-neutral'?: unknown
  readonly 'x-withheld'?: boolean
  readonly 'x-as-shown'?: unknown
  readonly enum?: readonly unknown[]
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly format?: string
}

/** A body may contain read-only and expanded members, which are dropped, and unsupported neutral ones. */
export function bodySchema(resource: TSchema): TSchema {
  const body = derive(
    resource,
    (member) => {
      if ('x-as-shown' in member) return { 'x-neutral': member['x-as-shown'] }
      if (member.readOnly === true) return {}
      if (!('x-neutral' in member)) return written(member)
      const { 'x-neutral': neutral, 'x-withheld': isWithheld } = member
      return { 'x-neutral': neutral, ...(isWithheld === true ? { 'x-withheld': true } : {}) }
    },
    false,
  )
  return { ...body, properties: { ...body.properties, _embedded: {} } } as TSchema
}

/** Every member but the write-only ones is in a response, and required. */
export function responseSchema(resource: TSchema): TSchema {
  return derive(resource, (member) => (member.writeOnly === true ? null : undefined), true) as TSchema
}

/** For a response that is sent back: replaces its read-only enumeration values, and returns them by member. */
export function withoutReadOnly(
  resource: TSchema,
  body: unknown,
  stored: object,
): { readonly body: unknown; readonly stored: Readonly<Record<string, unknown>> } {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return { body, stored: {} }
  const given = body as Readonly<Record<string, unknown>>
  const there = stored as Readonly<Record<string, unknown>>
  const members = Object.entries((resource as JsonSchema).properties ?? {}).filter(
    ([name, member]) =>
      given[name] === there[name] && member['x-read-only-values']?.includes(String(given[name])) === true,
  )
  const values = (of: (name: string, member: JsonSchema) => unknown) =>
    Object.fromEntries(members.map(([name, member]) => [name, of(name, member)]))
  return {
    body: { ...given, ...values((_, member) => written(member)?.enum?.[0]) },
    stored: values((name) => given[name]),
  }
}

/**
 * Drops what a body repeats of the resource in members that cannot be written. `shown`: what stands at its place there.
 * `isRead`: it may be what was read at any earlier time, so that its value does not matter.
 */
export function withoutShown(
  schema: TSchema,
  body: unknown,
  shown: readonly unknown[],
  isRead: boolean,
): unknown {
  if (!hasAsShown(schema as JsonSchema)) return body
  const { properties, items } = schema as JsonSchema
  if (Array.isArray(body)) {
    if (items === undefined) return body
    // Items may be in another order, or fewer. One without an id was never read.
    const there = shown.flat()
    const byId = new Map(there.map((one) => [idOf(one), one]))
    return body.map((item, index) => {
      const id = idOf(item)
      const one = (id === null ? undefined : byId.get(id)) ?? there[index]
      return withoutShown(items as TSchema, item, [one], isRead && id !== null)
    })
  }
  if (!isObject(body) || properties === undefined) return body
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      const member = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (member === undefined) return [[name, value]]
      const there = shown.flatMap((one) => (isObject(one) && Object.hasOwn(one, name) ? [one[name]] : []))
      if (!('x-as-shown' in member)) return [[name, withoutShown(member as TSchema, value, there, isRead)]]
      return isRead || there.some((one) => isPartOf(value, one)) ? [] : [[name, value]]
    }),
  )
}

const withAsShown = new WeakMap<JsonSchema, boolean>()

/** True if a member at any depth cannot be written. */
function hasAsShown(schema: JsonSchema): boolean {
  const known = withAsShown.get(schema)
  if (known !== undefined) return known
  const parts = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items === undefined ? [] : [schema.items]),
  ]
  const found = parts.some((part) => 'x-as-shown' in part || hasAsShown(part))
  withAsShown.set(schema, found)
  return found
}

function idOf(item: unknown): string | null {
  const id = isObject(item) ? ownValue(item, 'id') : undefined
  return typeof id === 'string' ? id : null
}

/** True if each member has the same value: clients may not know all of what was returned. */
function isPartOf(value: unknown, shown: unknown): boolean {
  if (Array.isArray(value) && Array.isArray(shown))
    return value.length === shown.length && value.every((item, index) => isPartOf(item, shown[index]))
  if (!isObject(value) || !isObject(shown)) return (value ?? null) === (shown ?? null)
  return Object.entries(value).every(([name, member]) => isPartOf(member, ownValue(shown, name)))
}

/** Drops nulls of optional members without a null of their own: each takes its default (D 2, PUT). */
export function withoutNulls(schema: TSchema, body: unknown): unknown {
  const { properties, items, required = [] } = schema as JsonSchema
  if (Array.isArray(body))
    return items === undefined ? body : body.map((item) => withoutNulls(items as TSchema, item))
  if (body === null || typeof body !== 'object' || properties === undefined) return body
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      const member = properties[name]
      if (member === undefined || !Object.hasOwn(properties, name)) return [[name, value]]
      if (value === null && !required.includes(name) && !hasNull(member)) return []
      return [[name, withoutNulls(member as TSchema, value)]]
    }),
  )
}

/** Reads [] as {} wherever only an object is expected: clients in PHP write an empty map as an empty list. */
export function withEmptyMaps(schema: TSchema, body: unknown): unknown {
  const { type, properties, items } = schema as JsonSchema
  if (Array.isArray(body)) {
    if (body.length === 0 && isObjectOnly(type)) return {}
    return items === undefined ? body : body.map((item) => withEmptyMaps(items as TSchema, item))
  }
  if (body === null || typeof body !== 'object' || properties === undefined) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const member = Object.hasOwn(properties, name) ? properties[name] : undefined
      return [name, member === undefined ? value : withEmptyMaps(member as TSchema, value)]
    }),
  )
}

function isObjectOnly(type: JsonSchema['type']): boolean {
  const types = [type ?? []].flat()
  return types.includes('object') && !types.includes('array')
}

function hasNull(member: JsonSchema): boolean {
  if (member.enum !== undefined) return member.enum.includes(null)
  return member.type === undefined || [member.type].flat().includes('null')
}

export function writableValues(member: object): object {
  return written(member) ?? member
}

/** Returns undefined if all values are writable. */
function written({ 'x-read-only-values': readOnlyValues, ...member }: JsonSchema): JsonSchema | undefined {
  return readOnlyValues === undefined
    ? undefined
    : { ...member, enum: (member.enum ?? []).filter((value) => !readOnlyValues.includes(String(value))) }
}

/** Drops members that are not writable, and writes instants in UTC with milliseconds. */
export function writablePart(resource: TSchema, body: unknown): unknown {
  const { properties, items, format } = resource as JsonSchema
  if (format === 'date-time' && typeof body === 'string') {
    const instant = parseInstant(body)
    return instant === null ? body : new Date(instant).toISOString()
  }
  if (Array.isArray(body))
    return items === undefined ? body : body.map((item) => writablePart(items as TSchema, item))
  if (body === null || typeof body !== 'object' || properties === undefined) return body
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      const member = Object.hasOwn(properties, name) ? properties[name] : undefined
      return member === undefined || member.readOnly === true || 'x-neutral' in member
        ? []
        : [[name, writablePart(member as TSchema, value)]]
    }),
  )
}

/** `replace` returns another member, null to omit it, or undefined to keep it. */
function derive(
  schema: JsonSchema,
  replace: (member: JsonSchema) => JsonSchema | null | undefined,
  allRequired: boolean,
): JsonSchema {
  if (schema.items !== undefined) return { ...schema, items: derive(schema.items, replace, allRequired) }
  if (schema.properties === undefined) return schema
  const members = Object.entries(schema.properties).flatMap(([name, member]) => {
    const replaced = replace(member)
    return replaced === null ? [] : [[name, replaced ?? derive(member, replace, allRequired)] as const]
  })
  const names = members.map(([name]) => name)
  const always = members.flatMap(([name, member]) => (member['x-absent-when-unknown'] === true ? [] : [name]))
  return {
    ...schema,
    properties: Object.fromEntries(members),
    required: allRequired ? always : (schema.required ?? []).filter((name) => names.includes(name)),
  }
}

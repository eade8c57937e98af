import type { TSchema } from 'typebox'
import type { InvalidField } from '../../billing/errors.ts'

/** Returns the names that no response of the resource has. */
export function unknownMembers(resource: TSchema, fields: unknown): InvalidField[] {
  const { properties = {} } = resource as { properties?: Record<string, { writeOnly?: boolean }> }
  const unknown = namesOf(fields).filter(
    (name) => !Object.hasOwn(properties, name) || properties[name]?.writeOnly,
  )
  if (unknown.length === 0) return []
  return [{ field: 'fields', code: 'not-one-of', message: `does not support ${unknown.join(', ')}` }]
}

/** Returns the requested members and what is embedded; without the parameter, the body. */
export function selectedMembers(body: unknown, fields: unknown): unknown {
  const names = namesOf(fields)
  if (names.length === 0 || body === null || typeof body !== 'object') return body
  const members = new Set([...names, '_embedded'])
  return Object.fromEntries(Object.entries(body).filter(([name]) => members.has(name)))
}

function namesOf(fields: unknown): string[] {
  return typeof fields === 'string' ? fields.split(',').filter((name) => name !== '') : []
}

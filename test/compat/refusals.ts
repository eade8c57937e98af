import type { ApiResponse } from '../support/api-client.ts'
import { membersOf } from './bodies.ts'
import type { Call } from './call.ts'
import { DIFFERENCES } from './differences.ts'
import { bodyShape } from './facts.ts'
import type { JsonObject } from './json-shape.ts'

export interface InvalidField {
  /** Items are named without their number. */
  readonly field: string
  readonly message: string
}

export function expectedRefusals(call: Call, body: JsonObject): string[] {
  const shape = bodyShape(call)
  const { notSupported = {} } = (shape === undefined ? undefined : DIFFERENCES[shape]) ?? {}
  const used = membersOf(body).flatMap((member) => (member.used ? [member.path] : []))
  return Object.keys(notSupported).filter((path) => used.includes(path))
}

export function invalidFields({ body }: ApiResponse<unknown>): InvalidField[] {
  const { invalidFields: named = [] } = body as { invalidFields?: InvalidField[] }
  const fields = named.map(({ field, message }) => ({
    field: field.replaceAll(/\.\d+(?=\.|$)/g, ''),
    message,
  }))
  return [...new Map(fields.map((one) => [one.field, one])).values()]
}

export function isAtOrBelow(field: string, member: string): boolean {
  return field === member || field.startsWith(`${member}.`)
}

/** Returns the fields that are refused because this release lacks what they are for. */
export function notSupportedOf(named: readonly InvalidField[]): string[] {
  return named.flatMap(({ field, message }) => (message.includes('not supported yet') ? [field] : []))
}

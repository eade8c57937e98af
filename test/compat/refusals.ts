/** Members that a body cannot contain: which ones are known, and which ones a response names. */
import type { ApiResponse } from '../support/api-client.ts'
import { type Member, membersOf } from './bodies.ts'
import type { Call } from './call.ts'
import { DIFFERENCES } from './differences.ts'
import { bodyShape } from './facts.ts'
import type { JsonObject } from './json-shape.ts'
import type { ShapeName } from './shapes.ts'

export interface InvalidField {
  /** Items are named without their number. */
  readonly field: string
  readonly message: string
}

/** Members that were refused, as `DIFFERENCES` has them. */
export type Refused = Readonly<Record<'notSupported' | 'unknown' | 'refuses', Set<string>>>

/** Returns the members of a body that it should be refused for. */
export function expectedRefusals(call: Call, body: JsonObject): string[] {
  const shape = bodyShape(call)
  const differences = shape === undefined ? undefined : DIFFERENCES[shape]
  const { notSupported = [], missing = [], unknown = [], refuses = {} } = differences ?? {}
  const members = membersOf(body)
  const given = (wanted: readonly string[], fits: (member: Member) => boolean) =>
    wanted.filter((path) => members.some((member) => member.path === path && fits(member)))
  return [
    ...given([...notSupported, ...Object.keys(refuses)], ({ used }) => used),
    ...given([...missing, ...unknown], () => true),
    ...Object.keys(call.refuses ?? {}),
  ]
}

/** Returns the fields that a response names, each once. */
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

/** Sorts the members of a shape that were refused by the reason that the response gives. */
export function addRefused(all: Refused, shape: ShapeName, named: readonly InvalidField[]): void {
  for (const { field, message } of named) {
    const member = Object.keys(DIFFERENCES[shape]?.refuses ?? {}).find((one) => isAtOrBelow(field, one))
    if (member !== undefined) all.refuses.add(member)
    else if (message.includes('not supported yet')) all.notSupported.add(field)
    else if (message.includes('not a supported member')) all.unknown.add(field)
  }
}

export function noRefused(): Refused {
  return { notSupported: new Set(), unknown: new Set(), refuses: new Set() }
}

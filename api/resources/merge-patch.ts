import { canonicalJson } from '../../billing/canonical-json.ts'
import { isObject } from '../schemas/is-object.ts'

/** Applies a JSON Merge Patch (RFC 7396): null removes a member, and anything but objects is replaced whole. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name)
    else merged.set(name, mergePatch(merged.get(name), value))
  }
  return Object.fromEntries(merged)
}

export function differingMembers(one: object, other: object): string[] {
  const [left, right] = [one, other] as Readonly<Record<string, unknown>>[]
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
    (name) => canonicalJson(left?.[name] ?? null) !== canonicalJson(right?.[name] ?? null),
  )
}

/** Returns the members of the first that the second has unchanged, or lacks while they are null. */
export function equalMembers(one: object, other: unknown): string[] {
  const differing = new Set(differingMembers(one, isObject(other) ? other : {}))
  return Object.keys(one).filter((name) => !differing.has(name))
}

import {
  alternatives,
  hasDiscriminators,
  isObject,
  isRequired,
  type JsonShape,
  shapeOf,
} from './json-shape.ts'
import type { ShapeName } from './shapes.ts'

/** Members by their path, `items.price` for that of any item. */
export interface Findings {
  readonly returned: Set<string>
  readonly notReturned: Set<string>
  readonly otherwise: Map<string, string>
}

export function noFindings(): Findings {
  return { returned: new Set(), notReturned: new Set(), otherwise: new Map() }
}

/** Members that the shape lacks are allowed, and so is null at an optional member. */
export function compare(name: ShapeName, value: unknown): Findings {
  const findings = noFindings()
  compareValue(shapeOf(name), value, [], findings)
  return findings
}

export function addFindings(all: Findings, more: Findings): void {
  for (const path of more.returned) all.returned.add(path)
  for (const path of more.notReturned) all.notReturned.add(path)
  for (const [path, text] of more.otherwise) all.otherwise.set(path, text)
}

/** Returns the first of several shapes that a value can be; the first one if it is none. */
export function shapeOfValue(names: readonly ShapeName[], value: unknown): ShapeName {
  const [first] = names
  if (first === undefined) throw new Error('no shape')
  const isOne = (name: ShapeName) =>
    alternatives(shapeOf(name)).some(
      (shape) =>
        hasDiscriminators(shape, value) &&
        (shape.required ?? []).every((member) => isObject(value) && value[member] != null),
    )
  return names.find(isOne) ?? first
}

function compareValue(shape: JsonShape, value: unknown, path: readonly string[], findings: Findings): void {
  const shapes = alternatives(shape)
  if (value === null && (shapes.length === 0 || allowsNull(shape))) return
  const candidates = shapes.filter((one) => isOfKind(one, value))
  if (candidates.length === 0) {
    findings.otherwise.set(
      path.join('.'),
      `${JSON.stringify(value)?.slice(0, 80)} is not ${shapes.map(nameOf).join(' or ')}`,
    )
    return
  }
  const results = candidates.map((one) => {
    const result = noFindings()
    compareContent(one, value, path, result)
    return result
  })
  const best = results.find(({ otherwise }) => otherwise.size === 0) ?? results[0]
  if (best !== undefined) addFindings(findings, best)
}

function compareContent(shape: JsonShape, value: unknown, path: readonly string[], findings: Findings): void {
  if (Array.isArray(value)) {
    for (const item of value) compareValue(shape.items ?? {}, item, path, findings)
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(shape.properties ?? {})) {
      const memberPath = [...path, name]
      const isThere = Object.hasOwn(value, name)
      findings[isThere ? 'returned' : 'notReturned'].add(memberPath.join('.'))
      if (!isThere || (value[name] === null && !isRequired(shape, name))) continue
      compareValue(member, value[name], memberPath, findings)
    }
    for (const member of Object.values(shape.patternProperties ?? {}))
      for (const item of Object.values(value)) compareValue(member, item, [...path, '*'], findings)
  }
}

function allowsNull(shape: JsonShape): boolean {
  return (
    shape.type === 'null' ||
    (shape.anyOf ?? []).some(allowsNull) ||
    (shape.enum === undefined &&
      shape.type === undefined &&
      shape.anyOf === undefined &&
      shape.allOf === undefined)
  )
}

function isOfKind(shape: JsonShape, value: unknown): boolean {
  if (shape.enum !== undefined) return shape.enum.includes(value)
  switch (shape.type) {
    case undefined:
      return true
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value) && (shape.properties === undefined || hasDiscriminators(shape, value))
    default:
      return typeof value === shape.type
  }
}

function nameOf(shape: JsonShape): string {
  return shape.enum === undefined ? (shape.title ?? shape.type ?? 'anything') : shape.enum.join('|')
}

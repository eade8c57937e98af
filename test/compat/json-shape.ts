import { SHAPES, type ShapeName } from './shapes.ts'

export interface JsonShape {
  readonly title?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly anyOf?: readonly JsonShape[]
  readonly allOf?: readonly JsonShape[]
  readonly properties?: Readonly<Record<string, JsonShape>>
  readonly patternProperties?: Readonly<Record<string, JsonShape>>
  readonly required?: readonly string[]
  readonly items?: JsonShape
}

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
export type JsonObject = { [name: string]: Json }

export function shapeOf(name: ShapeName): JsonShape {
  return SHAPES[name] as JsonShape
}

/** Returns the shapes of which a value is one, without null; parts that belong together are one shape. */
export function alternatives(shape: JsonShape): JsonShape[] {
  if (shape.anyOf !== undefined) return shape.anyOf.flatMap(alternatives)
  if (shape.type === 'null') return []
  if (shape.allOf === undefined) return [shape]
  const parts = shape.allOf.map((part) => alternatives(part)[0] ?? {})
  return [
    {
      type: 'object',
      properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
      required: [...new Set(parts.flatMap(({ required = [] }) => required))],
      ...titleOf(parts),
    },
  ]
}

function titleOf(parts: readonly JsonShape[]): { title?: string } {
  const title = parts.findLast((part) => part.title !== undefined)?.title
  return title === undefined ? {} : { title }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a member that has only one, such as `method` and `formula`, distinguishes shapes. */
export function hasDiscriminators(shape: JsonShape, value: unknown): boolean {
  return (
    isObject(value) &&
    Object.entries(shape.properties ?? {}).every(
      ([name, member]) =>
        member.enum?.length !== 1 || member.enum[0] === value[name] || !isRequired(shape, name),
    )
  )
}

export function isRequired({ required = [] }: JsonShape, name: string): boolean {
  return required.includes(name)
}

/**
 * Members that this release knows and does not build yet. A neutral value says that the feature is not used;
 * another value is refused, so that nothing that matters is dropped in silence (D 2, Members).
 */
import Type, { type TProperties, type TSchema } from 'typebox'
import { ReadOnly } from './conventions.ts'

export const NotSupportedYet = (schema: TSchema, neutral: unknown) => {
  const { description, ...rest } = schema as TSchema & { description?: string }
  const note = `Not supported yet: always ${JSON.stringify(neutral)}.`
  return Type.Optional(
    Type.Unsafe<never>({
      ...rest,
      description: description === undefined ? note : `${description} ${note}`,
      'x-neutral': neutral,
    }),
  )
}

/** Members by name, each as its neutral value shows it: null, false, 0, "", [] or {}. */
export const notSupportedYet = <T extends Readonly<Record<string, unknown>>>(neutrals: T) =>
  Object.fromEntries(
    Object.entries(neutrals).map(([name, neutral]) => [name, NotSupportedYet(schemaOf(neutral), neutral)]),
  ) as { [Name in keyof T]: ReturnType<typeof NotSupportedYet> }

/** Ignored in a body, whatever they hold. */
export const readOnlyNotSupportedYet = <T extends Readonly<Record<string, unknown>>>(neutrals: T) =>
  Object.fromEntries(
    Object.entries(notSupportedYet(neutrals)).map(([name, member]) => [name, ReadOnly(member)]),
  ) as ReturnType<typeof notSupportedYet<T>>

/** Responses do not contain them. */
export const writeOnlyNotSupportedYet = <T extends Readonly<Record<string, unknown>>>(neutrals: T) =>
  Object.fromEntries(
    Object.entries(notSupportedYet(neutrals)).map(([name, member]) => [
      name,
      Type.Optional({ ...member, writeOnly: true }),
    ]),
  ) as unknown as ReturnType<typeof notSupportedYet<T>>

/** Members that a body may contain with an empty value, and the document does not show. Read-only ones are ignored. */
export const withheld = (members: TProperties): TProperties =>
  Object.fromEntries(
    Object.entries(members).map(
      ([name, { readOnly = false }]: [string, TSchema & { readOnly?: boolean }]) => {
        const known = Type.Optional({ ...schemaOf(null), 'x-neutral': null, 'x-withheld': true })
        return [name, readOnly ? ReadOnly(known) : known]
      },
    ),
  )

/** True for an empty value, and for the one that responses contain. */
export function isNeutral(value: unknown, neutral: unknown): boolean {
  if (value === neutral || value === null || value === false || value === 0 || value === '') return true
  if (Array.isArray(value)) return value.length === 0 || isSame(value, neutral)
  if (typeof value !== 'object' || value === undefined) return false
  const known = typeof neutral === 'object' && neutral !== null ? (neutral as Record<string, unknown>) : {}
  return Object.entries(value).every(([name, member]) => isNeutral(member, known[name]))
}

type Fill = (value: unknown) => unknown

/** The function adds the neutral members to a response, at any depth. */
export function neutralMembersOf(schema: TSchema): Fill {
  return fillOf(schema as Member) ?? ((value) => value)
}

interface Member {
  readonly 'x-neutral'?: unknown
  readonly properties?: Readonly<Record<string, Member>>
  readonly items?: Member
}

/** Returns null where a schema has no neutral member, which spares a walk over most values. */
function fillOf(schema: Member): Fill | null {
  if (schema.items !== undefined) {
    const fill = fillOf(schema.items)
    return fill === null ? null : (value) => (Array.isArray(value) ? value.map(fill) : value)
  }
  const members = Object.entries(schema.properties ?? {})
  const neutral = Object.fromEntries(
    members.flatMap(([name, member]) => ('x-neutral' in member ? [[name, member['x-neutral']]] : [])),
  )
  const inner = members.flatMap(([name, member]) => {
    const fill = 'x-neutral' in member ? null : fillOf(member)
    return fill === null ? [] : [[name, fill] as const]
  })
  if (Object.keys(neutral).length === 0 && inner.length === 0) return null
  return (value) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
    const filled: Record<string, unknown> = { ...value }
    for (const [name, nothing] of Object.entries(neutral)) {
      if (!Object.hasOwn(filled, name)) filled[name] = nothing
    }
    for (const [name, fill] of inner) if (Object.hasOwn(filled, name)) filled[name] = fill(filled[name])
    return filled
  }
}

function schemaOf(neutral: unknown): TSchema {
  if (Array.isArray(neutral)) return Type.Array(Type.Unknown(), { maxItems: 1000 })
  switch (typeof neutral) {
    case 'boolean':
      return Type.Boolean()
    case 'number':
      return Type.Number()
    case 'string':
      return Type.String()
    default:
      return neutral === null
        ? Type.Unsafe<null>({ type: ['string', 'number', 'boolean', 'object', 'array', 'null'] })
        : Type.Object({}, { additionalProperties: true })
  }
}

function isSame(value: unknown, neutral: unknown): boolean {
  return JSON.stringify(value) === JSON.stringify(neutral)
}

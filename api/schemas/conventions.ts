/** Building blocks of schemas: one for each resource, of which those of bodies and responses are made. */
import Type, { type Static, type TSchema } from 'typebox'
import { ID_PATTERN } from '../../billing/id-format.ts'

export const Id = (description: string, options: object = {}) =>
  Type.String({ pattern: ID_PATTERN, maxLength: 50, description, ...options })
/** From 1970 to 9999, ISO 8601 with an offset. */
export const Instant = (description: string, options: object = {}) =>
  Type.String({ format: 'date-time', description, ...options })
export const Text = (description: string, options: object = {}) =>
  Type.String({ maxLength: 255, description, ...options })
export const Amount = (description: string, options: object = {}) =>
  Type.Number({ exclusiveMinimum: -1e12, exclusiveMaximum: 1e12, description, ...options })
/** A member that may be null, and is null if it is missing. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Optional(OrNull(schema, { default: null }))
/** One schema with two types: a validation error then names the value and not alternatives. */
export const OrNull = <T extends TSchema>(schema: T, options: object = {}) => {
  const { type, enum: values, ...rest } = schema as TSchema & { type?: string; enum?: unknown[] }
  return Type.Unsafe<Static<T> | null>({
    ...rest,
    ...(type === undefined ? {} : { type: [type, 'null'] }),
    ...(values === undefined ? {} : { enum: [...values, null] }),
    ...options,
  })
}
/** A body may contain it; the value is ignored. */
export const ReadOnly = <T extends TSchema>(schema: T) => Type.Optional({ ...schema, readOnly: true } as T)
const REFUSED = 'Another value in a new resource, or in a PATCH, is refused (422).'
/**
 * A body may contain it as the resource shows it, or at the neutral value; another value is refused as not supported, unless the
 * body replaces a resource, of which it may be an earlier copy.
 */
export const AsShown = <T extends TSchema>(schema: T, neutral: unknown = null) => {
  const { description } = schema as { readonly description?: string }
  return ReadOnly({
    ...schema,
    description: description === undefined ? REFUSED : `${description} ${REFUSED}`,
    'x-as-shown': neutral,
  } as T)
}
export const WriteOnly = <T extends TSchema>(schema: T) => Type.Optional({ ...schema, writeOnly: true } as T)
/** A response omits it if it has no value. */
export const OmittedWhenUnknown = <T extends TSchema>(schema: T) =>
  Type.Optional({ ...schema, 'x-absent-when-unknown': true } as T)

/** Left out in events and by `expand`. */
export const NotEmbedded = <T extends TSchema>(schema: T) => ({ ...schema, 'x-not-embedded': true }) as T

export const Inside = <T extends TSchema>(schema: T): T => {
  const { $id: _, ...rest } = schema as T & { $id?: string }
  return rest as T
}

/** A body may contain a response-only value only if the resource has it already. */
export const EnumWithReadOnlyValues = <T extends string>(
  values: readonly T[],
  readOnlyValues: readonly string[],
  options: object = {},
) =>
  Type.Unsafe<T>({
    type: 'string',
    enum: [...values, ...readOnlyValues],
    'x-read-only-values': readOnlyValues,
    ...options,
  })

/** Values that are not supported yet are known, and refused as such. */
export const PartlySupported = <T extends string>(supported: readonly T[], schema: TSchema) =>
  Type.Unsafe<T>({ ...schema, 'x-supported': supported })

/** Names of the caller. `Type.Record` would leave out those with a line break, and forget how long a name may be. */
export const MapOf = <T extends TSchema>(value: T, options: object = {}) =>
  Type.Unsafe<Record<string, Static<T>>>({
    type: 'object',
    propertyNames: Type.String({ maxLength: 255 }),
    additionalProperties: value,
    ...options,
  })

export const CustomFields = Type.Optional(
  Type.Record(Type.String(), Type.Unknown(), {
    maxProperties: 1000,
    default: {},
    description:
      'Custom data of your own, returned unchanged. Numbers must be ones that a double-precision number keeps.',
  }),
)

export const resourceMembers = {
  id: ReadOnly(Id('Id, unique in the organization.')),
  revision: ReadOnly(
    Type.Integer({
      minimum: 1,
      description: 'Number of the current revision. A webhook payload with a lower revision is outdated.',
    }),
  ),
  createdTime: ReadOnly(Instant('When the resource was created.')),
  updatedTime: ReadOnly(Instant('When the resource was last updated.')),
  _links: ReadOnly(
    Type.Array(
      Type.Object(
        { rel: Type.String(), href: Type.String({ format: 'uri' }) },
        { title: 'Link', description: 'A link.' },
      ),
      {
        description: 'Links to the resource and to related resources.',
      },
    ),
  ),
}

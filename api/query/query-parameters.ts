import Type, { type TSchema } from 'typebox'
import type { Presentable, Resource, ResourceRow } from '../resources/resource.ts'
import { pageParameters } from './paging.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))
/** Values separated by commas. The document lists them; the operation checks them. */
const listOf = (values: readonly string[], description: string) =>
  Type.Optional(Type.String({ description, 'x-list-of': values }))
const eitherWay = (names: readonly string[]) => names.flatMap((name) => [name, `-${name}`])
/** The members depend on the operation, whose document lists them. */
const fieldsQuery = {
  fields: listOf([], 'Members to return, separated by commas. All if it is missing.'),
}

/** A list that was sent as repeated parameters becomes one text, as if separated by commas. */
export function withJoinedLists(
  query: Readonly<Record<string, unknown>>,
  schema: TSchema | undefined,
): Record<string, unknown> {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, object> }
  const isList = (name: string) => Object.hasOwn(properties, name) && 'x-list-of' in (properties[name] ?? {})
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [
      name,
      Array.isArray(value) && isList(name) ? value.join(',') : value,
    ]),
  )
}

export const fieldsQuerySchema = Type.Object(fieldsQuery, { additionalProperties: false })

export function pagedQuerySchema<Row>({ expanders }: Pick<Presentable<Row>, 'expanders'>): TSchema {
  return Type.Object(
    { ...pageParameters, ...fieldsQuery, ...expandQuery(expanders) },
    { additionalProperties: false },
  )
}

export const mergeQuery = Type.Object(
  {
    targetCustomerId: text(
      'Customer that takes over all records of the deleted one, which is a duplicate of it.',
    ),
  },
  { additionalProperties: false },
)

export const pageQuery = Type.Object({ ...pageParameters, ...fieldsQuery }, { additionalProperties: false })

export function listQuerySchema<Row extends ResourceRow>({ fields, expanders }: Resource<Row>): TSchema {
  return Type.Object(
    {
      ...pageParameters,
      ...sortQuery(fields),
      filter: text(
        `Conditions of the form field:value. Separate alternatives with a comma and conditions with a semicolon; negate values with !, and write ranges as a..b. Supported: ${Object.keys(fields).join(', ')}.`,
      ),
      q: text('Text to search for in all text members.'),
      ...fieldsQuery,
      ...expandQuery(expanders),
    },
    { additionalProperties: false },
  )
}

export function filteredQuery<Row extends ResourceRow>(resource: Resource<Row>): TSchema {
  const { q: _, ...parameters } = (
    listQuerySchema(resource) as TSchema & { properties: Record<string, TSchema> }
  ).properties
  return Type.Object(parameters, { additionalProperties: false })
}

function sortQuery(fields: object) {
  return {
    sort: listOf(
      eitherWay(Object.keys(fields)),
      'Members to sort by, separated by commas. Prefix a member with - to sort in descending order.',
    ),
  }
}

export function readQuerySchema<Row>({ expanders }: Pick<Presentable<Row>, 'expanders'>): TSchema {
  return Type.Object({ ...fieldsQuery, ...expandQuery(expanders) }, { additionalProperties: false })
}

export function expandQuerySchema<Row>({ expanders }: Pick<Presentable<Row>, 'expanders'>): TSchema {
  return Type.Object(expandQuery(expanders), { additionalProperties: false })
}

function expandQuery(expanders: object = {}) {
  const names = Object.keys(expanders)
  return names.length === 0
    ? {}
    : { expand: listOf(names, 'Related objects to embed in `_embedded`, separated by commas.') }
}

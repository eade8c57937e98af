/** What every resource does the same way: read, list, create, upsert, delete, expand. */
import { DecimalType, type EntityClass, UniqueConstraintViolationException } from '@mikro-orm/core'
import Type, { type TSchema } from 'typebox'
import { canonicalJson } from '../billing/canonical-json.ts'
import { plainAmount } from '../billing/money.ts'
import { ID_PATTERN } from '../db/ids.ts'
import { lockRow } from '../db/lock-row.ts'
import { plainRowReader } from '../db/plain-rows.ts'
import { resourceUrl } from '../db/representations/links.ts'
import { composedStatement, statement } from '../db/statement.ts'
import type { UnitOfWork } from '../db/unit-of-work.ts'
import { type Embedding, findEmbedded } from './embedding.ts'
import type { OperationAnswer, OperationContext } from './operation.ts'
import { isNotModified, requirePreconditions } from './preconditions.ts'
import { Problem } from './problems.ts'
import type { Fields } from './query/fields.ts'
import { type ListParameters, ListQueryError, listQuery } from './query/list-query.ts'

export interface ResourceRow {
  organizationId: string
  id: string
  revision: number
  updatedTime: Date
}

/**
 * What `expand` asks for: a record that the row refers to, or else how it is found for all rows of a page at once, by row
 * id, null where there is nothing.
 */
export type Expander<Row> =
  | Embedding<Row>
  | ((rows: readonly Row[], context: OperationContext) => Promise<ReadonlyMap<string, unknown>>)

export interface Resource<Row extends ResourceRow> {
  /** As in operation ids: `Dispute`. */
  readonly name: string
  /** As people say it: `payment token`. */
  readonly label: string
  /** First segment of its paths. */
  readonly path: string
  readonly schema: TSchema
  readonly entity: EntityClass<Row>
  readonly table: string
  /** Columns beside the table's own, as a select lists them. */
  readonly computed?: string
  /** Expression over the row that `q` searches. */
  readonly search: string
  readonly fields: Fields
  /** Condition over the row, aliased `row`, that every list holds to. */
  readonly listed?: string
  /** Whether it may show what has changed without its own revision: it is then never answered as not modified. */
  readonly isVolatile?: (row: Row) => boolean
  readonly present: (row: Row, context: OperationContext) => object | Promise<object>
  /** Shows a page of them at once, where each alone would ask the database. */
  readonly presentPage?: (rows: readonly Row[], context: OperationContext) => Promise<object[]>
  readonly expanders?: Readonly<Record<string, Expander<Row>>>
}

/** How a body becomes a row and changes one; both run in the unit's transaction, with the row locked. */
export interface Writer<Row extends ResourceRow, Body> {
  /** Applies what time has done to the row before the unit's instant, as its workflow would; raises the revision itself. */
  settle?(unit: UnitOfWork, row: Row): void | Promise<void>
  /** Makes the row of that id. */
  create(unit: UnitOfWork, id: string, body: Body, context: OperationContext): Row | Promise<Row>
  /** Changes the row; what it leaves as it was raises no revision. */
  update(unit: UnitOfWork, row: Row, body: Body, context: OperationContext): void | Promise<void>
  /** What follows from a change that was one: events, wake-ups. */
  changed?(unit: UnitOfWork, row: Row, context: OperationContext): void | Promise<void>
}

const page = {
  limit: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1000, default: 100, description: 'Items at most.' }),
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1000, default: 0, description: 'Items to skip.' }),
  ),
}
const text = (description: string) => Type.Optional(Type.String({ description }))

/** Query parameters of a list that only pages. */
export const pageQuery = Type.Object(page, { additionalProperties: false })

/** Query parameters of a list that can be sorted, but not filtered. */
export const sortedQuery = Type.Object(
  { ...page, sort: text('Members, comma separated; - before one descends.') },
  { additionalProperties: false },
)

/** Query parameters of a full list. */
export function listQuerySchema<Row extends ResourceRow>({ fields, expanders }: Resource<Row>): TSchema {
  return Type.Object(
    {
      ...page,
      sort: text(
        `Members, comma separated; - before one descends. Known: ${Object.keys(fields).join(', ')}.`,
      ),
      filter: text(
        'field:value, with , for or, ; for and, ! to leave out, a..b for ranges. The fields are those of sort.',
      ),
      q: text('Part of any of its texts.'),
      ...expandQuery(expanders),
    },
    { additionalProperties: false },
  )
}

/** Query parameters of an operation on one resource. */
export function expandQuerySchema<Row extends ResourceRow>({ expanders }: Resource<Row>): TSchema {
  return Type.Object(expandQuery(expanders), { additionalProperties: false })
}

function expandQuery(expanders: object = {}) {
  const names = Object.keys(expanders)
  return names.length === 0
    ? {}
    : { expand: text(`Related objects to embed, comma separated: ${names.join(', ')}.`) }
}

/** GET of one: 304 where the caller has it already. */
export async function readOne<Row extends ResourceRow>(
  context: OperationContext,
  resource: Resource<Row>,
): Promise<OperationAnswer> {
  const id = context.params.id ?? ''
  const [found] = await statement<Record<string, unknown>>(
    context.em,
    `read-${resource.table}`,
    selection(resource, 'row.organization_id = ? and row.id = ?'),
    [context.organizationId, id],
  )
  if (found === undefined) throw absent(resource, id)
  const row = plainRowReader(context.em, resource.entity)(found)
  const isNeverSame = context.query.expand !== undefined || resource.isVolatile?.(row) === true
  if (!isNeverSame && isNotModified(context.preconditions, row.revision)) {
    return { status: 304, revision: row.revision }
  }
  return await answerOne(context, resource, row)
}

/** GET of many, with the paging headers. */
export async function list<Row extends ResourceRow>(
  context: OperationContext,
  resource: Resource<Row>,
  restriction: { readonly text: string; readonly values: readonly unknown[] } = { text: 'true', values: [] },
): Promise<OperationAnswer> {
  const { em, organizationId } = context
  const { limit, offset, ...parameters } = context.query as unknown as ListParameters &
    Record<'limit' | 'offset', number>
  const { where, orderBy } = readListQuery(parameters, resource, organizationId)
  const { listed = 'true' } = resource
  const condition = `row.organization_id = ? and ${listed} and (${restriction.text}) and ${where.text}`
  const values = [organizationId, ...restriction.values, ...where.values]
  const found =
    limit === 0
      ? []
      : await composedStatement<Record<string, unknown>>(
          em,
          selection(resource, `${condition} order by ${orderBy.text} limit ? offset ?`),
          [...values, ...orderBy.values, limit, offset],
        )
  const rows = found.map(plainRowReader(em, resource.entity))
  const total =
    rows.length > 0 && rows.length < limit
      ? offset + rows.length
      : ((
          await composedStatement<{ total: number }>(
            em,
            `select count(*)::int as total from ${resource.table} row where ${condition}`,
            values,
          )
        )[0]?.total ?? 0)
  return {
    body: await presentAll(context, resource, rows),
    headers: {
      'Pagination-Total': String(total),
      'Pagination-Limit': String(limit),
      'Pagination-Offset': String(offset),
    },
  }
}

/** Text of a select of rows that are shown, and that nothing will change. */
function selection(
  { table, computed }: Pick<Resource<ResourceRow>, 'table' | 'computed'>,
  condition: string,
): string {
  return `select row.*${computed === undefined ? '' : `, ${computed}`} from ${table} row where ${condition}`
}

/** POST: makes one under the id given. */
export async function create<Row extends ResourceRow, Body>(
  context: OperationContext,
  resource: Resource<Row>,
  writer: Pick<Writer<Row, Body>, 'create'>,
  newId: () => string,
): Promise<OperationAnswer> {
  requireKnownExpansions(context, resource)
  const body = context.body<Body>()
  return await context.commit(async (unit) =>
    answerCreated(context, resource, await writer.create(unit, newId(), body, context)),
  )
}

/** PUT: changes the one of the path's id, or makes it. Of two that make it at once, one makes and one changes it. */
export async function upsert<Row extends ResourceRow, Body>(
  context: OperationContext,
  resource: Resource<Row>,
  writer: Writer<Row, Body>,
): Promise<OperationAnswer> {
  const id = context.params.id ?? ''
  requireKnownExpansions(context, resource)
  const attempt = () =>
    context.commit(async (unit) => {
      const row = await lockRow(unit, resource.entity, id)
      if (row !== null) await writer.settle?.(unit, row)
      requirePreconditions(context.preconditions, row?.revision ?? null)
      const body = context.body<Body>(row ?? {})
      if (row !== null) {
        const changed = await changeRow(unit, row, () => writer.update(unit, row, body, context))
        if (changed) await writer.changed?.(unit, row, context)
        return await answerOne(context, resource, row)
      }
      if (!new RegExp(ID_PATTERN).test(id)) {
        const invalidFields = [
          { field: 'id', message: 'must be 1 to 50 letters, digits, or any of _ @ ~ - .' },
        ]
        throw new Problem('validation-error', 'The id of the path cannot be an id.', { invalidFields })
      }
      return await answerCreated(context, resource, await writer.create(unit, id, body, context))
    })
  for (let made = 1; ; made += 1) {
    try {
      return await attempt()
    } catch (error) {
      // Another made it first. One that is deleted and made anew meanwhile can take more than one attempt.
      if (!isDuplicate(error) || made === MOST_ATTEMPTS) throw error
    }
  }
}

/** Whether a row of that key is there already, as the ORM or the driver tells. */
function isDuplicate(error: unknown): boolean {
  if (error instanceof UniqueConstraintViolationException) return true
  return Error.isError(error) && (error as { code?: unknown }).code === '23505'
}

/** How often an upsert may lose the race for its id before something else must be wrong. */
const MOST_ATTEMPTS = 10

/** DELETE: removes the one of the path's id, unless `refuse` throws. */
export async function remove<Row extends ResourceRow>(
  context: OperationContext,
  resource: Resource<Row>,
  refuse: (unit: UnitOfWork, row: Row) => void | Promise<void> = () => {},
): Promise<OperationAnswer> {
  const id = context.params.id ?? ''
  return await context.commit(async (unit) => {
    const row = await lockRow(unit, resource.entity, id)
    if (row === null) throw absent(resource, id)
    requirePreconditions(context.preconditions, row.revision)
    await refuse(unit, row)
    unit.em.remove(row)
    return {}
  })
}

export function absent({ label }: Pick<Resource<ResourceRow>, 'label'>, id: string): Problem {
  return new Problem('not-found', `There is no ${label} with the id ${id}.`)
}

/** Runs a change; where it changed anything, the revision is raised by one. */
export async function changeRow(
  unit: UnitOfWork,
  row: Pick<ResourceRow, 'revision' | 'updatedTime'>,
  change: () => void | Promise<void>,
): Promise<boolean> {
  const before = snapshot(unit, row)
  const { revision } = row
  await change()
  if (snapshot(unit, row) === before) return false
  // A command that settles the record raises it itself; one commit is one revision.
  if (row.revision === revision) row.revision += 1
  row.updatedTime = unit.now
  return true
}

/** The row as one text, the same for equal content. */
function snapshot({ em }: UnitOfWork, row: object): string {
  const { properties } = em.getMetadata().get(row.constructor as EntityClass<Record<string, unknown>>)
  const { revision: _, updatedTime: __, ...rest } = row as Record<string, unknown>
  const members = Object.entries(rest).map(([name, value]) => {
    // PostgreSQL gives decimals padded to their scale: 12.500000 is the 12.5 that a body brings.
    const isDecimal = properties[name]?.customType instanceof DecimalType && value != null
    return [name, isDecimal ? plainAmount(String(value)) : (value ?? null)]
  })
  return canonicalJson(Object.fromEntries(members))
}

/** 201 with the new resource and where it is. */
export async function answerCreated<Row extends ResourceRow>(
  context: OperationContext,
  resource: Resource<Row>,
  row: Row,
): Promise<OperationAnswer> {
  const { baseUrl, organizationId } = context
  return {
    ...(await answerOne(context, resource, row)),
    status: 201,
    location: resourceUrl(baseUrl, organizationId, ...resource.path.split('/'), row.id),
  }
}

/** 200 with the resource; with its entity tag, unless it is expanded. */
export async function answerOne<Row extends ResourceRow>(
  context: OperationContext,
  resource: Resource<Row>,
  row: Row,
): Promise<OperationAnswer> {
  const [body] = await presentAll(context, resource, [row])
  return context.query.expand === undefined ? { body, revision: row.revision } : { body }
}

async function presentAll<Row extends ResourceRow>(
  context: OperationContext,
  resource: Resource<Row>,
  rows: readonly Row[],
): Promise<object[]> {
  const names = requireKnownExpansions(context, resource)
  const shown = await (resource.presentPage?.(rows, context) ??
    Promise.all(rows.map((row) => resource.present(row, context))))
  if (names.length === 0) return shown
  const embeddings: [string, Embedding<Row>][] = []
  const searches: Promise<[string, ReadonlyMap<string, unknown>][]>[] = []
  for (const name of names) {
    const expander = resource.expanders?.[name]
    if (typeof expander === 'function') {
      searches.push(expander(rows, context).then((found) => [[name, found]]))
    } else if (expander !== undefined) embeddings.push([name, expander])
  }
  const embedded = new Map((await Promise.all([findEmbedded(rows, embeddings, context), ...searches])).flat())
  return shown.map((body, index) => ({
    ...body,
    _embedded: Object.fromEntries(
      names.map((name) => [name, embedded.get(name)?.get(rows[index]?.id ?? '') ?? null]),
    ),
  }))
}

function requireKnownExpansions<Row extends ResourceRow>(
  context: OperationContext,
  { expanders = {} }: Resource<Row>,
): string[] {
  const names = String(context.query.expand ?? '')
    .split(',')
    .filter((name) => name !== '')
  const unknown = names.filter((name) => !Object.hasOwn(expanders, name))
  if (unknown.length === 0) return names
  const invalidFields = [{ field: 'expand', message: `cannot expand ${unknown.join(', ')}` }]
  throw new Problem('malformed-request', `expand cannot name ${unknown.join(', ')}.`, { invalidFields })
}

function readListQuery(
  parameters: ListParameters,
  { fields, search, schema }: Pick<Resource<ResourceRow>, 'fields' | 'search' | 'schema'>,
  organizationId: string,
) {
  try {
    const { properties = {} } = schema as { properties?: object }
    const hasCustomFields = 'customFields' in properties
    return listQuery(parameters, fields, search, { organizationId, hasCustomFields })
  } catch (error) {
    if (!(error instanceof ListQueryError)) throw error
    throw new Problem('malformed-request', error.message, { invalidFields: error.fields })
  }
}

/** What a resource of the API is: its table, its members, and how a body becomes a row. */
import type { EntityClass } from '@mikro-orm/core'
import type { TSchema } from 'typebox'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { Problem } from '../http/problems.ts'
import type { OperationContext } from '../operation.ts'
import type { Fields } from '../query/fields.ts'
import type { Embedding } from './embedding.ts'

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
  advance?(unit: UnitOfWork, row: Row): void | Promise<void>
  /** Makes the row of that id. */
  create(unit: UnitOfWork, id: string, body: Body, context: OperationContext): Row | Promise<Row>
  /** Changes the row; what it leaves as it was raises no revision. */
  update(unit: UnitOfWork, row: Row, body: Body, context: OperationContext): void | Promise<void>
  /** What follows from a change that was one: events, wake-ups. */
  changed?(unit: UnitOfWork, row: Row, context: OperationContext): void | Promise<void>
}

export function notFound({ label }: Pick<Resource<ResourceRow>, 'label'>, id: string): Problem {
  return new Problem('not-found', `No ${label} with the id ${id} exists.`)
}

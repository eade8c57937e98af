import type { EntityClass } from '@mikro-orm/core'
import type { TSchema } from 'typebox'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { Problem } from '../http/problems.ts'
import type { OperationContext } from '../operation.ts'
import type { Fields } from '../query/fields.ts'
import type { Embedding } from './embedding.ts'

/** A condition over the row, aliased `row`. Its text is the same for all requests. */
export interface Restriction {
  readonly text: string
  readonly values: readonly unknown[]
}

export interface ResourceRow {
  organizationId: string
  id: string
  revision: number
  updatedTime: Date
}

/** What `expand` embeds: a referenced record, or a function that finds records for a page, by row id. */
export type Expander<Row> =
  | Embedding<Row>
  | ((rows: readonly Row[], context: OperationContext) => Promise<ReadonlyMap<string, unknown>>)

export interface Presentable<Row> {
  readonly present: (row: Row, context: OperationContext) => object | Promise<object>
  /** Presents all rows of a page at once, if each alone would query the database. */
  readonly presentPage?: (rows: readonly Row[], context: OperationContext) => Promise<object[]>
  readonly expanders?: Readonly<Record<string, Expander<Row>>>
}

/** For what no record has. */
export const alwaysNull: Expander<object> = async () => new Map()

export interface Resource<Row extends ResourceRow> extends Presentable<Row> {
  /** As in operation ids: `Dispute`. */
  readonly name: string
  /** As in sentences: `payment token`. */
  readonly label: string
  readonly path: string
  readonly schema: TSchema
  readonly entity: EntityClass<Row>
  readonly table: string
  /** What its list reads; default: the rows of the table. */
  readonly rows?: string
  /** Columns beside the table's own, as a select list. */
  readonly computed?: string
  /** Expression over the row that `q` searches. */
  readonly search: string
  readonly fields: Fields
  /** Condition over the row, aliased `row`, of every list. */
  readonly listed?: string
  /** Condition of every list and every read of one: other rows do not exist for the caller. */
  readonly restriction?: (context: OperationContext) => Restriction
  /** True if its representation may change without its revision; 304 never occurs then. */
  readonly isVolatile?: (row: Row) => boolean
}

/** All but `before` run in the unit's transaction, with the row locked. */
export interface Writer<Row extends ResourceRow, Body> {
  /** Asks what another connection or system has to say of a new row, before the transaction and with a valid body. */
  before?(context: OperationContext): Promise<void>
  /** Locks the row, if locks other than its own come first. */
  lock?(unit: UnitOfWork, id: string): Promise<Row | null>
  /** Locks the owner of a new row, if of two requests that create the row the second has to wait for it. */
  lockOwner?(unit: UnitOfWork, body: Body): Promise<unknown>
  /** Advances the row to the unit's instant, as its workflow would, and increments the revision itself. */
  advance?(unit: UnitOfWork, row: Row): void | Promise<void>
  create(unit: UnitOfWork, id: string, body: Body, context: OperationContext): Row | Promise<Row>
  update(unit: UnitOfWork, row: Row, body: Body, context: OperationContext): void | Promise<void>
  /** True if its commands validate custom fields themselves. */
  readonly checksCustomFields?: boolean
  /** Emits events and wake-ups of a real change. */
  changed?(unit: UnitOfWork, row: Row, context: OperationContext): void | Promise<void>
}

export function notFound({ label }: Pick<Resource<ResourceRow>, 'label'>, id: string): Problem {
  return new Problem('not-found', `No ${label} with the id ${id} exists.`)
}

/** A call as data: what a client sends, and what it expects. */
import type { JsonObject } from './json-shape.ts'
import type { Operation } from './operations.ts'
import type { ShapeName } from './shapes.ts'

export interface Call {
  /** Statuses, response and query follow from it. */
  readonly operation: Operation
  readonly case?: string
  /**
   * Fills the parameters of the path: `customer` for that record's id, `credential.hash` for a member, `=x` for x.
   */
  readonly of?: readonly string[]
  /** Sampled from the shape; or what an earlier response held; or only what `with` says. */
  readonly body?: 'full' | 'nulls' | 'required' | 'given' | { readonly held: string }
  /** Members with a value of the call's own; `{customer}` stands for the id of that record. */
  readonly with?: JsonObject
  readonly omit?: readonly string[]
  readonly shape?: ShapeName
  /** Shape of the body, if it is not the response's. */
  readonly sends?: ShapeName
  /** True for a response whose content the decisions leave to this service. */
  readonly ownShape?: true
  /** Default: the operation's first status. */
  readonly status?: number
  /** Name under which later calls find the response. */
  readonly as?: string
  /** The read is repeated until its response, or an item of it, has these members. */
  readonly until?: JsonObject
  readonly fromRoot?: true
  /** Query of a call that is no read; reads use every parameter that clients know. */
  readonly query?: Readonly<Record<string, string>>
  /** Why the call is refused as a whole by 422 in this release. */
  readonly notYet?: string
}

export interface Suite {
  readonly title: string
  readonly calls: readonly Call[]
}

export function titleOf({ operation, case: special }: Call): string {
  return special === undefined ? operation : `${operation}, ${special}`
}

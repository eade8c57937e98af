/** What an operation's handler is given and what it answers. */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import { inUnitOfWork, type UnitOfWork } from '../db/unit-of-work.ts'

export interface OperationContext {
  readonly organizationId: string
  /** Path parameters by name. */
  readonly params: Readonly<Record<string, string>>
  /** Query parameters, checked against the route's schema. */
  readonly query: Readonly<Record<string, unknown>>
  /** The body's writable members, checked and with defaults filled in; null where the operation takes none. */
  readonly body: unknown
  /** An entity manager of this request alone. */
  readonly em: EntityManager
  readonly baseUrl: string
  readonly now: () => Date
  readonly log: Logger
}

export interface OperationAnswer {
  readonly body?: unknown
  /** Absolute URI of what was made. */
  readonly location?: string
  /** Revision of the resource in the body, for `ETag`. */
  readonly revision?: number
}

export type OperationHandler = (context: OperationContext) => Promise<OperationAnswer>

/** Runs a command of the request's organization in one transaction. */
export async function command<T>(
  context: OperationContext,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  const { em, organizationId, baseUrl, now } = context
  return await inUnitOfWork(em, { organizationId, baseUrl, now: now() }, work)
}

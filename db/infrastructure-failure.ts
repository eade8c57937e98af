/** Tells failures of the infrastructure, which pass by themselves, from failures of a record, which do not. */

import { isOutdatedStatement } from './driver.ts'

/** Thrown where our own infrastructure cannot be relied on now. */
export class InfrastructureError extends Error {
  override readonly name: string = 'InfrastructureError'
}

/**
 * Classes of SQLSTATE: connection, rollback by conflict, resources, lock not available, operator, system; and of class 25 that
 * a transaction stood still for too long.
 */
const SQL_STATES = /^(08|40|53|55|57|58|25P03)/
/** Codes of the operating system for connections and exhausted resources. */
const SYSTEM_CODES =
  /^(ECONN|EPIPE$|ETIMEDOUT$|EHOSTUNREACH$|ENETUNREACH$|ENOTFOUND$|EAI_|EMFILE$|ENFILE$|ENOBUFS$|ENOMEM$)/
/** What the driver says without a code. */
const MESSAGES =
  /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after calling end)/i

/** True if the work may succeed when repeated as it is, whatever record it is about. */
export function isInfrastructureFailure(error: unknown): boolean {
  for (let cause = error; Error.isError(cause); cause = cause.cause) {
    if (cause instanceof InfrastructureError) return true
    const code = 'code' in cause ? String(cause.code) : ''
    if (isOutdatedStatement(cause)) return true
    if (SQL_STATES.test(code) || SYSTEM_CODES.test(code) || MESSAGES.test(cause.message)) return true
  }
  return false
}

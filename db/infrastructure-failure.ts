import { isOutdatedStatement } from './driver.ts'

/** The service's own infrastructure is temporarily unavailable; no record has failed. */
export class InfrastructureError extends Error {
  override readonly name: string = 'InfrastructureError'
}

/**
 * SQLSTATE: connection, conflict, resources, locks, operator, system; 25P03 is the idle transaction timeout, 25006 a
 * read-only server, as a primary is after a failover.
 */
const SQL_STATES = /^(08|40|53|55|57|58|25P03|25006)/
/** The operating system's codes for connections and exhausted resources. */
const SYSTEM_CODES =
  /^(ECONN|EPIPE$|ETIMEDOUT$|EHOSTUNREACH$|ENETUNREACH$|ENOTFOUND$|EAI_|EMFILE$|ENFILE$|ENOBUFS$|ENOMEM$)/
/** The driver's errors without a code. */
const MESSAGES =
  /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after calling end)/i

/** True if the same work may succeed when repeated. */
export function isInfrastructureFailure(error: unknown): boolean {
  for (let cause = error; Error.isError(cause); cause = cause.cause) {
    if (cause instanceof InfrastructureError) return true
    const code = 'code' in cause ? String(cause.code) : ''
    if (isOutdatedStatement(cause)) return true
    // A file that is missing is a fault of the installation; a socket comes back.
    if (code === 'ENOENT' && (cause as { syscall?: unknown }).syscall === 'connect') return true
    if (cause instanceof AggregateError && cause.errors.some(isInfrastructureFailure)) return true
    if (SQL_STATES.test(code) || SYSTEM_CODES.test(code) || MESSAGES.test(cause.message)) return true
  }
  return false
}

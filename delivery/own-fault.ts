/** Failures of our own: they say nothing of the receiver, and the attempt does not count. */
import { closeSync, openSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { devNull } from 'node:os'

/**
 * `exhausted`: the process or the machine has no more of something. `stood-still`: the process did not run for a while, in
 * which the receiver may have given up. `busy`: as much was under way already as the organization may have.
 */
export type OwnFault = 'exhausted' | 'stood-still' | 'busy'

/** An attempt that has to be made again as if it had not been. */
export class OwnFaultError extends Error {
  override readonly name = 'OwnFaultError'
  readonly fault: OwnFault

  constructor(fault: OwnFault, options?: ErrorOptions) {
    super(`an attempt failed by a fault of our own: ${fault}`, options)
    this.fault = fault
  }
}

const EXHAUSTION = /^(EMFILE|ENFILE|ENOBUFS|ENOMEM)$/

/** Whether an error says that this machine has run out of something. */
export function isExhaustion(error: Error): boolean {
  const { code, address } = error as { code?: unknown; address?: unknown }
  // Of IPv6 it says that the machine has none.
  if (code === 'EADDRNOTAVAIL') return isIPv4(String(address))
  return EXHAUSTION.test(String(code))
}

/** Whether nothing can be opened any more: resolvers do not tell why they failed. */
export function isOutOfDescriptors(): boolean {
  try {
    closeSync(openSync(devNull, 'r'))
    return false
  } catch (error) {
    return Error.isError(error) && isExhaustion(error)
  }
}

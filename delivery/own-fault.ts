/** Failures of our own. They say nothing about the receiver, and the attempt does not count. */
import { closeSync, openSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { devNull } from 'node:os'

/** `busy`: the organization is at its bound. `stood-still`: we were paused, and the receiver may have given up. */
export type OwnFault = 'exhausted' | 'stood-still' | 'busy'

/** An attempt that must be repeated as if it had not been made. */
export class OwnFaultError extends Error {
  override readonly name = 'OwnFaultError'
  readonly fault: OwnFault

  constructor(fault: OwnFault, options?: ErrorOptions) {
    super(`an attempt failed by a fault of our own: ${fault}`, options)
    this.fault = fault
  }
}

const EXHAUSTION = /^(EMFILE|ENFILE|ENOBUFS|ENOMEM)$/

export function isExhaustion(error: Error): boolean {
  const { code, address } = error as { code?: unknown; address?: unknown }
  // For IPv6 the error means that the machine has no IPv6 address.
  if (code === 'EADDRNOTAVAIL') return isIPv4(String(address))
  return EXHAUSTION.test(String(code))
}

/** True if no file can be opened: resolvers do not report why they failed. */
export function isOutOfDescriptors(): boolean {
  try {
    closeSync(openSync(devNull, 'r'))
    return false
  } catch (error) {
    return Error.isError(error) && isExhaustion(error)
  }
}

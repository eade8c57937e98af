/** After five failures in fifteen minutes, a username cannot be tried from the same address. */
import { createHash } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { usernameDigest } from './usernames.ts'

export const MOST_FAILURES = 5
/** Milliseconds. */
export const FAILURE_WINDOW = 15 * 60_000

/** Returns the name under which failures of a username, known or not, from an address are counted. */
export function failureSubject(username: string, address: string): string {
  return createHash('sha256')
    .update(`${usernameDigest(username)}\n${network(address)}`)
    .digest('hex')
}

/** Returns when the next attempt is permitted, or null if now. `failures` are those of the window, newest first. */
export function blockedUntil(failures: readonly Date[]): Date | null {
  const oldest = failures[MOST_FAILURES - 1]
  return oldest === undefined ? null : new Date(oldest.getTime() + FAILURE_WINDOW)
}

/** Returns the /64 of an IPv6 address: its holder can choose any address of that network. */
function network(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const caller = ipaddr.process(address)
  return caller instanceof ipaddr.IPv6 ? caller.parts.slice(0, 4).join(':') : caller.toString()
}

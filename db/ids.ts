/** Ids the service makes: a prefix that tells the resource, and a ULID that tells the order of creation. */
import { randomFillSync } from 'node:crypto'
import { monotonicFactory } from 'ulid'

export type IdPrefix =
  | 'api_key'
  | 'tok'
  | 'dp'
  | 'sub'
  | 'cus'
  | 'web'
  | 'prod'
  | 'plan'
  | 'cpn'
  | 'in'
  | 'inst'
  | 'txn'
  | 'wh'
  | 'evt'
  | 'dlv'
  | 'org'
  | 'item'
  | 'att'
  | 'pause'
  | 'cancel'
  | 'react'
  | 'ff'
  | 'tl'
  | 'auth'
  | 'cust'
  | 'wrk'

// Sixteen random digits to an id, each of which the generator would fetch from the system by itself.
const random = new Uint8Array(4_096)
let used = random.length

function randomFraction(): number {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  const byte = random[used] ?? 0
  used += 1
  return byte / 256
}

const nextUlid = monotonicFactory(randomFraction)

/** A new id; ids made by one process sort in the order they were made. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${nextUlid()}`
}

/** What an id may look like, whoever chose it (specification 2 and 4). */
export const ID_PATTERN = '^[A-Za-z0-9_@~.-]{1,50}$'

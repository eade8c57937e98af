/** Generated ids: a prefix for the resource, and a ULID for the order of creation. */
import { createHash, randomFillSync } from 'node:crypto'
import { monotonicFactory, ulid } from 'ulid'

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
  | 'red'
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
  | 'tag'
  | 'auth'
  | 'cust'
  | 'cred'
  | 'pwt'
  | 'fail'
  | 'wrk'
  | 'gwa'
  | 'req'
  | 'rate'
  | 'cm'

// Each id takes sixteen random digits; fetching each from the system separately would be slow.
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

/** Ids of one process sort by creation. One that a browser may read by cannot be guessed from another. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${prefix === 'tok' ? ulid(undefined, randomFraction) : nextUlid()}`
}

/** Returns the same id for the same parts: that of a record which is shown before it is created. */
export function derivedId(prefix: IdPrefix, ...parts: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${prefix}_${digest.slice(0, 26)}`
}

/** Format of every id, generated or chosen by a caller (specification 2 and 4). */
export const ID_PATTERN = '^[A-Za-z0-9_@~.-]{1,50}$'

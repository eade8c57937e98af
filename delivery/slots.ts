/** Only `occupy` grants a slot, so no bound can be exceeded. Instants are milliseconds of one monotonic clock. */

export const BOUNDS: Bounds = {
  total: 256,
  perOrganization: 64,
  perReceiver: { first: 16, most: 64 },
  slow: 2_000,
  provenFor: 600_000,
  pause: { first: 1_000, longest: 60_000 },
}

export interface Bounds {
  readonly total: number
  readonly perOrganization: number
  /** The limit of a new receiver, and the highest that quick responses bring; `most` also bounds an origin. */
  readonly perReceiver: { readonly first: number; readonly most: number }
  /** An attempt that holds its slot this long, in milliseconds, is slow. */
  readonly slow: number
  /** A quick response proves a receiver for this long, in milliseconds. */
  readonly provenFor: number
  /** In milliseconds; each pause is twice the previous one. */
  readonly pause: { readonly first: number; readonly longest: number }
}

/** A webhook and its target. A receiver is one organization's use of one origin (scheme, host and port). */
export interface Destination {
  readonly organizationId: string
  readonly webhookId: string
  readonly origin: string
}

/** The right to one attempt in flight; it must be released once. */
export interface Slot {
  readonly receiver: Receiver
  readonly webhook: string
  readonly since: number
  /** True if the receiver had responded quickly when it got the slot. */
  readonly proven: boolean
}

/** `unused`: the attempt showed nothing about the receiver. `not-made`: nor could it be made, as of this webhook. */
export type SlotResult = 'responded' | 'no-response' | 'unused' | 'not-made'

/** Attempts that other workers have in flight at a receiver, and the number of those workers. */
export interface Elsewhere {
  readonly inFlight: number
  readonly workers: number
}

interface Pause {
  /** Milliseconds. */
  length: number
  setAt: number
  until: number
}

interface Receiver {
  readonly key: string
  readonly organization: Tally
  readonly origin: Tally
  readonly inFlight: Set<Slot>
  limit: number
  /** When it last released a slot in time; reset when it is slow. */
  quickAt: number
  readonly pause: Pause
  usedAt: number
}

interface Tally {
  all: number
  unproven: number
}

export class Slots {
  readonly #bounds: Bounds
  readonly #total: Tally = { all: 0, unproven: 0 }
  readonly #organizations = new Map<string, Tally>()
  readonly #origins = new Map<string, Tally>()
  readonly #receivers = new Map<string, Receiver>()
  readonly #lastServed = new Map<string, { ordinal: number; at: number }>()
  #ordinal = 0
  /** By origin, the webhook that was served longest ago of those it was too full for: it gets the next free slot there. */
  readonly #reserved = new Map<string, string>()
  /** Of webhooks whose attempts cannot be made. */
  readonly #unmade = new Map<string, Pause>()
  #elsewhere: ReadonlyMap<string, Elsewhere> = new Map()

  constructor(bounds: Bounds = BOUNDS) {
    this.#bounds = bounds
  }

  get occupied(): number {
    return this.#total.all
  }

  /** Returns a slot, or null if a bound or a pause of the receiver or of the webhook forbids it. */
  occupy(destination: Destination, now: number): Slot | null {
    const receiver = this.#receiverOf(destination, now)
    const webhook = webhookKey(destination)
    const proven = this.#isProven(receiver, now)
    const { total, perOrganization, perReceiver } = this.#bounds
    const hasRoom =
      now >= receiver.pause.until &&
      now >= (this.#unmade.get(webhook)?.until ?? 0) &&
      receiver.inFlight.size < this.#limitHere(receiver) &&
      fits(this.#total, total, proven) &&
      fits(receiver.organization, perOrganization, proven) &&
      fits(receiver.origin, perReceiver.most, proven)
    if (!hasRoom) return null
    const slot: Slot = { receiver, webhook, since: now, proven }
    receiver.inFlight.add(slot)
    for (const tally of [this.#total, receiver.organization, receiver.origin]) {
      tally.all += 1
      if (!proven) tally.unproven += 1
    }
    receiver.usedAt = now
    this.#ordinal += 1
    const served = { ordinal: this.#ordinal, at: now }
    this.#lastServed.set(destination.organizationId, served)
    this.#lastServed.set(webhook, served)
    return slot
  }

  /** Returns true if a pause of the webhook begins. */
  release(slot: Slot, result: SlotResult, now: number): boolean {
    const { receiver, webhook, proven } = slot
    if (!receiver.inFlight.delete(slot)) throw new Error('a slot was released twice')
    for (const tally of [this.#total, receiver.organization, receiver.origin]) {
      tally.all -= 1
      if (!proven) tally.unproven -= 1
    }
    receiver.usedAt = now
    if (result === 'unused') return false
    if (result === 'not-made') {
      const pause = this.#unmade.get(webhook) ?? noPause()
      this.#unmade.set(webhook, pause)
      return this.#prolong(pause, slot.since, now)
    }
    this.#unmade.delete(webhook)
    if (now - slot.since < this.#bounds.slow) {
      receiver.quickAt = now
      Object.assign(receiver.pause, { length: 0, until: 0 })
      receiver.limit = Math.min(this.#bounds.perReceiver.most, receiver.limit + 1)
      return false
    }
    receiver.quickAt = Number.NEGATIVE_INFINITY
    receiver.limit = Math.max(1, Math.floor(receiver.limit / 2))
    if (result === 'responded') receiver.pause.length = 0
    else this.#prolong(receiver.pause, slot.since, now)
    return false
  }

  /**
   * Occupies at most `most` slots, one at a time, for the organization and its webhook that were served longest
   * ago. Webhooks without a slot are left out.
   */
  share<D extends Destination>(waiting: Iterable<D>, most: number, now: number): Map<D, Slot[]> {
    const shares = new Map<D, Slot[]>()
    const destinations = [...waiting]
    const keys = new Set(destinations.map(webhookKey))
    for (const [origin, key] of this.#reserved) if (!keys.has(key)) this.#reserved.delete(origin)
    const organizations = this.#byLastServed(destinations)
    let left = most
    while (left > 0) {
      const webhooks = organizations.shift()
      if (webhooks === undefined) break
      const next = webhooks.shift()
      if (next === undefined) continue
      const slot = this.#isReserved(next) ? null : this.occupy(next, now)
      this.#reserve(next, slot)
      if (slot === null) {
        // Bounds only tighten while slots are shared, so this webhook gets none, and its organization stays first.
        organizations.unshift(webhooks)
        continue
      }
      const share = shares.get(next) ?? []
      share.push(slot)
      shares.set(next, share)
      webhooks.push(next)
      organizations.push(webhooks)
      left -= 1
    }
    return shares
  }

  #isReserved(destination: Destination): boolean {
    const reserved = this.#reserved.get(destination.origin)
    return (
      reserved !== undefined && reserved !== webhookKey(destination) && this.#freeAt(destination.origin) <= 1
    )
  }

  /** Reserves the next slot of a full origin for the webhook served longest ago that it refused, until its next chance. */
  #reserve({ organizationId, webhookId, origin }: Destination, slot: Slot | null): void {
    const key = webhookKey({ organizationId, webhookId, origin })
    const reserved = this.#reserved.get(origin)
    const isFull = this.#freeAt(origin) <= 0
    const isLonger = reserved === undefined || this.#ordinalOf(key) < this.#ordinalOf(reserved)
    if (slot === null && isFull && isLonger) this.#reserved.set(origin, key)
    else if (reserved === key && !(slot === null && isFull)) this.#reserved.delete(origin)
  }

  /** Zero for who was never served. */
  #ordinalOf(key: string): number {
    return this.#lastServed.get(key)?.ordinal ?? 0
  }

  #freeAt(origin: string): number {
    return this.#bounds.perReceiver.most - (this.#origins.get(origin)?.all ?? 0)
  }

  heed(elsewhere: ReadonlyMap<string, Elsewhere>): void {
    this.#elsewhere = elsewhere
  }

  inFlight(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { key, inFlight } of this.#receivers.values()) {
      if (inFlight.size > 0) counts.set(key, inFlight.size)
    }
    return counts
  }

  forget(now: number): void {
    const since = now - this.#bounds.provenFor
    for (const [key, { inFlight, usedAt, pause }] of this.#receivers) {
      if (inFlight.size === 0 && usedAt < since && pause.until <= now) this.#receivers.delete(key)
    }
    for (const [key, { until }] of this.#unmade) if (until < since) this.#unmade.delete(key)
    for (const [key, { at }] of this.#lastServed) if (at < since) this.#lastServed.delete(key)
    const used = new Set(
      [...this.#receivers.values()].flatMap(({ organization, origin }) => [organization, origin]),
    )
    for (const tallies of [this.#organizations, this.#origins]) {
      for (const [key, tally] of tallies) if (!used.has(tally)) tallies.delete(key)
    }
  }

  #receiverOf({ organizationId, origin }: Destination, now: number): Receiver {
    const key = `${organizationId} ${origin}`
    const known = this.#receivers.get(key)
    if (known !== undefined) return known
    const receiver: Receiver = {
      key,
      organization: tallyOf(this.#organizations, organizationId),
      origin: tallyOf(this.#origins, origin),
      inFlight: new Set(),
      limit: this.#bounds.perReceiver.first,
      quickAt: Number.NEGATIVE_INFINITY,
      pause: noPause(),
      usedAt: now,
    }
    this.#receivers.set(key, receiver)
    return receiver
  }

  /** True if it responded quickly in time, and no attempt in flight suggests that it has become slow. */
  #isProven({ quickAt, inFlight }: Receiver, now: number): boolean {
    const [oldest] = inFlight
    return now - quickAt < this.#bounds.provenFor && now - (oldest?.since ?? now) < this.#bounds.slow
  }

  /** Returns the limit minus the attempts of other workers, but at least a fair share. */
  #limitHere({ key, limit }: Receiver): number {
    const { inFlight, workers } = this.#elsewhere.get(key) ?? { inFlight: 0, workers: 0 }
    return Math.max(limit - inFlight, Math.floor(limit / (workers + 1)))
  }

  /** Attempts that failed at the same time count once. */
  #prolong(pause: Pause, since: number, now: number): boolean {
    if (since < pause.setAt) return false
    const { first, longest } = this.#bounds.pause
    pause.length = Math.min(longest, pause.length === 0 ? first : pause.length * 2)
    pause.setAt = now
    pause.until = now + pause.length
    return true
  }

  #byLastServed<D extends Destination>(waiting: Iterable<D>): D[][] {
    const ordinalOf = (key: string): number => this.#ordinalOf(key)
    return [...Map.groupBy(waiting, ({ organizationId }) => organizationId)]
      .map(([id, webhooks]) => ({
        ordinal: ordinalOf(id),
        webhooks: webhooks.toSorted((a, b) => ordinalOf(webhookKey(a)) - ordinalOf(webhookKey(b))),
      }))
      .toSorted((a, b) => a.ordinal - b.ordinal)
      .map(({ webhooks }) => webhooks)
  }
}

/** Half of every bound is reserved for proven receivers. */
function fits({ all, unproven }: Tally, bound: number, proven: boolean): boolean {
  return all < bound && (proven || unproven < Math.ceil(bound / 2))
}

function noPause(): Pause {
  return { length: 0, setAt: Number.NEGATIVE_INFINITY, until: 0 }
}

function tallyOf(tallies: Map<string, Tally>, key: string): Tally {
  const known = tallies.get(key)
  if (known !== undefined) return known
  const tally: Tally = { all: 0, unproven: 0 }
  tallies.set(key, tally)
  return tally
}

function webhookKey({ organizationId, webhookId }: Destination): string {
  return `${organizationId} ${webhookId}`
}

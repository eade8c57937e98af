/** Bounds the retries under way of each organization in this process. Instants are milliseconds of one monotonic clock. */

/** Retries under way at once. */
export const RETRY_PLACES = 100
/** An organization takes a place while this many are free for each that it has: alone, it has a quarter of all. */
const FREE_FOR_EACH = 3
/** The last ones, this part of all, go to organizations that have none. */
const PART_FOR_FIRST = 1 / 4
/** Milliseconds until a retry that found no place asks again, and between two such retries of one organization. */
const FIRST_RETURN = 2_000
const BETWEEN_RETURNS = 50

export class RetryPlaces {
  readonly #total: number
  #taken = 0
  readonly #organizations = new Map<string, number>()
  /** When the last of those that found no place asks again. */
  readonly #lastReturn = new Map<string, number>()

  constructor(total: number = RETRY_PLACES) {
    this.#total = total
  }

  /** True if the organization has a place, which it must leave once. One that has none finds any that is free. */
  take(organizationId: string): boolean {
    const own = this.#organizations.get(organizationId) ?? 0
    const free = this.#total - this.#taken
    const kept = own === 0 ? 0 : Math.max(own * FREE_FOR_EACH, this.#total * PART_FOR_FIRST)
    if (free <= kept) return false
    this.#organizations.set(organizationId, own + 1)
    this.#taken += 1
    return true
  }

  leave(organizationId: string): void {
    const own = this.#organizations.get(organizationId)
    if (own === undefined) throw new Error('a place was left twice')
    this.#taken -= 1
    if (own > 1) this.#organizations.set(organizationId, own - 1)
    else this.#organizations.delete(organizationId)
  }

  /**
   * Returns the milliseconds after which a retry that found no place asks again. Those of one organization return
   * in turn, at most twenty a second, so that any number of them costs the queue little.
   */
  timeToReturn(organizationId: string, now: number): number {
    for (const [id, last] of this.#lastReturn) if (last <= now) this.#lastReturn.delete(id)
    const last = this.#lastReturn.get(organizationId) ?? Number.NEGATIVE_INFINITY
    const next = Math.max(now + FIRST_RETURN, last + BETWEEN_RETURNS)
    this.#lastReturn.set(organizationId, next)
    return Math.ceil(next - now)
  }
}

import { describe, expect, test } from '@jest/globals'
import {
  BOUNDS,
  type Bounds,
  type Destination,
  type Slot,
  type SlotResult,
  Slots,
} from '../../delivery/slots.ts'
import fc from '../support/fast-check.ts'

/** Small, so that random sequences come to every bound. */
const SMALL: Bounds = {
  total: 12,
  perOrganization: 5,
  perReceiver: { first: 2, most: 4 },
  slow: 2_000,
  provenFor: 60_000,
  pause: { first: 1_000, longest: 8_000 },
}

const to = (organization: number, webhook: number, origin: number): Destination => ({
  organizationId: `org_${organization}`,
  webhookId: `wh_${webhook}`,
  origin: `https://${origin}.example`,
})
const destination = fc
  .record({ organization: fc.nat(3), webhook: fc.nat(2), origin: fc.nat(3) })
  .map(({ organization, webhook, origin }) => to(organization, webhook, origin))

const webhookOf = ({ organizationId, webhookId }: Destination) => `${organizationId} ${webhookId}`
const longest = (groups: ReadonlyMap<unknown, readonly unknown[]>) =>
  Math.max(0, ...[...groups.values()].map(({ length }) => length))

type Event =
  | { readonly kind: 'share'; readonly waiting: Destination[]; readonly most: number }
  | { readonly kind: 'occupy'; readonly destination: Destination }
  | {
      readonly kind: 'release'
      readonly which: number
      readonly result: SlotResult
    }
  | { readonly kind: 'pass'; readonly time: number }
  | { readonly kind: 'forget' }

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({
    kind: fc.constant('share' as const),
    waiting: fc.uniqueArray(destination, { selector: webhookOf }),
    most: fc.nat(SMALL.total),
  }),
  fc.record({ kind: fc.constant('occupy' as const), destination }),
  fc.record({
    kind: fc.constant('release' as const),
    which: fc.nat(),
    result: fc.constantFrom('responded', 'no-response', 'unused', 'not-made'),
  }),
  fc.record({ kind: fc.constant('pass' as const), time: fc.constantFrom(1, 500, 2_000, 20_000, 70_000) }),
  fc.record({ kind: fc.constant('forget' as const) }),
)

class Ledger {
  readonly held: { readonly slot: Slot; readonly at: Destination }[] = []

  add(at: Destination, slot: Slot): void {
    this.held.push({ slot, at })
  }

  take(which: number): Slot | null {
    return this.held.splice(which % Math.max(1, this.held.length), 1)[0]?.slot ?? null
  }

  most(by: (at: Destination) => string, of = this.held): number {
    return longest(Map.groupBy(of, ({ at }) => by(at)))
  }

  requireBounds(): void {
    const { total, perOrganization, perReceiver } = SMALL
    const unproven = this.held.filter(({ slot }) => !slot.proven)
    const organization = ({ organizationId }: Destination) => organizationId
    const origin = (at: Destination) => at.origin
    expect(this.held.length).toBeLessThanOrEqual(total)
    expect(unproven.length).toBeLessThanOrEqual(total / 2)
    expect(this.most(organization)).toBeLessThanOrEqual(perOrganization)
    expect(this.most(organization, unproven)).toBeLessThanOrEqual(Math.ceil(perOrganization / 2))
    expect(this.most(origin)).toBeLessThanOrEqual(perReceiver.most)
    expect(this.most(origin, unproven)).toBeLessThanOrEqual(perReceiver.most / 2)
  }
}

describe('slots', () => {
  test('never pass a bound, whatever happens, and always come back', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 120 }), (events) => {
        const slots = new Slots(SMALL)
        const ledger = new Ledger()
        let now = 0
        for (const one of events) {
          if (one.kind === 'pass') now += one.time
          else if (one.kind === 'forget') slots.forget(now)
          else if (one.kind === 'occupy') {
            const slot = slots.occupy(one.destination, now)
            if (slot !== null) ledger.add(one.destination, slot)
          } else if (one.kind === 'share') {
            const before = ledger.held.length
            for (const [at, share] of slots.share(one.waiting, one.most, now)) {
              for (const slot of share) ledger.add(at, slot)
            }
            expect(ledger.held.length - before).toBeLessThanOrEqual(one.most)
          } else {
            const slot = ledger.take(one.which)
            if (slot !== null) slots.release(slot, one.result, now)
          }
          expect(slots.occupied).toBe(ledger.held.length)
          ledger.requireBounds()
        }
        // Any receiver is tried again, whatever it has done: at the latest after its longest pause.
        for (const { slot } of ledger.held) slots.release(slot, 'no-response', now)
        now += SMALL.pause.longest
        expect(slots.occupy(to(0, 0, 0), now)).not.toBeNull()
      }),
      { numRuns: 500 },
    )
  })

  test('leave out nobody who waits: each has its turn within two of everybody else', () => {
    const waiting = fc.uniqueArray(destination, { selector: webhookOf, minLength: 2 })
    fc.assert(
      fc.property(waiting, fc.integer({ min: 1, max: 6 }), (waiting, atOnce) => {
        const slots = new Slots(SMALL)
        const lastTurns = new Map(waiting.map((at) => [at, 0]))
        const held: Slot[] = []
        const end = 12 * waiting.length
        for (let turn = 1; turn <= end; turn += 1) {
          const shares = slots.share(waiting, 1, turn)
          for (const [at, share] of shares) {
            held.push(...share)
            lastTurns.set(at, turn)
          }
          const oldest = shares.size === 0 || held.length > atOnce ? held.shift() : undefined
          if (oldest !== undefined) slots.release(oldest, 'responded', turn)
        }
        const byOrganization = Map.groupBy(waiting, ({ organizationId }) => organizationId)
        const round = byOrganization.size * longest(byOrganization)
        // A round may pass in which nothing was free; and in its first one a receiver may have been at its limit.
        for (const turn of lastTurns.values()) expect(end - turn).toBeLessThanOrEqual(4 * round)
      }),
      { numRuns: 1_000 },
    )
  })

  test('an origin that is full whenever the turn of one webhook comes is kept free for it', () => {
    const slots = new Slots(SMALL)
    const starved = to(0, 2, 0)
    const waiting = [starved, to(1, 0, 0), to(0, 1, 1), to(0, 0, 2), to(2, 0, 0)]
    const held: Slot[] = []
    let lastTurn = 0
    for (let turn = 1; turn <= 100; turn += 1) {
      const shares = slots.share(waiting, 1, turn)
      held.push(...[...shares.values()].flat())
      if (shares.has(starved)) lastTurn = turn
      const oldest = shares.size === 0 || held.length > 5 ? held.shift() : undefined
      if (oldest !== undefined) slots.release(oldest, 'responded', turn)
    }
    expect(lastTurn).toBeGreaterThan(80)
  })

  test('an origin that is full at each turn of a webhook is kept free for it before those served later', () => {
    const slots = new Slots(SMALL)
    const starved = to(3, 1, 3)
    const waiting = [to(0, 0, 3), to(3, 0, 1), to(2, 0, 3), starved, to(1, 0, 3), to(3, 2, 0)]
    const held: Slot[] = []
    const turns: number[] = []
    for (let turn = 1; turn <= 72; turn += 1) {
      const shares = slots.share(waiting, 1, turn)
      held.push(...[...shares.values()].flat())
      if (shares.has(starved)) turns.push(turn)
      const oldest = shares.size === 0 || held.length > 5 ? held.shift() : undefined
      if (oldest !== undefined) slots.release(oldest, 'responded', turn)
    }
    expect(turns.length).toBeGreaterThan(4)
  })

  test('are shared in turns over organizations, and then over their webhooks', () => {
    const slots = new Slots()
    const waiting = [to(1, 1, 1), to(1, 2, 2), to(1, 3, 3), to(2, 4, 4)]
    const shares = slots.share(waiting, 8, 0)
    expect(waiting.map((at) => shares.get(at)?.length)).toEqual([2, 1, 1, 4])
    expect([...slots.share(waiting, 1, 0).keys()]).toEqual([waiting[1]])
    expect([...slots.share(waiting, 1, 0).keys()]).toEqual([waiting[3]])
  })

  test('of an organization are a quarter at most, half of them for receivers that answered quickly', () => {
    const slots = new Slots()
    const waiting = Array.from({ length: 25 }, (_, index) => to(1, index, index))
    const unproven = [...slots.share(waiting, 256, 0).values()].flat()
    expect(unproven).toHaveLength(BOUNDS.perOrganization / 2)
    for (const slot of unproven) slots.release(slot, 'responded', 100)
    expect([...slots.share(waiting, 256, 200).values()].flat()).toHaveLength(BOUNDS.total / 4)
  })

  test('a receiver begins with 16; quick answers raise that to 64, a slow one halves it', () => {
    const slots = new Slots()
    const at = to(1, 1, 1)
    const all = (now: number): Slot[] => [...slots.share([at], 256, now).values()].flat()
    const round = (now: number, took: number, result: 'responded' | 'no-response'): number => {
      const held = all(now)
      for (const slot of held) slots.release(slot, result, now + took)
      return held.length
    }
    expect([0, 1_000, 2_000, 3_000].map((now) => round(now, 100, 'responded'))).toEqual([16, 32, 64, 64])
    const [one] = all(4_000)
    if (one === undefined) throw new Error('nothing was shared')
    // Nothing came back for two seconds: it is no longer quick, though nothing has failed.
    expect(slots.occupy(to(1, 2, 1), 6_000)).toBeNull()
    slots.release(one, 'responded', 7_000)
    expect(slots.inFlight()).toEqual(new Map([['org_1 https://1.example', 63]]))
  })

  test('a receiver that only times out is tried with one attempt in flight, after ever longer pauses', () => {
    const slots = new Slots()
    const at = to(1, 1, 1)
    let held = [...slots.share([at], 256, 0).values()].flat()
    expect(held).toHaveLength(16)
    let now = 20_000
    const pauses: number[] = []
    for (let tries = 0; tries < 9; tries += 1) {
      for (const slot of held) slots.release(slot, 'no-response', now)
      const ended = now
      for (held = []; held.length === 0; now += 1_000) {
        held = [...slots.share([at], 256, now).values()].flat()
        if (held.length > 0) break
      }
      expect(held).toHaveLength(1)
      pauses.push(now - ended)
      now += 20_000
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000))
    for (let responses = 0; responses < 5; responses += 1) {
      for (const slot of held) slots.release(slot, 'responded', now + 100)
      now += 1_000
      held = [...slots.share([at], 256, now).values()].flat()
    }
    expect(held.length).toBeGreaterThanOrEqual(16)
  })

  test('what others have in flight at a receiver counts, but for a fair part, and with a limit of one for all', () => {
    const slots = new Slots()
    const key = 'org_1 https://1.example'
    const count = (): number => {
      const held = [...slots.share([to(1, 1, 1)], 256, 0).values()].flat()
      for (const slot of held) slots.release(slot, 'unused', 0)
      return held.length
    }
    slots.heed(new Map([[key, { inFlight: 10, workers: 1 }]]))
    expect(count()).toBe(8)
    slots.heed(new Map([[key, { inFlight: 6, workers: 1 }]]))
    expect(count()).toBe(10)
    for (let now = 0; now < 300_000; now += 100_000) {
      const slot = slots.occupy(to(1, 1, 1), now)
      if (slot === null) throw new Error('no slot')
      slots.release(slot, 'no-response', now + 20_000)
    }
    slots.heed(new Map())
    const held = [...slots.share([to(1, 1, 1)], 256, 900_000).values()].flat()
    expect(held.length).toBeLessThanOrEqual(2)
  })

  test('64 receivers of three organizations that hang leave a known one all its slots, and an unknown one its first', () => {
    const slots = new Slots()
    const known = to(9, 1, 100)
    for (let responses = 0; responses < 48; responses += 1) {
      const slot = slots.occupy(known, 0)
      if (slot !== null) slots.release(slot, 'responded', 10)
    }
    const hanging = Array.from({ length: 64 }, (_, index) => to(index % 3, index, index))
    slots.share(hanging, 256, 100)
    expect([...slots.share([known], 256, 100).values()].flat()).toHaveLength(64)
    expect([...slots.share([to(8, 1, 101)], 256, 100).values()].flat()).toHaveLength(16)
  })

  test('a webhook whose attempts cannot be made pauses ever longer, and no other with it', () => {
    const slots = new Slots(SMALL)
    const [broken, sound] = [to(0, 0, 0), to(0, 1, 0)]
    const fail = (now: number): boolean => {
      const [one, other] = [slots.occupy(broken, now), slots.occupy(broken, now)]
      if (one === null || other === null) throw new Error('no slot')
      const begins = slots.release(one, 'not-made', now + 1)
      // Those that fail at the same time count once.
      expect(slots.release(other, 'not-made', now + 2)).toBe(false)
      return begins
    }
    let now = 0
    for (const pause of [1_000, 2_000, 4_000, 8_000, 8_000]) {
      expect(fail(now)).toBe(true)
      expect(slots.occupy(broken, now + pause)).toBeNull()
      const slot = slots.occupy(sound, now + 10)
      if (slot === null) throw new Error('the other webhook of the receiver has no slot')
      slots.release(slot, 'responded', now + 20)
      now += pause + 1
    }
    const made = slots.occupy(broken, now)
    if (made === null) throw new Error('the pause does not end')
    slots.release(made, 'no-response', now)
    expect(fail(now)).toBe(true)
    expect(slots.occupy(broken, now + 1_001)).not.toBeNull()
  })
})

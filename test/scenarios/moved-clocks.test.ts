/** Each boundary is charged at its own instant, whatever the moves. `CLOCK_SEQUENCES` (default 24) is how many. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { makePayer } from '../support/payments.ts'
import { mulberry32 } from '../support/random.ts'
import { startService, type TestService } from '../support/service.ts'
import { DAY, makePlan, placeOrder } from './story.ts'

const SEQUENCES = Number(process.env.CLOCK_SEQUENCES ?? 24)
const AT_A_TIME = 4
const MINUTE = 60_000

let service: TestService
let merchant: Catalogue
let customerId: string
const plans: string[] = []
beforeAll(async () => {
  service = await startService({ settings: { RATE_LIMIT: '1000000' } })
  merchant = await catalogue(service)
  ;({ customerId } = await makePayer(merchant.api))
  for (const recurringInterval of [
    { unit: 'month', length: 1 },
    { unit: 'week', length: 1 },
    { unit: 'day', length: 3 },
  ]) {
    plans.push(await makePlan(merchant, { recurringInterval }))
  }
}, 60_000)
afterAll(() => service.stop())

interface Invoice {
  readonly periodNumber: number
  readonly periodStart: string
  readonly issuedTime: string
  readonly dueTime: string
  readonly paidTime: string | null
  readonly status: string
}

function movesOf(random: () => number): number[] {
  const first = [MINUTE, 0, -1, 1, 5_000][Math.floor(random() * 5)] ?? 0
  const transitions = Array.from({ length: 3 + Math.floor(random() * 4) }, () => {
    const kind = random()
    if (kind < 0.2) return Math.ceil(random() * 900)
    if (kind < 0.4) return Math.ceil(random() * 10 * MINUTE)
    return Math.ceil(random() * 30) * DAY + (random() < 0.3 ? Math.ceil(random() * 1_000) : 0)
  })
  const moves = [first]
  for (const step of transitions) moves.push((moves.at(-1) ?? 0) + step)
  return moves
}

/** The sequence by which a renewal was once charged at the target of a move instead of at its boundary. */
const KNOWN = [MINUTE, 4 * DAY + MINUTE, 10 * DAY + MINUTE, 37 * DAY + MINUTE]

async function requireExactCharges(name: string, planId: string, ahead: number, moves: readonly number[]) {
  const startTime = Date.now() + ahead
  const story = await placeOrder(service, merchant, planId, {
    customerId,
    startTime: new Date(startTime).toISOString(),
  })
  let order = await story.order()
  let last = startTime
  for (const move of moves) {
    // The clock has gone on since the move before, and goes on until the next one is received.
    for (let margin = 1_000; ; margin *= 3) {
      const clock = Date.now() + Number(order.clockOffset) * 1_000
      last = Math.max(startTime + move, clock + margin)
      const moved = await story.forwardTo(last).catch((error: Error) => {
        if (!error.message.includes('must not be before the current time of the order')) throw error
        return null
      })
      if (moved === null) continue
      order = moved
      break
    }
  }
  const { body: invoices } = await merchant.api.get<Invoice[]>(
    `invoices?filter=subscriptionId:${story.id}&sort=issuedTime&limit=1000`,
  )
  const wrong = invoices.filter(({ periodStart, issuedTime, dueTime, paidTime, status }) => {
    const issued = Date.parse(issuedTime)
    // The clock goes on in real time: a boundary right behind the last move may be in its charge now.
    if (issued >= last) return false
    return (
      status !== 'paid' ||
      issued !== Date.parse(periodStart) ||
      Date.parse(dueTime) !== issued + 3_600_000 ||
      Math.abs(Date.parse(String(paidTime)) - issued) > 1_000
    )
  })
  expect({ name, moves, wrong }).toEqual({ name, moves, wrong: [] })
  expect(invoices.map(({ periodNumber }) => periodNumber)).toEqual(
    Array.from({ length: invoices.length }, (_, index) => index + 1),
  )
  expect((await story.order()).rebillNumber).toBe(invoices.length)
}

test(
  'each boundary is charged at its own instant, in any sequence of moves',
  async () => {
    const [monthly = ''] = plans
    const seeds = Array.from({ length: SEQUENCES }, (_, index) => index + 1).values()
    const client = async (): Promise<void> => {
      for (const seed of seeds) {
        const random = mulberry32(seed)
        if (seed % 6 === 0) await requireExactCharges(`known ${seed}`, monthly, 5 * DAY, KNOWN)
        else {
          const planId = plans[Math.floor(random() * plans.length)] ?? monthly
          await requireExactCharges(`seed ${seed}`, planId, Math.ceil(random() * 6) * DAY, movesOf(random))
        }
      }
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, client))
  },
  60_000 + SEQUENCES * 15_000,
)

/** Renewals that are all due at one moment, and a provider that takes only so many requests a second. */
import { setTimeout as delay } from 'node:timers/promises'
import { TEST_CARDS } from '../../test/support/cards.ts'
import { type Catalogue, orderBody } from '../../test/support/catalogue.ts'
import { create } from '../../test/support/create.ts'
import { makeToken } from '../../test/support/tokens.ts'
import type { Environment } from '../environment.ts'
import { startHelper } from '../helper.ts'
import { type Metric, withCpu } from '../metric.ts'
import type { OrderBaselineCalls } from '../processes/order-baseline.ts'
import { percentile } from '../statistics.ts'
import { paced } from './latency.ts'
import type { ScenarioContext } from './scenario.ts'
import { metersOf, perThousand, totalOf } from './timers.ts'

const RENEWALS = 10_000
/** Requests per second that the provider takes, and the milliseconds that each takes. */
const RATE = 100
const LATENCY = 20
const AIM = 0.9
const CUSTOMERS = 50
const CLIENTS = 20
const DAY = 86_400_000
/** Until all are due, besides what each order has to be placed and charged for the first time. Milliseconds. */
const LEAD = 45_000
const EACH = 60
/** The same of the baseline, which has nothing to place. */
const BARE_LEAD = 15_000
const BARE_EACH = 20
/** What the other organizations do meanwhile, in rounds of five seconds. */
const EVENTS = 25
const EVENTS_PER_SECOND = 5
const STARTS = 5
const ROUNDS_ALONE = 3
/** Milliseconds from placing an order to its start. */
const AHEAD = 2_000

/** Milliseconds, of organizations that are charged nothing. */
interface Beside {
  readonly receipts: readonly number[]
  readonly starts: readonly number[]
}

export async function renewals(context: ScenarioContext): Promise<Metric[]> {
  const { environment, divisor, say } = context
  const running = await environment()
  const { provider } = running
  const count = Math.ceil(RENEWALS / divisor)
  const worker = await running.startWorker()
  await provider.call('limit', null, 10_000)
  await provider.call('takes', LATENCY, 10_000)
  const merchant = await running.organization(`org_renewing_${Date.now()}`)
  const other = await running.organization(`org_beside_${Date.now()}`)
  const terms = await prepare(merchant)
  const due = Date.now() + LEAD + count * EACH
  await placeRenewing(running, merchant, terms, count, due)
  say(`renewals: ${count} orders placed and charged, due in ${Math.round((due - Date.now()) / 1_000)} s`)
  const alone: Beside[] = []
  for (let round = 0; round < ROUNDS_ALONE; round += 1) alone.push(await besides(running, other))
  if (Date.now() > due - 1_000) throw new Error('the renewals were due before everything was measured alone')

  await delay(due - 1_000 - Date.now())
  await provider.call('limit', RATE, 10_000)
  await provider.call('charges', null, 10_000)
  await provider.call('refused', null, 10_000)
  await delay(due - Date.now())
  const until = due + (3 * count * 1_000) / RATE + 180_000
  const { result: beside, cpu } = await withCpu(
    await metersOf(running, worker),
    async () => {
      const rounds: Beside[] = []
      while (Date.now() < until && (await isAnyUncharged(running, merchant, due, count))) {
        rounds.push(await besides(running, other))
      }
      return rounds
    },
    () => count,
  )
  const charged = await provider.call('charges', null, 10_000)
  const refused = await provider.call('refused', null, 10_000)
  const late = await lateness(running, merchant, due)
  await worker.stop()
  const bare = count / (await bareRenewals(context, running, count))
  await provider.call('limit', null, 10_000)

  const last = (late.at(-1) ?? Number.NaN) / 1_000
  const excess = Math.max(...late.map((milliseconds, ordinal) => milliseconds / 1_000 - (ordinal + 1) / RATE))
  say(
    `renewals: ${late.length} charged, the last ${last.toFixed(1)} s late of ${count / RATE} s by the rate; ${refused} requests refused`,
  )
  return [
    {
      what: `${count} renewals due at one moment, charged per second at a provider that takes ${RATE} requests/s`,
      unit: '/s',
      service: [late.length / last],
      baseline: [RATE],
      aim: AIM,
      beside: {
        'refused requests': refused,
        'not charged': count - late.length,
        'charged twice': charged - late.length,
      },
      note: 'From the moment at which all are due to the last recorded charge, over the number of charges. Baseline: the rate of the provider, which refuses what exceeds it (429).',
    },
    {
      what: 'the same, beside the least that a renewal takes',
      unit: '/s',
      service: [late.length / last],
      baseline: [bare],
      aim: null,
      beside: { ...perThousand(cpu), 'CPU s/1000, all': totalOf(cpu) },
      note: 'CPU with what the other organizations do meanwhile. Baseline: as many executions of a bare workflow, due at one moment afterwards, each with one activity that charges at the same provider, a local activity of one update, and a timer.',
    },
    {
      what: 'lateness of the last of them',
      unit: 's',
      service: [last],
      baseline: [count / RATE],
      aim: null,
      beside: {
        'p50 s': percentile(late, 0.5) / 1_000,
        'p99 s': percentile(late, 0.99) / 1_000,
        'most beyond the rate s': excess,
      },
      note: 'Baseline: what the rate explains. Beyond the rate: of all charges, how much later one was recorded than its place in the order of charges explains.',
    },
    besideThem('event to receipt in another organization beside them, p99', beside, alone, 'receipts'),
    besideThem('lateness of starts in another organization beside them, p99', beside, alone, 'starts'),
  ]
}

/** Returns the seconds until the last of as many bare executions was charged. */
async function bareRenewals(
  { teardown, say }: ScenarioContext,
  { databaseUrl, temporalAddress, namespace, providerPort }: Environment,
  count: number,
): Promise<number> {
  const baseline = startHelper<OrderBaselineCalls>('order-baseline.ts', teardown)
  await baseline.call('connect', { databaseUrl, temporalAddress, namespace, providerPort }, 60_000)
  const due = { workflow: 'bareRenewal', count, start: Date.now() + BARE_LEAD + count * BARE_EACH } as const
  await baseline.call('arm', due, due.start - Date.now())
  const seconds = await baseline.call('activated', due, BARE_LEAD + count * EACH * 5)
  say(`renewals: ${count} of the baseline charged after ${seconds.toFixed(1)} s`)
  return seconds
}

function besideThem(
  what: string,
  during: readonly Beside[],
  before: readonly Beside[],
  name: keyof Beside,
): Metric {
  const [service, alone] = [during, before].map((rounds) => rounds.flatMap((round) => round[name]))
  return {
    what,
    unit: 'ms',
    service: [percentile(service ?? [], 0.99)],
    baseline: [percentile(alone ?? [], 0.99)],
    aim: null,
    beside: {
      'p50 ms': percentile(service ?? [], 0.5),
      'alone p50 ms': percentile(alone ?? [], 0.5),
      samples: service?.length ?? 0,
    },
    note: 'Of organizations that charge nobody, with the same API and worker. Baseline: the same right before, alone.',
  }
}

interface Terms {
  readonly planId: string
  readonly customers: readonly string[]
}

/** Makes a plan of a day, and customers whose cards are with the provider. */
async function prepare({ api }: Catalogue): Promise<Terms> {
  await create(api, 'gateway-accounts', {
    gatewayName: 'Stripe',
    method: 'payment-card',
    acceptedCurrencies: ['EUR'],
    takesCardNumbers: true,
    credentials: { secretKey: 'sk_test_bench' },
  })
  const plan = await create(api, 'plans', {
    name: 'Daily',
    currency: 'EUR',
    pricing: { formula: 'fixed-fee', price: 9.9 },
    recurringInterval: { unit: 'day', length: 1 },
  })
  const customers: string[] = []
  for (let number = 0; number < CUSTOMERS; number += 1) {
    const paymentToken = await makeToken(api, TEST_CARDS.approves)
    customers.push(String((await create(api, 'customers', { paymentToken })).id))
  }
  return { planId: String(plan.id), customers }
}

/** Places orders of a day, a day before `due`, and resolves when each has been charged for its first one. */
async function placeRenewing(
  environment: Environment,
  merchant: Catalogue,
  { planId, customers }: Terms,
  count: number,
  due: number,
): Promise<void> {
  const { api, organizationId } = merchant
  const startTime = new Date(due - DAY).toISOString()
  let ordinal = 0
  const client = async (): Promise<void> => {
    while (ordinal < count) {
      const customerId = customers[ordinal++ % CUSTOMERS]
      await create(api, 'subscriptions', orderBody({ ...merchant, planId }, { customerId, startTime }))
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  await environment.untilNot(
    `exists (select from wake_ups) or ${approvedOf(organizationId)} < ${count}`,
    Math.max(0, due - Date.now()),
  )
}

async function besides(environment: Environment, { api, ...from }: Catalogue): Promise<Beside> {
  const placing = (async () => {
    const ids: string[] = []
    for (let number = 0; number < STARTS; number += 1) {
      const startTime = new Date(Date.now() + AHEAD).toISOString()
      ids.push(String((await create(api, 'subscriptions', orderBody({ ...from, api }, { startTime }))).id))
      await delay(1_000)
    }
    return ids
  })()
  const receipts = await paced(environment, EVENTS, EVENTS_PER_SECOND)
  const ids = await placing
  await environment.untilNot(
    `exists (select from subscriptions where organization_id = '${from.organizationId}' and status = 'pending')`,
    60_000,
  )
  const rows = await environment.query<{ late: number }>(
    `select extract(epoch from created_time - event_time)::float8 * 1000 as late from events
      where organization_id = $1 and type = 'subscription-activated' and entity_id = any($2)`,
    [from.organizationId, ids],
  )
  return { receipts, starts: rows.map(({ late }) => late) }
}

function approvedOf(organizationId: string, since = 0): string {
  return `(select count(*) from transactions where organization_id = '${organizationId}' and result = 'approved'
            and created_time >= to_timestamp(${since / 1_000}))`
}

async function isAnyUncharged(
  { query }: Environment,
  { organizationId }: Catalogue,
  due: number,
  count: number,
): Promise<boolean> {
  const [row] = await query<{ left: boolean }>(`select ${approvedOf(organizationId, due)} < ${count} as left`)
  return row?.left === true
}

/** Milliseconds from the moment at which all were due to each recorded charge, in their order. */
async function lateness(
  { query }: Environment,
  { organizationId }: Catalogue,
  due: number,
): Promise<number[]> {
  const rows = await query<{ late: number }>(
    `select extract(epoch from processed_time)::float8 * 1000 - $2::float8 as late from transactions
      where organization_id = $1 and result = 'approved' and created_time >= to_timestamp($2::float8 / 1000)
      order by processed_time`,
    [organizationId, due],
  )
  return rows.map(({ late }) => late)
}

import { setTimeout as delay } from 'node:timers/promises'
import { type Catalogue, orderBody } from '../../test/support/catalogue.ts'
import type { Environment } from '../environment.ts'
import { type Helper, startHelper } from '../helper.ts'
import { type Metric, withCpu } from '../metric.ts'
import type { OrderBaselineCalls } from '../processes/order-baseline.ts'
import { cpuSeconds, type Program } from '../program.ts'
import { placeOrders } from './create.ts'
import type { ScenarioContext } from './scenario.ts'

const SUSTAINED = 180_000
const ORGANIZATIONS = 500
const BATCH = 1_000
const BASELINE = 60_000
const TIMEOUT = 600_000
/** What the webhook of an order that starts at once receives. */
const EVENTS = 4
/** From placing the last order to the moment at which all are due. Milliseconds. */
const LEAD = 10_000
const PENDING = `exists (select from subscriptions where status = 'pending' and quarantined_until is null and start_time <= now() + interval '1 hour')`

type Baseline = Helper<OrderBaselineCalls>

export async function timers(context: ScenarioContext): Promise<Metric[]> {
  const environment = await context.environment()
  const worker = await environment.startWorker()
  const baseline = startHelper<OrderBaselineCalls>('order-baseline.ts', context.teardown)
  const { databaseUrl, temporalAddress, namespace, providerPort } = environment
  await baseline.call('connect', { databaseUrl, temporalAddress, namespace, providerPort }, 60_000)
  const sustained = await sustainedOrders(context, environment, worker, baseline)
  const together = await organizationsTogether(context, environment, baseline)
  const poisoned = await poisonedBatch(context, environment)
  await worker.stop()
  return [sustained, together, poisoned]
}

async function sustainedOrders(
  { divisor, say }: ScenarioContext,
  environment: Environment,
  worker: Program,
  baseline: Baseline,
): Promise<Metric> {
  await placeOrders(environment, environment.port, environment.api.pid, 2_000)
  await environment.drained(TIMEOUT)
  const began = performance.now()
  const { result, cpu } = await withCpu(
    await metersOf(environment, worker),
    async () => {
      const { result } = await placeOrders(
        environment,
        environment.port,
        environment.api.pid,
        SUSTAINED / divisor,
      )
      await environment.drained(TIMEOUT)
      return result
    },
    ({ requests }) => requests,
  )
  const seconds = (performance.now() - began) / 1_000
  const all = totalOf(cpu)
  const bare = await bareOrders(environment, baseline, BASELINE / divisor)
  say(
    `timers: ${Math.round(result.rate)} orders placed/s, ${all.toFixed(1)} CPU s of all per 1,000; baseline ${Math.round(bare.rate)}/s, ${bare.cpu.toFixed(1)} CPU s`,
  )
  return {
    what: `orders placed for ${SUSTAINED / divisor / 1_000} s, 20 clients, worker running`,
    unit: '/s',
    service: [result.rate],
    baseline: [bare.rate],
    aim: null,
    beside: {
      orders: result.requests,
      'p50 ms': result.p50,
      'p99 ms': result.p99,
      'active and delivered/s': result.requests / seconds,
      ...perThousand(cpu),
      'CPU s/1000, all': all,
      'baseline CPU s/1000, all': bare.cpu,
    },
    note: 'Baseline, for a minute: Koa, AJV, one insert, an execution started asleep, as many webhooks signed and posted; nothing is recorded of them. CPU until every order is active and every event delivered; load generator and receiver share the cores and are not counted.',
  }
}

type Cpu = Readonly<Record<'API' | 'worker' | 'Temporal' | 'database', number | null>>

/** Of everything that serves orders; load generator and receiver are not counted. */
export async function metersOf(
  environment: Environment,
  worker: Program,
): Promise<{ readonly [Name in keyof Cpu]: () => number | null }> {
  const temporal = await environment.temporal.pid()
  return {
    API: () => cpuSeconds(environment.api.pid),
    worker: () => cpuSeconds(worker.pid),
    Temporal: () => cpuSeconds(temporal),
    database: environment.databaseCpu,
  }
}

export function perThousand(cpu: Cpu): Metric['beside'] {
  return Object.fromEntries(Object.entries(cpu).map(([name, seconds]) => [`CPU s/1000, ${name}`, seconds]))
}

/** Returns the rate, and the CPU seconds of all processes per 1,000, of the least that an order takes with its webhooks. */
async function bareOrders(
  environment: Environment,
  baseline: Baseline,
  duration: number,
): Promise<{ readonly rate: number; readonly cpu: number }> {
  const temporal = await environment.temporal.pid()
  const port = await baseline.call('listen', { url: environment.receiverUrl, events: EVENTS }, 10_000)
  await placeOrders(environment, port, baseline.pid, 3_000)
  await baseline.call('drained', null, TIMEOUT)
  const { result, cpu } = await withCpu(
    {
      baseline: () => cpuSeconds(baseline.pid),
      Temporal: () => cpuSeconds(temporal),
      database: environment.databaseCpu,
    },
    async () => {
      const { result } = await placeOrders(environment, port, baseline.pid, duration)
      await baseline.call('drained', null, TIMEOUT)
      return result
    },
    ({ requests }) => requests,
  )
  const all = totalOf(cpu)
  return { rate: result.rate, cpu: all }
}

async function organizationsTogether(
  { divisor, say }: ScenarioContext,
  environment: Environment,
  baseline: Baseline,
): Promise<Metric> {
  const merchants: Catalogue[] = []
  for (let number = 0; number < ORGANIZATIONS / divisor; number += 1) {
    merchants.push(await environment.organization(`org_bench_${number}_${Date.now()}`))
  }
  const seconds = await dueTogether(environment, merchants)
  const due = { workflow: 'bareOrder', count: merchants.length, start: startOf(merchants.length) } as const
  await baseline.call('arm', due, TIMEOUT)
  if (Date.now() > due.start) throw new Error('the baseline was due before the last of it was armed')
  const bare = await baseline.call('activated', due, TIMEOUT)
  say(
    `timers: ${merchants.length} organizations with an order each, all started after ${seconds.toFixed(2)} s, baseline ${bare.toFixed(2)} s`,
  )
  return {
    what: `${merchants.length} organizations with one order each, due at one moment: until all have started`,
    unit: 's',
    service: [seconds],
    baseline: [bare],
    aim: null,
    beside: { organizations: merchants.length },
    note: 'From the start time to the last transaction that activates. Baseline: as many executions of a bare workflow, due at one moment, each with one local activity of one update, and a timer.',
  }
}

/** A batch of one organization's orders, one of which cannot advance, beside the same batch without it. */
async function poisonedBatch(
  { divisor, say, rounds }: ScenarioContext,
  environment: Environment,
): Promise<Metric> {
  const count = BATCH / divisor
  const run = async (poison: boolean): Promise<number> => {
    const merchant = await environment.organization(`org_poison_${Date.now()}`)
    const seconds = await dueTogether(
      environment,
      Array.from({ length: count }, () => merchant),
      async (ids) => {
        if (!poison) return
        // It was attempted once before, like any such record after its first second.
        await environment.query(
          `update subscriptions set items = '[{}]', next_deadline = start_time where id = $1`,
          [ids[0]],
        )
      },
    )
    return (count - (poison ? 1 : 0)) / seconds
  }
  const service: number[] = []
  const baseline: number[] = []
  for (let round = 0; round < Math.min(rounds, 3); round += 1) {
    baseline.push(await run(false))
    service.push(await run(true))
    say(
      `timers: ${Math.round(service.at(-1) ?? 0)} starts/s beside a poisoned order, ${Math.round(baseline.at(-1) ?? 0)} without`,
    )
  }
  return {
    what: `starts of ${count} orders due at one moment, one of them poisoned`,
    unit: '/s',
    service,
    baseline,
    aim: 0.9,
    beside: {},
    note: 'Baseline: the same without the poisoned one. It is quarantined on the way, its batch repeated order by order.',
  }
}

/** Places an order for each merchant, all due at one moment. Returns the seconds until the last has started. */
async function dueTogether(
  environment: Environment,
  merchants: readonly Catalogue[],
  prepare: (ids: readonly string[]) => Promise<void> = async () => {},
): Promise<number> {
  const start = startOf(merchants.length)
  const startTime = new Date(start).toISOString()
  const ids: string[] = []
  const queue = merchants.values()
  const client = async (): Promise<void> => {
    for (const merchant of queue) {
      const { status, body } = await merchant.api.post('subscriptions', orderBody(merchant, { startTime }))
      if (status !== 201) throw new Error(`an order was refused: ${JSON.stringify(body)}`)
      ids.push(String(body.id))
    }
  }
  await Promise.all(Array.from({ length: 10 }, client))
  await prepare(ids)
  await environment.untilNot('exists (select from wake_ups)', TIMEOUT)
  if (Date.now() > start) throw new Error('the orders were due before the last of them was armed')
  await delay(start - Date.now())
  await environment.untilNot(PENDING, TIMEOUT)
  const [row] = await environment.query<{ last: number }>(
    `select extract(epoch from max(created_time))::float8 * 1000 as last from events
      where type = 'subscription-activated' and entity_id = any($1)`,
    [ids],
  )
  return ((row?.last ?? Number.NaN) - start) / 1_000
}

/** When so many orders are due that are placed from now on. */
function startOf(orders: number): number {
  return Date.now() + LEAD + orders * 15
}

export function totalOf(cpu: Readonly<Record<string, number | null>>): number {
  return Object.values(cpu).reduce<number>((sum, one) => sum + (one ?? Number.NaN), 0)
}

/** Placing orders: the API alone beside the baseline, and with all that follows from an order. */
import { orderBody } from '../../test/support/catalogue.ts'
import type { Environment } from '../environment.ts'
import { startHelper } from '../helper.ts'
import { type Metric, medianKnown, withCpu } from '../metric.ts'
import type { CreateBaselineCalls } from '../processes/create-baseline.ts'
import type { LoadJob, LoadResult } from '../processes/load.ts'
import { cpuSeconds } from '../program.ts'
import { median } from '../statistics.ts'
import type { ScenarioContext } from './scenario.ts'

const CLIENTS = 20
const WHOLE = 20_000
const ROUND = 5_000
const DRAINED_WITHIN = 300_000

export async function create(context: ScenarioContext): Promise<Metric[]> {
  const environment = await context.environment()
  const whole = await withWorker(context, environment)
  return [...whole, await alone(context, environment)]
}

/** With the worker: a workflow starts each order, and its two events are delivered, on the same cores. */
async function withWorker({ divisor, say }: ScenarioContext, environment: Environment): Promise<Metric[]> {
  const worker = await environment.startWorker()
  const run = (duration: number) => placeOrders(environment, environment.port, environment.api.pid, duration)
  await run(1_000)
  await environment.drained(DRAINED_WITHIN)
  const began = performance.now()
  const { result } = await run(WHOLE / divisor)
  const placed = performance.now()
  await environment.drained(DRAINED_WITHIN)
  const active = performance.now()
  await worker.stop()
  say(`create, with the worker: ${Math.round(result.rate)}/s, p99 ${Math.round(result.p99)} ms`)
  return [
    {
      what: `POST subscriptions, ${CLIENTS} clients, worker running`,
      unit: '/s',
      service: [result.rate],
      baseline: [],
      aim: null,
      beside: {
        orders: result.requests,
        'p50 ms': result.p50,
        'p95 ms': result.p95,
        'p99 ms': result.p99,
        's until all active and delivered': (active - placed) / 1000,
        'orders/s, whole way': result.requests / ((active - began) / 1000),
      },
      note: 'Webhook registered for all events. API, worker, Temporal, database, receiver and load generator share the cores.',
    },
  ]
}

async function alone(
  { teardown, divisor, rounds, say }: ScenarioContext,
  environment: Environment,
): Promise<Metric> {
  const baseline = startHelper<CreateBaselineCalls>('create-baseline.ts', teardown)
  const baselinePort = await baseline.call('listen', environment.databaseUrl, 10_000)
  const service: Awaited<ReturnType<typeof placeOrders>>[] = []
  const bare: typeof service = []
  const duration = ROUND / divisor
  await placeOrders(environment, environment.port, environment.api.pid, duration)
  await placeOrders(environment, baselinePort, baseline.pid, duration)
  for (let round = 1; round <= rounds; round += 1) {
    const one = await placeOrders(environment, environment.port, environment.api.pid, duration)
    const other = await placeOrders(environment, baselinePort, baseline.pid, duration)
    service.push(one)
    bare.push(other)
    say(
      `create ${round}/${rounds}: ${Math.round(one.result.rate)}/s, baseline ${Math.round(other.result.rate)}/s`,
    )
  }
  const middle = (of: typeof service, read: (result: LoadResult) => number): number =>
    median(of.map(({ result }) => read(result)))
  return {
    what: `POST subscriptions, ${CLIENTS} clients, API alone`,
    unit: '/s',
    service: service.map(({ result }) => result.rate),
    baseline: bare.map(({ result }) => result.rate),
    aim: null,
    beside: {
      'p50 ms': middle(service, ({ p50 }) => p50),
      'p95 ms': middle(service, ({ p95 }) => p95),
      'p99 ms': middle(service, ({ p99 }) => p99),
      'baseline p50 ms': middle(bare, ({ p50 }) => p50),
      'baseline p95 ms': middle(bare, ({ p95 }) => p95),
      'baseline p99 ms': middle(bare, ({ p99 }) => p99),
      'CPU s/1000': medianKnown(service.map(({ cpu }) => cpu.server)),
      'with database CPU s/1000': medianKnown(service.map(({ cpu }) => cpu.database)),
      'baseline CPU s/1000': medianKnown(bare.map(({ cpu }) => cpu.server)),
      'with its database CPU s/1000': medianKnown(bare.map(({ cpu }) => cpu.database)),
    },
    note: 'Webhook registered, worker stopped: order, event, delivery and wake-up are committed and wait. Baseline: bare Koa, AJV with the same schema, one insert into a table like that of orders.',
  }
}

/** Places orders for `duration` milliseconds. By default they start at once. */
export async function placeOrders(
  { load, merchant, databaseCpu }: Environment,
  port: number,
  pid: number,
  duration: number,
  members: object = {},
) {
  const body = JSON.stringify(orderBody(merchant, members))
  const request = `POST /organizations/${merchant.organizationId}/subscriptions HTTP/1.1\r\nHost: 127.0.0.1\r\nSVC-APIKEY: ${merchant.secretKey}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  const job: LoadJob = { port, clients: CLIENTS, duration, requests: [request], status: 201 }
  return await withCpu(
    { server: () => cpuSeconds(pid), database: databaseCpu },
    () => load.call('run', job, duration + 30_000),
    (result) => result.requests,
  )
}

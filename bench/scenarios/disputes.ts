/** Disputes: read and opened beside the baseline, listed over many, and the API's memory under load. */
import pg from 'pg'
import { disputeBody, externalSale } from '../../test/support/dispute.ts'
import type { Environment } from '../environment.ts'
import { startHelper } from '../helper.ts'
import { besideBaseline, type Metric, withCpu } from '../metric.ts'
import type { DisputeBaselineCalls } from '../processes/dispute-baseline.ts'
import type { LoadJob, LoadResult } from '../processes/load.ts'
import { cpuSeconds, residentMegabytes } from '../program.ts'
import { median } from '../statistics.ts'
import type { ScenarioContext } from './scenario.ts'

const CLIENTS = 10
const ROUND = 5_000
const READ_AIM = 0.4
const CREATE_AIM = 0.25
const LISTED = 200_000
const LIST_CLIENTS = 2
const MEMORY_LOAD = 180_000
const READINGS = 9

export async function disputes(context: ScenarioContext): Promise<Metric[]> {
  const environment = await context.environment()
  const baseline = startHelper<DisputeBaselineCalls>('dispute-baseline.ts', context.teardown)
  const baselinePort = await baseline.call('listen', environment.databaseUrl, 10_000)
  const transactionId = await externalSale(environment.merchant.api, environment.merchant.customerId)
  const create = requestOf(environment, 'POST', 'disputes', disputeBody(transactionId))
  const opened = await environment.merchant.api.post('disputes', disputeBody(transactionId))
  const read = requestOf(environment, 'GET', `disputes/${opened.body.id}`)
  const beside = { port: baselinePort, pid: baseline.pid }
  return [
    await besideItsBaseline(context, environment, beside, {
      what: `GET disputes/{id}, ${CLIENTS} clients`,
      request: read,
      status: 200,
      aim: READ_AIM,
      note: 'Secret key looked up, one row read, worker stopped. Baseline: bare Koa, select of that row by primary key, its JSON.',
    }),
    await besideItsBaseline(context, environment, beside, {
      what: `POST disputes, ${CLIENTS} clients, API alone`,
      request: create,
      status: 201,
      aim: CREATE_AIM,
      note: 'Webhook registered, worker stopped: dispute, event, delivery and wake-up are committed and wait. Baseline: bare Koa, AJV with the same schema, one insert into a table like that of disputes.',
    }),
    await listed(context, environment),
    await memory(context, environment, create, read),
  ]
}

interface Measured {
  readonly what: string
  readonly request: string
  readonly status: number
  readonly aim: number
  readonly note: string
}

async function besideItsBaseline(
  { divisor, rounds, say }: ScenarioContext,
  environment: Environment,
  baseline: { readonly port: number; readonly pid: number },
  { what, request, status, aim, note }: Measured,
): Promise<Metric> {
  const run = async (port: number, pid: number) => {
    const duration = ROUND / divisor
    const job: LoadJob = { port, clients: CLIENTS, duration, requests: [request], status }
    return await withCpu(
      { server: () => cpuSeconds(pid), database: environment.databaseCpu },
      () => environment.load.call('run', job, duration + 30_000),
      (result) => result.requests,
    )
  }
  const service: Awaited<ReturnType<typeof run>>[] = []
  const bare: typeof service = []
  await run(environment.port, environment.api.pid)
  await run(baseline.port, baseline.pid)
  for (let round = 1; round <= rounds; round += 1) {
    const one = await run(environment.port, environment.api.pid)
    const other = await run(baseline.port, baseline.pid)
    service.push(one)
    bare.push(other)
    say(
      `${what} ${round}/${rounds}: ${Math.round(one.result.rate)}/s, baseline ${Math.round(other.result.rate)}/s`,
    )
  }
  return {
    what,
    unit: '/s',
    service: service.map(({ result }) => result.rate),
    baseline: bare.map(({ result }) => result.rate),
    aim,
    beside: besideBaseline(service, bare),
    note,
  }
}

/** A page of a hundred with filter, order and total, over many disputes of one organization. */
async function listed({ divisor, rounds, say }: ScenarioContext, environment: Environment): Promise<Metric> {
  const count = LISTED / divisor
  await fill(environment, count)
  const query = 'limit=100&filter=status:lost;amount:100..900&sort=-createdTime'
  const requests = [requestOf(environment, 'GET', `disputes?${query}`)]
  const duration = ROUND / divisor
  const run = (): Promise<LoadResult> =>
    environment.load.call(
      'run',
      { port: environment.port, clients: LIST_CLIENTS, duration, requests, status: 200 },
      duration + 60_000,
    )
  await run()
  const results: LoadResult[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const result = await run()
    results.push(result)
    say(`disputes, list ${round}/${rounds}: ${Math.round(result.rate)}/s, p99 ${Math.round(result.p99)} ms`)
  }
  return {
    what: `GET disputes?${query} over ${count.toLocaleString('en')}`,
    unit: '/s',
    service: results.map(({ rate }) => rate),
    baseline: [],
    aim: null,
    beside: {
      'p50 ms': median(results.map(({ p50 }) => p50)),
      'p95 ms': median(results.map(({ p95 }) => p95)),
      'p99 ms': median(results.map(({ p99 }) => p99)),
    },
    note: `${LIST_CLIENTS} clients. A sixth of the disputes match; all of them are counted for Pagination-Total.`,
  }
}

/** The API's resident memory, read in equal steps of a load of reads, lists and creations. */
async function memory(
  { divisor, say }: ScenarioContext,
  environment: Environment,
  create: string,
  read: string,
): Promise<Metric> {
  const duration = MEMORY_LOAD / divisor / READINGS
  const page = requestOf(environment, 'GET', 'disputes?limit=100')
  const load = async (clients: number, requests: readonly string[], status: number): Promise<void> => {
    const job: LoadJob = { port: environment.port, clients, duration, requests, status }
    await environment.load.call('run', job, duration + 60_000)
  }
  const readings: number[] = []
  for (let reading = 1; reading <= READINGS; reading += 1) {
    await Promise.all([load(4, [read, page], 200), load(2, [create], 201)])
    readings.push(residentMegabytes(environment.api.pid) ?? Number.NaN)
    say(`disputes, memory ${reading}/${READINGS}: ${Math.round(readings.at(-1) ?? Number.NaN)} MB`)
  }
  const third = READINGS / 3
  const [middle, last] = [readings.slice(third, 2 * third), readings.slice(2 * third)].map(median)
  return {
    what: `memory of the API over ${(MEMORY_LOAD / divisor / 60_000).toFixed(1)} minutes of load`,
    unit: 'MB',
    service: readings,
    baseline: [],
    aim: null,
    beside: {
      'median MB of the middle third': middle ?? null,
      'of the last third': last ?? null,
      'growth in %': middle === undefined || last === undefined ? null : (last / middle - 1) * 100,
    },
    note: 'Resident memory after each ninth of the load: four clients read disputes and pages of a hundred, two open disputes.',
  }
}

async function fill({ databaseUrl, merchant }: Environment, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(
      `insert into disputes (organization_id, id, customer_id, transaction_id, currency, amount, reason_code, category, type,
                             status, posted_time, source, revision, created_time, updated_time)
       select $1, 'dp_bench_' || n, $2, 'txn_bench_' || n, 'EUR', n % 1600, '10.4', 'fraud', 'first-chargeback',
              (array['won', 'lost', 'under-review'])[1 + n % 3], now(), 'api', 1, now() - n * interval '1 minute', now()
         from generate_series(1, $3::int) n`,
      [merchant.organizationId, merchant.customerId, count],
    )
    await client.query('vacuum analyze disputes')
  } finally {
    await client.end()
  }
}

function requestOf({ merchant }: Environment, method: string, path: string, body?: object): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const content =
    body === undefined
      ? ''
      : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`
  return `${method} /organizations/${merchant.organizationId}/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nSVC-APIKEY: ${merchant.secretKey}\r\n${content}\r\n${text}`
}

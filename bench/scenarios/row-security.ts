/** What row-level security costs: two APIs on one database, one of them as the tables' owner (ADR 49). */
import { orderBody } from '../../test/support/catalogue.ts'
import { type Metric, medianKnown, withCpu } from '../metric.ts'
import type { LoadJob, LoadResult } from '../processes/load.ts'
import { cpuSeconds } from '../program.ts'
import type { ScenarioContext } from './scenario.ts'

const CLIENTS = 10
const ORDERS = 100
/** Short and many, so that a disturbance of the machine falls on both. */
const ROUND = 2_000
const ROUNDS = 40
const AIM = 0.95

interface Loaded {
  readonly result: LoadResult
  readonly cpu: Readonly<Record<'server' | 'database', number | null>>
}

export async function rowSecurity({ environment, divisor, say }: ScenarioContext): Promise<Metric[]> {
  const { api, port, startOtherApi, merchant, load, placeOrder, databaseCpu } = await environment()
  const other = await startOtherApi('bench/processes/api-without-row-security.ts')
  const path = `/organizations/${merchant.organizationId}/subscriptions`
  const head = `Host: 127.0.0.1\r\nSVC-APIKEY: ${merchant.secretKey}\r\n`
  const reads: string[] = []
  for (let order = 0; order < ORDERS; order += 1) {
    reads.push(`GET ${path}/${await placeOrder()} HTTP/1.1\r\n${head}\r\n`)
  }
  const body = JSON.stringify(orderBody(merchant))
  const length = Buffer.byteLength(body)
  const creation = `POST ${path} HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`
  const kinds = [
    { what: 'GET subscriptions/{id}', requests: reads, status: 200 },
    { what: 'POST subscriptions', requests: [creation], status: 201 },
  ]
  const metrics: Metric[] = []
  for (const { what, requests, status } of kinds) {
    const run = async (to: { readonly port: number; readonly pid: number }): Promise<Loaded> => {
      const job: LoadJob = { port: to.port, clients: CLIENTS, duration: ROUND / divisor, requests, status }
      return await withCpu(
        { server: () => cpuSeconds(to.pid), database: databaseCpu },
        (): Promise<LoadResult> => load.call('run', job, ROUND + 30_000),
        (result) => result.requests,
      )
    }
    const protectedApi = { port, pid: api.pid }
    const openApi = { port: other.port, pid: other.program.pid }
    const service: Loaded[] = []
    const baseline: Loaded[] = []
    await run(protectedApi)
    await run(openApi)
    for (let round = 0; round < ROUNDS; round += 1) {
      // Each goes first in turn.
      if (round % 2 === 0) service.push(await run(protectedApi))
      baseline.push(await run(openApi))
      if (round % 2 === 1) service.push(await run(protectedApi))
    }
    metrics.push(compared(what, service, baseline))
    say(`row-security: ${what} measured ${ROUNDS} times each`)
  }
  await other.program.stop()
  return metrics
}

function compared(what: string, service: readonly Loaded[], baseline: readonly Loaded[]): Metric {
  const cpu = (of: readonly Loaded[]) =>
    medianKnown(of.map(({ cpu: { server, database } }) => (server ?? Number.NaN) + (database ?? Number.NaN)))
  return {
    what: `${what}, ${CLIENTS} clients, with row-level security`,
    unit: '/s',
    service: service.map(({ result }) => result.rate),
    baseline: baseline.map(({ result }) => result.rate),
    aim: AIM,
    beside: { 'CPU s/1000': cpu(service), 'baseline CPU s/1000': cpu(baseline) },
    note: 'Baseline: the same API as the owner of the tables. CPU: server and database.',
  }
}

import { startHelper } from '../helper.ts'
import { besideBaseline, type Metric, withCpu } from '../metric.ts'
import type { LoadJob, LoadResult } from '../processes/load.ts'
import type { ReadBaselineCalls } from '../processes/read-baseline.ts'
import { cpuSeconds } from '../program.ts'
import type { ScenarioContext } from './scenario.ts'

const CLIENTS = 10
const ORDERS = 100
const ROUND = 5_000
const AIM = 0.4

export async function read({
  environment,
  teardown,
  divisor,
  rounds,
  say,
}: ScenarioContext): Promise<Metric[]> {
  const { databaseUrl, port, api, merchant, load, placeOrder, databaseCpu } = await environment()
  const baseline = startHelper<ReadBaselineCalls>('read-baseline.ts', teardown)
  const baselinePort = await baseline.call('listen', databaseUrl, 10_000)
  const requests: string[] = []
  for (let order = 0; order < ORDERS; order += 1) {
    const path = `/organizations/${merchant.organizationId}/subscriptions/${await placeOrder()}`
    requests.push(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nSVC-APIKEY: ${merchant.secretKey}\r\n\r\n`)
  }
  const run = async (to: number, pid: number, duration: number) => {
    const job: LoadJob = { port: to, clients: CLIENTS, duration, requests, status: 200 }
    const work = (): Promise<LoadResult> => load.call('run', job, duration + 30_000)
    return await withCpu(
      { server: () => cpuSeconds(pid), database: databaseCpu },
      work,
      (result) => result.requests,
    )
  }
  const service: Awaited<ReturnType<typeof run>>[] = []
  const bare: typeof service = []
  await run(port, api.pid, ROUND / divisor)
  await run(baselinePort, baseline.pid, ROUND / divisor)
  for (let round = 1; round <= rounds; round += 1) {
    const one = await run(port, api.pid, ROUND / divisor)
    const other = await run(baselinePort, baseline.pid, ROUND / divisor)
    service.push(one)
    bare.push(other)
    say(
      `read ${round}/${rounds}: ${Math.round(one.result.rate)}/s, baseline ${Math.round(other.result.rate)}/s`,
    )
  }
  return [
    {
      what: `GET subscriptions/{id}, ${CLIENTS} clients`,
      unit: '/s',
      service: service.map(({ result }) => result.rate),
      baseline: bare.map(({ result }) => result.rate),
      aim: AIM,
      beside: besideBaseline(service, bare),
      note: 'Secret key looked up, one row read, worker stopped. Baseline: bare Koa, select of that row by primary key, its JSON.',
    },
  ]
}

/** What a worker computes to continue an execution that it no longer has in memory, by the length of its run. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import proto from '@temporalio/proto'
import { DefaultLogger, Runtime, Worker, type WorkflowBundle } from '@temporalio/worker'
import { workflowBundle } from '../../worker/bundle.ts'
import { longestHistory } from '../../workflows/contract.ts'
import type { Metric } from '../metric.ts'
import type { ScenarioContext } from './scenario.ts'

/** An order of 25 charged periods in one run. */
const HISTORY = fileURLToPath(
  new URL('../../test/fixtures/histories/subscription-renewed-for-two-years.bin', import.meta.url),
)
const REPLAYS = 50
const { History } = proto.temporal.api.history.v1
const TASK_COMPLETED = proto.temporal.api.enums.v1.EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
type Events = NonNullable<proto.temporal.api.history.v1.History['events']>

export async function replay({ divisor, rounds, say }: ScenarioContext): Promise<Metric[]> {
  Runtime.install({ logger: new DefaultLogger('ERROR') })
  const bundle = await workflowBundle()
  const events = History.decode(readFileSync(HISTORY)).events ?? []
  const longest = upTo(events, longestHistory('subscription'))
  const times = Math.ceil(REPLAYS / divisor)
  const service: number[] = []
  const baseline: number[] = []
  await replayed(bundle, events, 1)
  for (let round = 0; round < rounds; round += 1) {
    service.push(await replayed(bundle, longest, times))
    baseline.push(await replayed(bundle, events, times))
  }
  say(`replay: ${rounds} rounds of ${times} replays each`)
  return [
    {
      what: `CPU of a replay of ${longest.length} events, the most that an order's run has`,
      unit: 'ms',
      service,
      baseline,
      aim: null,
      beside: {},
      note: `Baseline: all ${events.length} events of an order renewed for two years, in one run.`,
    },
  ]
}

/** Up to the last task that ends within the given number of events. */
function upTo(events: Events, count: number): Events {
  const last = events.slice(0, count).findLastIndex(({ eventType }) => eventType === TASK_COMPLETED)
  return events.slice(0, last + 1)
}

/** Returns the milliseconds of CPU of each. */
async function replayed(workflowBundle: WorkflowBundle, events: Events, times: number): Promise<number> {
  const history = History.create({ events })
  const histories = Array.from({ length: times }, (_, ordinal) => ({
    workflowId: `replay-${ordinal}`,
    history,
  }))
  const before = process.cpuUsage()
  for await (const { error } of Worker.runReplayHistories({ workflowBundle }, histories))
    if (error) throw error
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / times
}

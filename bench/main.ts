/**
 * `npm run bench -- [part …] [--quick] [--divisor=<number>] [--profile]`. Exits with 0 if all was measured, whether
 * or not aims were met.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Environment, startEnvironment } from './environment.ts'
import { beginRun, conditions, notes, type PartResult, table, writeJson } from './report.ts'
import { charges } from './scenarios/charges.ts'
import { create } from './scenarios/create.ts'
import { deliver } from './scenarios/deliver.ts'
import { disputes } from './scenarios/disputes.ts'
import { latency } from './scenarios/latency.ts'
import { memory } from './scenarios/memory.ts'
import { orders } from './scenarios/orders.ts'
import { pricing } from './scenarios/pricing.ts'
import { read } from './scenarios/read.ts'
import { renewals } from './scenarios/renewals.ts'
import { replay } from './scenarios/replay.ts'
import { rowSecurity } from './scenarios/row-security.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { start } from './scenarios/start.ts'
import { timers } from './scenarios/timers.ts'
import { tokens } from './scenarios/tokens.ts'
import { waiting } from './scenarios/waiting.ts'
import { createTeardown, type Teardown } from './teardown.ts'

const PARTS: ReadonlyMap<string, Scenario> = new Map([
  ['read', read],
  ['deliver', deliver],
  ['latency', latency],
  ['waiting', waiting],
  ['create', create],
  ['row-security', rowSecurity],
  ['tokens', tokens],
  ['orders', orders],
  ['pricing', pricing],
  ['timers', timers],
  ['disputes', disputes],
  ['charges', charges],
  ['renewals', renewals],
  ['replay', replay],
  ['memory', memory],
  ['start', start],
])
const RESULTS = fileURLToPath(new URL('results', import.meta.url))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    divisor: { type: 'string' },
    profile: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const unknown = positionals.filter((name) => !PARTS.has(name))
const divisor = Number(values.divisor ?? (values.quick ? 10 : 1))
const isUsable = Number.isInteger(divisor) && divisor >= 1
if (values.help || unknown.length > 0 || !isUsable) {
  for (const name of unknown) console.error(`There is no part ${name}.`)
  if (!isUsable) console.error('The divisor must be a whole number from 1.')
  console.log(`usage: npm run bench -- [${[...PARTS.keys()].join('] [')}] [--quick] [--divisor=<number>] [--profile]
  --quick    a tenth of the work, to try it
  --divisor  so many times less work
  --profile  CPU profiles of API and worker, written beside the results`)
  process.exit(values.help ? 0 : 2)
}
const wanted = [...PARTS].filter(([name]) => positionals.length === 0 || positionals.includes(name))

const run = beginRun(divisor > 1)
const say = (line: string): void => console.error(line)
const interruption = new AbortController()
const teardown = createTeardown()
const giveUp = (reason: unknown, exitCode: number): void => {
  interruption.abort(reason)
  say('Stopping what was started.')
  void teardown
    .run()
    .catch((error: unknown) => say(String(error)))
    .finally(() => process.exit(exitCode))
}
process.once('SIGINT', () => giveUp('SIGINT', 130))
process.once('SIGTERM', () => giveUp('SIGTERM', 143))
process.once('uncaughtException', (error) => {
  say(error.stack ?? error.message)
  giveUp(error, 1)
})

const directory = mkdtempSync(join(tmpdir(), 'billing-bench-'))
chmodSync(directory, 0o755) // as root, PostgreSQL runs as another user, who must be able to enter
teardown.add(() => rmSync(directory, { recursive: true, force: true }))
const environment = oneEnvironment()

const lines = conditions(run)
for (const line of lines) say(line)
const results: PartResult[] = []
for (const [name, scenario] of wanted) {
  if (interruption.signal.aborted) break
  results.push(await measure(name, scenario))
}
const leftovers = await teardown.run().then(
  () => [],
  (error: unknown) => [`Not everything ended as it should: ${String(error)}`],
)
if (!interruption.signal.aborted) {
  const json = writeJson(RESULTS, results, run)
  console.log(
    [
      '',
      ...lines,
      '',
      ...table(results),
      ...notes(results),
      '',
      `written to ${relative(process.cwd(), json)}`,
      ...leftovers,
    ].join('\n'),
  )
  process.exitCode = leftovers.length > 0 || results.some(({ failure }) => failure !== null) ? 1 : 0
}

async function measure(name: string, scenario: Scenario): Promise<PartResult> {
  const own = nested(teardown)
  try {
    const metrics = await scenario({
      environment: environment.get,
      endEnvironment: environment.end,
      teardown: own,
      directory: mkdir(join(directory, name)),
      divisor,
      rounds: 5,
      say,
    })
    await own.run()
    return { name, metrics, failure: null }
  } catch (error) {
    if (!interruption.signal.aborted) say(`${name} failed: ${String(error)}`)
    await own.run().catch((failure: unknown) => say(String(failure)))
    await environment.end().catch((failure: unknown) => say(String(failure)))
    return {
      name,
      metrics: [],
      failure: Error.isError(error) ? (error.stack ?? error.message) : String(error),
    }
  }
}

function oneEnvironment(): { get(): Promise<Environment>; end(): Promise<void> } {
  let current: { starting: Promise<Environment>; teardown: Teardown } | null = null
  let count = 0
  return {
    get() {
      if (current === null) {
        count += 1
        const own = nested(teardown)
        const options = {
          directory: mkdir(join(directory, `environment-${count}`)),
          say,
          signal: interruption.signal,
          profiles: values.profile ? mkdir(RESULTS) : null,
        }
        current = { starting: startEnvironment(options, own), teardown: own }
      }
      return current.starting
    },
    async end() {
      const ending = current
      current = null
      await ending?.teardown.run()
    },
  }
}

/** Returns a teardown of its own that also ends with `outer`. */
function nested(outer: Teardown): Teardown {
  const inner = createTeardown()
  outer.add(inner.run)
  return inner
}

function mkdir(path: string): string {
  mkdirSync(path, { recursive: true })
  return path
}

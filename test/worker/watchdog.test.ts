import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from '@jest/globals'
import { createMetrics } from '../../ops/metrics.ts'
import { createReadiness } from '../../ops/readiness.ts'
import { startOpsServer } from '../../ops/server.ts'
import { progressCheck, startWatchdog, type Watchdog } from '../../worker/watchdog.ts'
import { waitFor } from '../support/wait-for.ts'

let watchdog: Watchdog | null = null
afterEach(() => watchdog?.stop())

function watching() {
  const reported: string[] = []
  watchdog = startWatchdog({ limit: 10, tick: 20, onStalled: (name) => void reported.push(name) })
  return { reported, watchdog }
}

test('work without progress stalls, is reported once, and is no longer stalled once it goes on', async () => {
  const { reported, watchdog } = watching()
  const stuck = watchdog.watch('relay')
  const busy = watchdog.watch('sweep')
  const moving = setInterval(() => busy.progress(), 10)
  try {
    await waitFor('the relay to stall', () => (watchdog.stalled().length > 0 ? true : null))
    expect(watchdog.stalled()).toEqual(['relay'])
    const later = watchdog.watch('later')
    await waitFor('the later one to stall too', () => (reported.includes('later') ? true : null))
    later.end()
    expect(reported).toEqual(['relay', 'later'])
    stuck.progress()
    expect(watchdog.stalled()).toEqual([])
  } finally {
    clearInterval(moving)
  }
})

test('work that ends is forgotten', async () => {
  const { reported, watchdog } = watching()
  watchdog.watch('done').end()
  watchdog.watch('stuck')
  await waitFor('the other one to stall', () => (reported.length > 0 ? true : null))
  expect(reported).toEqual(['stuck'])
})

test('a worker with stalled work is not ready: 503, by `loops`, until it goes on', async () => {
  const { watchdog } = watching()
  const readiness = createReadiness({
    stopping: new AbortController().signal,
    required: { loops: progressCheck(watchdog) },
  })
  const ops = await startOpsServer({ host: '127.0.0.1', port: 0, metrics: createMetrics(), readiness })
  const readyz = async () => {
    const response = await fetch(`http://127.0.0.1:${ops.port}/readyz`)
    return { code: response.status, ...((await response.json()) as object) }
  }
  try {
    expect(await readyz()).toMatchObject({ code: 200, status: 'ready', checks: { loops: 'ok' } })
    const stuck = watchdog.watch('relay')
    await waitFor('the relay to stall', () => (watchdog.stalled().length > 0 ? true : null))
    const checks = { loops: 'without progress: relay' }
    expect(await readyz()).toMatchObject({ code: 503, status: 'not ready', checks })
    stuck.end()
    expect(await readyz()).toMatchObject({ code: 200, status: 'ready' })
  } finally {
    await ops.stop()
  }
})

test('a worker with stalled work ends with exit code 70', async () => {
  const watchdog = new URL('../../worker/watchdog.ts', import.meta.url).href
  const program = `
    import { endStalled, startWatchdog } from '${watchdog}'
    setInterval(() => {}, 1_000)
    startWatchdog({ limit: 1, tick: 10, onStalled: endStalled }).watch('stuck')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  expect(code).toBe(70)
})

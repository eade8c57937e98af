/** Each task would fail there, and wait while another worker stands by. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createLog } from '../../config/log.ts'
import { installTemporalRuntime, startPolling } from '../../worker/temporal.ts'
import type { AdvanceResult } from '../../workflows/contract.ts'
import type { Activities } from '../../workflows/workflows.ts'
import { startService, type TestService } from '../support/service.ts'
import { testServices } from '../support/services.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ worker: false })
})
afterAll(() => service.stop())

test('nothing is polled for while the clocks differ, and everything again once they agree', async () => {
  const services = testServices()
  const queue = `clock-${randomUUID()}`
  const clock = movableClock()
  installTemporalRuntime(createLog('silent'))
  const over: AdvanceResult = { next: null, base: 0, visibility: null }
  const polling = startPolling({
    connection: { address: services.temporalAddress },
    client: service.temporal,
    namespace: services.namespace,
    taskQueue: queue,
    workflowBundle: { codePath: services.bundlePath },
    activities: async () => ({ advanceToken: async () => over }) as unknown as Activities,
    clock,
    log: createLog('silent'),
  })
  try {
    const start = () =>
      service.temporal.workflow.start('token-expiry', {
        taskQueue: queue,
        workflowId: `token-expiry/${randomUUID()}/pt`,
        args: [{ organizationId: 'org', recordId: 'pt' }],
      })
    const first = await start()
    await delay(2_000)
    expect((await first.describe()).status.name).toBe('RUNNING')

    clock.set(true)
    await first.result()

    clock.set(false)
    // A poll that is open already may still take one task.
    await delay(2_000)
    const second = await start()
    await delay(2_000)
    expect((await second.describe()).status.name).toBe('RUNNING')

    clock.set(true)
    await second.result()
  } finally {
    await polling.stop()
  }
}, 60_000)

function movableClock() {
  let agrees = false
  let change = Promise.withResolvers<void>()
  return {
    agrees: () => agrees,
    changed: () => change.promise,
    set(value: boolean): void {
      agrees = value
      change.resolve()
      change = Promise.withResolvers()
    },
  }
}

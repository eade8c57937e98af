/** A worker whose clock is wrong polls for nothing, as each task would wait for another worker; its loops wait too. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createLog } from '../../config/log.ts'
import { composedStatement } from '../../db/statement.ts'
import { startLoop } from '../../worker/loop.ts'
import { installTemporalRuntime, startPolling } from '../../worker/temporal.ts'
import type { AdvanceResult } from '../../workflows/contract.ts'
import type { Activities } from '../../workflows/workflows.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { testServices } from '../support/services.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

const DAY = 86_400_000

let service: TestService
/** By how much the clock of the worker's machine is ahead. */
let ahead = 0
beforeAll(async () => {
  service = await startService({ worker: false, workerNow: () => Date.now() + ahead })
})
afterAll(() => service.stop())

const sql = <T extends object>(text: string, values: unknown[] = []) =>
  composedStatement<T>(service.database.orm.em.fork(), text, values)

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

test('no loop of the worker acts while the clocks differ, and each does once they agree', async () => {
  const receiver = await startReceiver()
  try {
    const merchant = await catalogue(service, { webhook: receiver.url })
    const { api, organizationId } = merchant
    const [moving, starting] = [
      await create(api, 'subscriptions', orderBody(merchant)),
      await create(api, 'subscriptions', orderBody(merchant)),
    ]
    const { id: failing } = await create(api, 'webhooks', { url: receiver.url })
    const sale = async (pan: string) =>
      await create(api, 'transactions', {
        type: 'sale',
        customerId: merchant.customerId,
        currency: 'EUR',
        amount: 12.5,
        paymentInstruction: { token: await makeToken(api, pan) },
      })
    const disputed = await sale(TEST_CARDS.disputed)
    const card = await create(api, 'payment-instruments', {
      customerId: merchant.customerId,
      token: await makeToken(api),
    })
    await sql('update subscriptions set moving_to = next_deadline where id = ?', [moving.id])
    await sql(
      `insert into fast_forwards (organization_id, id, subscription_id, to_time, progress_time, created_time, updated_time)
       values (?, 'ff_1', ?, now(), now(), now(), now())`,
      [organizationId, moving.id],
    )
    await sql(
      `insert into gateway_notifications (organization_id, gateway_account_id, id, type, record, object, occurred_time, rank,
                                          content, status, due_time, received_time)
       values (?, 'main', 'evt_1', 'other', 'ch_1', 'ch_1', now(), 0, '{"kind":"other","reason":"type"}', 'received', now(), now())`,
      [organizationId],
    )
    /** Due by the worker's clock: when it is wrong, and when it is right again. */
    const make = async (wait: string): Promise<void> => {
      await sql(
        `update payment_instruments set exp_year = extract(year from month), exp_month = extract(month from month)
           from (select now() at time zone 'UTC' - interval '1 month' + ?::interval as month) given where id = ?`,
        [wait, card.id],
      )
      await sql(
        `update webhooks set consecutive_failures = 100, first_failure_time = now() - interval '3 days' + ?::interval
          where id = ?`,
        [wait, failing],
      )
      await sql(
        "update fast_forwards set progress_time = now() - interval '2 minutes' + ?::interval where id = 'ff_1'",
        [wait],
      )
      await sql(
        "update transactions set charged_time = now() - interval '2 days' + ?::interval where id = ?",
        [wait, disputed.id],
      )
    }
    /** One of each loop that goes by this machine's clock. */
    const done: Readonly<Record<string, () => Promise<readonly unknown[]>>> = {
      notifications: () =>
        sql("select 1 from gateway_notifications where id = 'evt_1' and status <> 'received'"),
      'card expiry': () =>
        sql("select 1 from payment_instruments where id = ? and status = 'expired'", [card.id]),
      'webhook disabling': () =>
        sql("select 1 from webhooks where id = ? and status = 'inactive'", [failing]),
      'stalled moves': () => sql("select 1 from fast_forwards where id = 'ff_1' and status <> 'running'"),
      'disputes of the test gateway': () => sql("select 1 from gateway_notifications where id <> 'evt_1'"),
      relay: () =>
        sql('select 1 where not exists (select from wake_ups where record_id = ? and starts)', [starting.id]),
      dispatcher: async () => receiver.received,
    }
    const loops = async () =>
      (
        await Promise.all(Object.entries(done).map(async ([name, rows]) => (await rows()).length > 0 && name))
      ).filter((name) => name !== false)

    await make('40 days')
    ahead = 40 * DAY
    service.startWorker()
    await delay(5_000)
    expect(await loops()).toEqual([])

    await make('0')
    ahead = 0
    await waitFor('every loop to act', async () =>
      (await loops()).length === Object.keys(done).length ? true : null,
    )
  } finally {
    await service.stopWorker()
    await receiver.close()
  }
}, 60_000)

test('a loop that waits for the clocks to agree ends when it is stopped', async () => {
  let iterations = 0
  const loop = startLoop({
    name: 'under test',
    interval: 1,
    log: createLog('silent'),
    clock: movableClock(),
    async iterate() {
      iterations += 1
      return false
    },
  })
  loop.nudge()
  await loop.stop()
  expect(iterations).toBe(0)
})

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

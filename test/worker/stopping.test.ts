/** A process that is told to stop ends within the minute that it is given, whatever it is in the middle of. */
import { randomBytes } from 'node:crypto'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { temporal } from '@temporalio/proto'
import pg from 'pg'
import { createLog } from '../../config/log.ts'
import { cancelUnsendable } from '../../delivery/cancel-unsendable.ts'
import { recordOutcomes, takeDueDeliveries } from '../../delivery/queue.ts'
import { freePort } from '../../dev/services/ports.ts'
import { removeExpired } from '../../worker/retention.ts'
import { startSweep } from '../../worker/sweep.ts'
import { catalogue, orderBody } from '../support/catalogue.ts'
import { forward } from '../support/forward.ts'
import { type ServiceProcess, serviceProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { testServices } from '../support/services.ts'
import { waitFor } from '../support/wait-for.ts'

/** Processes start, and drain. */
jest.setTimeout(180_000)

/** Milliseconds of those that an orchestrator waits, for another process that is starting beside it. */
const PROMPT = 20_000
/** What the deployments grant. */
const GRANTED = 60_000
const MASTER_KEY = randomBytes(32).toString('base64')

let service: TestService
const cleanUps: (() => unknown)[] = []

beforeAll(async () => {
  service = await startService({ worker: false, settings: { MASTER_KEY } })
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})
afterAll(() => service.stop())

const em = () => service.database.orm.em.fork()
const sql = <T>(text: string, values: unknown[] = []) => em().getConnection().execute<T[]>(text, values)

async function startProcess(temporalAddress = testServices().temporalAddress): Promise<ServiceProcess> {
  const env = {
    DATABASE_URL: service.databaseUrl,
    MASTER_KEY,
    BASE_URL: service.baseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: testServices().namespace,
    OPS_PORT: String(await freePort()),
    LOG_LEVEL: 'silent',
  }
  const worker = serviceProcess('worker/main.ts', env, '/dev/null')
  cleanUps.push(() => worker.kill())
  await worker.start()
  return worker
}

/** Returns the exit code, or `late` if the process is still there after so many milliseconds. */
async function stop(worker: ServiceProcess, within: number): Promise<number | null | 'late'> {
  const controller = new AbortController()
  const late = delay(within, 'late' as const, { signal: controller.signal })
  try {
    return await Promise.race([worker.stop(), late])
  } finally {
    controller.abort()
    late.catch(() => {})
  }
}

describe('a worker that is told to stop', () => {
  test('cancels a removal of expired rows that would go on for long', async () => {
    const holder = new pg.Client({ connectionString: service.databaseUrl })
    await holder.connect()
    cleanUps.push(() => holder.end())
    // Only the removal uses this table: it waits for the lock as for a long statement.
    await holder.query('begin; lock table sign_in_failures in access exclusive mode')
    const removals = () =>
      sql(
        "select 1 from pg_stat_activity where application_name like 'billing retention%' and wait_event_type = 'Lock'",
      )
    const worker = await startProcess()
    await waitFor('the removal', async () => ((await removals()).length === 1 ? true : null))
    expect(await stop(worker, PROMPT)).toBe(0)
    expect(await removals()).toEqual([])
  })

  test('does not wait for a Temporal that has accepted its connection and is silent', async () => {
    const sockets: Socket[] = []
    const silent = createServer((socket) => void sockets.push(socket.on('error', () => {})))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    cleanUps.push(() => {
      for (const socket of sockets) socket.destroy()
      silent.close()
    })
    const worker = await startProcess(`127.0.0.1:${(silent.address() as AddressInfo).port}`)
    await waitFor('a connection', () => (sockets.length > 0 ? true : null))
    expect(await stop(worker, GRANTED)).toBe(0)
  })

  test('does not wait for a Temporal that falls silent', async () => {
    const port = await freePort()
    const way = await forward(port, testServices().temporalAddress)
    cleanUps.push(() => way.close())
    const began = Date.now()
    const worker = await startProcess(`127.0.0.1:${port}`)
    await waitFor('its polls', async () => {
      const { pollers } = await service.temporal.workflowService.describeTaskQueue({
        namespace: testServices().namespace,
        taskQueue: { name: service.taskQueue },
        taskQueueType: temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
      })
      const polls =
        pollers?.map(({ lastAccessTime }) => Number(lastAccessTime?.seconds) * 1_000 + 1_000) ?? []
      return polls.some((time) => time > began) || null
    })
    way.swallow()
    expect(await stop(worker, GRANTED)).toBe(0)
  })

  test('records the retry that is under way, although another part of it cannot end', async () => {
    const receiver = await startReceiver()
    cleanUps.push(() => receiver.close())
    const { promise: mayRespond, resolve: respond } = Promise.withResolvers<void>()
    receiver.respondWith(async (_, response) => {
      await mayRespond
      response.writeHead(200).end()
    })
    const merchant = await catalogue(service, { webhook: receiver.url })
    await sql("update deliveries set status = 'canceled' where status <> 'delivered'")
    await merchant.api.post('customers', {})
    const [delivery] = await takeDueDeliveries(em(), {
      owner: 'wrk_1',
      shares: [],
      others: { total: 1, each: 1 },
    })
    if (delivery === undefined) throw new Error('no delivery is due')
    const failed = {
      delivery,
      initiatedTime: new Date(),
      sentTime: new Date(),
      duration: 5,
      requestHeaders: {},
      response: { status: 500, headers: {}, body: '', failure: 'status' as const },
    }
    await recordOutcomes(em(), [{ attempt: failed, next: Date.now() }], 'wrk_1')
    await sql(
      `create function refuse() returns trigger language plpgsql as 'begin raise exception ''refused''; end'`,
    )
    await sql(
      'create trigger refuse before delete on worker_processes for each row execute function refuse()',
    )
    cleanUps.push(() => sql('drop function refuse cascade'))
    service.startWorker()
    await receiver.until(() => true)
    const stopped = service.stopWorker().then(
      () => 'stopped',
      (error: unknown) => String(error),
    )
    const early = await Promise.race([stopped, delay(2_000, 'draining')])
    respond()
    expect(await stopped).toContain('refused')
    expect(early).toBe('draining')
    expect(await sql('select status, attempts from deliveries where id = ?', [delivery.id])).toEqual([
      { status: 'delivered', attempts: 2 },
    ])
  })
})

test('expired rows are removed from every table, but for one that is locked', async () => {
  const holder = new pg.Client({ connectionString: service.databaseUrl })
  await holder.connect()
  cleanUps.push(() => holder.end())
  await holder.query('begin; lock table idempotency_records in access exclusive mode')
  await sql(
    `insert into sign_in_failures (organization_id, id, subject, failed_time)
     values ('org_1', 'sif_1', repeat('a', 64), now() - interval '2 days')`,
  )
  await expect(removeExpired(em())).rejects.toThrow('lock timeout')
  expect(await sql('select 1 from sign_in_failures')).toEqual([])
})

describe('once the process is stopping', () => {
  test('no other batch of expired rows is removed', async () => {
    await sql(
      `insert into sign_in_failures (organization_id, id, subject, failed_time)
       select 'org_1', 'sif_' || number, repeat('a', 64), now() - interval '2 days' from generate_series(1, 5) as number`,
    )
    expect(await removeExpired(em(), 1, AbortSignal.abort())).toBe(0)
    expect(await sql('select 1 from sign_in_failures')).toHaveLength(5)
    expect(await removeExpired(em(), 1)).toBeGreaterThanOrEqual(5)
  })

  test('no other batch of deliveries to a deleted webhook is canceled', async () => {
    const merchant = await catalogue(service, { webhook: 'http://127.0.0.1:1/' })
    await sql(
      `insert into deliveries (organization_id, id, event_id, webhook_id, status, attempts, created_time)
       select ?, 'del_' || number, (select id from events limit 1), ?, 'waiting', 0, now()
         from generate_series(1, 1200) as number`,
      [merchant.organizationId, merchant.webhookId],
    )
    await merchant.api.send('DELETE', `webhooks/${merchant.webhookId}`)
    const stopping = new AbortController()
    const options = { stopping: stopping.signal, progress: () => stopping.abort() }
    expect(await cancelUnsendable(em(), options)).toBe(500)
    expect(await cancelUnsendable(em())).toBeGreaterThanOrEqual(700)
  })

  test('the orders of no other organization are advanced because they are late', async () => {
    const merchant = await catalogue(service)
    await merchant.api.post('subscriptions', orderBody(merchant))
    await sql(
      `insert into subscriptions select copy.* from generate_series(1, 100) as number, subscriptions original,
         jsonb_populate_record(original, jsonb_build_object('organization_id', 'org_' || number)) as copy
        where original.organization_id = ?`,
      [merchant.organizationId],
    )
    await sql("update subscriptions set next_deadline = now() - interval '1 minute'")
    let begun = 0
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
    const sweep = startSweep({
      em,
      orders: {
        async advanceDue() {
          begun += 1
          await mayEnd
          return { count: 1, isMore: false }
        },
      },
      late: { inc() {} },
      log: createLog('silent'),
    })
    await waitFor('the first of them', () => (begun > 0 ? true : null))
    const stopped = sweep.stop()
    end()
    await stopped
    expect(begun).toBeLessThan(100)
    await sql('delete from subscriptions')
  })
})

/** The relay between outbox and engine, while the engine breaks off in the middle. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import pino, { type Logger } from 'pino'
import { freePort } from '../../dev/engines/ports.ts'
import { startRelay } from '../../worker/relay.ts'
import { workflowId } from '../../workflows/contract.ts'
import { testEngines } from '../rig/engines.ts'
import { forward } from '../rig/forward.ts'
import { startService, type TestService } from '../rig/service.ts'
import { waitFor } from '../rig/wait-for.ts'

const WAKE_UPS = 150

const recordId = (number: number): string => `sub_${String(number).padStart(4, '0')}`

/** Executions that can wait, of records that are made together: more than are held back for. */
const RUSH = 120

let service: TestService
beforeAll(async () => {
  service = await startService({ worker: false })
})
afterAll(() => service.stop())

/** A relay of the service that nobody polls beside. */
const relayOn = (connection: Connection, options: { log?: Logger; poll?: number } = {}) =>
  startRelay({
    em: () => service.database.orm.em.fork(),
    client: new Client({ connection, namespace: testEngines().namespace }),
    pollers: () => null,
    taskQueue: service.taskQueue,
    log: pino({ level: 'silent' }),
    ...options,
  })

test('what the engine took before it went away is not offered again; the rest is, when it is back', async () => {
  const { temporalAddress } = testEngines()
  const connectionToDatabase = service.database.orm.em.getConnection()
  const outbox = async (): Promise<number> => {
    const rows = await connectionToDatabase.execute<{ waiting: number }[]>(
      'select count(*)::int as waiting from wake_ups',
    )
    return rows[0]?.waiting ?? -1
  }
  await connectionToDatabase.execute(
    `insert into wake_ups (workflow, organization_id, record_id, due_time)
     select 'subscription', 'org_relay', 'sub_' || lpad(number::text, 4, '0'), now()
       from generate_series(1, ${WAKE_UPS}) as number`,
  )
  const port = await freePort()
  const bridge = await forward(port, temporalAddress)
  const said: string[] = []
  const connection = Connection.lazy({ address: `127.0.0.1:${port}` })
  bridge.breakAfter(30_000)
  const log = pino({ level: 'info' }, { write: (line) => void said.push(line) })
  const relay = relayOn(connection, { log })
  const hasSaid = (words: string) => said.some((line) => line.includes(words)) || null
  try {
    await waitFor('the relay to notice', async () => hasSaid('cannot be reached'))
    const left = await outbox()
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(WAKE_UPS)

    bridge.mend()
    await waitFor('the outbox to be empty', async () => ((await outbox()) === 0 ? true : null))
    expect(hasSaid('the workflow engine is back')).toBe(true)
    const executions = await Promise.all(
      Array.from({ length: WAKE_UPS }, (_, index) =>
        service.temporal.workflow
          .getHandle(workflowId('subscription', 'org_relay', recordId(index + 1)))
          .describe(),
      ),
    )
    expect(executions.map(({ status }) => status.name)).toEqual(executions.map(() => 'RUNNING'))
    // Nobody works here: they would run for ever.
    await Promise.all(
      executions.map(({ workflowId: id }) => service.temporal.workflow.getHandle(id).terminate()),
    )
  } finally {
    await relay.stop()
    await connection.close()
    await bridge.close()
  }
})

test.each([true, false])(
  'carries batch after batch without a pause (executions that can wait: %s)',
  async (canWait) => {
    const { temporalAddress } = testEngines()
    const database = service.database.orm.em.getConnection()
    const organizationId = `org_batches_${canWait}`
    await database.execute(
      `insert into wake_ups (workflow, organization_id, record_id, starts, can_wait, due_time)
     select 'subscription', '${organizationId}', 'sub_' || lpad(number::text, 4, '0'), true, ${canWait}, now() - interval '5 seconds'
       from generate_series(1, ${RUSH}) as number`,
    )
    const connection = Connection.lazy({ address: temporalAddress })
    const relay = relayOn(connection, { poll: 3_600_000 })
    try {
      await waitFor('the outbox to be empty', async () => {
        const [row] = await database.execute<{ waiting: number }[]>(
          'select count(*)::int as waiting from wake_ups',
        )
        return row?.waiting === 0 ? true : null
      })
    } finally {
      await relay.stop()
      await Promise.all(
        Array.from({ length: RUSH }, (_, index) =>
          service.temporal.workflow
            .getHandle(workflowId('subscription', organizationId, recordId(index + 1)))
            .terminate(),
        ),
      )
      await connection.close()
    }
  },
)

test('while many records are made, executions that can wait begin later, and nothing else does', async () => {
  const { temporalAddress } = testEngines()
  const database = service.database.orm.em.getConnection()
  const add = (from: number, count: number, canWait: boolean, age: string) =>
    database.execute(
      `insert into wake_ups (workflow, organization_id, record_id, starts, can_wait, due_time)
       select 'subscription', 'org_rush', 'sub_' || lpad(number::text, 4, '0'), true, ${canWait}, now() - interval '${age}'
         from generate_series(${from}, ${from + count - 1}) as number`,
    )
  const waiting = async (): Promise<string[]> =>
    (
      await database.execute<{ record_id: string }[]>('select record_id from wake_ups order by record_id')
    ).map((row) => row.record_id)
  await add(1, RUSH, true, '0')
  await add(1_001, 1, false, '0')
  await add(2_001, 1, true, '61 seconds')
  const refreshing = setInterval(() => {
    // As if they were others, made now.
    void database.execute("update wake_ups set due_time = now() where can_wait and record_id < 'sub_1'")
  }, 200)
  const connection = Connection.lazy({ address: temporalAddress })
  const relay = relayOn(connection)
  try {
    await waitFor('what cannot wait, and what has waited for long', async () =>
      (await waiting()).length === RUSH ? true : null,
    )
    // Looks again and again, and leaves them.
    relay.nudge()
    await delay(600)
    expect(await waiting()).toEqual(Array.from({ length: RUSH }, (_, index) => recordId(index + 1)))

    clearInterval(refreshing)
    await waitFor('the rest, when no more are made', async () =>
      (await waiting()).length === 0 ? true : null,
    )
  } finally {
    clearInterval(refreshing)
    await relay.stop()
    const handles = [...Array.from({ length: RUSH }, (_, index) => index + 1), 1_001, 2_001].map((number) =>
      service.temporal.workflow.getHandle(workflowId('subscription', 'org_rush', recordId(number))),
    )
    await Promise.all(handles.map((handle) => handle.terminate()))
    await connection.close()
  }
})

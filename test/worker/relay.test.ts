import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { temporal } from '@temporalio/proto'
import pino from 'pino'
import { createLog } from '../../config/log.ts'
import { freePort } from '../../dev/services/ports.ts'
import { ensureNamespace } from '../../dev/services/temporal-namespace.ts'
import { startRelay } from '../../worker/relay.ts'
import { rememberedAttributes } from '../../worker/search-attributes.ts'
import { ensureSearchAttributes } from '../../worker/temporal.ts'
import { type WorkflowName, workflowId } from '../../workflows/contract.ts'
import { AGREED } from '../support/agreed-clock.ts'
import { forward } from '../support/forward.ts'
import { startService, type TestService } from '../support/service.ts'
import { testServices } from '../support/services.ts'
import { waitFor } from '../support/wait-for.ts'

const ORGANIZATION = 'org_relay'
/** More than are claimed at a time. */
const MANY = 150
const HOUR = 3_600_000

interface Call {
  readonly id: string
  readonly kind: 'start' | 'signal'
  readonly startDelay: number
}

describe('the relay', () => {
  let service: TestService
  let said: string[] = []
  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterAll(() => service.stop())
  beforeEach(() => {
    said = []
  })
  const stops: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
    await sql('delete from wake_ups')
  })

  const sql = <T>(text: string, values: readonly unknown[] = []) =>
    service.database.orm.em
      .fork()
      .getConnection()
      .execute<T[]>(text, [...values])
  const outbox = async () =>
    Number((await sql<{ count: string }>('select count(*) as count from wake_ups'))[0]?.count)
  const empty = () => waitFor('the outbox to be empty', async () => ((await outbox()) === 0 ? true : null))
  const add = (
    prefix: string,
    count: number,
    {
      workflow = 'subscription' as WorkflowName,
      starts = true,
      gatewayCall = false,
      due = "interval '1 hour'",
      organization = ORGANIZATION,
      attributes = null as { readonly status: string } | null,
    } = {},
  ) =>
    sql(
      `insert into wake_ups (workflow, organization_id, record_id, starts, gateway_call, due_by, attributes)
       select '${workflow}', '${organization}', '${prefix}_' || lpad(number::text, 5, '0'), ${starts}, ${gatewayCall},
              now() + ${due}, ?::jsonb from generate_series(1, ${count}) number`,
      [attributes && JSON.stringify(attributes)],
    )
  const hasSaid = (words: string) => said.some((line) => line.includes(words)) || null
  const relayWith = (
    client: Client,
    poll?: number,
    searchAttributes = rememberedAttributes(async () => false),
  ) => {
    const relay = startRelay({
      em: () => service.database.orm.em.fork(),
      client,
      taskQueue: service.taskQueue,
      searchAttributes,
      clock: AGREED,
      log: pino({ level: 'info' }, { write: (line) => void said.push(line) }),
      ...(poll === undefined ? {} : { poll }),
    })
    stops.push(() => relay.stop())
    return relay
  }
  const clientOf = (address: string) => {
    const connection = Connection.lazy({ address })
    stops.push(() => connection.close())
    return new Client({ connection, namespace: testServices().namespace })
  }
  /** Records its calls, and fails where the test wants it. */
  const noting = (fail: (id: string) => Error | null = () => null) => {
    const client = clientOf(testServices().temporalAddress)
    const calls: Call[] = []
    const { start, signalWithStart } = client.workflow
    const noted =
      (kind: Call['kind'], call: typeof start) =>
      async (...given: Parameters<typeof start>): Promise<never> => {
        const { workflowId: id, startDelay = 0 } = given[1]
        const failure = fail(id)
        calls.push({ id, kind, startDelay: Number(startDelay) })
        if (failure !== null) throw failure
        return (await call.apply(client.workflow, given)) as never
      }
    Object.assign(client.workflow, {
      start: noted('start', start),
      signalWithStart: noted('signal', signalWithStart as unknown as typeof start),
    })
    return { client, calls }
  }
  const refusal = (code: number) =>
    Object.assign(new Error('refused by the test'), { code, details: '', metadata: {} })
  const terminate = (
    prefix: string,
    count: number,
    workflow: WorkflowName = 'subscription',
    organization = ORGANIZATION,
  ) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        service.temporal.workflow
          .getHandle(workflowId(workflow, organization, `${prefix}_${String(index + 1).padStart(5, '0')}`))
          .terminate()
          .catch(() => {}),
      ),
    )

  test('offers no more what Temporal took before it went away; the rest is carried when it is back', async () => {
    await add('lost', MANY, { starts: false })
    const port = await freePort()
    const bridge = await forward(port, testServices().temporalAddress)
    stops.push(() => bridge.close())
    bridge.breakAfter(30_000)
    relayWith(clientOf(`127.0.0.1:${port}`))
    await waitFor('the relay to notice', async () => hasSaid('cannot be reached'))
    const left = await outbox()
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(MANY)
    bridge.heal()
    await empty()
    expect(hasSaid('Temporal is back')).toBe(true)
    // No worker runs here, so they would run for ever.
    await terminate('lost', MANY)
  })

  test('carries batch after batch without a pause', async () => {
    await add('batch', MANY)
    relayWith(clientOf(testServices().temporalAddress), HOUR)
    await empty()
    await terminate('batch', MANY)
  })

  test('holds none of the overdue orders that rearm wakes: no batch gives those a later deadline', async () => {
    await add('overdue', MANY, { due: "interval '-1 hour'", attributes: { status: 'active' } })
    relayWith(clientOf(testServices().temporalAddress), HOUR)
    await empty()
    await terminate('overdue', MANY)
  })

  test('carries gateway calls first, then what is nearest its deadline, whatever came before it', async () => {
    await add('retry', 300, { workflow: 'webhook-delivery', due: "interval '30 minutes'" })
    await add('signal', 1, { starts: false, due: "interval '10 minutes'" })
    await add('dispute', 1, { workflow: 'dispute-deadline', due: "interval '1 minute'" })
    await add('order', 1, { due: "interval '0'" })
    await add('charge', 1, { starts: false, gatewayCall: true, due: "interval '1 second'" })
    const { client, calls } = noting()
    relayWith(client)
    await empty()
    expect(calls.slice(0, 4).map(({ id }) => id.split('/').at(-1))).toEqual([
      'charge_00001',
      'order_00001',
      'dispute_00001',
      'signal_00001',
    ])
    await terminate('retry', 300, 'webhook-delivery')
    await terminate('dispute', 1, 'dispute-deadline')
    for (const prefix of ['signal', 'order', 'charge']) await terminate(prefix, 1)
  })

  test('tasks that wait for a worker are dispatched to organizations in turn, however many one has', async () => {
    const due = "interval '0'"
    await add('many', MANY, { workflow: 'dispute-deadline', due })
    relayWith(clientOf(testServices().temporalAddress))
    await empty()
    await add('few', 1, { workflow: 'dispute-deadline', due, organization: 'org_beside' })
    await empty()
    const client = clientOf(testServices().temporalAddress)
    const first: string[] = []
    while (first.length < 10) {
      const { workflowExecution } = await client.connection.withDeadline(Date.now() + 20_000, () =>
        client.workflowService.pollWorkflowTaskQueue({
          namespace: testServices().namespace,
          taskQueue: { name: service.taskQueue },
          identity: 'test',
        }),
      )
      first.push(workflowExecution?.workflowId ?? '')
    }
    expect(first).toContain(workflowId('dispute-deadline', 'org_beside', 'few_00001'))
    await terminate('many', MANY, 'dispute-deadline')
    await terminate('few', 1, 'dispute-deadline', 'org_beside')
  }, 60_000)

  test('gives an execution of an earlier release its organization as fairness key, for its later runs too', async () => {
    const { namespace, temporalAddress } = testServices()
    const id = workflowId('dispute-deadline', ORGANIZATION, 'earlier_00001')
    await service.temporal.workflow.start('dispute-deadline', {
      workflowId: id,
      taskQueue: service.taskQueue,
      args: [{ organizationId: ORGANIZATION, recordId: 'earlier_00001' }],
    })
    const described = async () => await service.temporal.workflow.getHandle(id).describe()
    const keyOf = ({ raw }: Awaited<ReturnType<typeof described>>) =>
      raw.workflowExecutionInfo?.priority?.fairnessKey
    const first = await described()
    expect(keyOf(first) ?? '').toBe('')
    // As `npm run rearm` writes it.
    await add('earlier', 1, { workflow: 'dispute-deadline' })
    relayWith(clientOf(temporalAddress))
    await empty()
    expect(keyOf(await described())).toBe(ORGANIZATION)
    const { connection, workflowService } = clientOf(temporalAddress)
    const { taskToken, startedEventId } = await connection.withDeadline(Date.now() + 20_000, () =>
      workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: service.taskQueue } }),
    )
    expect(Number(startedEventId)).toBeGreaterThan(0)
    await workflowService.respondWorkflowTaskCompleted({
      namespace,
      taskToken,
      commands: [
        {
          commandType: temporal.api.enums.v1.CommandType.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION,
          continueAsNewWorkflowExecutionCommandAttributes: {
            workflowType: { name: 'dispute-deadline' },
            taskQueue: { name: service.taskQueue },
          },
        },
      ],
    })
    const second = await described()
    expect(second.runId).not.toBe(first.runId)
    expect(keyOf(second)).toBe(ORGANIZATION)
    await terminate('earlier', 1, 'dispute-deadline')
  }, 60_000)

  test('starts the execution of a new record asleep, and folds what else waits for it into that', async () => {
    await add('new', 1)
    await add('new', 1, { starts: false, due: "interval '2 hours'" })
    const { client, calls } = noting()
    relayWith(client)
    await empty()
    expect(calls).toHaveLength(1)
    // The later wake-up knows the present deadline.
    expect(calls[0]?.startDelay).toBeGreaterThan(1.9 * HOUR)
    await terminate('new', 1)
  })

  test('a call that Temporal does not answer in time defers that wake-up alone', async () => {
    await add('slow', 20)
    const slow = workflowId('subscription', ORGANIZATION, 'slow_00003')
    const { client, calls } = noting((id) => (id === slow ? refusal(4) : null))
    relayWith(client)
    await waitFor('the others, and the deferral', async () => {
      const rows = await sql<{ record_id: string; not_before: string | null; lease_owner: string | null }>(
        'select record_id, not_before, lease_owner from wake_ups',
      )
      const [left] = rows
      return rows.length === 1 && left?.not_before != null && left.lease_owner === null ? true : null
    })
    expect(calls.filter(({ id }) => id === slow)).toHaveLength(1)
    expect(calls).toHaveLength(20)
    expect(hasSaid('cannot be reached')).toBeNull()
    await terminate('slow', 20)
  })

  test('a wake-up that Temporal refuses is kept with the reason, and delays no other', async () => {
    await add('bad', 3)
    const bad = workflowId('subscription', ORGANIZATION, 'bad_00002')
    const { client } = noting((id) => (id === bad ? refusal(3) : null))
    relayWith(client)
    const left = await waitFor('the reason', async () => {
      const [row, ...others] = await sql<{ refusals: number; last_error: string }>(
        'select refusals, last_error from wake_ups',
      )
      return row !== undefined && others.length === 0 && row.refusals > 0 ? row : null
    })
    expect(left.last_error).toContain('refused by the test')
    await terminate('bad', 3)
  })

  test('carries everything through an overload, with fewer calls at a time', async () => {
    await add('load', 60)
    let refusals = 0
    const { client } = noting(() => {
      refusals += 1
      return refusals <= 12 ? refusal(8) : null
    })
    relayWith(client)
    await empty()
    expect(refusals).toBeGreaterThan(60)
    expect(hasSaid('cannot be reached')).toBeNull()
    await terminate('load', 60)
  })

  test('leaves alone what another relay holds, and deletes nothing that it lost itself', async () => {
    await add('held', 2)
    await sql(
      "update wake_ups set lease_owner = 'other', lease_until = now() + interval '1 hour' where record_id = 'held_00001'",
    )
    const { client, calls } = noting((id) => {
      // Another relay takes it over while this one is still calling.
      if (id.endsWith('held_00002')) void sql("update wake_ups set lease_owner = 'other' where true")
      return null
    })
    const relay = relayWith(client)
    await waitFor('the call', async () => (calls.length > 0 ? true : null))
    await relay.stop()
    expect(calls.map(({ id }) => id.split('/').at(-1))).toEqual(['held_00002'])
    const left = await sql<{ record_id: string }>('select record_id from wake_ups order by record_id')
    expect(left.map((row) => row.record_id)).toContain('held_00001')
    await terminate('held', 2)
  })

  test('does not put to sleep what may have been started before: its execution may have ended since', async () => {
    await add('ended', 1)
    await add('new', 1)
    await sql(
      "update wake_ups set lease_owner = 'gone', lease_until = now() - interval '1 second' where record_id like 'ended%'",
    )
    const { client, calls } = noting((id) =>
      id.includes('slow') && calls.filter((call) => call.id === id).length === 0 ? refusal(4) : null,
    )
    relayWith(client)
    await empty()
    await add('slow', 1)
    await empty()
    const delaysOf = (prefix: string) =>
      calls.filter(({ id }) => id.includes(prefix)).map(({ startDelay }) => startDelay > 0)
    expect(delaysOf('new')).toEqual([true])
    expect(delaysOf('ended')).toEqual([false])
    expect(delaysOf('slow')).toEqual([true, false])
    await terminate('ended', 1)
    await terminate('new', 1)
    await terminate('slow', 1)
  }, 60_000)

  test('that is to stop breaks off its calls, and leaves what they carried to others at once', async () => {
    const port = await freePort()
    const way = await forward(port, testServices().temporalAddress)
    stops.push(() => way.close())
    const relay = relayWith(clientOf(`127.0.0.1:${port}`))
    await add('before', 1)
    await empty()
    way.swallow()
    await add('left', MANY)
    await waitFor('claimed wake-ups', async () => {
      const claimed = await sql('select 1 from wake_ups where lease_owner is not null')
      return claimed.length > 0 || null
    })
    const began = performance.now()
    await relay.stop()
    expect(performance.now() - began).toBeLessThan(2_000)
    expect(hasSaid('cannot be reached')).toBeNull()
    // Everything is claimed at first sight: what is not would wait for an hour.
    relayWith(clientOf(testServices().temporalAddress), HOUR)
    await empty()
    await terminate('before', 1)
    await terminate('left', MANY)
  })

  test('registers search attributes anew where the namespace is another one than it was', async () => {
    const address = testServices().temporalAddress
    const namespace = `anew-${randomUUID()}`
    await ensureNamespace({ address, namespace, isHopeless: () => false })
    const connection = Connection.lazy({ address })
    stops.push(() => connection.close())
    const client = new Client({ connection, namespace })
    // The first answer is that of the namespace which this one replaces.
    let asked = 0
    const register = async () => {
      asked += 1
      return asked === 1 || (await ensureSearchAttributes(client, createLog('silent')))
    }
    await add('anew', 1)
    relayWith(client, undefined, rememberedAttributes(register))
    await waitFor('the outbox to be empty', async () => ((await outbox()) === 0 ? true : null), 40_000)
    expect(hasSaid('no mapping defined for search attribute')).toBe(true)
    const handle = client.workflow.getHandle(workflowId('subscription', ORGANIZATION, 'anew_00001'))
    const { typedSearchAttributes } = await handle.describe()
    const found = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value])
    expect(found).toContainEqual(['BillingOrganization', ORGANIZATION])
    await handle.terminate()
  }, 90_000)

  test('takes over what a relay that died had claimed', async () => {
    await add('orphan', 1)
    await sql("update wake_ups set lease_owner = 'dead', lease_until = now() - interval '1 second'")
    relayWith(clientOf(testServices().temporalAddress))
    await empty()
    await terminate('orphan', 1)
  })
})

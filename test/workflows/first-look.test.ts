/** An execution begins with what was seen of its record: it has nothing to ask before it waits, and misses no change. */
import { expect, test } from '@jest/globals'
import proto from '@temporalio/proto'
import { CHANGED_SIGNAL } from '../../workflows/contract.ts'
import { catalogue, orderBody } from '../rig/catalogue.ts'
import { startService } from '../rig/service.ts'
import { skipTime } from '../rig/time-skipping.ts'
import { waitFor } from '../rig/wait-for.ts'

const DAY = 86_400_000
const { EventType } = proto.temporal.api.enums.v1

test('a new order waits after five events, shows its state, follows a change, and starts on time', async () => {
  const service = await startService()
  try {
    const merchant = await catalogue(service)
    const startTime = new Date(Date.now() + DAY).toISOString()
    const place = async () => {
      const { body } = await merchant.api.post('subscriptions', orderBody(merchant, { startTime }))
      const workflowId = `subscription/${merchant.organizationId}/${body.id}`
      const execution = service.temporal.workflow.getHandle(workflowId)
      const waits = await waitFor('the timer', async () => {
        const { events } = await execution.fetchHistory().catch(() => ({ events: [] }))
        const types = (events ?? []).map(({ eventType }) => EventType[eventType ?? 0] ?? '')
        return types.includes('EVENT_TYPE_TIMER_STARTED') ? types : null
      })
      return { body, workflowId, execution, waits }
    }
    await place() // from its timer on the worker polls
    const { body, workflowId, execution, waits } = await place()
    expect(waits).toEqual([
      'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED',
      'EVENT_TYPE_WORKFLOW_TASK_SCHEDULED',
      'EVENT_TYPE_WORKFLOW_TASK_STARTED',
      'EVENT_TYPE_WORKFLOW_TASK_COMPLETED',
      'EVENT_TYPE_TIMER_STARTED',
    ])
    const { typedSearchAttributes: first } = await execution.describe()
    expect(Object.fromEntries(first.getAll().map(({ key, value }) => [key.name, value]))).toMatchObject({
      BillingOrganization: merchant.organizationId,
      BillingCustomer: merchant.customerId,
      BillingStatus: 'pending',
      BillingNextDeadline: new Date(startTime),
    })

    const later = new Date(Date.now() + 3 * DAY).toISOString()
    expect((await merchant.api.put(`subscriptions/${body.id}`, { ...body, startTime: later })).status).toBe(
      200,
    )
    await waitFor('the change to be seen', async () => {
      const { typedSearchAttributes: now } = await execution.describe()
      const deadline = now.getAll().find(({ key }) => key.name === 'BillingNextDeadline')
      return deadline?.value instanceof Date && deadline.value.toISOString() === later ? true : null
    })
    await skipTime(service.temporal, workflowId, 2 * DAY)
    expect((await merchant.api.get(`subscriptions/${body.id}`)).body.status).toBe('pending')
    await skipTime(service.temporal, workflowId, 2 * DAY)
    const active = await waitFor('the order to start', async () => {
      const { body: order } = await merchant.api.get(`subscriptions/${body.id}`)
      return order.status === 'active' ? order : null
    })
    expect(active.activationTime).toBe(later)
  } finally {
    await service.stop()
  }
}, 60_000)

test('a change that comes with the start is looked at, whatever was seen before', async () => {
  const service = await startService()
  try {
    const merchant = await catalogue(service)
    const startTime = new Date(Date.now() + DAY).toISOString()
    const { body } = await merchant.api.post('subscriptions', orderBody(merchant, { startTime }))
    const execution = await service.temporal.workflow.signalWithStart('subscription', {
      workflowId: `seen-before-a-change/${body.id}`,
      taskQueue: service.taskQueue,
      args: [
        {
          organizationId: merchant.organizationId,
          recordId: String(body.id),
          seen: { next: Date.now() + 10 * DAY, base: 0, calls: false, labels: null },
        },
      ],
      signal: CHANGED_SIGNAL,
    })
    const deadline = await waitFor('the timer that follows from the record', async () => {
      const { events } = await execution.fetchHistory()
      const timers = (events ?? []).flatMap((event) => event.timerStartedEventAttributes ?? [])
      const seconds = timers.map(({ startToFireTimeout }) => Number(startToFireTimeout?.seconds ?? 0))
      return seconds.find((length) => length * 1_000 <= DAY) ?? null
    })
    expect(deadline).toBeGreaterThan(DAY / 1_000 - 60)
    await execution.terminate()
  } finally {
    await service.stop()
  }
}, 60_000)

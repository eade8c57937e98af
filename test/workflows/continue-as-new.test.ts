import { expect, test } from '@jest/globals'
import { CHANGED_SIGNAL } from '../../workflows/contract.ts'
import { makePlan, placeOrder } from '../scenarios/story.ts'
import { catalogue, orderBody } from '../support/catalogue.ts'
import { makePayer } from '../support/payments.ts'
import { startService } from '../support/service.ts'
import { skipTime } from '../support/time-skipping.ts'
import { waitFor } from '../support/wait-for.ts'

const DAY = 86_400_000
/** More than any server lets a history grow by: each makes at least five events. */
const SIGNALS = 2_000

test('a history that has grown long is left for a new one, which starts the order on time', async () => {
  const service = await startService()
  try {
    const merchant = await catalogue(service)
    const startTime = new Date(Date.now() + 20 * DAY).toISOString()
    const { body } = await merchant.api.post('subscriptions', orderBody(merchant, { startTime }))
    const workflowId = `subscription/${merchant.organizationId}/${body.id}`
    const execution = service.temporal.workflow.getHandle(workflowId)
    const first = await waitFor('the execution', () => execution.describe().catch(() => null))

    // Plain signals do not end the sleep before the first task.
    await service.temporal.workflow.signalWithStart('subscription', {
      workflowId,
      taskQueue: service.taskQueue,
      args: [{ organizationId: merchant.organizationId, recordId: String(body.id) }],
      signal: CHANGED_SIGNAL,
    })
    let current = first
    for (let sent = 0; current.runId === first.runId; sent += 20) {
      if (sent > SIGNALS) throw new Error(`still the first history after ${sent} signals`)
      for (let one = 0; one < 20; one += 1) await execution.signal(CHANGED_SIGNAL)
      current = await execution.describe()
    }
    const left = await service.temporal.workflow.getHandle(workflowId, first.runId).describe()
    expect(left.status.name).toBe('CONTINUED_AS_NEW')
    expect(current.status.name).toBe('RUNNING')
    expect((await merchant.api.get(`subscriptions/${body.id}`)).body).toMatchObject({
      status: 'pending',
      revision: 1,
    })

    await skipTime(service.temporal, workflowId, 20 * DAY + 60_000)
    const active = await waitFor('the order to start', async () => {
      const { body: order } = await merchant.api.get(`subscriptions/${body.id}`)
      return order.status === 'active' ? order : null
    })
    expect(active.activationTime).toBe(startTime)
  } finally {
    await service.stop()
  }
}, 180_000)

test('an order that renews for a year leaves short runs, and each period is charged at its own instant', async () => {
  const service = await startService()
  try {
    const merchant = await catalogue(service)
    const { customerId } = await makePayer(merchant.api)
    const planId = await makePlan(merchant, { recurringInterval: { unit: 'month', length: 1 } })
    const story = await placeOrder(service, merchant, planId, { customerId })
    const workflowId = `subscription/${merchant.organizationId}/${story.id}`
    const runOf = (runId?: string) => service.temporal.workflow.getHandle(workflowId, runId).describe()
    const first = await waitFor('the execution', () => runOf().catch(() => null))

    await story.forwardTo(Date.now() + 366 * DAY)
    const { body: invoices } = await merchant.api.get<Record<string, string>[]>(
      `invoices?filter=subscriptionId:${story.id}&sort=issuedTime&limit=100`,
    )
    expect(invoices).toHaveLength(13)
    for (const { status, paidTime, periodStart } of invoices) {
      expect({ status, paidTime }).toEqual({ status: 'paid', paidTime: periodStart })
    }
    const left = await runOf(first.runId)
    expect(left.status.name).toBe('CONTINUED_AS_NEW')
    // The limit is looked at once per advance, whose own events come on top.
    expect(left.historyLength).toBeLessThan(90)
  } finally {
    await service.stop()
  }
}, 180_000)

/** A sleeping execution costs nothing until its record's deadline, and misses no change. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import proto from '@temporalio/proto'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'
import { skipTime } from '../support/time-skipping.ts'
import { waitFor } from '../support/wait-for.ts'

const DAY = 86_400_000
const { EventType } = proto.temporal.api.enums.v1

let service: TestService
let merchant: Catalogue
beforeAll(async () => {
  service = await startService()
  merchant = await catalogue(service)
})
afterAll(() => service.stop())

const place = async (startTime: number) => {
  const { body } = await merchant.api.post(
    'subscriptions',
    orderBody(merchant, { startTime: new Date(startTime).toISOString() }),
  )
  const workflowId = `subscription/${merchant.organizationId}/${body.id}`
  const execution = service.temporal.workflow.getHandle(workflowId)
  await waitFor('the execution', () => execution.describe().catch(() => null))
  return { body, workflowId, execution }
}
const statusOf = async (id: unknown) => (await merchant.api.get(`subscriptions/${id}`)).body.status

test('a new order has one event and all that operators find it by, and starts on time', async () => {
  const startTime = Date.now() + DAY
  const { body, workflowId, execution } = await place(startTime)
  const { events } = await execution.fetchHistory()
  expect(events?.map(({ eventType }) => EventType[eventType ?? 0])).toEqual([
    'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED',
  ])
  const description = await execution.describe()
  const attributes = description.typedSearchAttributes.getAll()
  expect(Object.fromEntries(attributes.map(({ key, value }) => [key.name, value]))).toEqual({
    BillingOrganization: merchant.organizationId,
    BillingCustomer: merchant.customerId,
    BillingStatus: 'pending',
    BillingNextDeadline: new Date(startTime),
  })
  expect(await description.staticSummary()).toBe(`subscription ${body.id} of ${merchant.organizationId}`)
  expect(await description.staticDetails()).toContain(new Date(startTime).toISOString())

  await skipTime(service.temporal, workflowId, DAY + 60_000)
  await waitFor('the order to start', async () => ((await statusOf(body.id)) === 'active' ? true : null))
})

test('a change ends the sleep, and the new deadline holds', async () => {
  const { body, workflowId, execution } = await place(Date.now() + DAY)
  const later = new Date(Date.now() + 3 * DAY).toISOString()
  await merchant.api.put(`subscriptions/${body.id}`, { ...body, startTime: later })
  await waitFor('the change to be seen', async () => {
    const { typedSearchAttributes } = await execution.describe()
    const deadline = typedSearchAttributes.getAll().find(({ key }) => key.name === 'BillingNextDeadline')
    return deadline?.value instanceof Date && deadline.value.toISOString() === later ? true : null
  })
  await skipTime(service.temporal, workflowId, 2 * DAY)
  expect(await statusOf(body.id)).toBe('pending')
  await skipTime(service.temporal, workflowId, 2 * DAY)
  const active = await waitFor('the order to start', async () => {
    const { body: order } = await merchant.api.get(`subscriptions/${body.id}`)
    return order.status === 'active' ? order : null
  })
  expect(active.activationTime).toBe(later)
})

test('no search attribute is written a second time for what the execution was started with', async () => {
  const { body, execution } = await place(Date.now() + 1_500)
  await waitFor('the order to start', async () => ((await statusOf(body.id)) === 'active' ? true : null))
  const upserted = await waitFor('its attributes', async () => {
    const { events } = await execution.fetchHistory()
    const found = events?.flatMap(
      (event) => event.upsertWorkflowSearchAttributesEventAttributes?.searchAttributes?.indexedFields ?? [],
    )
    return found === undefined || found.length === 0 ? null : found
  })
  expect(upserted.flatMap((fields) => Object.keys(fields)).toSorted()).toEqual([
    'BillingNextDeadline',
    'BillingStatus',
  ])
})

test('of many new orders that are due one starts at once, and the others sleep until the deadline that its batch gives them', async () => {
  await service.stopWorker()
  const placed = await Promise.all(
    Array.from({ length: 20 }, () => merchant.api.post('subscriptions', orderBody(merchant))),
  )
  const ids = placed.map(({ body }) => String(body.id))
  service.startWorker()
  await waitFor('all of them to start', async () => {
    const statuses = await Promise.all(ids.map(statusOf))
    return statuses.every((status) => status === 'active') ? true : null
  })
  const sleeps = await Promise.all(
    ids.map(async (id) => {
      const execution = service.temporal.workflow.getHandle(`subscription/${merchant.organizationId}/${id}`)
      await waitFor('its execution', () => execution.describe().catch(() => null))
      const { events } = await execution.fetchHistory()
      const started = events?.[0]?.workflowExecutionStartedEventAttributes
      return Number(started?.firstWorkflowTaskBackoff?.seconds ?? 0)
    }),
  )
  // Another one starts for every quarter of a second that the batch takes.
  expect(sleeps.filter((seconds) => seconds > DAY / 1_000).length).toBeGreaterThanOrEqual(10)
  const attributes = await service.temporal.workflow
    .getHandle(`subscription/${merchant.organizationId}/${ids[sleeps.findIndex((seconds) => seconds > 0)]}`)
    .describe()
  expect(
    attributes.typedSearchAttributes.getAll().find(({ key }) => key.name === 'BillingStatus')?.value,
  ).toBe('active')
})

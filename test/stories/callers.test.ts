import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue } from '../rig/catalogue.ts'
import { startService, type TestService } from '../rig/service.ts'
import { waitFor } from '../rig/wait-for.ts'
import { DAY, makePlan, placeOrder } from './story.ts'

describe('orders that callers act on, on a clock that skips', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService()
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const begun = async (members: object = {}) => {
    const story = await placeOrder(service, merchant, await makePlan(merchant), members)
    await waitFor('the order to begin', async () => ((await story.order()).status === 'active' ? true : null))
    return story
  }
  const later = (days: number) => new Date(Date.now() + days * DAY).toISOString()

  test('a pause across a boundary moves it by the time paused', async () => {
    const story = await begun()
    const before = Date.parse(String((await story.order()).renewalTime))
    const pause = { subscriptionId: story.id, effectiveTime: later(20), endTime: later(40) }
    expect((await merchant.api.post('subscription-pauses', pause)).status).toBe(201)
    expect(await story.skip(35 * DAY)).toMatchObject({ status: 'paused', renewalTime: null, rebillNumber: 1 })
    const resumed = await story.skip(7 * DAY)
    expect(resumed).toMatchObject({ status: 'active', rebillNumber: 1 })
    expect(Date.parse(String(resumed.renewalTime))).toBe(before + 20 * DAY)
    expect(await story.events()).toEqual(
      expect.arrayContaining(['subscription-pause-created', 'subscription-paused', 'subscription-resumed']),
    )
  })

  test('a cancellation at a churn time is served until then and billed no more', async () => {
    const story = await begun()
    const churnTime = later(45)
    await merchant.api.post('subscription-cancellations', { subscriptionId: story.id, churnTime })
    expect(await story.skip(40 * DAY)).toMatchObject({ status: 'canceled', rebillNumber: 1 })
    expect(await story.skip(10 * DAY)).toMatchObject({ status: 'churned', churnTime })
    expect(await story.invoices()).toHaveLength(1)
  })
})

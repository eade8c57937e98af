/** Each refusal of a worker with a wrong clock doubled the wait for the next try, beside a sound worker too. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { ApplicationFailure } from '@temporalio/common'
import { createActivities } from '../../activities/activities.ts'
import { createOrderAdvancer } from '../../activities/advance-order.ts'
import { ClockSkewError } from '../../db/clock-agreement.ts'
import { activityDependencies } from '../support/activities.ts'
import { catalogue, orderBody } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ worker: false })
})
afterAll(() => service.stop())

test.each(['advanceOrder', 'callGateway'] as const)(
  '%s, refused by a worker whose clock is wrong, is tried again after a second',
  async (name) => {
    const merchant = await catalogue(service)
    const { body: order } = await merchant.api.post('subscriptions', orderBody(merchant))
    const skewed = {
      ...activityDependencies(service),
      clock: {
        requireAgreement() {
          throw new ClockSkewError('the clock of this process is 5000 ms ahead of the database')
        },
      },
    }
    const activities = createActivities({ ...skewed, orders: createOrderAdvancer(skewed) })
    const { organizationId } = merchant
    const refusal = activities[name]({
      organizationId,
      recordId: String(order.id),
      clock: Date.now() + 500,
      base: 0,
    })
    await expect(refusal).rejects.toThrow(ApplicationFailure)
    await expect(refusal).rejects.toMatchObject({ type: 'ClockSkewError', nextRetryDelay: '1 s' })
  },
)

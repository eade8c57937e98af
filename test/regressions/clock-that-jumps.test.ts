/** Boundaries that an execution's clock has jumped over were once charged at the target of the move. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { callGateway } from '../../activities/call-gateway.ts'
import type { ActivityDependencies } from '../../activities/dependencies.ts'
import { createGateway } from '../../gateways/gateways.ts'
import type { Gateway } from '../../gateways/port.ts'
import { activityDependencies } from '../support/activities.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'

const DAY = 86_400_000

let service: TestService
let merchant: Catalogue
let gateway: Gateway
let activities: ActivityDependencies
beforeAll(async () => {
  service = await startService({ worker: false })
  merchant = await catalogue(service)
  gateway = createGateway('sandbox', service.databaseUrl, service.baseUrl)
  activities = activityDependencies(service, { gateway })
})
afterAll(async () => {
  await gateway.close()
  await service.stop()
})

test('each boundary on the way is charged at its own instant', async () => {
  const { body: customer } = await merchant.api.post('customers', {
    paymentToken: await makeToken(merchant.api),
  })
  const { body: plan } = await merchant.api.post('plans', {
    name: 'Weekly',
    currency: 'EUR',
    pricing: { formula: 'fixed-fee', price: 5 },
    recurringInterval: { unit: 'week', length: 1 },
  })
  const start = Date.now() + 5 * DAY
  const { body: order } = await merchant.api.post(
    'subscriptions',
    orderBody(merchant, {
      customerId: customer.id,
      items: [{ plan: { id: plan.id } }],
      startTime: new Date(start).toISOString(),
    }),
  )
  const target = start + 30 * DAY
  await service.database.orm.em
    .fork()
    .getConnection()
    .execute('update subscriptions set moving_to = ? where id = ?', [
      new Date(target).toISOString(),
      String(order.id),
    ])
  let base: number | null = null
  for (let transitions = 0; transitions < 30; transitions += 1) {
    const input = { organizationId: merchant.organizationId, recordId: String(order.id), clock: target, base }
    const result = await activities.orders.advance(input)
    base = result.base
    if (result.gatewayCallDue) await callGateway(activities, { ...input, base })
    else if (result.next === null || result.next - base > target) break
  }
  const { body: invoices } = await merchant.api.get<Record<string, unknown>[]>(
    `invoices?filter=subscriptionId:${order.id}&sort=issuedTime`,
  )
  const boundaries = [0, 7, 14, 21, 28].map((days) => new Date(start + days * DAY).toISOString())
  expect(invoices.map(({ status, issuedTime, paidTime }) => ({ status, issuedTime, paidTime }))).toEqual(
    boundaries.map((instant) => ({ status: 'paid', issuedTime: instant, paidTime: instant })),
  )
})

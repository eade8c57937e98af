import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { createActivities } from '../../activities/activities.ts'
import { createLog } from '../../config/log.ts'
import { freePort } from '../../dev/services/ports.ts'
import { rememberedAttributes } from '../../worker/search-attributes.ts'
import { ensureSearchAttributes } from '../../worker/temporal.ts'
import { activityDependencies } from '../support/activities.ts'
import { catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { forward } from '../support/forward.ts'
import { startService, type TestService } from '../support/service.ts'
import { testServices } from '../support/services.ts'
import { waitFor } from '../support/wait-for.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ worker: false })
})
afterAll(() => service.stop())

test('activities return them as soon as Temporal accepts them, though it was away at the start of polling', async () => {
  const port = await freePort()
  const connection = Connection.lazy({ address: `127.0.0.1:${port}` })
  const client = new Client({ connection, namespace: testServices().namespace })
  const attributes = rememberedAttributes(() => ensureSearchAttributes(client, createLog('silent')))
  const merchant = await catalogue(service)
  const { id } = await create(merchant.api, 'subscriptions', orderBody(merchant))
  const activities = createActivities({
    ...activityDependencies(service),
    isVisible: attributes.wereAccepted,
  })
  const advanced = async () => {
    const { organizationId } = merchant
    const input = { organizationId, recordId: String(id), clock: Date.now(), base: null }
    return (await activities.advanceOrder(input)).visibility
  }
  expect(await attributes.areAccepted()).toBe(false)
  expect(await advanced()).toBeNull()
  const bridge = await forward(port, testServices().temporalAddress)
  try {
    const { attributes: shown } = await waitFor('search attributes', advanced, 20_000)
    expect(shown.BillingOrganization).toBe(merchant.organizationId)
  } finally {
    await connection.close()
    await bridge.close()
  }
}, 60_000)

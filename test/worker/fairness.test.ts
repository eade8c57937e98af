import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { catalogue } from '../support/catalogue.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const EVENTS = 120

describe('a receiver that hangs', () => {
  let service: TestService
  let hanging: Receiver
  let quick: Receiver

  beforeAll(async () => {
    service = await startService({ worker: false })
    hanging = await startReceiver()
    quick = await startReceiver()
  })
  afterAll(async () => {
    await hanging.close()
    await quick.close()
    await service.stop()
  })

  test('holds up its own deliveries only, of which few are under way, and loses none', async () => {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let answered = 0
    hanging.respondWith(async (_, response) => {
      await released
      answered += 1
      response.end()
    })
    const { api, organizationId } = await catalogue(service)
    for (const { url } of [hanging, quick]) {
      await api.post('webhooks', { url, eventsFilter: ['customer-created'] })
    }
    for (let made = 0; made < EVENTS; made += 1) await api.post('customers', {})
    service.startWorker()

    await quick.until(() => true, EVENTS)
    expect(answered).toBe(0)
    expect(hanging.received.length).toBeLessThanOrEqual(64)

    release()
    await waitFor(
      'every delivery',
      async () => {
        const [row] = await service.database.orm.em
          .fork()
          .getConnection()
          .execute<{ count: number }[]>(
            "select count(*)::int as count from deliveries where organization_id = ? and status = 'delivered'",
            [organizationId],
          )
        return row?.count === 2 * EVENTS ? true : null
      },
      55_000,
    )
    const ids = new Set(hanging.received.map(({ event }) => event.eventId))
    expect(ids.size).toBe(EVENTS)
  })
})

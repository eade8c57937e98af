import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { migrate } from '../../db/orm.ts'
import { freePort } from '../../dev/services/ports.ts'
import { startPostgres } from '../../dev/services/postgres.ts'
import { catalogue, orderBody } from '../support/catalogue.ts'
import { forward } from '../support/forward.ts'
import { startService, type TestService } from '../support/service.ts'
import { testServices } from '../support/services.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

describe('while the database is away', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'billing-outage-'))
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let service: TestService

  beforeAll(async () => {
    chmodSync(dataDir, 0o755)
    postgres = await startPostgres({ dataDir })
    await migrate(postgres.url)
    service = await startService({ worker: false, databaseUrl: postgres.url })
  })
  afterAll(async () => {
    await service.stop()
    await postgres.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  test('requests get 503 with Retry-After and /readyz says so; when it is back, so is the service, by itself', async () => {
    const merchant = await catalogue(service)
    await postgres.kill()
    const responses = [
      await merchant.api.post('subscriptions', orderBody(merchant)),
      await merchant.api.get(`customers/${merchant.customerId}`),
      await merchant.api.get('/readyz'),
    ]
    for (const response of responses) {
      expect(response.body).toMatchObject({ status: 503, code: 'unavailable' })
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await merchant.api.get('/healthz')).status).toBe(200)

    postgres = await startPostgres({ dataDir, port: postgres.port })
    await waitFor('the service to be back', async () =>
      (await merchant.api.get('/readyz')).status === 200 ? true : null,
    )
    expect((await merchant.api.post('subscriptions', orderBody(merchant))).status).toBe(201)
  })
})

describe('while Temporal is away', () => {
  test('orders are accepted, wait in the outbox, and are carried out when it is back; only charges need it', async () => {
    const port = await freePort()
    const service = await startService({ temporalAddress: `127.0.0.1:${port}` })
    try {
      const merchant = await catalogue(service)
      const { body: payer } = await merchant.api.post('customers', {
        paymentToken: await makeToken(merchant.api),
      })
      const placed = await merchant.api.post(
        'subscriptions',
        orderBody(merchant, { customerId: payer.id, shipping: { amount: 5 } }),
      )
      expect(placed.status).toBe(201)
      // An order without a charge needs no Temporal to begin: its timers are armed when Temporal is back.
      const free = await merchant.api.post('subscriptions', orderBody(merchant))
      await waitFor('the relay to notice', () =>
        service.log.some((line) => line.includes('cannot be reached')) ? true : null,
      )
      await waitFor('the other order to become active', async () =>
        (await merchant.api.get(`subscriptions/${free.body.id}`)).body.status === 'active' ? true : null,
      )
      const now = await merchant.api.get(`subscriptions/${placed.body.id}`)
      expect(now.body.status).toBe('pending')

      // The same worker process: the address becomes reachable, as after an outage.
      const bridge = await forward(port, testServices().temporalAddress)
      try {
        await waitFor('the order to become active', async () =>
          (await merchant.api.get(`subscriptions/${placed.body.id}`)).body.status === 'active' ? true : null,
        )
        await waitFor('both to be followed', async () =>
          Promise.all(
            [placed, free].map(({ body }) =>
              service.temporal.workflow
                .getHandle(`subscription/${merchant.organizationId}/${body.id}`)
                .describe()
                .catch(() => null),
            ),
          ).then((executions) => (executions.includes(null) ? null : true)),
        )
        await service.stopWorker()
      } finally {
        await bridge.close()
      }
    } finally {
      await service.stop()
    }
  })
})

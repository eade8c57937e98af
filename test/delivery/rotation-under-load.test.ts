import { setTimeout as pause } from 'node:timers/promises'
import { test } from '@jest/globals'
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose'
import { composedStatement } from '../../db/statement.ts'
import { KEY_OVERLAP, rotateSigningKey } from '../../delivery/signing-keys.ts'
import { catalogue } from '../support/catalogue.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

/** How long the old key still signs, in milliseconds: enough for some deliveries under it. */
const UNTIL_SWITCH = 10_000

test('keys change under load, and a receiver that keeps the keys for its hour meets no unknown one', async () => {
  const service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
  const receiver = await startReceiver()
  try {
    const merchant = await catalogue(service, { webhook: receiver.url })
    await composedStatement(
      service.database.orm.em.fork(),
      "update signing_keys set signs_from = signs_from - interval '1 day', created_time = created_time - interval '1 day'",
    )
    // Made as long ago as a rotation takes: published for everyone since, and about to sign.
    const made = new Date(Date.now() - KEY_OVERLAP + UNTIL_SWITCH)
    await rotateSigningKey(service.database.orm.em.fork(), service.database.vault, made)
    // Fetched once, before the change; a remote key set would fetch again at an unknown kid, and hide it.
    const keys = createLocalJWKSet(
      (await (await fetch(`${service.baseUrl}/.well-known/keys`)).json()) as JSONWebKeySet,
    )
    service.startWorker()
    const kids = () =>
      receiver.received.map(({ headers }) => decodeProtectedHeader(String(headers['security-signature'])).kid)
    await waitFor(
      'deliveries under both keys',
      async () => {
        await pause(50) // some eighty events a second at most, whatever the machine could do
        await Promise.all(
          Array.from({ length: 4 }, () => merchant.api.post('customers', { firstName: 'Ada' })),
        )
        const met = Map.groupBy(kids(), (kid) => kid)
        return met.size === 2 && [...met.values()].every(({ length }) => length > 20) ? true : null
      },
      60_000,
    )
    for (const { headers, at } of receiver.received) {
      await jwtVerify(String(headers['security-signature']), keys, { currentDate: new Date(at) })
    }
  } finally {
    await receiver.close()
    await service.stop()
  }
}, 120_000)

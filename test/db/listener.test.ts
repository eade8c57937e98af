import { afterAll, beforeAll, test } from '@jest/globals'
import pg from 'pg'
import { createLog } from '../../config/log.ts'
import { listen } from '../../db/listener.ts'
import { freePort } from '../../dev/services/ports.ts'
import { forward } from '../support/forward.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ worker: false })
})
afterAll(() => service.stop())

test('is opened again when it was cut without a word, and all who listen look for what they missed', async () => {
  const url = new URL(service.databaseUrl)
  const port = await freePort()
  const between = await forward(port, `${url.hostname}:${url.port}`)
  url.host = `127.0.0.1:${port}`
  const lines: string[] = []
  const log = createLog('debug', { write: (line) => void lines.push(line) })
  let heard = 0
  const somewhere = (): void => {
    heard += 1
  }
  const listener = listen(url.href, { somewhere }, log)
  await waitFor('the first look', () => (heard === 1 ? true : null))

  between.swallow()
  await waitFor('the loss to be noticed', () => (lines.length > 0 ? true : null))
  between.heal()
  await waitFor('the look after the reconnection', () => (heard > 1 ? true : null))

  const before = heard
  const other = new pg.Client({ connectionString: service.databaseUrl })
  await other.connect()
  await other.query('notify somewhere')
  await waitFor('the notification', () => (heard > before ? true : null))
  await other.end()
  await listener.close()
  await between.close()
})

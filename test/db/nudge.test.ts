/** Listeners are notified once of each change, by its commit or, if another commit notifies just then, after it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { lockArguments } from '../../db/advisory-locks.ts'
import { DELIVERY_CHANNEL, WAKE_UP_CHANNEL } from '../../db/channels.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

describe('listeners', () => {
  let service: TestService
  let merchant: Catalogue
  let listener: pg.Client
  let other: pg.Client
  let heard = 0

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service, { webhook: 'http://127.0.0.1:1/' })
    listener = new pg.Client({ connectionString: service.databaseUrl })
    other = new pg.Client({ connectionString: service.databaseUrl })
    await Promise.all([listener.connect(), other.connect()])
    listener.on('notification', () => {
      heard += 1
    })
    await listener.query(`listen ${DELIVERY_CHANNEL}`)
  })
  afterAll(async () => {
    await Promise.all([listener.end(), other.end()])
    await service.stop()
  })

  /** How often the listener has been notified of one event by the time it is notified of the next. */
  const timesHeard = async (): Promise<number> => {
    const before = heard
    await merchant.api.post('customers', { firstName: 'Ada' })
    await waitFor('the listener to hear', async () => (heard > before ? true : null))
    const times = heard - before
    await merchant.api.post('customers', { firstName: 'Grace' })
    await waitFor('the listener to hear again', async () => (heard > before + times ? true : null))
    return heard - before - 1
  }

  test('hear of a change by its commit', async () => {
    expect(await timesHeard()).toBe(1)
  })

  test('hear of it after the commit where another transaction is about to tell something', async () => {
    await other.query('begin')
    await other.query(`select pg_advisory_xact_lock(${lockArguments('notification')})`)
    expect(await timesHeard()).toBe(1)
    await other.query('rollback')
  })

  test('hear nothing of an execution that sleeps for more than a minute, which the next poll starts', async () => {
    const channels: string[] = []
    const note = ({ channel }: pg.Notification) => void channels.push(channel)
    listener.on('notification', note)
    await listener.query(`listen ${WAKE_UP_CHANNEL}`)
    const order = (startTime: number) =>
      create(
        merchant.api,
        'subscriptions',
        orderBody(merchant, { startTime: new Date(startTime).toISOString() }),
      )
    await makeToken(merchant.api)
    await order(Date.now() + 120_000)
    await merchant.api.post('customers', { firstName: 'Ada' })
    await waitFor('the listener to hear of the customer', async () =>
      channels.filter((channel) => channel === DELIVERY_CHANNEL).length >= 2 ? true : null,
    )
    expect(channels).not.toContain(WAKE_UP_CHANNEL)
    await order(Date.now() + 50_000)
    await waitFor('the listener to hear of the order', async () =>
      channels.includes(WAKE_UP_CHANNEL) ? true : null,
    )
    await listener.query(`unlisten ${WAKE_UP_CHANNEL}`)
    listener.off('notification', note)
  })
})

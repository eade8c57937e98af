import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Catalogue, catalogue } from '../rig/catalogue.ts'
import { type Receiver, startReceiver } from '../rig/receiver.ts'
import { startService, type TestService } from '../rig/service.ts'
import { waitFor } from '../rig/wait-for.ts'

describe('the dispatcher', () => {
  let service: TestService
  let receiver: Receiver
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
    receiver = await startReceiver()
    merchant = await catalogue(service, { webhook: receiver.url })
  })
  afterAll(async () => {
    await receiver.close()
    await service.stop()
  })

  const sql = <T>(text: string) => service.database.orm.em.fork().getConnection().execute<T[]>(text)
  /** Has the receiver keep every request open until what is given back is called; it then answers 200. */
  const holdAnswers = (): (() => void) => {
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
    receiver.answer(async (_, response) => {
      await mayAnswer
      response.writeHead(200).end()
    })
    return answer
  }
  const allDelivered = (what: string) =>
    waitFor(what, async () => {
      const [row] = await sql<{ count: number }>(
        "select count(*)::int as count from deliveries where status <> 'delivered'",
      )
      return row?.count === 0 ? true : null
    })

  test('begins with few attempts at a receiver it does not know, and gives back what it held when it is stopped', async () => {
    const answer = holdAnswers()
    for (let made = 0; made < 60; made += 1) await merchant.api.post('customers', { firstName: `${made}` })
    service.startWorker()
    await receiver.until(() => true, 16)
    const [taken] = await sql<{ count: number }>(
      'select count(*)::int as count from deliveries where lease_until is not null',
    )
    expect(taken?.count).toBeGreaterThan(16)
    expect(receiver.received).toHaveLength(16)

    const stopped = service.stopWorker()
    answer()
    await stopped
    expect(
      await sql(
        'select status, count(*)::int as count from deliveries where lease_until is not null group by status',
      ),
    ).toEqual([])
    const [left] = await sql<{ count: number }>(
      "select count(*)::int as count from deliveries where status = 'waiting'",
    )
    expect(left?.count).toBeGreaterThan(0)

    receiver.answer(200)
    service.startWorker()
    await allDelivered('the rest to be delivered at once, by the next dispatcher')
    expect(new Set(receiver.received.map(({ event }) => event.eventId)).size).toBe(receiver.received.length)
  })

  test('does not begin again what it has in hand when the lease of it is lost', async () => {
    const answer = holdAnswers()
    const before = receiver.received.length
    await merchant.api.post('customers', { firstName: 'First' })
    await receiver.until(() => true, before + 1)
    await sql("update deliveries set lease_until = null where status = 'waiting'")
    // Has it look, and take the first again along with the second.
    await merchant.api.post('customers', { firstName: 'Second' })
    await receiver.until(() => true, before + 2)
    answer()
    await allDelivered('both to be recorded')
    expect(receiver.received.slice(before).map(({ event }) => event._embedded.customer?.firstName)).toEqual([
      'First',
      'Second',
    ])
    expect(await sql('select 1 from deliveries where attempts <> 1')).toEqual([])
  })
})

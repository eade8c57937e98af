/** The port to whoever moves money, held against the sandbox's test gateway: what any gateway behind it has to keep to. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ulid } from 'ulid'
import { createGateway } from '../../gateways/gateways.ts'
import type { Gateway } from '../../gateways/port.ts'
import { TEST_CARDS, TEST_CVV } from '../support/cards.ts'
import { startService, type TestService } from '../support/service.ts'

const ORGANIZATION = 'org_port'

describe('the gateway port', () => {
  let service: TestService
  let gateway: Gateway

  beforeAll(async () => {
    service = await startService({ worker: false })
    gateway = createGateway('sandbox', service.databaseUrl)
  })
  afterAll(async () => {
    await gateway?.close()
    await service.stop()
  })

  const store = (pan: string = TEST_CARDS.approves) =>
    gateway.store(ORGANIZATION, { pan, cvv: TEST_CVV, expMonth: 12, expYear: 2090 })
  const charge = (reference: string, requestId: string, organizationId = ORGANIZATION) =>
    gateway.charge({ organizationId, reference, requestId, amount: '12.5', currency: 'EUR' })
  const refund = (chargeRequestId: string, requestId: string, amount = '12.5') =>
    gateway.refund({ organizationId: ORGANIZATION, chargeRequestId, requestId, amount, currency: 'EUR' })
  /** What has moved under a request id. */
  const moved = (requestId: string) =>
    service.database.orm.em
      .fork()
      .getConnection()
      .execute<object[]>(
        `select kind, result, amount::float8 as amount from test_gateway.ledger where request_id = ?`,
        [requestId],
      )

  test('store keeps a card and gives the reference that charges it, which says nothing of the card', async () => {
    const reference = await store()
    expect(reference).not.toContain(TEST_CARDS.approves.slice(0, 6))
    expect(await charge(reference, ulid())).toMatchObject({ result: 'approved' })
    expect(await charge(await store(TEST_CARDS.declines), ulid())).toMatchObject({ result: 'declined' })
  })

  test('charge moves the money once under a request id, and says again what became of it', async () => {
    const [reference, requestId] = [await store(), ulid()]
    const first = await charge(reference, requestId)
    expect(first).toEqual({ result: 'approved', raw: expect.any(String) })
    const others = await Promise.all(Array.from({ length: 5 }, () => charge(reference, requestId)))
    expect(others.map(({ result }) => result)).toEqual(Array(5).fill('approved'))
    expect(await moved(requestId)).toEqual([{ kind: 'charge', result: 'approved', amount: 12.5 }])
  })

  test('refund gives a charge back once under a request id', async () => {
    const [charged, requestId] = [ulid(), ulid()]
    await charge(await store(), charged)
    const answers = [await refund(charged, requestId, '5'), await refund(charged, requestId, '5')]
    expect(answers.map(({ result }) => result)).toEqual(['approved', 'approved'])
    expect(await moved(requestId)).toEqual([{ kind: 'refund', result: 'approved', amount: 5 }])
  })

  test('find tells what became of a charge or a refund, moves nothing, and knows nothing of what it never got', async () => {
    const [approved, declined, refunded] = [ulid(), ulid(), ulid()]
    await charge(await store(), approved)
    await charge(await store(TEST_CARDS.declines), declined)
    await refund(approved, refunded)
    const results: unknown[] = []
    for (const id of [approved, declined, refunded]) {
      results.push((await gateway.find(ORGANIZATION, id))?.result)
      expect(await moved(id)).toHaveLength(1)
    }
    expect(results).toEqual(['approved', 'declined', 'approved'])
    const never = ulid()
    expect(await gateway.find(ORGANIZATION, never)).toBeNull()
    expect(await moved(never)).toEqual([])
    expect(await gateway.find('org_other', approved)).toBeNull()
  })

  test('an answer that is not known at first is found under the same request id later', async () => {
    const [reference, requestId] = [await store(TEST_CARDS.answersLate), ulid()]
    expect(await charge(reference, requestId)).toMatchObject({ result: 'unknown' })
    const found = await gateway.find(ORGANIZATION, requestId)
    expect(found?.result).toBe('approved')
    expect(await charge(reference, requestId)).toMatchObject({ result: 'approved' })
    expect(await moved(requestId)).toEqual([{ kind: 'charge', result: 'approved', amount: 12.5 }])
  })
})

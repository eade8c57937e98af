/** Which executions can wait while many records are made: those that nothing is left to within the next minutes. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { makeToken } from '../rig/cards.ts'
import { type Catalogue, catalogue, orderBody } from '../rig/catalogue.ts'
import { disputeBody, externalSale } from '../rig/dispute.ts'
import { startService, type TestService } from '../rig/service.ts'

describe('the execution', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const canWait = async (recordId: unknown): Promise<boolean | undefined> => {
    const rows = await service.database.orm.em
      .fork()
      .getConnection()
      .execute<{ can_wait: boolean }[]>('select can_wait from wake_ups where record_id = ?', [recordId])
    expect(rows).toHaveLength(1)
    return rows[0]?.can_wait
  }
  const made = async (path: string, body: object): Promise<unknown> => {
    const answer = await merchant.api.post(path, body)
    expect(answer).toMatchObject({ status: 201 })
    return answer.body.id
  }
  const paying = async (): Promise<string> =>
    String(
      await made('customers', {
        firstName: 'Ada',
        paymentToken: await makeToken(merchant.api),
      }),
    )

  test('of an order that nobody is charged for can wait', async () => {
    expect(await canWait(await made('subscriptions', orderBody(merchant)))).toBe(true)
    const customerId = await paying()
    expect(
      await canWait(await made('subscriptions', orderBody(merchant, { customerId, autopay: false }))),
    ).toBe(true)
  })

  test('of an order that is charged cannot: only its workflow asks a gateway', async () => {
    const customerId = await paying()
    expect(await canWait(await made('subscriptions', orderBody(merchant, { customerId })))).toBe(false)
  })

  test('of a token can: it lives for half an hour', async () => {
    expect(await canWait(await makeToken(merchant.api))).toBe(true)
  })

  test('of a dispute can, unless its deadline is near', async () => {
    const transactionId = await externalSale(merchant.api, merchant.customerId)
    const due = async (seconds: number): Promise<unknown> =>
      await made(
        'disputes',
        disputeBody(transactionId, {
          status: 'response-needed',
          deadlineTime: new Date(Date.now() + seconds * 1_000).toISOString(),
        }),
      )
    expect(await canWait(await due(3_600))).toBe(true)
    expect(await canWait(await due(60))).toBe(false)
  })
})

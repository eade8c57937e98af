import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { disputeWriter } from '../../api/operations/disputes.ts'
import { advanceDispute, lockDispute } from '../../commands/disputes/save-dispute.ts'
import { inUnitOfWork, type UnitOfWork } from '../../db/unit-of-work.ts'
import type { ApiResponse } from '../support/api-client.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { skipTime } from '../support/time-skipping.ts'
import { waitFor } from '../support/wait-for.ts'

const DAY = 86_400_000

describe('disputes', () => {
  let service: TestService
  let receiver: Receiver
  let merchant: Catalogue
  let transactionId: string

  beforeAll(async () => {
    service = await startService()
    receiver = await startReceiver()
    merchant = await catalogue(service, { webhook: receiver.url })
    transactionId = await externalSale(merchant.api, merchant.customerId)
  })
  afterAll(async () => {
    await receiver.close()
    await service.stop()
  })

  const open = async (members: object = {}): Promise<ApiResponse> => {
    const response = await merchant.api.post('disputes', disputeBody(transactionId, members))
    expect(response.status).toBe(201)
    return response
  }
  const read = async (id: unknown) => (await merchant.api.get(`disputes/${id}`)).body
  const eventsOf = (id: unknown, type: string, count = 1): Promise<Received[]> =>
    receiver.until(({ event }) => event.disputeId === id && event.eventType === type, count)

  test('a new one has every member, an id of its own, and says where it is', async () => {
    const { body, headers } = await open({
      acquirerReferenceNumber: 'ARN 1',
      caseId: 'case 1',
      deadlineTime: '2030-01-01T01:00:00+01:00',
    })
    const self = `${service.baseUrl}/organizations/${merchant.organizationId}/disputes/${body.id}`
    expect(body).toEqual({
      id: expect.stringMatching(/^dp_[0-9A-Z]{26}$/),
      customerId: merchant.customerId,
      transactionId,
      currency: 'EUR',
      amount: 12.5,
      acquirerReferenceNumber: 'ARN 1',
      caseId: 'case 1',
      reasonCode: '10.4',
      reasonDescription: 'Other Fraud: Card-Absent Environment',
      category: 'fraud',
      type: 'first-chargeback',
      status: 'under-review',
      postedTime: '2026-01-31T09:00:00.000Z',
      deadlineTime: '2030-01-01T00:00:00.000Z',
      rawResponse: null,
      resolvedTime: null,
      source: 'api',
      revision: 1,
      createdTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedTime: body.createdTime,
      _links: expect.arrayContaining([{ rel: 'self', href: self }]),
    })
    expect(headers.get('location')).toBe(self)
    expect(headers.get('etag')).toBe('"1"')
    expect(await read(body.id)).toEqual(body)
  })

  test('what is required is named when it is missing, and wrong types and values are', async () => {
    const missing = await merchant.api.post('disputes', {})
    expect(expectProblem(missing, 422, 'validation-error')).toEqual(
      ['amount', 'currency', 'postedTime', 'reasonCode', 'status', 'transactionId', 'type'].sort(),
    )
    const wrong = await merchant.api.post('disputes', {
      transactionId: 7,
      currency: 'EU',
      amount: '12',
      reasonCode: '',
      type: 'paypal-claim',
      status: 'open',
      postedTime: '2026-01-31T09:00:00',
      deadlineTime: 'tomorrow',
      caseId: 'x'.repeat(256),
      acquirerReferenceNumber: 5,
      surprise: true,
    })
    expect(expectProblem(wrong, 422, 'validation-error')).toEqual(
      [
        'acquirerReferenceNumber',
        'amount',
        'caseId',
        'currency',
        'deadlineTime',
        'postedTime',
        'reasonCode',
        'status',
        'surprise',
        'transactionId',
        'type',
      ].sort(),
    )
  })

  test('a transaction that does not exist, and an amount its currency does not have: 422 that names both', async () => {
    const body = disputeBody('txn_nowhere', { currency: 'JPY', amount: 1.5 })
    const response = await merchant.api.post('disputes', body)
    expect(expectProblem(response, 422, 'validation-error')).toEqual(['amount', 'transactionId'])
    const huge = await merchant.api.post('disputes', disputeBody(transactionId, { amount: 1e12 }))
    expect(expectProblem(huge, 422, 'validation-error')).toEqual(['amount'])
  })

  test.each([
    ['a currency that ISO 4217 does not have', { currency: 'XQZ' }, 'currency'],
    ['a currency of four letters', { currency: 'EURO' }, 'currency'],
    ['a reason code of 256 characters', { reasonCode: 'x'.repeat(256) }, 'reasonCode'],
    ['an amount of 0', { amount: 0 }, 'amount'],
    ['an amount below 0', { amount: -12.5 }, 'amount'],
  ])('%s is refused: 422', async (_, members, field) => {
    const answer = await merchant.api.post('disputes', disputeBody(transactionId, members))
    expect(expectProblem(answer, 422, 'validation-error')).toEqual([field])
  })

  test.each([
    ['first-chargeback', '10.4', 'Other Fraud: Card-Absent Environment'],
    ['first-chargeback', '4853', 'Cardholder Dispute'],
    ['arbitration', 'P08', 'Duplicate Charge'],
    ['inquiry', 'UA02', 'Fraud: Card Not Present Transaction'],
    ['first-chargeback', '4863', null],
    ['first-chargeback', 'toString', null],
    ['bank-return', '10.4', null],
  ])('reason description of a %s with the code %s: %s', async (type, reasonCode, reasonDescription) => {
    const { body } = await open({ type, reasonCode, reasonDescription: 'as the caller has it' })
    expect(body.reasonDescription).toBe(reasonDescription)
  })

  test('a reason description follows a change of the code, and is by the contract a text of at most 512 characters', async () => {
    const { id } = (await open({ reasonCode: '13.1' })).body
    const changed = await merchant.api.put(
      `disputes/${id}`,
      disputeBody(transactionId, { reasonCode: 'C08' }),
    )
    expect(changed.body.reasonDescription).toBe('Goods/Services Not Received or Only Partially Received')
    const unknown = await merchant.api.put(`disputes/${id}`, disputeBody(transactionId, { reasonCode: '0' }))
    expect(unknown.body.reasonDescription).toBeNull()
    const { body: contract } = await merchant.api.get<{
      components: { schemas: Record<string, { properties: Record<string, object> }> }
    }>('/openapi.json')
    expect(contract.components.schemas.Dispute?.properties.reasonDescription).toMatchObject({
      type: ['string', 'null'],
      maxLength: 512,
    })
  })

  test.each([
    'ethoca-alert',
    'verifi-alert',
    'information-request',
    'second-chargeback',
    'arbitration',
    'fraud',
    'representment',
    'inquiry',
    'forced-refund',
    'collaboration',
  ])('the type %s can be written', async (type) => {
    expect((await open({ type })).body.type).toBe(type)
  })

  test.each([
    ['first-chargeback', '10.4', 'fraud'],
    ['first-chargeback', '4808', 'authorization'],
    ['arbitration', 'P08', 'processing-errors'],
    ['fraud', 'product_not_received', 'consumer-disputes'],
    ['first-chargeback', 'insufficient_funds', 'bank-return'],
    ['bank-return', '10.4', 'bank-return'],
    ['first-chargeback', '0', 'uncategorized'],
    ['first-chargeback', 'a code that nobody has heard of', 'uncategorized'],
    ['first-chargeback', 'x'.repeat(255), 'uncategorized'],
  ])('category of a %s with the code %s: %s', async (type, reasonCode, category) => {
    expect((await open({ type, reasonCode })).body).toMatchObject({ reasonCode, category })
  })

  test('any status may follow any other; resolvedTime comes with an end and goes with it', async () => {
    const { id } = (await open()).body
    const put = async (status: string) =>
      (await merchant.api.put(`disputes/${id}`, disputeBody(transactionId, { status }))).body
    const won = await put('won')
    expect(won).toMatchObject({ status: 'won', revision: 2, resolvedTime: won.updatedTime })
    expect(await put('lost')).toMatchObject({ status: 'lost', resolvedTime: won.resolvedTime })
    expect(await put('unknown')).toMatchObject({ status: 'unknown', resolvedTime: null })
    const forfeited = await put('forfeited')
    expect(forfeited).toMatchObject({ revision: 5, resolvedTime: forfeited.updatedTime })
    expect((await open({ status: 'won' })).body.resolvedTime).not.toBeNull()
  })

  test('a PUT creates under its id, then changes; absent members return to their defaults', async () => {
    const path = 'disputes/my~own@id-1.x_y'
    const made = await merchant.api.put(path, disputeBody(transactionId, { caseId: 'c' }))
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(
      `${service.baseUrl}/organizations/${merchant.organizationId}/disputes/my~own%40id-1.x_y`,
    )
    const changed = await merchant.api.put(path, disputeBody(transactionId))
    expect(changed.status).toBe(200)
    expect(changed.headers.get('location')).toBeNull()
    expect(changed.body).toMatchObject({ caseId: null, revision: 2 })
  })

  test('its events: created and modified, with ids, the records as they stood, and links', async () => {
    const { body } = await open()
    await merchant.api.put(`disputes/${body.id}`, disputeBody(transactionId, { amount: 13 }))
    const [created] = await eventsOf(body.id, 'dispute-created')
    const [modified] = await eventsOf(body.id, 'dispute-modified')
    expect(created?.event).toMatchObject({
      eventType: 'dispute-created',
      disputeId: body.id,
      transactionId,
      cause: 'api',
      _embedded: { dispute: body, transaction: { id: transactionId, customerId: merchant.customerId } },
    })
    const rels = ((created?.event._links ?? []) as { rel: string }[]).map(({ rel }) => rel)
    expect(rels).toEqual(expect.arrayContaining(['dispute', 'transaction', 'customer']))
    expect(modified?.event).toMatchObject({
      disputeId: body.id,
      transactionId,
      _embedded: { dispute: { amount: 13, revision: 2 } },
    })
  })

  test('its events belong to the website of its customer', async () => {
    const own = await startReceiver()
    const other = await startReceiver()
    try {
      const customer = await merchant.api.post('customers', { websiteId: merchant.websiteId })
      const elsewhere = await merchant.api.post('websites', { name: 'Elsewhere' })
      const events = { eventsFilter: ['dispute-created'] }
      await merchant.api.post('webhooks', { url: own.url, websiteId: merchant.websiteId, ...events })
      await merchant.api.post('webhooks', { url: other.url, websiteId: elsewhere.body.id, ...events })
      const sale = await externalSale(merchant.api, String(customer.body.id))
      const { body } = await merchant.api.post('disputes', disputeBody(sale))
      await own.until(({ event }) => event.disputeId === body.id)
      expect(other.received).toEqual([])
    } finally {
      await own.close()
      await other.close()
    }
  })

  test('expand embeds transaction and customer on GET, list, POST and PUT, without an ETag', async () => {
    const embedded = { transaction: { id: transactionId }, customer: { id: merchant.customerId } }
    const expand = 'expand=transaction,customer'
    const made = await merchant.api.post(`disputes?${expand}`, disputeBody(transactionId))
    const one = `disputes/${made.body.id}?${expand}`
    const responses = [
      made,
      await merchant.api.get(one, { 'If-None-Match': '"1"' }),
      await merchant.api.put(one, made.body),
    ]
    for (const response of responses) {
      expect(response.status).toBeLessThan(300)
      expect(response.body._embedded).toMatchObject(embedded)
      expect(response.headers.get('etag')).toBeNull()
    }
    expect(responses[2]?.body.revision).toBe(1)
    const list = await merchant.api.get<Record<string, unknown>[]>(
      `disputes?filter=id:${made.body.id}&expand=customer`,
    )
    expect(list.body[0]?._embedded).toMatchObject({ customer: embedded.customer })
    expectProblem(await merchant.api.get(`disputes/${made.body.id}?expand=nothing`), 400, 'malformed-request')
  })

  test('the wallet claim is a type of answers alone: it cannot be written, and what was read can be sent back', async () => {
    const refused = await merchant.api.post('disputes', disputeBody(transactionId, { type: 'paypal-claim' }))
    expect(expectProblem(refused, 422, 'validation-error')).toEqual(['type'])
    const { body } = await open()
    expectProblem(
      await merchant.api.put(`disputes/${body.id}`, { ...body, type: 'paypal-claim' }),
      422,
      'validation-error',
    )
    await service.database.orm.em
      .fork()
      .getConnection()
      .execute(`update disputes set type = 'paypal-claim' where id = ?`, [body.id])
    const claim = await read(body.id)
    expect(claim.type).toBe('paypal-claim')
    const again = await merchant.api.put(`disputes/${body.id}`, claim)
    expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: claim })

    const { body: contract } = await merchant.api.get<{
      components: { schemas: Record<string, { properties: { type: { enum: string[] } } }> }
    }>('/openapi.json')
    const types = (name: string) => contract.components.schemas[name]?.properties.type.enum
    expect(types('Dispute')).toEqual([...(types('DisputeBody') ?? []), 'paypal-claim'])
    expect(types('DisputeBody')).toHaveLength(12)
    const unknown = await merchant.api.post('disputes', disputeBody(transactionId, { type: 'nonsense' }))
    expect(JSON.stringify(unknown.body)).not.toContain('paypal-claim')
  })

  const execution = async (id: unknown): Promise<string> => {
    const workflowId = `dispute-deadline/${merchant.organizationId}/${id}`
    await waitFor('the execution', () =>
      service.temporal.workflow
        .getHandle(workflowId)
        .describe()
        .catch(() => null),
    )
    return workflowId
  }

  test('unanswered at its deadline it is lost, at that instant; a later PUT with another status wins', async () => {
    const deadlineTime = new Date(Date.now() + 10 * DAY).toISOString()
    const { id } = (await open({ status: 'response-needed', deadlineTime })).body
    await skipTime(service.temporal, await execution(id), 11 * DAY)
    const lost = await waitFor('the loss', async () => {
      const body = await read(id)
      return body.status === 'lost' ? body : null
    })
    expect(lost).toMatchObject({ status: 'lost', revision: 2, resolvedTime: deadlineTime })
    const [event] = await eventsOf(id, 'dispute-modified')
    expect(event?.event).toMatchObject({
      cause: 'deadline',
      eventTime: deadlineTime,
      _embedded: { dispute: { status: 'lost', revision: 2 } },
    })
    const won = await merchant.api.put(`disputes/${id}`, { ...lost, status: 'won' })
    expect(won.body).toMatchObject({ status: 'won', revision: 3 })
    await eventsOf(id, 'dispute-modified', 2)
  })

  test('answered in time it is not lost, and its execution ends', async () => {
    const deadlineTime = new Date(Date.now() + 10 * DAY).toISOString()
    const { body } = await open({ status: 'response-needed', deadlineTime })
    const workflowId = await execution(body.id)
    await merchant.api.put(`disputes/${body.id}`, { ...body, status: 'under-review' })
    await service.temporal.workflow.getHandle(workflowId).result()
    expect(await read(body.id)).toMatchObject({ status: 'under-review', revision: 2 })
  })

  test('a deadline that is moved is kept at its new instant', async () => {
    const { body } = await open({
      status: 'response-needed',
      deadlineTime: new Date(Date.now() + 2 * DAY).toISOString(),
    })
    const workflowId = await execution(body.id)
    const deadlineTime = new Date(Date.now() + 20 * DAY).toISOString()
    await merchant.api.put(`disputes/${body.id}`, { ...body, deadlineTime })
    await skipTime(service.temporal, workflowId, 10 * DAY)
    expect((await read(body.id)).status).toBe('response-needed')
    await skipTime(service.temporal, workflowId, 15 * DAY)
    const lost = await waitFor('the loss', async () => {
      const now = await read(body.id)
      return now.status === 'lost' ? now : null
    })
    expect(lost.resolvedTime).toBe(deadlineTime)
  })
})

describe('a dispute at the instant of its deadline', () => {
  let service: TestService
  let merchant: Catalogue
  let transactionId: string

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
    transactionId = await externalSale(merchant.api, merchant.customerId)
  })
  afterAll(() => service.stop())

  const deadline = Date.now() + DAY
  const open = async (): Promise<string> => {
    const members = { status: 'response-needed', deadlineTime: new Date(deadline).toISOString() }
    return String((await merchant.api.post('disputes', disputeBody(transactionId, members))).body.id)
  }
  const at = (instant: number, work: (unit: UnitOfWork) => Promise<unknown>) =>
    inUnitOfWork(
      service.database.orm.em.fork(),
      { organizationId: merchant.organizationId, baseUrl: service.baseUrl, now: new Date(instant) },
      work,
    )
  const locked = async (unit: UnitOfWork, id: string) => {
    const dispute = await lockDispute(unit, id)
    if (dispute === null) throw new Error('the dispute is gone')
    return dispute
  }

  test('is not lost one millisecond before it, and is lost at it', async () => {
    const id = await open()
    await at(deadline - 1, async (unit) => {
      expect(await advanceDispute(unit, await locked(unit, id), deadline - 1)).toBe(deadline)
    })
    expect((await merchant.api.get(`disputes/${id}`)).body).toMatchObject({
      status: 'response-needed',
      revision: 1,
    })
    await at(deadline, async (unit) => {
      expect(await advanceDispute(unit, await locked(unit, id), deadline)).toBeNull()
    })
    expect((await merchant.api.get(`disputes/${id}`)).body).toMatchObject({
      status: 'lost',
      revision: 2,
      resolvedTime: new Date(deadline).toISOString(),
    })
  })

  test.each([
    ['one millisecond before', -1, 'response-needed'],
    ['at', 0, 'response-needed'],
    ['one millisecond after', 1, 'lost'],
  ])('finds a command %s it with the status %s', async (_, offset, status) => {
    const id = await open()
    await at(deadline + offset, async (unit) => {
      const dispute = await locked(unit, id)
      await disputeWriter.advance?.(unit, dispute)
      expect(dispute.status).toBe(status)
    })
  })
})

describe('a dispute whose deadline passed while the worker was away', () => {
  let service: TestService
  let merchant: Catalogue
  let transactionId: string

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
    transactionId = await externalSale(merchant.api, merchant.customerId)
  })
  afterAll(() => service.stop())

  async function overdue(deadline: Date): Promise<Record<string, unknown>> {
    const { body } = await merchant.api.post(
      'disputes',
      disputeBody(transactionId, {
        status: 'response-needed',
        deadlineTime: new Date(Date.now() + DAY).toISOString(),
      }),
    )
    await service.database.orm.em
      .fork()
      .getConnection()
      .execute('update disputes set deadline_time = ? where id = ?', [deadline, body.id])
    return { ...body, deadlineTime: deadline.toISOString() }
  }
  const events = (id: unknown) =>
    service.database.orm.em
      .fork()
      .getConnection()
      .execute<{ type: string; payload: string }[]>(
        `select type, payload from events where entity_id = ? order by id`,
        [id],
      )

  test('a command brings it up to its instant first: two events, a revision each', async () => {
    const body = await overdue(new Date(Date.now() - 60_000))
    const response = await merchant.api.put(`disputes/${body.id}`, { ...body, status: 'won' })
    expect(response.body).toMatchObject({ status: 'won', revision: 3 })
    const told = (await events(body.id)).map(({ payload }) => JSON.parse(payload))
    expect(
      told.map(({ eventType, cause, _embedded }) => [
        eventType,
        cause,
        _embedded.dispute.status,
        _embedded.dispute.revision,
      ]),
    ).toEqual([
      ['dispute-created', 'api', 'response-needed', 1],
      ['dispute-modified', 'deadline', 'lost', 2],
      ['dispute-modified', 'api', 'won', 3],
    ])
  })

  test('a condition on the revision before the loss no longer holds, and nothing is written', async () => {
    const body = await overdue(new Date(Date.now() - 60_000))
    const response = await merchant.api.put(
      `disputes/${body.id}`,
      { ...body, status: 'won' },
      { 'If-Match': '"1"' },
    )
    expectProblem(response, 412, 'precondition-failed')
    expect(await events(body.id)).toHaveLength(1)
  })

  test('a dispute, its event, its delivery and its wake-up are one commit or none', async () => {
    const em = service.database.orm.em.fork().getConnection()
    const counts = async () =>
      await em.execute<Record<string, string>[]>(
        `select (select count(*) from disputes) as disputes, (select count(*) from events) as events,
                (select count(*) from wake_ups) as wake_ups`,
      )
    const before = await counts()
    await em.execute(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`,
    )
    await em.execute('create trigger refuse before insert on wake_ups for each row execute function refuse()')
    try {
      const deadlineTime = new Date(Date.now() + 86_400_000).toISOString()
      const response = await merchant.api.post(
        'disputes',
        disputeBody(transactionId, { status: 'response-needed', deadlineTime }),
      )
      expectProblem(response, 500, 'internal-error')
      expect(JSON.stringify(response.body)).not.toContain('refused')
    } finally {
      await em.execute('drop trigger refuse on wake_ups')
    }
    expect(await counts()).toEqual(before)
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { advanceOrder, lockSubscription } from '../../commands/orders/advance-order.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'

const DAY = 86_400_000
type Body = Record<string, unknown>

let service: TestService
let merchant: Catalogue

beforeAll(async () => {
  service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
  merchant = await catalogue(service)
})
afterAll(() => service.stop())

const YEARLY = { unit: 'year', length: 1 }
const later = (days: number) => new Date(Date.now() + days * DAY).toISOString()
const make = async (path: string, body: object): Promise<Body> => {
  const response = await merchant.api.post(path, body)
  expect({ status: response.status, body: response.status === 201 ? null : response.body }).toEqual({
    status: 201,
    body: null,
  })
  return response.body
}
const read = async (path: string) => (await merchant.api.get(path)).body
const order = (id: unknown) => read(`subscriptions/${id}`)
/** Advanced by a command. */
const begun = async (members: object = {}): Promise<Body> => {
  const { id } = await make('subscriptions', orderBody(merchant, { autopay: false, ...members }))
  const response = await merchant.api.put(`subscriptions/${id}`, {
    ...orderBody(merchant, { autopay: false, ...members }),
    notes: 'Begun.',
  })
  expect(response.body).toMatchObject({ status: 'active' })
  return response.body
}
/** Advances an order as its timers would, to an instant ahead. */
const advance = (id: unknown, days: number) =>
  inUnitOfWork(
    service.database.orm.em.fork(),
    { organizationId: merchant.organizationId, baseUrl: service.baseUrl, now: new Date() },
    async (unit) => {
      const row = await lockSubscription(unit, String(id))
      if (row !== null) await advanceOrder(unit, row, Date.now() + days * DAY)
    },
  )
const planned = async (members: object) =>
  String(
    (
      await make('plans', {
        name: 'Plan',
        currency: 'EUR',
        pricing: { formula: 'fixed-fee', price: 5 },
        ...members,
      })
    ).id,
  )

describe('a cancellation', () => {
  const PATH = 'subscription-cancellations'
  const cancel = (subscriptionId: unknown, members: object = {}) => make(PATH, { subscriptionId, ...members })
  const put = (made: Body, members: object = {}, headers: Record<string, string> = {}) =>
    merchant.api.put(`${PATH}/${made.id}`, { ...made, ...members }, headers)
  const patch = (made: Body, members: object, headers: Record<string, string> = {}) =>
    merchant.api.send<Body>('PATCH', `${PATH}/${made.id}`, {
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(members),
    })

  test('ends service by its policy, whatever the churn time beside it says', async () => {
    const active = await begun()
    const made = await cancel(active.id, { churnTimePolicy: 'at-next-renewal', churnTime: later(1) })
    expect(made).toMatchObject({
      status: 'confirmed',
      churnTimePolicy: 'at-next-renewal',
      churnTime: active.renewalTime,
    })
    expect(await order(active.id)).toMatchObject({
      status: 'canceled',
      churnTime: active.renewalTime,
      canceledTime: made.canceledTime,
    })
    const { id } = await begun()
    expect(await cancel(id, { churnTimePolicy: 'now', churnTime: later(9) })).toMatchObject({
      status: 'completed',
    })
    expect(await order(id)).toMatchObject({ status: 'churned' })
    const paused = await begun()
    await make('subscription-pauses', { subscriptionId: paused.id })
    const ended = await cancel(paused.id, { churnTimePolicy: 'at-next-renewal' })
    expect(Date.parse(String(ended.churnTime))).toBeGreaterThanOrEqual(Date.parse(String(paused.renewalTime)))
  })

  test('at the next renewal is refused where an order has none: 422', async () => {
    const items = [{ plan: { id: await planned({}) } }]
    const { id: subscriptionId } = await begun({ items })
    const response = await merchant.api.post(PATH, { subscriptionId, churnTimePolicy: 'at-next-renewal' })
    expect(expectProblem(response, 422, 'validation-error')).toEqual(['churnTimePolicy'])
    expect(await order(subscriptionId)).toMatchObject({ status: 'active' })
  })

  test('of a reason of its own is shown by the order', async () => {
    const { id } = await begun()
    await cancel(id, { reason: 'other', description: 'Moved away.', canceledBy: 'customer' })
    expect(await order(id)).toMatchObject({
      cancelCategory: 'other',
      cancelDescription: 'Moved away.',
      canceledBy: 'customer',
    })
  })

  test('that is a draft cancels nothing until it is confirmed', async () => {
    const active = await begun()
    const draft = await cancel(active.id, { status: 'draft', churnTime: later(4) })
    expect(draft).toMatchObject({ status: 'draft', canceledTime: null })
    expect(await order(active.id)).toEqual(active)
    const { status: _, ...without } = draft
    const kept = await merchant.api.put(`${PATH}/${draft.id}`, { ...without, reason: 'too-expensive' })
    expect(kept.body).toMatchObject({ status: 'draft', reason: 'too-expensive', revision: 2 })
    const confirmed = await put(kept.body, { status: 'confirmed' })
    expect(confirmed.body).toMatchObject({
      status: 'confirmed',
      churnTime: draft.churnTime,
      canceledTime: expect.any(String),
      revision: 3,
    })
    expect(await order(active.id)).toMatchObject({ status: 'canceled', cancelCategory: 'too-expensive' })
    expectProblem(await put(confirmed.body, { status: 'draft' }), 409, 'conflict')
  })

  test('is completed by its churn time, with another revision, and stays what it is', async () => {
    const { id } = await begun()
    const made = await cancel(id, { churnTime: later(3) })
    await advance(id, 4)
    const completed = await read(`${PATH}/${made.id}`)
    expect(completed).toMatchObject({ status: 'completed', churnTime: made.churnTime, revision: 2 })
    expect((await put(completed)).body).toEqual(completed)
    expect((await put(made)).body).toEqual(completed)
    expectProblem(await put(completed, { churnTime: later(9) }), 409, 'conflict')
    expectProblem(await put(completed, { churnTimePolicy: 'now' }), 409, 'conflict')
    expectProblem(await merchant.api.delete(`${PATH}/${made.id}`), 409, 'conflict')
    const list = await merchant.api.get<Body[]>(`${PATH}?filter=status:completed;id:${made.id}`)
    expect(list.body).toEqual([completed])
  })

  test('can be moved until its churn time: the order follows', async () => {
    const { id } = await begun()
    const made = await cancel(id, { churnTime: later(3) })
    const moved = await put(made, { churnTime: later(6) })
    expect(moved.status).toBe(200)
    expect(await order(id)).toMatchObject({ status: 'canceled', churnTime: moved.body.churnTime })
    const ended = await put(moved.body, { churnTime: null })
    expect(ended.body).toMatchObject({ status: 'completed' })
    expect(await order(id)).toMatchObject({ status: 'churned' })
  })

  test('may be explained better at any time, as long as it holds also on the order', async () => {
    const { id } = await begun()
    const made = await cancel(id)
    const explained = await patch(made, { reason: 'did-not-use', description: 'Never opened.' })
    expect(explained).toMatchObject({
      status: 200,
      body: {
        ...made,
        reason: 'did-not-use',
        description: 'Never opened.',
        revision: 2,
        updatedTime: expect.any(String),
      },
    })
    expect(await order(id)).toMatchObject({
      cancelCategory: 'did-not-use',
      cancelDescription: 'Never opened.',
    })
    await make('subscription-reactivations', { subscriptionId: id })
    expect((await patch(made, { reason: 'other' })).body).toMatchObject({ reason: 'other' })
    expect(await order(id)).toMatchObject({ cancelCategory: null })
  })

  test('a PATCH keeps what it does not name, and takes the whole cancellation as well', async () => {
    const { id } = await begun()
    const made = await cancel(id, { churnTime: later(3), reason: 'too-expensive', canceledBy: 'customer' })
    expect((await patch(made, {})).body).toEqual(made)
    expect((await patch(made, made)).body).toEqual(made)
    expect((await patch(made, { reason: null })).body).toMatchObject({
      reason: null,
      canceledBy: 'customer',
      churnTime: made.churnTime,
      revision: 2,
    })
    expect((await patch(made, { churnTimePolicy: 'now' })).body).toMatchObject({ status: 'completed' })
    expect(expectProblem(await patch(made, { reason: 'whim' }), 422, 'validation-error')).toEqual(['reason'])
    expectProblem(await patch(made, {}, { 'If-Match': '"1"' }), 412, 'precondition-failed')
    expectProblem(await patch({ id: 'none' }, {}), 404, 'not-found')
  })

  test('a PATCH of the churn time alone takes the place of the policy', async () => {
    const { id } = await begun()
    const made = await cancel(id, { churnTimePolicy: 'at-next-renewal' })
    const churnTime = later(3)
    expect((await patch(made, { churnTime: made.churnTime })).body).toEqual(made)
    expect((await patch(made, { churnTime })).body).toMatchObject({ churnTime, churnTimePolicy: null })
    expect(await order(id)).toMatchObject({ churnTime })
  })

  test('belongs to its order: another one is a conflict', async () => {
    const [{ id }, other] = [await begun(), await begun()]
    const made = await cancel(id, { churnTime: later(3) })
    expectProblem(await put(made, { subscriptionId: other.id }), 409, 'conflict')
    expect(await order(other.id)).toEqual(other)
  })

  test('is revoked before its churn time by DELETE: the order goes on as before', async () => {
    const active = await begun()
    const made = await cancel(active.id, { churnTime: later(3) })
    expect((await merchant.api.delete(`${PATH}/${made.id}`)).status).toBe(204)
    expect(await order(active.id)).toMatchObject({
      status: 'active',
      renewalTime: active.renewalTime,
      churnTime: null,
      canceledTime: null,
      canceledBy: null,
    })
    const revoked = await read(`${PATH}/${made.id}`)
    expect(revoked).toMatchObject({ status: 'revoked', revision: 2 })
    expect((await put(revoked)).body).toEqual(revoked)
    expectProblem(await put(revoked, { status: 'confirmed' }), 409, 'conflict')
    expectProblem(await merchant.api.delete(`${PATH}/${made.id}`), 409, 'conflict')
    expectProblem(await merchant.api.delete(`${PATH}/none`), 404, 'not-found')
    const types = await merchant.api.get<{ type: string }[]>(`subscriptions/${active.id}/timeline`)
    expect(types.body[0]).toMatchObject({ type: 'order-reactivated' })
    const again = await cancel(active.id, { churnTime: later(3) })
    expectProblem(await merchant.api.delete(`${PATH}/${made.id}`), 409, 'conflict')
    expectProblem(
      await merchant.api.delete(`${PATH}/${again.id}`, { 'If-Match': '"7"' }),
      412,
      'precondition-failed',
    )
    expect(await order(active.id)).toMatchObject({ status: 'canceled' })
  })

  test('that is a draft is revoked by DELETE, and the order does not change', async () => {
    const active = await begun()
    const draft = await cancel(active.id, { status: 'draft' })
    expect((await merchant.api.delete(`${PATH}/${draft.id}`)).status).toBe(204)
    expect(await read(`${PATH}/${draft.id}`)).toMatchObject({ status: 'revoked', revision: 2 })
    expect(await order(active.id)).toEqual(active)
  })

  test('is not revoked while an invoice is past its delinquency time: 409', async () => {
    const { id } = await begun({ delinquencyPeriod: 'PT1H' })
    const made = await cancel(id, { churnTime: later(3) })
    await service.database.orm.em
      .fork()
      .getConnection()
      .execute(
        "update invoices set delinquency_time = now() - interval '1 minute' where subscription_id = ?",
        [id],
      )
    expectProblem(await merchant.api.delete(`${PATH}/${made.id}`), 409, 'conflict')
    expect(await read(`${PATH}/${made.id}`)).toEqual(made)
  })

  test('under an id of its own is made once, however many ask at the same time', async () => {
    const { id: subscriptionId } = await begun()
    const body = { subscriptionId, churnTime: later(3) }
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => merchant.api.put(`${PATH}/raced-cancellation`, body)),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201])
    expect(new Set(responses.map(({ body: { revision } }) => revision))).toEqual(new Set([1]))
  })
})

describe('a pause', () => {
  const PATH = 'subscription-pauses'
  const pause = (subscriptionId: unknown, members: object = {}) => make(PATH, { subscriptionId, ...members })
  const put = (made: Body, members: object = {}) =>
    merchant.api.put(`${PATH}/${made.id}`, { ...made, ...members })
  const seconds = (text: unknown) => Number(/^PT(\d+)S$/.exec(String(text))?.[1])

  test('says who paused, and what remains of the period', async () => {
    const active = await begun()
    const made = await pause(active.id, { pausedBy: 'customer' })
    expect(made).toMatchObject({ status: 'ongoing', pausedBy: 'customer' })
    const left = (Date.parse(String(active.renewalTime)) - Date.parse(String(made.effectiveTime))) / 1000
    expect(seconds(made.timeRemaining)).toBe(Math.floor(left))
    expect((await merchant.api.delete(`${PATH}/${made.id}`)).status).toBe(204)
    expect(await read(`${PATH}/${made.id}`)).toMatchObject({ status: 'finished' })
    const { body } = await merchant.api.get<Body[]>(`${PATH}?filter=status:finished;pausedBy:customer`)
    expect(body.map(({ id }) => id)).toContain(made.id)
  })

  test('with a remaining time of its own: the order renews so long after it', async () => {
    const active = await begun()
    const made = await pause(active.id, { timeRemaining: 'P2D' })
    expect(made).toMatchObject({ timeRemaining: 'PT172800S' })
    await merchant.api.delete(`${PATH}/${made.id}`)
    const { endTime } = await read(`${PATH}/${made.id}`)
    expect(await order(active.id)).toMatchObject({
      status: 'active',
      renewalTime: new Date(Date.parse(String(endTime)) + 2 * DAY).toISOString(),
    })
    for (const timeRemaining of ['two days', 'P0D', '-P1D']) {
      const response = await merchant.api.post(PATH, { subscriptionId: active.id, timeRemaining })
      expect(expectProblem(response, 422, 'validation-error')).toEqual(['timeRemaining'])
    }
  })

  test('with a remaining time in months has those that follow its beginning, on the clock of the order', async () => {
    const active = await begun({ items: [{ plan: { id: await planned({ recurringInterval: YEARLY }) } }] })
    const next = new Date().getUTCFullYear() + 1
    const year = next % 4 === 0 ? next + 1 : next // February has 28 days
    const moveClock = (day: string) =>
      service.database.orm.em
        .fork()
        .getConnection()
        .execute('update subscriptions set clock_offset = ? where id = ?', [
          Date.parse(`${year}-${day}T12:00:00Z`) - Date.now(),
          active.id,
        ])
    await moveClock('02-10')
    const made = await pause(active.id, { timeRemaining: 'P1M' })
    expect(made).toMatchObject({ status: 'ongoing', timeRemaining: `PT${28 * 86_400}S` })
    await moveClock('03-05')
    const longer = await put(made, { timeRemaining: 'P2M' })
    expect(longer.body).toMatchObject({ timeRemaining: `PT${59 * 86_400}S`, revision: 2 })
    const same = await put(made, { timeRemaining: 'P2M' })
    expect(same.body).toMatchObject({ timeRemaining: `PT${59 * 86_400}S`, revision: 2 })
    await merchant.api.delete(`${PATH}/${made.id}`)
    const ahead = { effectiveTime: `${year}-05-15T00:00:00Z`, timeRemaining: 'P1M' }
    expect(await pause(active.id, ahead)).toMatchObject({
      status: 'pending',
      timeRemaining: `PT${31 * 86_400}S`,
    })
    const tooLong = { timeRemaining: 'P9999Y' }
    const refused = await merchant.api.post(PATH, { subscriptionId: (await begun()).id, ...tooLong })
    expect(expectProblem(refused, 422, 'validation-error')).toEqual(['timeRemaining'])
  })

  test('a renewal time given meanwhile is the boundary to which the time paused is added', async () => {
    const active = await begun()
    const made = await pause(active.id)
    const renewalTime = later(50)
    const moved = await merchant.api.put(`subscriptions/${active.id}`, {
      ...(await order(active.id)),
      renewalTime,
    })
    expect(moved.body).toMatchObject({ status: 'paused', renewalTime: null, currentPeriodEnd: renewalTime })
    await merchant.api.delete(`${PATH}/${made.id}`)
    const { effectiveTime, endTime } = await read(`${PATH}/${made.id}`)
    const paused = Date.parse(String(endTime)) - Date.parse(String(effectiveTime))
    expect(await order(active.id)).toMatchObject({
      renewalTime: new Date(Date.parse(renewalTime) + paused).toISOString(),
    })
  })

  test('that is ahead can be moved as a whole, also to now', async () => {
    const { id } = await begun()
    const made = await pause(id, { effectiveTime: later(2), endTime: later(3) })
    const moved = await put(made, { effectiveTime: later(4), endTime: later(9), description: 'Holidays.' })
    expect({ status: moved.status, body: moved.body }).toMatchObject({
      status: 200,
      body: { status: 'pending', description: 'Holidays.', revision: 2 },
    })
    expect(await order(id)).toMatchObject({ status: 'active' })
    expect(expectProblem(await put(made, { effectiveTime: later(-1) }), 422, 'validation-error')).toEqual([
      'effectiveTime',
    ])
    const now = await put(moved.body, { effectiveTime: null })
    expect(now.body).toMatchObject({ status: 'ongoing', endTime: moved.body.endTime, revision: 3 })
    expect(await order(id)).toMatchObject({ status: 'paused' })
  })

  test('that is under way keeps its beginning; one that has ended keeps its times', async () => {
    const [{ id }, other] = [await begun(), await begun()]
    const made = await pause(id)
    expectProblem(await put(made, { effectiveTime: later(1) }), 409, 'conflict')
    expectProblem(await put(made, { subscriptionId: other.id }), 409, 'conflict')
    expect((await put(made, { effectiveTime: null, endTime: later(5) })).body).toMatchObject({
      effectiveTime: made.effectiveTime,
      revision: 2,
    })
    await merchant.api.delete(`${PATH}/${made.id}`)
    const finished = await read(`${PATH}/${made.id}`)
    expect((await put(finished)).body).toEqual(finished)
    expectProblem(await put(finished, { endTime: later(5) }), 409, 'conflict')
    expect((await put(finished, { description: 'Over.' })).body).toMatchObject({ description: 'Over.' })
  })

  test('takes what it was at any earlier time, unchanged', async () => {
    const { id } = await begun()
    const ahead = await pause(id, { effectiveTime: later(2) })
    const ongoing = (await put(ahead, { effectiveTime: null })).body
    await merchant.api.delete(`${PATH}/${ahead.id}`)
    const finished = await read(`${PATH}/${ahead.id}`)
    expect(
      [ahead, ongoing, finished].map((one) => [one.timeRemaining === null, one.endTime === null]),
    ).toEqual([
      [true, true],
      [false, true],
      [false, false],
    ])
    for (const earlier of [{ ...ahead, effectiveTime: ongoing.effectiveTime }, ongoing]) {
      expect((await put(earlier)).body).toEqual(finished)
    }
    expectProblem(await put(ongoing, { timeRemaining: 'P2D' }), 409, 'conflict')
  })

  test('under an id of its own is made once, however many ask at the same time', async () => {
    const { id: subscriptionId } = await begun()
    const body = { subscriptionId, effectiveTime: later(1), endTime: later(2) }
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => merchant.api.put(`${PATH}/raced-pause`, body)),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201])
    expect(responses.find(({ status }) => status === 201)?.headers.get('location')).toMatch(/raced-pause$/)
  })
})

describe('a reactivation', () => {
  const reactivate = (subscriptionId: unknown, members: object = {}) =>
    make('subscription-reactivations', { subscriptionId, ...members })
  const cancel = (subscriptionId: unknown, members: object = {}) =>
    make('subscription-cancellations', { subscriptionId, ...members })

  test('before the churn time revokes the cancellation, and names it', async () => {
    const active = await begun()
    const canceled = await cancel(active.id, { churnTime: later(3) })
    const made = await reactivate(active.id, { description: 'Changed their mind.' })
    expect(made).toMatchObject({
      cancellationId: canceled.id,
      description: 'Changed their mind.',
      renewalTime: active.renewalTime,
    })
    expect(await read(`subscription-cancellations/${canceled.id}`)).toMatchObject({ status: 'revoked' })
    const found = await merchant.api.get<Body[]>('subscription-reactivations?q=their mind')
    expect(found.body).toEqual([made])
  })

  test('of an order that has churned takes the next renewal and the instrument that it is given', async () => {
    const { id } = await begun()
    const canceled = await cancel(id)
    const token = await makeToken(merchant.api)
    const { customerId } = merchant
    const instrument = await make('payment-instruments', { customerId, token })
    const renewalTime = later(9)
    const made = await reactivate(id, { renewalTime, paymentInstrumentId: instrument.id })
    expect(made).toMatchObject({
      cancellationId: canceled.id,
      renewalTime,
      paymentInstrumentId: instrument.id,
    })
    const active = await order(id)
    expect(active).toMatchObject({ status: 'active', renewalTime, paymentInstrumentId: instrument.id })
    expect(await read(`invoices/${active.recentInvoiceId}`)).toMatchObject({
      periodNumber: 2,
      periodStart: made.effectiveTime,
      periodEnd: renewalTime,
    })
    expect(await read(`subscription-cancellations/${canceled.id}`)).toMatchObject({ status: 'completed' })
  })

  test("is refused with another customer's instrument and at a time ahead: 422, and nothing is written", async () => {
    const { id: subscriptionId } = await begun()
    await cancel(subscriptionId)
    const churned = await order(subscriptionId)
    const { id: customerId } = await make('customers', {})
    const token = await makeToken(merchant.api)
    const instrument = await make('payment-instruments', { customerId, token })
    const response = await merchant.api.post('subscription-reactivations', {
      subscriptionId,
      effectiveTime: later(1),
      paymentInstrumentId: instrument.id,
    })
    expect(expectProblem(response, 422, 'validation-error').toSorted()).toEqual([
      'effectiveTime',
      'paymentInstrumentId',
    ])
    expect(await order(subscriptionId)).toEqual(churned)
  })
})

describe('an order', () => {
  test('shows its current period, and its monthly recurring revenue while it is active', async () => {
    const yearly = await planned({
      recurringInterval: { unit: 'year', length: 1 },
      pricing: { formula: 'flat-rate', price: 100 },
    })
    const items = [
      { plan: { id: yearly }, quantity: 2 },
      { plan: { id: yearly }, excludeFromMrr: true },
    ]
    const pending = await make('subscriptions', orderBody(merchant, { items, startTime: later(1) }))
    expect(pending).toMatchObject({ mrr: 0, currentPeriodStart: null, currentPeriodEnd: null })
    const active = await begun({ items })
    expect(active).toMatchObject({
      mrr: 16.67,
      currentPeriodStart: active.startTime,
      currentPeriodEnd: active.renewalTime,
      items: [{ excludeFromMrr: false }, { excludeFromMrr: true }],
    })
    const list = await merchant.api.get<Body[]>(
      `subscriptions?filter=mrr:16.67;currentPeriodEnd:${active.renewalTime};id:${active.id}&sort=-mrr,currentPeriodStart`,
    )
    expect(list.body).toEqual([active])
    const [one, other] = active.items as Body[]
    const counted = await merchant.api.put(`subscriptions/${active.id}`, {
      ...active,
      items: [one, { ...other, excludeFromMrr: false }],
    })
    expect(counted.body).toMatchObject({ mrr: 25, items: [{ revision: 1 }, { revision: 2 }] })
    await make('subscription-pauses', { subscriptionId: active.id })
    expect(await order(active.id)).toMatchObject({ mrr: 0 })
  })

  test('has what was filled of an item changed by PATCH, and whether it counts, in any state', async () => {
    const active = await begun()
    const [item] = active.items as Body[]
    const path = `subscriptions/${active.id}/items/${item?.id}`
    const patch = (members: object, at = path) =>
      merchant.api.send<Body>('PATCH', at, {
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(members),
      })
    const filled = await patch({ quantityFilled: 1, plan: { productOptions: null } })
    expect({ status: filled.status, body: filled.body }).toEqual({
      status: 200,
      body: { ...item, quantityFilled: 1, revision: 2 },
    })
    expect(active.mrr).toBe(9.9)
    expect((await patch({ excludeFromMrr: true })).body).toMatchObject({
      quantityFilled: 1,
      excludeFromMrr: true,
      revision: 3,
    })
    const excluded = await order(active.id)
    expect(excluded).toMatchObject({
      mrr: 0,
      revision: Number(active.revision) + 2,
      items: [{ revision: 3 }],
    })
    expect((await patch({})).body).toMatchObject({ revision: 3 })
    expect((await order(active.id)).revision).toBe(excluded.revision)
    await make('subscription-cancellations', { subscriptionId: active.id })
    expect((await patch({ quantityFilled: null })).body).toMatchObject({ quantityFilled: 0, revision: 4 })
    expect(expectProblem(await patch({ quantity: 2 }), 422, 'validation-error')).toEqual(['quantity'])
    expectProblem(await patch({}, `subscriptions/${active.id}/items/none`), 404, 'not-found')
    expectProblem(await patch({}, 'subscriptions/none/items/none'), 404, 'not-found')
  })

  test('of one-time sales is of that type, and of no plan that recurs or has a trial', async () => {
    const sale = await planned({})
    const trial = await planned({ trial: { price: 1, period: { unit: 'week', length: 1 } } })
    const place = (orderType: string, id: string) =>
      merchant.api.post(
        'subscriptions',
        orderBody(merchant, { orderType, items: [{ plan: { id } }], startTime: later(1) }),
      )
    const placed = await place('one-time-order', sale)
    expect({ status: placed.status, body: placed.body }).toMatchObject({
      status: 201,
      body: { orderType: 'one-time-order', mrr: 0 },
    })
    for (const id of [trial, merchant.planId]) {
      expect(expectProblem(await place('one-time-order', id), 422, 'validation-error')).toEqual(['orderType'])
    }
    expect((await place('subscription-order', sale)).body).toMatchObject({ orderType: 'subscription-order' })
    const path = `subscriptions/${placed.body.id}`
    const other = await merchant.api.put(path, { ...placed.body, orderType: 'subscription-order' })
    expectProblem(other, 409, 'conflict')
    const recurring = await merchant.api.put(path, {
      ...placed.body,
      items: [{ plan: { id: merchant.planId } }],
    })
    expect(expectProblem(recurring, 422, 'validation-error')).toEqual(['orderType'])
    const found = await merchant.api.get<Body[]>('subscriptions?filter=orderType:one-time-order')
    expect(found.body).toEqual([placed.body])
  })

  test('takes the quantities that the plans of its items permit', async () => {
    const id = await planned({ pricing: { formula: 'flat-rate', price: 5, minQuantity: 2, maxQuantity: 4 } })
    const place = (quantity: number) =>
      merchant.api.post(
        'subscriptions',
        orderBody(merchant, { items: [{ plan: { id }, quantity }], startTime: later(1) }),
      )
    for (const quantity of [1, 5]) {
      expect(expectProblem(await place(quantity), 422, 'validation-error')).toEqual(['items.0.quantity'])
    }
    const placed = await place(4)
    expect(placed.status).toBe(201)
    const more = await merchant.api.put(`subscriptions/${placed.body.id}`, {
      ...placed.body,
      items: [{ plan: { id }, quantity: 5 }],
    })
    expect(expectProblem(more, 422, 'validation-error')).toEqual(['items.0.quantity'])
  })

  test('that was never due is deleted, with its draft and its timeline', async () => {
    const { id, initialInvoiceId, revision } = await make(
      'subscriptions',
      orderBody(merchant, { startTime: later(1) }),
    )
    const path = `subscriptions/${id}`
    expectProblem(await merchant.api.delete(path, { 'If-Match': '"9"' }), 412, 'precondition-failed')
    expect((await merchant.api.delete(path, { 'If-Match': `"${revision}"` })).status).toBe(204)
    for (const gone of [path, `${path}/timeline`, `invoices/${initialInvoiceId}`]) {
      expectProblem(await merchant.api.get(gone), 404, 'not-found')
    }
    expectProblem(await merchant.api.delete(path), 404, 'not-found')
    const again = await merchant.api.put(path, orderBody(merchant, { startTime: later(1) }))
    expect(again.status).toBe(201)
  })

  test('that owes or has owed is not deleted: 409', async () => {
    const active = await begun()
    expectProblem(await merchant.api.delete(`subscriptions/${active.id}`), 409, 'conflict')
    const token = await makeToken(merchant.api)
    const { customerId } = merchant
    const { id: paymentInstrumentId } = await make('payment-instruments', { customerId, token })
    const { id } = await make('subscriptions', orderBody(merchant, { paymentInstrumentId }))
    const charged = await merchant.api.delete(`subscriptions/${id}`)
    expectProblem(charged, 409, 'conflict')
    expect(await order(id)).toMatchObject({ status: 'pending' })
  })
})

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http2'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createLog } from '../../config/log.ts'
import { endMove, giveUpStalledMoves } from '../../worker/stalled-moves.ts'
import { type ApiClient, type ApiResponse, apiClient } from '../support/api-client.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'
import { DAY, makePlan, placeOrder, type Story } from './story.ts'

const NOWHERE = '127.0.0.1:1'
const SETTINGS = { MASTER_KEY: randomBytes(32).toString('base64') }

describe('POST subscriptions/{id}/fast-forward', () => {
  let service: TestService
  let merchant: Catalogue
  let planId: string

  beforeAll(async () => {
    service = await startService({ settings: SETTINGS })
    merchant = await catalogue(service)
    planId = await makePlan(merchant)
  })
  afterAll(() => service.stop())

  const place = (members: object = {}) => placeOrder(service, merchant, planId, members)
  const active = async (): Promise<Story> => {
    const story = await place()
    await waitFor('its start', async () => ((await story.order()).status === 'active' ? true : null))
    return story
  }
  const forward = (
    story: Pick<Story, 'id'>,
    to: number | string,
    headers?: Record<string, string>,
    { api }: { api: ApiClient } = merchant,
  ) =>
    api.post(
      `subscriptions/${story.id}/fast-forward`,
      { to: typeof to === 'number' ? new Date(to).toISOString() : to },
      headers,
    )
  const through = ({ baseUrl }: TestService) => ({
    api: apiClient(baseUrl, merchant.organizationId, { 'SVC-APIKEY': merchant.secretKey }),
  })
  const sql = <T>(text: string, values: readonly unknown[]) =>
    service.database.orm.em
      .fork()
      .getConnection()
      .execute<T[]>(text, [...values])
  const run = (text: string) => sql<Record<string, number>>(text, [])
  const clockOf = ({ body }: ApiResponse) => Date.now() + Number(body.clockOffset) * 1_000
  const time = (value: unknown) => Date.parse(String(value))

  test("moves that order's clock: all that is due until then happens in order, and the order is answered as it is then", async () => {
    const story = await active()
    const other = await active()
    const to = time((await story.order()).startTime) + 365 * DAY
    const response = await forward(story, to)
    expect(response.status).toBe(200)
    expect(response.body).toMatchObject({ status: 'active', rebillNumber: 13 })
    expect(Math.abs(clockOf(response) - to)).toBeLessThan(30_000)
    expect(response.headers.get('etag')).toBe(`"${response.body.revision}"`)
    const events = await sql<{ type: string; event_time: string; created_time: string }>(
      `select type, event_time, created_time from events
        where organization_id = ? and entity_id = ? order by id`,
      [merchant.organizationId, story.id],
    )
    const renewals = events
      .filter(({ type }) => type === 'subscription-renewed')
      .map((e) => time(e.event_time))
    expect(renewals).toHaveLength(12)
    expect(renewals).toEqual(renewals.toSorted((a, b) => a - b))
    expect(renewals.at(-1)).toBeLessThanOrEqual(to)
    expect(Math.max(...events.map((e) => time(e.created_time)))).toBeLessThanOrEqual(Date.now())
    expect(await other.order()).toMatchObject({ rebillNumber: 1, clockOffset: 0 })
  })

  /** An order continues as new after a few deadlines. */
  async function eventsOfAllRuns(workflowId: string) {
    const all = []
    for (let runId: string | null | undefined; runId !== null; ) {
      const { events } = await service.temporal.workflow.getHandle(workflowId, runId).fetchHistory()
      all.push(...(events ?? []))
      runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || null
    }
    return all
  }

  test("is Temporal's own time skipping, timer by timer", async () => {
    const story = await active()
    await forward(story, Date.now() + 100 * DAY)
    const events = await eventsOfAllRuns(`subscription/${merchant.organizationId}/${story.id}`)
    const skips = events.filter(
      (event) => event.workflowExecutionTimeSkippingTransitionedEventAttributes != null,
    )
    const fired = events.filter((event) => event.timerFiredEventAttributes != null)
    expect(skips.length).toBeGreaterThanOrEqual(4)
    expect(fired.length).toBeGreaterThanOrEqual(4)
  })

  test('starts an order that lies ahead, abandons one whose time has come, and ends a trial', async () => {
    const later = await place({ startTime: new Date(Date.now() + 10 * DAY).toISOString() })
    expect((await forward(later, Date.now() + 9 * DAY)).body.status).toBe('pending')
    expect((await forward(later, Date.now() + 11 * DAY)).body.status).toBe('active')
    const dropped = await place({
      startTime: new Date(Date.now() + 10 * DAY).toISOString(),
      abandonTime: new Date(Date.now() + 5 * DAY).toISOString(),
    })
    expect((await forward(dropped, Date.now() + 6 * DAY)).body.status).toBe('abandoned')
    const tried = await place({
      trial: { enabled: true, endTime: new Date(Date.now() + 7 * DAY).toISOString() },
    })
    expect((await forward(tried, Date.now() + 8 * DAY)).body).toMatchObject({
      inTrial: false,
      rebillNumber: 1,
    })
  })

  test('charges what falls due on the way, each at its instant and none of it late', async () => {
    const customer = await merchant.api.post('customers', {
      paymentToken: await makeToken(merchant.api, TEST_CARDS.approves),
    })
    const story = await place({ customerId: customer.body.id })
    const moved = await forward(story, Date.now() + 100 * DAY)
    expect([moved.status, moved.body.billingStatus, moved.body.rebillNumber]).toEqual([200, 'paid', 4])
    const { body: paid } = await merchant.api.get<Record<string, unknown>[]>(
      `invoices?filter=subscriptionId:${story.id}&sort=issuedTime`,
    )
    expect(paid.map(({ status }) => status)).toEqual(['paid', 'paid', 'paid', 'paid'])
    for (const { issuedTime, paidTime } of paid)
      expect(time(paidTime) - time(issuedTime)).toBeLessThan(60_000)
  })

  test('leaves everything about the order at real time plus its offset', async () => {
    const story = await active()
    const renewal = time((await story.order()).renewalTime)
    const moved = await forward(story, renewal - 3_000)
    expect(moved.body).toMatchObject({ rebillNumber: 1 })
    // What lies ahead of real time but behind the order's clock is past.
    const refused = await merchant.api.post('subscription-pauses', {
      subscriptionId: story.id,
      effectiveTime: new Date(Date.now() + DAY).toISOString(),
    })
    expect(expectProblem(refused, 422, 'validation-error')).toEqual(['effectiveTime'])
    const [renewed] = await waitFor('the renewal', async () => {
      const found = await sql<{ event_time: string; created_time: string }>(
        `select event_time, created_time from events
          where organization_id = ? and entity_id = ? and type = 'subscription-renewed'`,
        [merchant.organizationId, story.id],
      )
      return found.length > 0 ? found : null
    })
    expect(time(renewed?.event_time)).toBe(renewal)
    expect(time(renewed?.created_time) + Number(moved.body.clockOffset) * 1_000).toBeGreaterThanOrEqual(
      renewal,
    )

    // As after an operator ended the old workflow.
    const next = time((await story.order()).renewalTime)
    await forward(story, next - 2_000)
    const id = `subscription/${merchant.organizationId}/${story.id}`
    await service.temporal.workflow.getHandle(id).terminate('by an operator')
    const body = { ...(await story.order()), notes: 'woken' }
    expect((await merchant.api.put(`subscriptions/${story.id}`, body)).status).toBe(200)
    await waitFor('the next renewal', async () => ((await story.order()).rebillNumber === 3 ? true : null))
    expect((await forward(story, next + 40 * DAY)).body).toMatchObject({ rebillNumber: 4 })
  })

  test('refuses to go back, or further than five years ahead of real time', async () => {
    const story = await active()
    const fields = async (to: number | string) =>
      expectProblem(await forward(story, to), 422, 'validation-error')
    expect(await fields(Date.now() - 60_000)).toEqual(['to'])
    expect(await fields(Date.now() + 5 * 366 * DAY)).toEqual(['to'])
    expect(await fields('2027-01-01')).toEqual(['to'])
    await forward(story, Date.now() + 2 * DAY)
    expect(await fields(Date.now() + DAY)).toEqual(['to'])
    const missing = await merchant.api.post('subscriptions/none/fast-forward', { to: '2027-01-01T00:00:00Z' })
    expectProblem(missing, 404, 'not-found')
    expect((await story.order()).rebillNumber).toBe(1)
  })

  test('goes five years in one move, with every period billed once', async () => {
    const quarterly = await makePlan(merchant, { recurringInterval: { unit: 'month', length: 3 } })
    const story = await placeOrder(service, merchant, quarterly)
    const to = new Date()
    to.setUTCFullYear(to.getUTCFullYear() + 5)
    const response = await forward(story, to.getTime() - 60_000)
    const place = response.headers.get('location')
    if (place !== null) {
      await waitFor('the end of the move', async () => {
        const { body } = await merchant.api.send('GET', new URL(place).pathname)
        return body.status === 'completed' ? true : null
      })
    }
    expect((await story.order()).rebillNumber).toBe(20)
    const periods = (await story.invoices()).map(({ periodNumber }) => periodNumber)
    expect(periods).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
  })

  test('moves only the clock of an order in a final state, for which no Temporal is needed', async () => {
    const alone = await startService({
      worker: false,
      apiWithoutTemporal: true,
      databaseUrl: service.databaseUrl,
      settings: SETTINGS,
    })
    const story = await place({ startTime: new Date(Date.now() + DAY).toISOString() })
    await merchant.api.post(`subscriptions/${story.id}/void`, {})
    await waitFor('its workflow to end', async () =>
      (await story.order()).status === 'voided' ? true : null,
    )
    const before = await story.events()
    const to = Date.now() + 400 * DAY
    const response = await forward(story, to, {}, through(alone))
    expect([response.status, response.body.status]).toEqual([200, 'voided'])
    expect(Math.abs(clockOf(response) - to)).toBeLessThan(30_000)
    expect(await story.events()).toEqual(before)
    await alone.stop()
  })

  test('once under an Idempotency-Key, however often it is asked', async () => {
    const story = await active()
    const to = Date.now() + 40 * DAY
    const key = { 'Idempotency-Key': 'forward' }
    const responses = [await forward(story, to, key), await forward(story, to, key)]
    expect(responses.map(({ status }) => status)).toEqual([200, 200])
    const moves = await sql('select from fast_forwards where subscription_id = ?', [story.id])
    expect(moves).toHaveLength(1)
  })

  test('answers 202 and where to ask when it takes long; blocks a second one until it makes no progress', async () => {
    const story = await active()
    const to = Date.now() + 70 * DAY
    await service.stopWorker()
    const response = await forward(story, to)
    expect(response.status).toBe(202)
    const place = new URL(response.headers.get('location') ?? '').pathname
    expect(place).toContain(`subscriptions/${story.id}/fast-forward/${response.body.id}`)
    const status = async () => (await merchant.api.send('GET', place)).body
    expect(await status()).toMatchObject({
      id: response.body.id,
      subscriptionId: story.id,
      to: new Date(to).toISOString(),
      status: 'running',
      detail: null,
    })
    expectProblem(await forward(story, to + DAY), 409, 'conflict')

    await sql(`update fast_forwards set progress_time = progress_time - interval '61 seconds' where id = ?`, [
      response.body.id,
    ])
    expect(await status()).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('Fast-forward it again'),
    })
    service.startWorker()
    const again = await forward(story, to + DAY)
    expect([again.status, again.body.rebillNumber]).toEqual([200, 3])
    expect((await status()).status).toBe('failed')
  }, 90_000)

  test('goes on after its 202 until it is there', async () => {
    const story = await active()
    await service.stopWorker()
    const response = await forward(story, Date.now() + 70 * DAY)
    expect(response.status).toBe(202)
    service.startWorker()
    const place = new URL(response.headers.get('location') ?? '').pathname
    await waitFor('the end of the move', async () =>
      (await merchant.api.send('GET', place)).body.status === 'completed' ? true : null,
    )
    expect((await story.order()).rebillNumber).toBe(3)
  }, 90_000)

  test('one whose execution was ended on the way is given up, and the order lives on from where its clock has come to', async () => {
    const story = await active()
    const renewal = time((await story.order()).renewalTime)
    await service.stopWorker()
    const response = await forward(story, renewal + 70 * DAY)
    expect(response.status).toBe(202)
    const id = `subscription/${merchant.organizationId}/${story.id}`
    await service.temporal.workflow.getHandle(id).terminate('by an operator')
    // As if it had come to three seconds before the renewal, and then nothing for more than a minute.
    await sql('update subscriptions set advanced_to = ? where id = ?', [new Date(renewal - 3_000), story.id])
    await sql(`update fast_forwards set progress_time = progress_time - interval '61 seconds' where id = ?`, [
      response.body.id,
    ])
    const givenUp = await giveUpStalledMoves({
      em: () => service.database.orm.em.fork(),
      baseUrl: service.baseUrl,
      now: () => Date.now(),
    })
    expect(givenUp).toBe(1)
    const { body: move } = await merchant.api.send(
      'GET',
      new URL(response.headers.get('location') ?? '').pathname,
    )
    expect(move).toMatchObject({ status: 'failed', detail: expect.stringContaining('Fast-forward it again') })
    expect(Math.abs(clockOf({ ...response, body: await story.order() }) - renewal)).toBeLessThan(10_000)
    service.startWorker()
    await waitFor('the renewal', async () => ((await story.order()).rebillNumber === 2 ? true : null))
    expect((await forward(story, renewal + 70 * DAY)).body).toMatchObject({ rebillNumber: 4 })
  }, 90_000)

  test('one on whose way the order cannot be advanced fails at that, and no more time is skipped', async () => {
    const story = await active()
    await run('create sequence refusals')
    await run(`create function refuse_renewal() returns trigger language plpgsql as $$
      begin if new.id = '${story.id}' and new.rebill_number > 1 then
        perform nextval('refusals');
        raise exception 'refused' using errcode = '22000';
      end if; return new; end $$`)
    await run(
      'create trigger refuse before update on subscriptions for each row execute function refuse_renewal()',
    )
    const to = Date.now() + 100 * DAY
    const response = await forward(story, to)
    expect(response.status).toBe(202)
    const place = new URL(response.headers.get('location') ?? '').pathname
    const failed = await waitFor('the end of the move', async () => {
      const { body } = await merchant.api.send('GET', place)
      return body.status === 'running' ? null : body
    })
    expect(failed).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('could not be advanced any further'),
    })
    await waitFor('the end of the quarantine, as nothing is due where the clock stopped', async () => {
      const [row] = await sql<{ until: string | null }>(
        'select quarantined_until as until from subscriptions where id = ?',
        [story.id],
      )
      return row?.until === null || null
    })
    // Thousands, if the quarantine were skipped. A slow activity may be made more than once.
    const [{ refusals } = { refusals: 0 }] = await run('select last_value::int as refusals from refusals')
    expect(refusals).toBeLessThan(10)
    expect(await story.order()).toMatchObject({ status: 'active', rebillNumber: 1 })
    const events = await eventsOfAllRuns(`subscription/${merchant.organizationId}/${story.id}`)
    const isStop = (event: (typeof events)[number]) =>
      event.workflowExecutionOptionsUpdatedEventAttributes?.timeSkippingConfig?.enabled === false
    const stop = events.findLastIndex(isStop)
    const skip = events.findLastIndex(
      (e) => e.workflowExecutionTimeSkippingTransitionedEventAttributes != null,
    )
    expect(stop).toBeGreaterThan(skip)
    await run('drop trigger refuse on subscriptions')
    await run('drop function refuse_renewal')
    await run('drop sequence refusals')
    await forward(story, to)
    await waitFor('the target', async () => ((await story.order()).rebillNumber === 4 ? true : null))
  }, 90_000)

  test('one that ends in quarantine blocks others until time has stopped, and each later quarantine asks for that again', async () => {
    const story = await active()
    await service.stopWorker()
    const to = Date.now() + 70 * DAY
    const response = await forward(story, to)
    expect(response.status).toBe(202)
    const { temporal } = service
    let asked = 0
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    const withDeadline = async <T>(deadline: number, call: () => Promise<T>) => {
      asked += 1
      await held
      return await temporal.connection.withDeadline(deadline + DAY, call)
    }
    const connection = Object.create(temporal.connection, { withDeadline: { value: withDeadline } })
    const client = Object.create(temporal, { connection: { value: connection } })
    const end = () =>
      endMove(
        { em: () => service.database.orm.em.fork(), baseUrl: service.baseUrl, now: () => Date.now() },
        { client, log: createLog('silent', { write() {} }) },
        { organizationId: merchant.organizationId, recordId: story.id },
      )
    const ending = end()
    await waitFor('Temporal to be asked', () => asked > 0 || null)
    expectProblem(await forward(story, to + DAY), 409, 'conflict')
    answer()
    await ending
    const { body: move } = await merchant.api.send(
      'GET',
      new URL(response.headers.get('location') ?? '').pathname,
    )
    expect(move).toMatchObject({ status: 'failed' })
    await sql('update subscriptions set clock_offset = 60 where id = ?', [story.id])
    await end()
    await sql('update subscriptions set clock_offset = 0 where id = ?', [story.id])
    await end()
    expect(asked).toBe(2)
    service.startWorker()
    await forward(story, to)
    await waitFor('the target', async () => ((await story.order()).rebillNumber === 3 ? true : null))
  }, 90_000)

  test('an API without Temporal, and one that cannot reach it, answer 503 and move nothing', async () => {
    const story = await active()
    for (const options of [{ apiWithoutTemporal: true }, { temporalAddress: NOWHERE }]) {
      const cut = await startService({
        worker: false,
        databaseUrl: service.databaseUrl,
        settings: SETTINGS,
        ...options,
      })
      const response = await forward(story, Date.now() + DAY, {}, through(cut))
      expectProblem(response, 503, 'unavailable')
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      await cut.stop()
    }
    expect(await story.order()).toMatchObject({ clockOffset: 0, rebillNumber: 1 })
  })

  test('Temporal that does not skip time: 501 that names what to enable, and nothing is moved', async () => {
    const temporal = createServer()
    temporal.on('stream', (stream) => {
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' },
        { endStream: true },
      )
    })
    await new Promise<void>((resolve) => temporal.listen(0, '127.0.0.1', resolve))
    const { port } = temporal.address() as AddressInfo
    const old = await startService({
      worker: false,
      databaseUrl: service.databaseUrl,
      settings: SETTINGS,
      temporalAddress: `127.0.0.1:${port}`,
    })
    const story = await active()
    const response = await forward(story, Date.now() + DAY, {}, through(old))
    expectProblem(response, 501, 'not-implemented')
    expect(response.body.detail).toContain('frontend.WorkflowTimeSkippingEnabled')
    expect(await story.order()).toMatchObject({ clockOffset: 0, rebillNumber: 1 })
    await old.stop()
    await new Promise((resolve) => temporal.close(resolve))
  })

  test('Temporal that does not answer holds up nobody else who changes the order', async () => {
    const asked: Socket[] = []
    const temporal = createTcpServer((socket) => void asked.push(socket))
    await new Promise<void>((resolve) => temporal.listen(0, '127.0.0.1', resolve))
    const { port } = temporal.address() as AddressInfo
    const stuck = await startService({
      worker: false,
      databaseUrl: service.databaseUrl,
      settings: SETTINGS,
      temporalAddress: `127.0.0.1:${port}`,
    })
    const story = await active()
    let isAnswered = false
    const moving = forward(story, Date.now() + DAY, {}, through(stuck)).finally(() => {
      isAnswered = true
    })
    await waitFor('Temporal to be asked', () => asked.length > 0 || null)
    const order = await story.order()
    const changed = await merchant.api.put(`subscriptions/${story.id}`, { ...order, notes: 'meanwhile' })
    expect(changed.status).toBe(200)
    expect(isAnswered).toBe(false)
    expectProblem(await moving, 503, 'unavailable')
    await stuck.stop()
    for (const socket of asked) socket.destroy()
    await new Promise((resolve) => temporal.close(resolve))
  })

  test('in live there is no such path, nor in its contract', async () => {
    const live = await startService({
      worker: false,
      settings: { ENVIRONMENT: 'live', TEMPORAL_ADDRESS: NOWHERE, WEBHOOK_ALLOWED_CIDRS: '' },
    })
    const organization = await live.organization()
    for (const path of ['subscriptions/x/fast-forward', 'subscriptions/x/fast-forward/y']) {
      expectProblem(await organization.api.send('GET', path), 404, 'not-found')
      expectProblem(await organization.api.post(path, { to: '2027-01-01T00:00:00Z' }), 404, 'not-found')
    }
    expect(JSON.stringify((await organization.api.send('GET', '/openapi.json')).body)).not.toContain(
      'fast-forward',
    )
    await live.stop()
  })
})

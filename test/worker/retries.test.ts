import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { ApplicationFailure } from '@temporalio/common'
import { createActivities } from '../../activities/activities.ts'
import { createQuarantine } from '../../activities/quarantine.ts'
import { createLog } from '../../config/log.ts'
import { createAddressGuard } from '../../delivery/address-guard.ts'
import { signingKeyCache } from '../../delivery/key-cache.ts'
import { OwnFaultError } from '../../delivery/own-fault.ts'
import { recordOutcomes, takeDueDeliveries } from '../../delivery/queue.ts'
import { RETRY_PLACES } from '../../delivery/retry-places.ts'
import { nextAttemptTime } from '../../delivery/retry-schedule.ts'
import { createSender, type Sender } from '../../delivery/sender.ts'
import { activityDependencies } from '../support/activities.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const QUARTER = RETRY_PLACES / 4

describe('retries', () => {
  let service: TestService
  let hanging: Receiver
  let quick: Receiver
  const cleanUps: (() => unknown)[] = []

  beforeAll(async () => {
    service = await startService({ worker: false })
    hanging = await startReceiver()
    quick = await startReceiver()
  })
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })
  afterAll(async () => {
    await hanging.close()
    await quick.close()
    await service.stop()
  })

  const em = () => service.database.orm.em.fork()
  const sql = <T>(text: string, values: unknown[] = []) => em().getConnection().execute<T[]>(text, values)

  /** The receiver keeps every request open until the returned function is called. */
  const hang = (): (() => void) => {
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
    cleanUps.push(answer)
    hanging.respondWith(async (_, response) => {
      await mayAnswer
      response.writeHead(500).end()
    })
    return answer
  }

  /** Makes deliveries whose first attempt has failed, and whose retry is due. */
  const retriesDue = async (merchant: Catalogue, count: number): Promise<string[]> => {
    await sql('delete from deliveries where organization_id = ?', [merchant.organizationId])
    for (let made = 0; made < count; made += 1) await merchant.api.post('customers', {})
    const taken = await takeDueDeliveries(em(), {
      owner: 'wrk_1',
      shares: [],
      others: { total: count, each: count },
    })
    const outcomes = taken.map((delivery) => ({
      attempt: {
        delivery,
        initiatedTime: new Date(),
        sentTime: new Date(),
        duration: 5,
        requestHeaders: {},
        response: { status: 500, headers: {}, body: '', failure: 'status' as const },
      },
      next: Date.now(),
    }))
    expect(await recordOutcomes(em(), outcomes, 'wrk_1')).toHaveLength(count)
    return taken.map(({ id }) => id)
  }

  const activities = (sends?: Sender['send']) => {
    const sender = createSender(createAddressGuard(['127.0.0.0/8']))
    cleanUps.push(() => sender.close())
    const { vault } = service.database
    const now = Date.now
    const quarantine = createQuarantine({ em, log: createLog('silent'), now, counter: { inc() {} } })
    return createActivities({
      ...activityDependencies(service, { skipsTime: false }),
      quarantine,
      attempts: {
        sender: sends === undefined ? sender : { ...sender, send: sends },
        signingKey: signingKeyCache(em, vault, now),
        vault,
        baseUrl: service.baseUrl,
        now,
      },
    })
  }
  const untouched = { status: 'retrying', attempts: 1, quarantine_count: 0 }
  const rows = (ids: readonly string[]) =>
    sql<{ id: string; next: string }>(
      `select id, status, attempts, quarantine_count, next_attempt_time as next from deliveries
        where id in (select jsonb_array_elements_text(?::jsonb))`,
      [JSON.stringify(ids)],
    )

  test('of one organization have a quarter of the places; the others ask again in turn, and cost no attempt', async () => {
    const answer = hang()
    const [merchant, other] = [
      await catalogue(service, { webhook: hanging.url }),
      await catalogue(service, { webhook: quick.url }),
    ]
    const ids = await retriesDue(merchant, QUARTER + 5)
    const [single = ''] = await retriesDue(other, 1)
    const { attemptDelivery } = activities()
    const input = ({ organizationId }: Catalogue, recordId: string, clock = Date.now()) => ({
      organizationId,
      recordId,
      clock,
      base: null,
    })
    const refused: [string, unknown][] = []
    const begun = ids.map((id) =>
      attemptDelivery(input(merchant, id)).catch((error: unknown) => void refused.push([id, error])),
    )
    await waitFor('the rest to be refused', () => (refused.length === 5 ? true : null))
    await hanging.until(() => true, QUARTER)
    const waits = refused.map(([, error]) => {
      expect(error).toBeInstanceOf(ApplicationFailure)
      expect(error).toMatchObject({ type: 'NotYetError', category: 'BENIGN' })
      return Number((error as ApplicationFailure).nextRetryDelay)
    })
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(2_000)
    expect(Math.max(...waits)).toBeLessThan(2_500)
    expect(await rows(refused.map(([id]) => id))).toEqual(
      refused.map(() => expect.objectContaining(untouched)),
    )
    await attemptDelivery(input(other, single))
    expect(await rows([single])).toMatchObject([{ status: 'delivered', attempts: 2 }])
    expect(hanging.received).toHaveLength(QUARTER)
    answer()
    await Promise.all(begun)

    // As of an activity that asked for a place during an hour: the wait counts from the end of the attempt.
    const [[late = ''] = []] = refused
    await sql(`update deliveries set next_attempt_time = now() - interval '61 minutes' where id = ?`, [late])
    const before = Date.now()
    await attemptDelivery(input(merchant, late, before - 3_600_000))
    const [row] = await rows([late])
    expect(row).toMatchObject({ status: 'retrying', attempts: 2 })
    expect(Date.parse(row?.next ?? '')).toBeGreaterThanOrEqual(nextAttemptTime(2, before) ?? Number.NaN)
  })

  test('that fail by a fault of our own are made again soon, and not quarantined', async () => {
    const merchant = await catalogue(service, { webhook: quick.url })
    const [id = ''] = await retriesDue(merchant, 1)
    const { attemptDelivery } = activities(async () => {
      throw new OwnFaultError('busy')
    })
    const { organizationId } = merchant
    const input = { organizationId, recordId: id, clock: Date.now(), base: null }
    await expect(attemptDelivery(input)).rejects.toMatchObject({ type: 'NotYetError' })
    await expect(attemptDelivery(input)).rejects.toMatchObject({ type: 'NotYetError' })
    expect(await rows([id])).toMatchObject([untouched])
  })

  test('of a receiver that hangs leave places to others, and are all made in the end, and counted', async () => {
    const answer = hang()
    await sql('delete from wake_ups')
    await sql('delete from deliveries')
    const before = [hanging, quick].map(({ received }) => received.length)
    const merchant = await catalogue(service, { webhook: hanging.url })
    const ids = await retriesDue(merchant, RETRY_PLACES + 5)
    const other = await catalogue(service, { webhook: quick.url })
    const [single = ''] = await retriesDue(other, 1)
    // What creating the other merchant has made would be a first attempt.
    await sql("delete from deliveries where status = 'waiting'")
    service.startWorker()
    await hanging.until(() => true, (before[0] ?? 0) + QUARTER)
    await waitFor('the retry of the other organization', async () => {
      const [row] = (await rows([single])) as { status?: string }[]
      return row?.status === 'delivered' ? true : null
    })
    expect(hanging.received).toHaveLength((before[0] ?? 0) + QUARTER)
    answer()
    await waitFor(
      'every retry',
      async () => {
        const [row] = await sql<{ count: number }>(
          `select count(*)::int as count from deliveries
            where id in (select jsonb_array_elements_text(?::jsonb)) and attempts = 2`,
          [JSON.stringify(ids)],
        )
        return row?.count === ids.length ? true : null
      },
      50_000,
    )
    expect(hanging.received).toHaveLength((before[0] ?? 0) + ids.length)
    expect(await sql('select 1 from deliveries where quarantine_count > 0')).toEqual([])
    // An outcome is counted once it is recorded.
    await waitFor('the count', async () => {
      const { values } = await service.metrics.deliveryAttempts.get()
      const counted = Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
      return counted.status === ids.length && counted.delivered === 1 ? true : null
    })
  }, 120_000)
})

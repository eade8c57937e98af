import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { cancelUnsendable } from '../../delivery/cancel-unsendable.ts'
import { readRetry, takeDueDeliveries } from '../../delivery/queue.ts'
import { afterStatement } from '../support/after-statement.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'

const WAITING = 1_200

describe('a webhook with a long line of deliveries', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service, { webhook: 'http://127.0.0.1:1/' })
  })
  afterAll(() => service.stop())

  const em = () => service.database.orm.em.fork()
  const sql = <T>(text: string, values: unknown[] = []) => em().getConnection().execute<T[]>(text, values)
  const statuses = (webhookId: unknown) =>
    sql('select status, count(*)::int as count from deliveries where webhook_id = ? group by 1 order by 1', [
      webhookId,
    ])
  /** As many deliveries of each status, and one that was delivered and is to be resent. */
  async function crowded(): Promise<string> {
    const { body } = await merchant.api.post('webhooks', {
      url: 'http://127.0.0.1:1/',
      eventsFilter: ['order-completed'],
    })
    await sql(
      `insert into deliveries (organization_id, id, event_id, webhook_id, status, attempts, next_attempt_time, resend_due, created_time)
       select ?, ? || number || left(status, 1), (select id from events limit 1), ?, status, 1,
              case when status = 'retrying' then now() + interval '1 hour' end, status = 'delivered', now()
         from generate_series(1, ?) as number
         join (values ('waiting'), ('retrying'), ('delivered')) as given (status)
           on status <> 'delivered' or number = 1
`,
      [merchant.organizationId, `${body.id}`, body.id, WAITING],
    )
    return String(body.id)
  }

  test('that is deleted says so at once; its deliveries end in batches and wake nobody', async () => {
    const id = await crowded()
    await sql('delete from wake_ups')
    expect((await merchant.api.send('DELETE', `webhooks/${id}`)).status).toBe(204)
    expect(await statuses(id)).toEqual([
      { status: 'delivered', count: 1 },
      { status: 'retrying', count: WAITING },
      { status: 'waiting', count: WAITING },
    ])
    expect(await cancelUnsendable(em())).toBe(2 * WAITING + 1)
    expect(await statuses(id)).toEqual([
      { status: 'canceled', count: 2 * WAITING },
      { status: 'delivered', count: 1 },
    ])
    expect(await sql('select 1 from deliveries where resend_due')).toEqual([])
    expect(await sql('select 1 from wake_ups')).toEqual([])
    expect(await cancelUnsendable(em())).toBe(0)
  })

  test('that is created again under its id is sent nothing of what was on its way elsewhere', async () => {
    const id = await crowded()
    expect((await merchant.api.send('DELETE', `webhooks/${id}`)).status).toBe(204)
    const again = { url: 'http://127.0.0.1:2/', eventsFilter: ['customer-created'] }
    expect((await merchant.api.put(`webhooks/${id}`, again)).status).toBe(201)
    const take = async () => {
      const others = { total: 10_000, each: 10_000 }
      const taken = await takeDueDeliveries(em(), { owner: 'wrk_1', shares: [], others })
      return taken.filter(({ webhookId }) => webhookId === id).length
    }
    expect(await take()).toBe(0)
    expect(await readRetry(em(), merchant.organizationId, `${id}1r`)).toBeNull()
    expect(await cancelUnsendable(em())).toBe(2 * WAITING - 1)
    expect(await statuses(id)).toEqual([
      { status: 'canceled', count: 2 * WAITING },
      { status: 'delivered', count: 1 },
    ])
    await merchant.api.post('customers', {})
    expect(await take()).toBe(1)
  })

  test('that was inactive for a moment loses what was on its way, but for what is asked for since', async () => {
    const id = await crowded()
    const put = (status: string) =>
      merchant.api.put(`webhooks/${id}`, {
        url: 'http://127.0.0.1:1/',
        eventsFilter: ['order-completed'],
        status,
      })
    for (const status of ['inactive', 'active']) expect((await put(status)).status).toBe(200)
    expect(await cancelUnsendable(em())).toBe(2 * WAITING)
    expect(await statuses(id)).toEqual([
      { status: 'canceled', count: 2 * WAITING },
      { status: 'delivered', count: 1 },
    ])
    expect(await sql('select 1 as one from deliveries where resend_due')).toHaveLength(1)
  })

  test('that becomes active again during the run keeps what was made since', async () => {
    const id = await crowded()
    const put = (status: string) =>
      merchant.api.put(`webhooks/${id}`, {
        url: 'http://127.0.0.1:1/',
        eventsFilter: ['customer-created'],
        status,
      })
    expect((await put('inactive')).status).toBe(200)
    let batches = 0
    const run = afterStatement(em(), 'cancel-deliveries', async () => {
      batches += 1
      if (batches > 1) return
      expect((await put('active')).status).toBe(200)
      await merchant.api.post('customers', {})
      await sql('update deliveries set resend_due = true where id = ?', [`${id}1d`])
    })
    await cancelUnsendable(run)
    expect(batches).toBeGreaterThan(1)
    expect(await statuses(id)).toEqual([
      { status: 'canceled', count: 2 * WAITING },
      { status: 'delivered', count: 1 },
      { status: 'waiting', count: 1 },
    ])
    expect(
      await sql('select 1 as one from deliveries where id = ? and resend_due', [`${id}1d`]),
    ).toHaveLength(1)
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { expireDueCards } from '../../worker/card-expiry.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeToken } from '../support/tokens.ts'

/** The test cards are good through December 2090. */
const EXPIRY = Date.UTC(2091, 0, 1)
const NOTICE = Date.UTC(2090, 11, 2)

describe('a payment card', () => {
  let service: TestService
  let merchants: readonly [Catalogue, Catalogue]
  beforeAll(async () => {
    service = await startService({ worker: false })
    merchants = [await catalogue(service), await catalogue(service)]
  })
  afterAll(() => service.stop())

  const sql = <T>(text: string, values: unknown[] = []) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const card = async ({ api, customerId }: Catalogue) =>
    String((await create(api, 'payment-instruments', { customerId, token: await makeToken(api) })).id)
  /** Returns the number of changed cards. */
  const at = async (instant: number, stopping?: AbortSignal) => {
    const failed: unknown[] = []
    const options = {
      em: () => service.database.orm.em.fork(),
      baseUrl: service.baseUrl,
      now: () => instant,
      log: { error: (about: unknown) => void failed.push(about) },
    }
    const { changed } = await expireDueCards(options, undefined, stopping)
    expect(failed).toEqual([])
    return changed
  }
  const emitted = async (type: string, id: string) =>
    (
      await sql<{ payload: string }>('select payload from events where type = ? and entity_id = ?', [
        `payment-card-${type}`,
        id,
      ])
    ).map(({ payload }) => JSON.parse(payload) as { _embedded: { paymentInstrument: object } })
  const clear = () => sql("update payment_instruments set status = 'deactivated'")

  test('is announced and expires once, to the millisecond, in every organization', async () => {
    const ids = await Promise.all(merchants.map(card))
    const { api } = merchants[0]
    const path = `payment-instruments/${ids[0]}`
    expect((await api.get(path)).body).toMatchObject({
      status: 'active',
      expirationReminderTime: '2090-12-02T00:00:00.000Z',
      expirationReminderNumber: 0,
    })
    const filter = 'payment-instruments?filter=expirationReminderTime:2090-12-02T00:00:00.000Z'
    expect((await api.get<object[]>(filter)).body).toHaveLength(1)
    expect(await at(NOTICE - 1)).toBe(0)
    expect(await at(NOTICE)).toBe(2)
    expect(await at(EXPIRY - 1)).toBe(0)
    expect((await api.get(path)).body).toMatchObject({
      status: 'active',
      expirationReminderTime: null,
      expirationReminderNumber: 1,
      revision: 2,
    })
    expect((await api.get<object[]>(filter)).body).toEqual([])
    expect(await at(EXPIRY)).toBe(2)
    expect(await at(EXPIRY + 1)).toBe(0)
    for (const id of ids) {
      expect(await emitted('expiration-reminder', id)).toMatchObject([
        { _embedded: { paymentInstrument: { id, status: 'active', revision: 2 } } },
      ])
      expect(await emitted('expired', id)).toMatchObject([
        { paymentInstrumentId: id, _embedded: { paymentInstrument: { id, status: 'expired', revision: 3 } } },
      ])
    }
    await sql('update payment_instruments set exp_year = 2020 where id = ?', [ids[0]])
    const sale = await api.post('transactions', {
      type: 'sale',
      customerId: merchants[0].customerId,
      currency: 'EUR',
      amount: 1,
      paymentInstruction: { paymentInstrumentId: ids[0] },
    })
    expectProblem(sale, 422, 'validation-error')
    expect(sale.body).toMatchObject({ invalidFields: [{ code: 'expired' }] })
  })

  test('that is added after the notice or long after its end is announced, or expires, at once', async () => {
    await clear()
    const [late, over] = [await card(merchants[0]), await card(merchants[1])]
    await sql('update payment_instruments set exp_year = 2020 where id = ?', [over])
    expect(await at(EXPIRY - 1)).toBe(2)
    expect(await emitted('expiration-reminder', late)).toHaveLength(1)
    expect([await emitted('expired', over), await emitted('expiration-reminder', over)]).toMatchObject([
      [{ paymentInstrumentId: over }],
      [],
    ])
  })

  test('is announced again after it was renewed', async () => {
    await clear()
    const { api } = merchants[0]
    const id = await card(merchants[0])
    expect(await at(EXPIRY)).toBe(1)
    const renewed = await api.send('PATCH', `payment-instruments/${id}`, {
      body: JSON.stringify({ expYear: 2091 }),
      headers: { 'Content-Type': 'application/json' },
    })
    expect(renewed.body).toMatchObject({
      status: 'active',
      expirationReminderTime: '2091-12-02T00:00:00.000Z',
    })
    expect(await at(Date.UTC(2091, 11, 2))).toBe(1)
    expect(await emitted('expiration-reminder', id)).toHaveLength(1)
  })

  test('expires once among many, by however many workers', async () => {
    await clear()
    const id = await card(merchants[0])
    await sql(
      `insert into payment_instruments
       select (jsonb_populate_record(row, jsonb_build_object('id', 'copy' || number))).*
         from payment_instruments row, generate_series(1, 249) number where id = ?`,
      [id],
    )
    const changed = await Promise.all([at(EXPIRY), at(EXPIRY), at(EXPIRY)])
    expect(changed.reduce((sum, one) => sum + one, 0) + (await at(EXPIRY))).toBe(250)
    const [row] = await sql<{ n: string }>(
      "select count(*) as n from events where type = 'payment-card-expired' and (entity_id like 'copy%' or entity_id = ?)",
      [id],
    )
    expect(Number(row?.n)).toBe(250)
  })

  test('expires later if the process is stopping', async () => {
    await clear()
    await card(merchants[0])
    expect(await at(EXPIRY, AbortSignal.abort())).toBe(0)
    expect(await at(EXPIRY)).toBe(1)
  })

  test('that cannot be handled hinders no other', async () => {
    await clear()
    const [poisoned, other] = [await card(merchants[0]), await card(merchants[0])]
    const elsewhere = await card(merchants[1])
    await sql('update payment_instruments set revision = 2147483647 where id = ?', [poisoned])
    const failed: object[] = []
    await expireDueCards({
      em: () => service.database.orm.em.fork(),
      baseUrl: service.baseUrl,
      now: () => EXPIRY,
      log: { error: (about: object) => void failed.push(about) },
    })
    expect(failed).toMatchObject([{ paymentInstrumentId: poisoned }])
    for (const id of [other, elsewhere]) expect(await emitted('expired', id)).toHaveLength(1)
    await sql('update payment_instruments set revision = 1 where id = ?', [poisoned])
  })
})

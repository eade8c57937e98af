/** An issued invoice has a number without gaps, and what it says of both parties. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { advanceDueOrders } from '../../commands/orders/advance-order.ts'
import { composedStatement } from '../../db/statement.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'

type Body = Record<string, unknown>

describe('an issued invoice', () => {
  let service: TestService

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
  })
  afterAll(() => service.stop())

  const em = () => service.database.orm.em.fork()
  const numbersOf = async ({ organizationId }: Catalogue) => {
    const rows = await composedStatement<{ invoice_number: number }>(
      em(),
      'select invoice_number from invoices where organization_id = ? and issued_time is not null order by 1',
      [organizationId],
    )
    return rows.map((row) => row.invoice_number)
  }
  const place = async (merchant: Catalogue, members: object = {}): Promise<Body> => {
    const { status, body } = await merchant.api.post('subscriptions', orderBody(merchant, members))
    expect({ status, body: status === 201 ? null : body }).toEqual({ status: 201, body: null })
    return body
  }
  const begin = async (
    merchant: Catalogue,
    members: object = {},
  ): Promise<{ order: Body; invoice: Body }> => {
    const order = await place(merchant, members)
    await merchant.api.put(`subscriptions/${order.id}`, { ...order, customFields: { begun: true } })
    const { body: invoice } = await merchant.api.get(`invoices/${order.initialInvoiceId}`)
    return { order, invoice }
  }

  test('has the next number of its organization, without gaps or doubles, whatever commits or rolls back beside it', async () => {
    const merchant = await catalogue(service)
    const other = await catalogue(service)
    const ids: string[] = []
    for (let count = 0; count < 200; count += 1) ids.push(String((await place(merchant)).id))
    const [byTimers, byCommands] = [ids.slice(0, 150), ids.slice(150)]
    const batches: string[][] = []
    for (let size = 1; byTimers.length > 0; size = (size % 12) + 1) batches.push(byTimers.splice(0, size))
    const issue = (required: readonly string[], fails: boolean) => {
      const { organizationId } = merchant
      const tenant = { organizationId, baseUrl: service.baseUrl, now: new Date() }
      return inUnitOfWork(em(), tenant, async (unit) => {
        const { failed } = await advanceDueOrders(unit, { required, instant: tenant.now, others: 0 })
        expect(failed).toEqual([])
        if (!fails) return
        await unit.numberIssued()
        throw new Error('rolled back')
      })
    }
    const rolledBack = batches.filter((_, index) => index % 3 === 0)
    const results = await Promise.allSettled([
      ...batches.map((batch) => issue(batch, rolledBack.includes(batch))),
      ...byCommands.map(async (id) => {
        const { body } = await merchant.api.get(`subscriptions/${id}`)
        const changed = await merchant.api.put(`subscriptions/${id}`, { ...body, notes: 'Begun.' })
        if (changed.status !== 200) throw new Error(JSON.stringify(changed.body))
      }),
      begin(other),
    ])
    const reasons = results.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
    expect(reasons).toEqual(rolledBack.map(() => 'Error: rolled back'))
    const left = rolledBack.flat()
    expect(left.length).toBeGreaterThan(20)
    expect(await numbersOf(merchant)).toEqual(Array.from({ length: 200 - left.length }, (_, at) => at + 1))
    await Promise.all(rolledBack.map((batch) => issue(batch, false)))
    expect(await numbersOf(merchant)).toEqual(Array.from({ length: 200 }, (_, at) => at + 1))
    expect(await numbersOf(other)).toEqual([1])
  }, 120_000)

  test('is found by its number, and its events have it too; a draft has none', async () => {
    const merchant = await catalogue(service)
    const draft = await place(merchant, { startTime: new Date(Date.now() + 86_400_000).toISOString() })
    expect((await merchant.api.get(`invoices/${draft.initialInvoiceId}`)).body).toMatchObject({
      status: 'draft',
      invoiceNumber: null,
    })
    await begin(merchant)
    const { invoice } = await begin(merchant)
    expect(invoice).toMatchObject({ status: 'unpaid', invoiceNumber: 2 })
    const found = await merchant.api.get<Body[]>('invoices?filter=invoiceNumber:2')
    expect(found.body.map(({ id }) => id)).toEqual([invoice.id])
    const rows = await composedStatement<{ payload: string }>(
      em(),
      `select payload from events where organization_id = ? and type = 'invoice-issued' order by position`,
      [merchant.organizationId],
    )
    const shown = rows.map(({ payload }) => JSON.parse(payload)._embedded.invoice as Body)
    expect(shown.map(({ invoiceNumber }) => invoiceNumber)).toEqual([1, 2])
    expect(shown[1]).toMatchObject({ id: invoice.id, billingAddress: invoice.billingAddress })
  })

  test('keeps the parties as they were: addresses, tax numbers, notes and purchase order number', async () => {
    const merchant = await catalogue(service)
    const { api, organizationId, customerId } = merchant
    const organization = {
      name: 'Łódź Audio',
      city: 'Łódź',
      country: 'PL',
      taxNumbers: [
        { type: 'other', value: 'REGON 1' },
        { type: 'eu-vat', value: 'PL1', isDefault: true },
      ],
    }
    expect((await api.put('', organization)).status).toBe(200)
    const customer = {
      email: 'ada@example.com',
      primaryAddress: { firstName: 'Ada', city: 'London', country: 'GB' },
      taxNumbers: [{ type: 'other', value: 'GB 2' }],
    }
    expect((await api.put(`customers/${customerId}`, customer)).status).toBe(200)
    const { invoice } = await begin(merchant, {
      poNumber: 'PO 7',
      notes: 'Thank you.',
      deliveryAddress: { city: 'Paris', country: 'FR' },
    })
    const kept = {
      poNumber: 'PO 7',
      notes: 'Thank you.',
      organizationTaxIdNumber: { type: 'eu-vat', value: 'PL1' },
      customerTaxIdNumber: { type: 'other', value: 'GB 2' },
      billingAddress: { firstName: 'Ada', city: 'London', country: 'GB', hash: expect.any(String) },
      deliveryAddress: { city: 'Paris', country: 'FR' },
    }
    expect(invoice).toMatchObject(kept)
    await api.put('', { name: 'Moved' })
    await api.put(`customers/${customerId}`, { ...customer, primaryAddress: null, taxNumbers: null })
    expect((await api.get(`invoices/${invoice.id}`)).body).toMatchObject(kept)
    const [row] = await composedStatement<{ issuer: Body }>(
      em(),
      'select issuer from invoices where organization_id = ? and id = ?',
      [organizationId, invoice.id],
    )
    expect(row?.issuer).toMatchObject({ name: 'Łódź Audio', city: 'Łódź', country: 'PL', timeZone: 'UTC' })
    const { invoice: next } = await begin(merchant, { billingAddress: { firstName: 'Grace', country: 'US' } })
    expect(next).toMatchObject({
      organizationTaxIdNumber: null,
      customerTaxIdNumber: null,
      billingAddress: { firstName: 'Grace', country: 'US' },
    })
  })

  test('is addressed to the customer by name where there is no address, and a draft follows its order', async () => {
    const merchant = await catalogue(service)
    const { invoice } = await begin(merchant)
    expect(invoice.billingAddress).toMatchObject({
      firstName: 'Ada',
      country: null,
      emails: [{ value: 'ada@example.com' }],
    })
    const startTime = new Date(Date.now() + 86_400_000).toISOString()
    const order = await place(merchant, { startTime })
    const path = `invoices/${order.initialInvoiceId}`
    const draft = (await merchant.api.get(path)).body
    expect(draft).toMatchObject({ billingAddress: null, deliveryAddress: null })
    await merchant.api.put(`subscriptions/${order.id}`, { ...order, deliveryAddress: { country: 'FR' } })
    expect((await merchant.api.get(path)).body).toMatchObject({
      deliveryAddress: { country: 'FR' },
      revision: Number(draft.revision) + 1,
    })
  })
})

/** Work of one statement either writes everything by that statement or asks for a transaction, having written nothing. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createCustomer, type NewCustomer } from '../../db/commands/create-customer.ts'
import { createWebsite } from '../../db/commands/create-website.ts'
import { Customer } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { statement, TransactionNeededError } from '../../db/statement.ts'
import { inOneStatement, inUnitOfWork, type UnitOfWork } from '../../db/unit-of-work.ts'
import { makeToken } from '../rig/cards.ts'
import { type Catalogue, catalogue } from '../rig/catalogue.ts'
import { startService, type TestService } from '../rig/service.ts'

const ADA: NewCustomer = {
  email: 'ada@example.com',
  firstName: 'Ada',
  lastName: null,
  websiteId: null,
  defaultPaymentInstrumentId: null,
  primaryAddress: null,
  leadSource: null,
  customFields: {},
}

describe('work of one statement', () => {
  let service: TestService
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService({ worker: false })
    merchant = await catalogue(service)
  })
  afterAll(() => service.stop())

  const em = () => service.database.orm.em.fork()
  const tenant = () => ({
    organizationId: merchant.organizationId,
    baseUrl: service.baseUrl,
    now: new Date(),
  })
  const eventsOf = (id: string) =>
    statement<{ type: string }>(em(), 'select type from events where entity_id = ?', [id])
  const customersCalled = (id: string) => statement(em(), 'select 1 from customers where id = ?', [id])

  test('writes the record with its event', async () => {
    await inOneStatement(em(), tenant(), (unit) => createCustomer(unit, 'cus_one', ADA))
    expect(await customersCalled('cus_one')).toHaveLength(1)
    expect(await eventsOf('cus_one')).toEqual([{ type: 'customer-created' }])
  })

  test('asks for a transaction where it refers to what must stay', async () => {
    await inUnitOfWork(em(), tenant(), async (unit) => {
      createWebsite(unit, 'web_held', {
        name: 'Shop',
        url: null,
        servicePhone: null,
        serviceEmail: null,
        customFields: null,
      })
    })
    const work = (unit: UnitOfWork) => createCustomer(unit, 'cus_held', { ...ADA, websiteId: 'web_held' })
    await expect(inOneStatement(em(), tenant(), work)).rejects.toThrow(TransactionNeededError)
    expect(await customersCalled('cus_held')).toEqual([])
    await inUnitOfWork(em(), tenant(), work)
    expect(await customersCalled('cus_held')).toHaveLength(1)
  })

  test.each([
    ['a row', (unit: UnitOfWork) => lockRow(unit, Customer, merchant.customerId)],
    ['what is read', (unit: UnitOfWork) => statement(unit.em, 'select 1 from customers for key share')],
    ['by writing', (unit: UnitOfWork) => statement(unit.em, "update customers set first_name = 'Eve'")],
    ['by deleting', (unit: UnitOfWork) => statement(unit.em, 'delete from customers')],
  ])('cannot hold %s, nor change it', async (_, work) => {
    await expect(inOneStatement<unknown>(em(), tenant(), work)).rejects.toThrow(TransactionNeededError)
    const [row] = await statement<{ first_name: string }>(
      em(),
      'select first_name from customers where id = ?',
      [merchant.customerId],
    )
    expect(row?.first_name).not.toBe('Eve')
  })

  test('a customer with a payment token takes a transaction, and the token is used once', async () => {
    const token = await makeToken(merchant.api)
    const made = await merchant.api.post('customers', { paymentToken: token })
    expect(made.status).toBe(201)
    expect(await eventsOf(String(made.body.id))).toEqual([{ type: 'customer-created' }])
    expect((await merchant.api.post('customers', { paymentToken: token })).status).toBe(422)
  })
})

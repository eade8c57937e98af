import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { quarantinedRecords, releaseRecord } from '../../db/quarantine.ts'
import { composedStatement } from '../../db/statement.ts'
import { CHANGED_SIGNAL } from '../../workflows/contract.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { placeCharged } from '../support/payments.ts'
import { startService, type TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

let service: TestService
let merchant: Catalogue
beforeAll(async () => {
  service = await startService()
  merchant = await catalogue(service)
})
afterAll(() => service.stop())

const em = () => service.database.orm.em.fork()
const sql = <T extends object>(text: string, values: unknown[] = []) =>
  composedStatement<T>(em(), text, values)
const order = async (id: string) => (await merchant.api.get(`subscriptions/${id}`)).body

test('a charge whose answer cannot be recorded sets its order aside until it can', async () => {
  await sql(`create function refuse_answer() returns trigger language plpgsql as $$
    begin if new.status = 'completed' then raise exception 'refused' using errcode = '22000'; end if;
    return new; end $$`)
  await sql(
    'create trigger refuse before update on transactions for each row execute function refuse_answer()',
  )
  const id = (await placeCharged(merchant)).id
  const record = await waitFor('the quarantine', async () => (await quarantinedRecords(em())).at(0) ?? null)
  expect(record).toMatchObject({ workflow: 'subscription', recordId: id, count: 1 })
  expect(record.reason).toContain('refused')
  const execution = service.temporal.workflow.getHandle(`subscription/${merchant.organizationId}/${id}`)
  await waitFor('operators to see it', async () => {
    const { typedSearchAttributes } = await execution.describe()
    const status = typedSearchAttributes.getAll().find(({ key }) => key.name === 'BillingStatus')
    return status?.value === 'quarantined' ? true : null
  })

  // A change has it tried again, and it is quarantined for longer.
  await execution.signal(CHANGED_SIGNAL)
  await waitFor('the next quarantine', async () =>
    (await quarantinedRecords(em())).some(({ count }) => count === 2) ? true : null,
  )

  await sql('drop trigger refuse on transactions')
  const key = { organizationId: merchant.organizationId, recordId: id }
  expect(await releaseRecord(em(), 'subscription', key)).toBe(true)
  await waitFor('the order to start', async () => ((await order(id)).status === 'active' ? true : null))
  expect(await order(id)).toMatchObject({ billingStatus: 'paid' })
  expect(await quarantinedRecords(em())).toEqual([])
  const charges = await sql<{ result: string }>('select result from transactions where subscription_id = ?', [
    id,
  ])
  expect(charges).toEqual([{ result: 'approved' }])
})

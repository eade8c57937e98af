/** What time does to a merchant's own invoice: it is charged, and it passes its due time. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { TEST_CARDS } from '../support/cards.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { makePayer } from '../support/payments.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { skipTime } from '../support/time-skipping.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

const DAY = 86_400_000

interface Invoice extends Record<string, unknown> {
  readonly id: string
  readonly status: string
}

describe('an own invoice in time', () => {
  let service: TestService
  let receiver: Receiver
  let merchant: Catalogue

  beforeAll(async () => {
    service = await startService()
    receiver = await startReceiver()
    merchant = await catalogue(service, { webhook: receiver.url })
  })
  afterAll(async () => {
    await receiver.close()
    await service.stop()
  })

  const issued = async (members: object): Promise<Invoice> => {
    const { id } = await create(merchant.api, 'invoices', {
      customerId: merchant.customerId,
      websiteId: merchant.websiteId,
      currency: 'EUR',
      items: [{ type: 'debit', description: 'Work', unitPrice: 80, quantity: 2 }],
      ...members,
    })
    return (await create(merchant.api, `invoices/${id}/issue`, {})) as Invoice
  }
  const becomes = (id: string, members: object) =>
    waitFor(`${id} to be ${JSON.stringify(members)}`, async () => {
      const { body } = await merchant.api.get<Invoice>(`invoices/${id}`)
      return Object.entries(members).every(([name, value]) => body[name] === value) ? body : null
    })
  const heard = async (id: string, eventType: string) => {
    const [first] = await receiver.until(
      ({ event }) => event.invoiceId === id && event.eventType === eventType,
    )
    return first?.event
  }
  const execution = async (id: string): Promise<string> => {
    const workflowId = `invoice/${merchant.organizationId}/${id}`
    await waitFor('the execution', () =>
      service.temporal.workflow
        .getHandle(workflowId)
        .describe()
        .catch(() => null),
    )
    return workflowId
  }

  test('is past due a day after it is due, at that instant', async () => {
    const dueTime = new Date(Date.now() + 10 * DAY).toISOString()
    const { id } = await issued({ dueTime })
    await skipTime(service.temporal, await execution(id), 12 * DAY)
    await becomes(id, { status: 'past-due', amountDue: 160, revision: 3 })
    expect(await heard(id, 'invoice-past-due')).toMatchObject({
      eventTime: new Date(Date.parse(dueTime) + DAY).toISOString(),
      _embedded: { invoice: { status: 'past-due' } },
    })
  })

  test('is not past due once it is paid, and its execution ends', async () => {
    const { id } = await issued({})
    const workflowId = await execution(id)
    await create(merchant.api, 'transactions', {
      type: 'sale',
      customerId: merchant.customerId,
      currency: 'EUR',
      amount: 160,
      paymentInstruction: { method: 'external' },
      invoiceIds: [id],
    })
    await service.temporal.workflow.getHandle(workflowId).result()
    await becomes(id, { status: 'paid', revision: 3 })
  })

  test("is charged to the customer's default card when it says so, once", async () => {
    const { customerId, paymentInstrumentId } = await makePayer(merchant.api)
    const { id } = await issued({ customerId, autopayScheduledTime: '2026-01-01T00:00:00Z' })
    const paid = await becomes(id, { status: 'paid' })
    expect(paid.transactions).toMatchObject([
      {
        type: 'sale',
        result: 'approved',
        amount: 160,
        invoiceIds: [id],
        paymentInstrument: { paymentInstrumentId },
        isMerchantInitiated: true,
      },
    ])
    expect(await heard(id, 'invoice-paid')).toMatchObject({ _embedded: { invoice: { amountDue: 0 } } })
  })

  test('of which the charge is declined is charged again by the schedule', async () => {
    const { customerId } = await makePayer(merchant.api, TEST_CARDS.declines)
    const { id, issuedTime } = await issued({ customerId, autopayScheduledTime: '2026-01-01T00:00:00Z' })
    const declined = await waitFor('the decline', async () => {
      const { body } = await merchant.api.get<Invoice>(`invoices/${id}`)
      const next = Date.parse(String(body.autopayScheduledTime))
      return next > Date.parse(String(issuedTime)) + DAY / 2 ? body : null
    })
    expect(declined).toMatchObject({ status: 'unpaid', amountDue: 160, autopayRetryNumber: 0 })
    expect(declined.transactions).toMatchObject([{ result: 'declined' }])
    expect(Date.parse(String(declined.autopayScheduledTime))).toBeLessThan(Date.now() + DAY + 1)
  })

  test('of which the charge is declined is charged at once to a new default card', async () => {
    const { customerId } = await makePayer(merchant.api, TEST_CARDS.declines)
    const { id } = await issued({ customerId, autopayScheduledTime: '2026-01-01T00:00:00Z' })
    await waitFor('the decline', async () => {
      const { body } = await merchant.api.get<{ transactions: { result: string }[] }>(`invoices/${id}`)
      return body.transactions[0]?.result === 'declined' ? body : null
    })
    const card = await create(merchant.api, 'payment-instruments', {
      customerId,
      token: await makeToken(merchant.api),
      method: 'payment-card',
    })
    const { body: customer } = await merchant.api.get(`customers/${customerId}`)
    const defaultPaymentInstrument = { method: 'payment-card', paymentInstrumentId: card.id }
    await merchant.api.put(`customers/${customerId}`, { ...customer, defaultPaymentInstrument })
    const paid = await becomes(id, { status: 'paid' })
    expect(paid.transactions).toMatchObject([{ result: 'declined' }, { result: 'approved', retryNumber: 1 }])
  })

  test('of which the outcome of the charge is unknown is charged by no one else, and is paid once it is known', async () => {
    const { customerId } = await makePayer(merchant.api, TEST_CARDS.answersLate)
    const { id } = await issued({ customerId, autopayScheduledTime: '2026-01-01T00:00:00Z' })
    const { transactions } = await waitFor('the charge', async () => {
      const { body } = await merchant.api.get<{ transactions: { id: string; result: string }[] }>(
        `invoices/${id}`,
      )
      return body.transactions[0]?.result === 'unknown' ? body : null
    })
    const sale = { type: 'sale', customerId, currency: 'EUR', amount: 160, invoiceIds: [id] }
    const external = { ...sale, paymentInstruction: { method: 'external' } }
    expectProblem(await merchant.api.post('transactions', external), 409, 'conflict')
    const transaction = `transaction/${merchant.organizationId}/${transactions[0]?.id}`
    await skipTime(service.temporal, transaction, 3_600_000)
    const paid = await becomes(id, { status: 'paid' })
    expect(paid.transactions).toMatchObject([{ result: 'approved' }])
  })

  test('whose customer has no card is tried again by the schedule, and no sale is made', async () => {
    const { id } = await issued({ autopayScheduledTime: '2026-01-01T00:00:00Z' })
    const left = await waitFor('the attempt', async () => {
      const { body } = await merchant.api.get<Invoice>(`invoices/${id}`)
      return Date.parse(String(body.autopayScheduledTime)) > Date.now() + DAY / 2 ? body : null
    })
    expect(left).toMatchObject({ status: 'unpaid', transactions: [] })
  })
})

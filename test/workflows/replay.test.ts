/**
 * `npm run histories:record` adds histories of real executions. Give a path that a workflow gains a name of its
 * own. The old files stay: they are what deployed executions look like.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import proto from '@temporalio/proto'
import { Worker } from '@temporalio/worker'
import { WORKFLOW_NAMES } from '../../workflows/contract.ts'
import { TEST_CARDS } from '../support/cards.ts'
import { catalogue, orderBody } from '../support/catalogue.ts'
import { disputeBody, externalSale } from '../support/dispute.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { testServices } from '../support/services.ts'
import { skipTime } from '../support/time-skipping.ts'
import { makeToken } from '../support/tokens.ts'
import { waitFor } from '../support/wait-for.ts'

const FOLDER = fileURLToPath(new URL('../fixtures/histories', import.meta.url))
const { History } = proto.temporal.api.history.v1
const RECORDING = process.env.RECORD_HISTORIES === '1'

describe('recorded histories', () => {
  if (RECORDING) test('are recorded', record, 120_000)

  const files = RECORDING ? [] : readdirSync(FOLDER).filter((file) => file.endsWith('.bin'))

  test('exist for every workflow', () => {
    if (RECORDING) return
    for (const workflow of WORKFLOW_NAMES) {
      expect(files.some((file) => file.startsWith(workflow))).toBe(true)
    }
  })

  if (!RECORDING) {
    test.each(files)('%s replays', async (file) => {
      const history = History.decode(readFileSync(join(FOLDER, file)))
      await Worker.runReplayHistory({ workflowBundle: { codePath: testServices().bundlePath } }, history)
    })
  }
})

async function record(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  const service = await startService()
  const receiver = await startReceiver()
  try {
    const merchant = await catalogue(service, { webhook: receiver.url })
    const save = async (name: string, workflowId: string): Promise<void> => {
      const handle = service.temporal.workflow.getHandle(workflowId)
      await handle.result()
      const file = join(FOLDER, `${name}.bin`)
      if (!existsSync(file)) writeFileSync(file, History.encode(await handle.fetchHistory()).finish())
    }
    // A sale of nothing is complete once it starts, and its execution ends.
    const { body: plan } = await merchant.api.post('plans', {
      name: 'Sample',
      currency: 'EUR',
      pricing: { formula: 'fixed-fee', price: 0 },
    })
    const items = [{ plan: { id: plan.id } }]
    const started = (workflowId: string) =>
      waitFor('the execution', () =>
        service.temporal.workflow
          .getHandle(workflowId)
          .describe()
          .catch(() => null),
      )
    const place = async (members: object): Promise<string> => {
      const { body } = await merchant.api.post('subscriptions', orderBody(merchant, { items, ...members }))
      const workflowId = `subscription/${merchant.organizationId}/${body.id}`
      await started(workflowId)
      return workflowId
    }
    await save('subscription-started-at-once', await place({}))
    const later = await place({ startTime: new Date(Date.now() + 86_400_000).toISOString() })
    await service.temporal.workflow.getHandle(later).signal('changed')
    await skipTime(service.temporal, later, 2 * 86_400_000)
    await save('subscription-started-later-after-a-change', later)

    const { body: customer } = await merchant.api.post('customers', {
      paymentToken: await makeToken(merchant.api, TEST_CARDS.lacksFunds),
    })
    const charged = await place({
      customerId: customer.id,
      shipping: { amount: 5 },
      delinquencyPeriod: 'P2D',
    })
    await skipTime(service.temporal, charged, 3 * 86_400_000)
    await save('subscription-charged-and-abandoned', charged)

    const token = `token-expiry/${merchant.organizationId}/${await makeToken(merchant.api)}`
    await started(token)
    await skipTime(service.temporal, token, 3_600_000)
    await save('token-expiry-erased', token)

    const { body: sale } = await merchant.api.post('transactions', {
      type: 'sale',
      customerId: merchant.customerId,
      currency: 'EUR',
      amount: 1,
      paymentInstruction: { token: await makeToken(merchant.api, TEST_CARDS.answersLate) },
    })
    const transaction = `transaction/${merchant.organizationId}/${sale.id}`
    await started(transaction)
    await skipTime(service.temporal, transaction, 3_600_000)
    await save('transaction-answered-late', transaction)

    const transactionId = await externalSale(merchant.api, merchant.customerId)
    const waiting = {
      status: 'response-needed',
      deadlineTime: new Date(Date.now() + 86_400_000).toISOString(),
    }
    const { body: opened } = await merchant.api.post('disputes', disputeBody(transactionId, waiting))
    const dispute = `dispute-deadline/${merchant.organizationId}/${opened.id}`
    await started(dispute)
    await merchant.api.put(`disputes/${opened.id}`, { ...opened, caseId: 'changed meanwhile' })
    await skipTime(service.temporal, dispute, 2 * 86_400_000)
    await save('dispute-deadline-lost-after-a-change', dispute)

    const { body: offered } = await merchant.api.post('coupons', {
      discount: { type: 'percent', value: 10 },
      issuedTime: new Date(Date.now() + 86_400_000).toISOString(),
      expiredTime: new Date(Date.now() + 2 * 86_400_000).toISOString(),
    })
    const coupon = `coupon/${merchant.organizationId}/${offered.id}`
    await started(coupon)
    await merchant.api.put(`coupons/${offered.id}`, { ...offered, description: 'changed meanwhile' })
    await skipTime(service.temporal, coupon, 3 * 86_400_000)
    await save('coupon-issued-and-expired', coupon)

    const { body: own } = await merchant.api.post('invoices', {
      customerId: merchant.customerId,
      websiteId: merchant.websiteId,
      currency: 'EUR',
      items: [{ type: 'debit', unitPrice: 5 }],
    })
    const invoice = `invoice/${merchant.organizationId}/${own.id}`
    await merchant.api.post(`invoices/${own.id}/issue`, {})
    await started(invoice)
    await merchant.api.post(`invoices/${own.id}/reissue`, {
      dueTime: new Date(Date.now() + 86_400_000).toISOString(),
    })
    await skipTime(service.temporal, invoice, 3 * 86_400_000)
    await save('invoice-past-due-after-a-change', invoice)

    receiver.respondWith(500)
    await place({})
    const delivery = await waitFor('a failed delivery', async () => {
      const [row] = await service.database.orm.em
        .fork()
        .getConnection()
        .execute<{ id: string }[]>("select id from deliveries where status = 'retrying' limit 1")
      return row ?? null
    })
    const workflowId = `webhook-delivery/${merchant.organizationId}/${delivery.id}`
    await started(workflowId)
    await skipTime(service.temporal, workflowId, 40 * 3_600_000)
    await save('webhook-delivery-exhausted', workflowId)
  } finally {
    await receiver.close()
    await service.stop()
  }
}

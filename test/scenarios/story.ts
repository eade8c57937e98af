/** Places an order, moves its clock by the real server's time skipping, and reads the outcome. */
import type { ApiResponse } from '../support/api-client.ts'
import { type Catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import type { TestService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

export const DAY = 86_400_000

export interface ShownInvoice {
  readonly id: string
  readonly status: string
  readonly amount: number
  readonly periodNumber: number | null
  readonly periodStart: string | null
  readonly type: string
  readonly paidTime: string | null
  readonly autopayRetryNumber: number
  readonly autopayScheduledTime: string | null
}

export interface LedgerRow {
  readonly requestId: string
  readonly kind: string
  readonly result: string
  readonly amount: number
}

export interface Story {
  readonly id: string
  readonly created: ApiResponse['body']
  /** Moves the order's clock by `milliseconds`, with everything that is due until then, and returns the order. */
  skip(milliseconds: number): Promise<Record<string, unknown>>
  /** Moves the order's clock to `instant` as a merchant does, through the API, and returns the order then. */
  forwardTo(instant: number): Promise<Record<string, unknown>>
  order(): Promise<Record<string, unknown>>
  /** Oldest first. */
  invoices(): Promise<ShownInvoice[]>
  /** Oldest first. */
  ledger(): Promise<LedgerRow[]>
  events(): Promise<string[]>
}

export async function makePlan(merchant: Catalogue, members: object = {}): Promise<string> {
  const { id } = await create(merchant.api, 'plans', {
    name: 'Plan',
    currency: 'EUR',
    pricing: { formula: 'flat-rate', price: 10 },
    recurringInterval: { unit: 'month', length: 1 },
    ...members,
  })
  return String(id)
}

export async function placeOrder(
  service: TestService,
  merchant: Catalogue,
  planId: string,
  members: object = {},
): Promise<Story> {
  const body = orderBody(merchant, { items: [{ plan: { id: planId }, quantity: 1 }], ...members })
  const created = await create(merchant.api, 'subscriptions', body)
  const id = String(created.id)
  const workflowId = `subscription/${merchant.organizationId}/${id}`
  await waitFor('the execution', () =>
    service.temporal.workflow
      .getHandle(workflowId)
      .describe()
      .catch(() => null),
  )
  const rows = <T>(text: string, values: unknown[]) =>
    service.database.orm.em.fork().getConnection().execute<T[]>(text, values)
  const story: Story = {
    id,
    created,
    async skip(milliseconds) {
      const { clockOffset } = await story.order()
      return await story.forwardTo(Date.now() + Number(clockOffset) * 1_000 + milliseconds)
    },
    async forwardTo(instant) {
      const to = new Date(instant).toISOString()
      const response = await merchant.api.post(`subscriptions/${id}/fast-forward`, { to })
      if (response.status === 200) return response.body
      const place = response.headers.get('location')
      if (place === null) throw new Error(JSON.stringify(response.body))
      const status = async () => (await merchant.api.send('GET', new URL(place).pathname)).body
      await waitFor(
        'the end of the move',
        async () => {
          const { status: now, detail } = await status()
          if (now === 'failed') throw new Error(String(detail))
          return now === 'completed' ? true : null
        },
        90_000,
      )
      return await story.order()
    },
    order: async () => (await merchant.api.get(`subscriptions/${id}`)).body,
    async invoices() {
      const { body: found } = await merchant.api.get<ShownInvoice[]>(
        `invoices?filter=subscriptionId:${id}&sort=id&limit=1000`,
      )
      return found
    },
    async ledger() {
      return await rows<LedgerRow>(
        `select request_id as "requestId", kind, result, amount::float8 as amount from test_gateway.ledger
          where organization_id = ? and kind = 'charge' and request_id like ?
          order by created_time, request_id`,
        [merchant.organizationId, `${id}.%`],
      )
    },
    async events() {
      const found = await rows<{ type: string }>(
        `select type from events where organization_id = ?
            and (payload::jsonb ->> 'subscriptionId' = ? or payload::jsonb #>> '{_embedded,invoice,subscriptionId}' = ?)
          order by id`,
        [merchant.organizationId, id, id],
      )
      return found.map(({ type }) => type)
    },
  }
  return story
}

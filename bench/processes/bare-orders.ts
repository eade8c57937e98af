/** The least that placing an order takes: bare Koa, the body checked by AJV, one `insert`, the row as JSON. */
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import type pg from 'pg'
import { createBodyValidator } from '../../api/http/validation.ts'
import { bodySchema } from '../../api/schemas/body-and-response.ts'
import { Subscription } from '../../api/schemas/subscription.ts'
import { newId } from '../../db/new-id.ts'

const INSERT = `insert into bench_orders (organization_id, id, customer_id, website_id, items, status, currency,
  start_time, autopay, custom_fields, clock_offset, revision, created_time, updated_time)
  values ($1, $2, $3, $4, $5, 'pending', 'EUR', $6, $7, $8, 0, 1, $6, $6) returning *`

/**
 * Serves `POST …/subscriptions` on a free port and returns the port. The table has the same columns and indexes as that
 * of the orders. `placed` is called before the response.
 */
export async function serveBareOrders(
  pool: pg.Pool,
  placed: (row: Readonly<Record<string, unknown>>) => Promise<void> = async () => {},
): Promise<number> {
  await pool.query('create table if not exists bench_orders (like subscriptions including all)')
  const invalidFieldsOf = createBodyValidator()(bodySchema(Subscription))
  const app = new Koa()
  app.use(async (ctx) => {
    const [, , organizationId] = ctx.path.split('/')
    const chunks: Buffer[] = []
    for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Subscription
    ctx.status = 422
    if ([...invalidFieldsOf(body)].length > 0) return
    const { rows } = await pool.query<Record<string, unknown>>(INSERT, [
      organizationId,
      newId('sub'),
      body.customerId,
      body.websiteId,
      JSON.stringify(body.items),
      new Date(),
      body.autopay,
      body.customFields,
    ])
    await placed(rows[0] ?? {})
    ctx.status = 201
    ctx.body = rows[0]
  })
  return await new Promise<number>((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

/** Bare Koa: GET is one `select` by primary key, POST the body checked by AJV and one `insert`. */
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import pg from 'pg'
import { createBodyValidator } from '../../api/http/validation.ts'
import { bodySchema } from '../../api/schemas/body-and-response.ts'
import { Dispute } from '../../api/schemas/dispute.ts'
import { newId } from '../../db/new-id.ts'
import { serveCalls } from '../helper.ts'

export type DisputeBaselineCalls = {
  listen(databaseUrl: string): Promise<number>
}

const SELECT = 'select * from disputes where organization_id = $1 and id = $2'
const INSERT = `insert into bench_disputes (organization_id, id, transaction_id, currency, amount, reason_code, category, type,
  status, posted_time, source, revision, created_time, updated_time)
  values ($1, $2, $3, $4, $5, $6, 'uncategorized', $7, $8, $9, 'api', 1, $10, $10) returning *`

serveCalls({
  async listen(databaseUrl: string) {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 })
    await pool.query('create table if not exists bench_disputes (like disputes including all)')
    const invalidFieldsOf = createBodyValidator()(bodySchema(Dispute))
    const app = new Koa()
    app.use(async (ctx) => {
      const [, , organizationId, , id] = ctx.path.split('/')
      if (ctx.method === 'GET') {
        ctx.body = (await pool.query(SELECT, [organizationId, id])).rows[0]
        return
      }
      const chunks: Buffer[] = []
      for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Dispute
      ctx.status = 422
      if ([...invalidFieldsOf(body)].length > 0) return
      const { transactionId, currency, amount, reasonCode, type, status, postedTime } = body
      const { rows } = await pool.query(INSERT, [
        organizationId,
        newId('dp'),
        ...[transactionId, currency, amount, reasonCode, type, status],
        postedTime,
        new Date(),
      ])
      ctx.status = 201
      ctx.body = rows[0]
    })
    return await new Promise<number>((resolve) => {
      const server = app.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    })
  },
})

/** Bare Koa, the body checked by AJV with the same schema, the same JWE, one `insert`. */
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import pg from 'pg'
import { createBodyValidator } from '../../api/http/validation.ts'
import { bodySchema } from '../../api/schemas/body-and-response.ts'
import { PaymentToken } from '../../api/schemas/payment-token.ts'
import { newId } from '../../db/new-id.ts'
import { createVault } from '../../db/vault.ts'
import { serveCalls } from '../helper.ts'

export type TokenBaselineCalls = {
  listen(databaseUrl: string): Promise<number>
}

const INSERT = `insert into bench_tokens (organization_id, id, method, bin, last4, brand, exp_month, exp_year, card_cipher,
  expiration_time, is_used, revision, created_time, updated_time)
  values ($1, $2, 'payment-card', $3, $4, 'Visa', $5, $6, $7, $8, false, 1, $8, $8)
  returning organization_id, id, bin, last4, brand, exp_month, exp_year, expiration_time, created_time`

serveCalls({
  async listen(databaseUrl: string) {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 })
    await pool.query('create table if not exists bench_tokens (like payment_tokens including all)')
    const vault = createVault([randomBytes(32).toString('base64')])
    const invalidFieldsOf = createBodyValidator()(bodySchema(PaymentToken))
    const app = new Koa()
    app.use(async (ctx) => {
      const [, , organizationId] = ctx.path.split('/')
      const chunks: Buffer[] = []
      for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as PaymentToken
      ctx.status = 422
      if ([...invalidFieldsOf(body)].length > 0) return
      const { pan, cvv, expMonth, expYear } = body.paymentInstrument
      const { rows } = await pool.query(INSERT, [
        organizationId,
        newId('tok'),
        pan?.slice(0, 6),
        pan?.slice(-4),
        expMonth,
        expYear,
        await vault.seal(JSON.stringify({ pan, cvv })),
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

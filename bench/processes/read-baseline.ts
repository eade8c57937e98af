/** Bare Koa, one `select` of the row by its primary key, the row as JSON. */
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import pg from 'pg'
import { serveCalls } from '../helper.ts'

export type ReadBaselineCalls = {
  listen(databaseUrl: string): Promise<number>
}

serveCalls({
  async listen(databaseUrl: string) {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 })
    const app = new Koa()
    app.use(async (ctx) => {
      const [, , organizationId, , id] = ctx.path.split('/')
      const { rows } = await pool.query(
        'select * from subscriptions where organization_id = $1 and id = $2',
        [organizationId, id],
      )
      ctx.body = rows[0]
    })
    return await new Promise<number>((resolve) => {
      const server = app.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    })
  },
})

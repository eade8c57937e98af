import pg from 'pg'
import { serveCalls } from '../helper.ts'
import { serveBareOrders } from './bare-orders.ts'

export type CreateBaselineCalls = {
  /** Returns the port. */
  listen(databaseUrl: string): Promise<number>
}

serveCalls({
  listen: (databaseUrl: string) => serveBareOrders(new pg.Pool({ connectionString: databaseUrl, max: 20 })),
})

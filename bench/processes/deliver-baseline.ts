/** A bare loop that signs (RS256, a 2048-bit key) and posts, and records nothing. */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { serveCalls } from '../helper.ts'
import { createPoster } from './sign-and-post.ts'

export interface DeliverBaselineJob {
  readonly url: string
  readonly count: number
  readonly concurrency: number
}

export type DeliverBaselineCalls = {
  /** Reads the bodies of the organization's events of that type: the bytes that the service has sent. */
  load(source: { databaseUrl: string; organizationId: string; eventType: string }): Promise<number>
  /** Posts one request every `interval` milliseconds, and returns the milliseconds until each response. */
  paced(job: { url: string; count: number; interval: number }): Promise<number[]>
  run(job: DeliverBaselineJob): Promise<number>
}

let bodies: string[] = []
const signAndPost = await createPoster()

serveCalls({
  async load({ databaseUrl, organizationId, eventType }: Parameters<DeliverBaselineCalls['load']>[0]) {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    const { rows } = await client.query<{ payload: string }>(
      'select payload from events where organization_id = $1 and type = $2 limit 5000',
      [organizationId, eventType],
    )
    await client.end()
    bodies = rows.map(({ payload }) => payload)
    return bodies.length
  },
  async paced({ url, count, interval }: Parameters<DeliverBaselineCalls['paced']>[0]) {
    const started = performance.now()
    return await Promise.all(
      Array.from({ length: count }, async (_, ordinal) => {
        await delay(Math.max(0, started + ordinal * interval - performance.now()))
        const began = performance.now()
        await signAndPost(url, bodies[ordinal % bodies.length] ?? '')
        return performance.now() - began
      }),
    )
  },
  async run({ url, count, concurrency }: DeliverBaselineJob) {
    let ordinal = 0
    const started = performance.now()
    const client = async (): Promise<void> => {
      while (ordinal < count) await signAndPost(url, bodies[ordinal++ % bodies.length] ?? '')
    }
    await Promise.all(Array.from({ length: concurrency }, client))
    return (performance.now() - started) / 1000
  },
})

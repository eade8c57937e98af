/** A bare loop that signs (RS256, a 2048-bit key) and posts, and records nothing. */
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type CryptoKey, generateKeyPair, SignJWT } from 'jose'
import pg from 'pg'
import { Agent, request } from 'undici'
import { serveCalls } from '../helper.ts'

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

let key: CryptoKey
let bodies: string[] = []
const agent = new Agent({ connections: 128, pipelining: 1 })

serveCalls({
  async load({ databaseUrl, organizationId, eventType }: Parameters<DeliverBaselineCalls['load']>[0]) {
    key = (await generateKeyPair('RS256', { modulusLength: 2048 })).privateKey
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

async function signAndPost(url: string, body: string): Promise<void> {
  const issuedAt = Math.floor(Date.now() / 1000)
  const jwt = await new SignJWT({ requestBodyHash: createHash('sha256').update(body, 'utf8').digest('hex') })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'bench' })
    .setIssuer('http://127.0.0.1/')
    .setAudience('org_bench')
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + 300)
    .setJti(randomUUID())
    .sign(key)
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'User-Agent': 'Service/bench',
    'Webhook-Id': 'bench',
    'Security-Signature': jwt,
  }
  const response = await request(url, { dispatcher: agent, method: 'POST', headers, body })
  await response.body.dump()
  if (response.statusCode !== 200) throw new Error(`the receiver responded with ${response.statusCode}`)
}

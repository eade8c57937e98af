import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { SigningKey } from '../../db/entities/index.ts'
import { openOrm } from '../../db/orm.ts'
import { signingKeyCache } from '../../delivery/key-cache.ts'
import { signWebhook } from '../../delivery/signature.ts'
import {
  KEY_OVERLAP,
  type PublishedKey,
  publishedKeys,
  RotationPendingError,
  rotateSigningKey,
} from '../../delivery/signing-keys.ts'
import { freePort } from '../../dev/services/ports.ts'
import { forward } from '../support/forward.ts'
import { startService, type TestService } from '../support/service.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('the rotation of signing keys', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterAll(() => service.stop())

  const em = () => service.database.orm.em.fork()
  const rotate = (at: number) => rotateSigningKey(em(), service.database.vault, new Date(at))
  const published = (at: number) => publishedKeys(em(), new Date(at))

  test('never shows a receiver that keeps the keys for an hour a signature of an unknown one', async () => {
    const start = Date.now()
    let clock = start
    const signers = [0, 7_000, 19_000].map((phase) => {
      const key = signingKeyCache(em, service.database.vault, () => clock + phase)
      return { key, phase }
    })
    /** Caches what it fetched for exactly an hour. */
    const receivers = Array.from({ length: 12 }, (_, index) => {
      let keys: PublishedKey[] = []
      let fetchedAt = Number.NEGATIVE_INFINITY
      return async () => {
        const now = clock + index * 5 * MINUTE
        if (now - fetchedAt >= HOUR) {
          keys = await published(now)
          fetchedAt = now
        }
        return keys
      }
    })
    // The earliest clock asks first: begin when all receivers know the first key.
    const rotations = [start + 61 * MINUTE, start + 61 * MINUTE + KEY_OVERLAP + MINUTE]
    const kids = new Set<string>()
    for (; clock < start + 6 * HOUR; clock += 20_000) {
      if (rotations[0] !== undefined && clock >= rotations[0]) {
        rotations.shift()
        await rotate(clock)
      }
      const signing = await Promise.all(signers.map(async ({ key }) => (await key()).kid))
      for (const kid of signing) kids.add(kid)
      for (const receiver of receivers) {
        const known = (await receiver()).map(({ kid }) => kid)
        for (const kid of signing) expect(known).toContain(kid)
      }
    }
    expect(kids.size).toBe(3)
  }, 120_000)

  test('has every process sign with the new key within a minute of its time', async () => {
    const now = Date.now() + 100 * HOUR
    const { kid, signsFrom } = await rotate(now)
    let clock = now
    const caches = [0, 1, 2].map(() => signingKeyCache(em, service.database.vault, () => clock))
    const seen = async () => new Set(await Promise.all(caches.map(async (key) => (await key()).kid)))
    clock = signsFrom.getTime() - 1
    expect([...(await seen())]).not.toContain(kid)
    clock = signsFrom.getTime() + MINUTE
    expect([...(await seen())]).toEqual([kid])
  })

  test('does not stop while the database cannot be asked for a moment: the process keeps the key that it has', async () => {
    const url = new URL(service.databaseUrl)
    const port = await freePort()
    const way = await forward(port, url.host)
    url.host = `127.0.0.1:${port}`
    const orm = await openOrm({ databaseUrl: url.href, poolSize: 1 })
    const start = Date.now() + 150 * HOUR
    let clock = start
    const key = signingKeyCache(
      () => orm.em.fork(),
      service.database.vault,
      () => clock,
    )
    try {
      const { kid } = await key()
      way.breakAfter(0)
      clock = start + MINUTE
      expect((await key()).kid).toBe(kid)
      // Not for long: another one may sign by then, and receivers forget this one.
      clock = start + 3 * MINUTE
      await expect(key()).rejects.toThrow()
      way.heal()
      expect((await key()).kid).toBe(kid)
    } finally {
      await orm.close()
      await way.close()
    }
  })

  test('publishes a key an hour before it signs, keeps it an hour after, and then removes it', async () => {
    const now = Date.now() + 200 * HOUR
    const [before] = await published(now)
    const { kid, signsFrom } = await rotate(now)
    const kids = async (at: number) => (await published(at)).map((key) => key.kid)
    expect(signsFrom.getTime() - now).toBeGreaterThanOrEqual(HOUR + MINUTE)
    expect(await kids(now)).toEqual([kid, before?.kid])
    expect(await kids(signsFrom.getTime() + HOUR + MINUTE)).toEqual([kid, before?.kid])
    expect(await kids(signsFrom.getTime() + 2 * HOUR)).toEqual([kid])
    const next = await rotate(signsFrom.getTime() + 2 * HOUR)
    expect(
      await em().getConnection().execute('select kid from signing_keys order by signs_from desc'),
    ).toEqual([{ kid: next.kid }, { kid }])
  })

  test('is refused while another is under way, and of two at once one is made', async () => {
    const now = Date.now() + 300 * HOUR
    const results = await Promise.allSettled([rotate(now), rotate(now)])
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await expect(rotate(now + MINUTE)).rejects.toThrow(RotationPendingError)
  })

  test('keeps private keys encrypted, and signs so that the published key verifies', async () => {
    const now = Date.now() + 400 * HOUR
    const rows = await em().getConnection().execute('select * from signing_keys')
    expect(JSON.stringify(rows)).not.toMatch(/"d"|PRIVATE/)
    const key = await signingKeyCache(em, service.database.vault, () => now)()
    const jwt = await signWebhook(
      { baseUrl: 'https://a.example', organizationId: 'o', body: '{}' },
      key,
      new Date(now),
    )
    const keys = createLocalJWKSet({ keys: await published(now) })
    await expect(jwtVerify(jwt, keys, { currentDate: new Date(now) })).resolves.toBeDefined()
  })
})

describe('`npm run keys:rotate` on a machine whose clock is wrong', () => {
  const masterKey = randomBytes(32).toString('base64')
  let service: TestService
  beforeAll(async () => {
    service = await startService({ worker: false, settings: { MASTER_KEY: masterKey } })
  })
  afterAll(() => service.stop())

  test('has the new key sign 70 minutes later by the clock of the database', async () => {
    const before = Date.now()
    await promisify(execFile)(process.execPath, ['cli/rotate-keys.ts'], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: {
        ...process.env,
        DATABASE_URL: service.databaseUrl,
        MASTER_KEY: masterKey,
        NODE_OPTIONS: `--import=${new URL('../chaos/skewed-clock.ts', import.meta.url).href}`,
        CLOCK_SKEW: String(3 * HOUR),
      },
    })
    const [latest] = await service.database.orm.em
      .fork()
      .find(SigningKey, {}, { orderBy: { signsFrom: 'desc' } })
    const signsFrom = latest?.signsFrom.getTime()
    expect(signsFrom).toBeGreaterThanOrEqual(before + KEY_OVERLAP)
    expect(signsFrom).toBeLessThanOrEqual(Date.now() + KEY_OVERLAP)
  })
})

import { createHash, randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { signWebhook } from '../../delivery/signature.ts'
import { createVerifier, type Verifier } from '../../dev/verify-webhook.ts'

const ORGANIZATION = 'org_1'
const BODY = '{"eventType":"customer-created","eventId":"evt_1"}'
const NOW = new Date('2026-01-31T12:00:00Z')
const SECONDS = NOW.getTime() / 1000

describe('the receiver’s verifier', () => {
  let server: Server
  let issuer: string
  let verifier: Verifier
  let key: { privateKey: CryptoKey; publicKey: CryptoKey }
  let stranger: { privateKey: CryptoKey; publicKey: CryptoKey }

  beforeAll(async () => {
    key = await generateKeyPair('RS256', { extractable: true })
    stranger = await generateKeyPair('RS256', { extractable: true })
    const keys = [{ ...(await exportJWK(key.publicKey)), kid: 'known', alg: 'RS256', use: 'sig' }]
    server = createServer((_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ keys }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    verifier = createVerifier({ issuer, organizationId: ORGANIZATION })
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  interface Forgery {
    header?: Record<string, unknown>
    claims?: Record<string, unknown>
    by?: CryptoKey | Uint8Array
    body?: string
    now?: Date
  }

  async function signature({ header, claims, by }: Forgery = {}): Promise<string> {
    const payload = {
      iss: issuer,
      aud: ORGANIZATION,
      iat: SECONDS,
      exp: SECONDS + 300,
      jti: randomUUID(),
      requestBodyHash: createHash('sha256').update(BODY).digest('hex'),
      ...claims,
    }
    return await new SignJWT(payload)
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'known', ...header })
      .sign(by ?? key.privateKey)
  }
  const verify = (jwt: string, { body = BODY, now = NOW }: Forgery = {}) =>
    verifier.verify(jwt, Buffer.from(body), now)

  test('accepts what the service signs, within its five minutes and ten seconds of leeway', async () => {
    const pair = { kid: 'known', privateKey: key.privateKey }
    const subject = { baseUrl: issuer.slice(0, -1), organizationId: ORGANIZATION, body: BODY }
    const jwt = await signWebhook(subject, pair, NOW)
    for (const seconds of [-10, 0, 299, 309]) {
      await expect(verify(jwt, { now: new Date(NOW.getTime() + seconds * 1000) })).resolves.toBeUndefined()
    }
  })

  test.each<[string, () => Forgery]>([
    ['an unknown kid', () => ({ header: { kid: 'other' } })],
    ['no kid', () => ({ header: { kid: undefined } })],
    ['the known kid over another key', () => ({ by: stranger.privateKey })],
    ['a body changed by one byte', () => ({ body: BODY.replace('evt_1', 'evt_2') })],
    ['a body with a byte more', () => ({ body: `${BODY}\n` })],
    ['the hash of another body', () => ({ claims: { requestBodyHash: '0'.repeat(64) } })],
    ['no hash', () => ({ claims: { requestBodyHash: undefined } })],
    ['another organization', () => ({ claims: { aud: 'org_2' } })],
    ['several audiences', () => ({ claims: { aud: ['org_2', ORGANIZATION] } })],
    ['the issuer of the other environment', () => ({ claims: { iss: 'https://api.example.com/' } })],
    ['the issuer without its slash', () => ({ claims: { iss: issuer.slice(0, -1) } })],
    ['a time that has passed', () => ({ now: new Date(NOW.getTime() + 311_000) })],
    ['an iat more than ten seconds ahead', () => ({ now: new Date(NOW.getTime() - 11_000) })],
    ['a window of more than five minutes', () => ({ claims: { exp: SECONDS + 301 } })],
    ['no exp', () => ({ claims: { exp: undefined } })],
    ['no iat', () => ({ claims: { iat: undefined } })],
    ['an iat of long ago', () => ({ claims: { iat: SECONDS - 3_600, exp: SECONDS + 300 } })],
    ['an iat after exp', () => ({ claims: { iat: SECONDS, exp: SECONDS - 5 } })],
  ])('discards %s', async (_, forge) => {
    const forgery = forge()
    await expect(verify(await signature(forgery), forgery)).rejects.toThrow()
  })

  test('discards alg none', async () => {
    const [, payload] = (await signature()).split('.')
    const header = Buffer.from(JSON.stringify({ alg: 'none', kid: 'known' })).toString('base64url')
    for (const forged of [`${header}.${payload}.`, `${header}.${payload}`]) {
      await expect(verify(forged)).rejects.toThrow()
    }
  })

  test('discards HS256 made with the public key', async () => {
    const secret = Buffer.from(await exportSPKI(key.publicKey))
    await expect(verify(await signature({ header: { alg: 'HS256' }, by: secret }))).rejects.toThrow()
  })

  test('discards what is no JWT', async () => {
    for (const text of ['', 'a.b.c', 'undefined']) await expect(verify(text)).rejects.toThrow()
  })
})

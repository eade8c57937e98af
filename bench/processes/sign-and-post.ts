/** The least that a webhook takes: a signature (RS256, a 2048-bit key) and a POST. */
import { createHash, randomUUID } from 'node:crypto'
import { generateKeyPair, SignJWT } from 'jose'
import { Agent, request } from 'undici'

/** Returns a function that signs a body and posts it; it fails unless the response is 200. */
export async function createPoster(): Promise<(url: string, body: string) => Promise<void>> {
  const { privateKey: key } = await generateKeyPair('RS256', { modulusLength: 2048 })
  const agent = new Agent({ connections: 128, pipelining: 1 })
  return async (url, body) => {
    const issuedAt = Math.floor(Date.now() / 1000)
    const jwt = await new SignJWT({
      requestBodyHash: createHash('sha256').update(body, 'utf8').digest('hex'),
    })
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
}

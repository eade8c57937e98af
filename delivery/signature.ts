import { hash, randomUUID } from 'node:crypto'
import { CompactSign } from 'jose'
import type { SigningKeyPair } from './signing-keys.ts'

const WINDOW_SECONDS = 300

const ENCODER = new TextEncoder()

export interface SignatureSubject {
  readonly baseUrl: string
  readonly organizationId: string
  readonly body: string
}

/** Returns a new JWT over the body (specification 6.2): RS256, valid for five minutes from `now` (real time). */
export async function signWebhook(
  subject: SignatureSubject,
  key: SigningKeyPair,
  now: Date,
): Promise<string> {
  const issuedAt = Math.floor(now.getTime() / 1000)
  const claims = {
    requestBodyHash: hash('sha256', subject.body),
    iss: `${subject.baseUrl}/`,
    aud: subject.organizationId,
    iat: issuedAt,
    exp: issuedAt + WINDOW_SECONDS,
    jti: randomUUID(),
  }
  return await new CompactSign(ENCODER.encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: key.kid })
    .sign(key.privateKey)
}

/** The `Security-Signature` of a webhook request (specification 6.2). */
import { createHash, randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { SigningKeyPair } from './signing-keys.ts'

/** Seconds between `iat` and `exp`. */
const WINDOW_SECONDS = 300

export interface SignatureSubject {
  /** Public address of the deployment, without trailing slash. */
  readonly baseUrl: string
  readonly organizationId: string
  /** The exact text that is sent. */
  readonly body: string
}

/** A fresh JWT over the body: RS256, valid for five minutes from `now` (real time). */
export async function signWebhook(
  subject: SignatureSubject,
  key: SigningKeyPair,
  now: Date,
): Promise<string> {
  const issuedAt = Math.floor(now.getTime() / 1000)
  return await new SignJWT({
    requestBodyHash: createHash('sha256').update(subject.body, 'utf8').digest('hex'),
  })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: key.kid })
    .setIssuer(`${subject.baseUrl}/`)
    .setAudience(subject.organizationId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + WINDOW_SECONDS)
    .setJti(randomUUID())
    .sign(key.privateKey)
}

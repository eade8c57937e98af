/** Verifies webhooks by the published contract alone: it shares no code with the sender. */
import { createHash } from 'node:crypto'
import { createRemoteJWKSet, jwtVerify } from 'jose'

export interface Expectation {
  /** With a trailing slash. */
  readonly issuer: string
  readonly organizationId: string
}

/** Seconds by which clocks may differ. */
const LEEWAY = 10
const WINDOW = 300

export interface Verifier {
  /** Throws with the reason if the request must be discarded. */
  verify(signature: string, rawBody: Uint8Array, now?: Date): Promise<void>
}

/** The public keys are cached for at most an hour. */
export function createVerifier({ issuer, organizationId }: Expectation): Verifier {
  const keys = createRemoteJWKSet(new URL('.well-known/keys', issuer), { cacheMaxAge: 3_600_000 })
  return {
    async verify(signature, rawBody, now = new Date()) {
      const { payload, protectedHeader } = await jwtVerify(signature, keys, {
        algorithms: ['RS256'],
        issuer,
        audience: organizationId,
        clockTolerance: LEEWAY,
        currentDate: now,
        requiredClaims: ['iat', 'exp', 'requestBodyHash'],
      })
      if (protectedHeader.kid === undefined) throw new Error('the signature does not name its key')
      const { aud, iat = 0, exp = 0, requestBodyHash } = payload
      if (aud !== organizationId) throw new Error('the audience is not this organization alone')
      if (iat > now.getTime() / 1000 + LEEWAY) throw new Error('iat lies in the future')
      if (exp < iat) throw new Error('exp lies before iat')
      if (exp - iat > WINDOW) throw new Error('the time window is longer than five minutes')
      if (requestBodyHash !== createHash('sha256').update(rawBody).digest('hex')) {
        throw new Error('the body is not the one that was signed')
      }
    },
  }
}

import { isIP } from 'node:net'
import type { FieldProblem } from '../billing/errors.ts'
import type { Config } from '../config/config.ts'
import type { AddressGuard } from './address-guard.ts'

export interface WebhookTargets {
  readonly guard: Pick<AddressGuard, 'allows'>
  readonly environment: Config['environment']
}

/**
 * Returns why events cannot be sent to a URL; null if they can. A literal address is checked in any notation,
 * because parsing normalizes it; a name is checked at each attempt.
 */
export function webhookUrlProblem(text: string, { guard, environment }: WebhookTargets): FieldProblem | null {
  if (!URL.canParse(text)) return { code: 'wrong-format', message: 'must be an absolute URI' }
  const url = new URL(text)
  const schemes = environment === 'live' ? ['https:'] : ['https:', 'http:']
  if (!schemes.includes(url.protocol)) {
    const message = `must begin with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`
    return { code: 'not-allowed', message }
  }
  if (url.username !== '' || url.password !== '') {
    return {
      code: 'not-allowed',
      message: 'must not contain a user name or password; use a service credential instead',
    }
  }
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(literal) !== 0 && !guard.allows(literal, portOf(url))) {
    return { code: 'not-allowed', message: 'must not be an address of a private or special network' }
  }
  return null
}

export function portOf({ port, protocol }: Pick<URL, 'port' | 'protocol'>): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

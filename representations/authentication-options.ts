import type { AuthenticationOptions } from '../db/entities/index.ts'
import { resourceUrl } from './links.ts'

export function presentAuthenticationOptions(options: AuthenticationOptions, baseUrl: string) {
  return {
    passwordPattern: options.passwordPattern ?? null,
    credentialTtl: options.credentialTtl,
    authTokenTtl: options.authTokenTtl,
    resetTokenTtl: options.resetTokenTtl,
    revision: options.revision,
    createdTime: options.createdTime.toISOString(),
    updatedTime: options.updatedTime.toISOString(),
    _links: [{ rel: 'self', href: resourceUrl(baseUrl, options.organizationId, 'authentication-options') }],
  }
}

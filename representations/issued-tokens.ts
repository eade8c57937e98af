/** The values are secrets: no link contains them, and who may not create a token gets no value. */
import type { AuthenticationToken, PasswordToken } from '../db/entities/index.ts'
import { type Link, resourceUrl } from './links.ts'

export function presentAuthenticationToken(
  token: AuthenticationToken,
  value: string | null,
  baseUrl: string,
) {
  return {
    ...(value === null ? {} : { token: value }),
    ...(token.username == null ? {} : { username: token.username }),
    ...(token.credentialId == null ? {} : { credentialId: token.credentialId }),
    customerId: token.customerId,
    ...lifeOf(token, baseUrl),
  }
}

export function presentPasswordToken(token: PasswordToken, value: string | null, baseUrl: string) {
  return {
    ...(value === null ? {} : { token: value }),
    username: token.username,
    credentialId: token.credentialId,
    ...lifeOf(token, baseUrl),
  }
}

function lifeOf(token: AuthenticationToken | PasswordToken, baseUrl: string) {
  return {
    expiredTime: token.expiredTime.toISOString(),
    revision: token.revision,
    createdTime: token.createdTime.toISOString(),
    updatedTime: token.updatedTime.toISOString(),
    _links: customerLink(token, baseUrl),
  }
}

export function customerLink(
  { organizationId, customerId }: { readonly organizationId: string; readonly customerId: string },
  baseUrl: string,
): Link[] {
  return [{ rel: 'customer', href: resourceUrl(baseUrl, organizationId, 'customers', customerId) }]
}

import type { CustomerCredential } from '../db/entities/index.ts'
import { type Link, resourceUrl } from './links.ts'

/** Never shows the password. */
export function presentCustomerCredential(credential: CustomerCredential, baseUrl: string) {
  const url = (...segments: string[]) => resourceUrl(baseUrl, credential.organizationId, ...segments)
  const links: Link[] = [
    { rel: 'self', href: url('credentials', credential.id) },
    { rel: 'customer', href: url('customers', credential.customerId) },
  ]
  return {
    id: credential.id,
    username: credential.username,
    customerId: credential.customerId,
    expiredTime: credential.expiredTime?.toISOString() ?? null,
    revision: credential.revision,
    createdTime: credential.createdTime.toISOString(),
    updatedTime: credential.updatedTime.toISOString(),
    _links: links,
  }
}

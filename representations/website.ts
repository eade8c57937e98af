import type { Website } from '../db/entities/index.ts'
import { type Link, resourceUrl } from './links.ts'

export function presentWebsite(website: Website, baseUrl: string) {
  const self: Link = {
    rel: 'self',
    href: resourceUrl(baseUrl, website.organizationId, 'websites', website.id),
  }
  return {
    id: website.id,
    organizationId: website.organizationId,
    name: website.name,
    url: website.url ?? null,
    servicePhone: website.servicePhone ?? null,
    serviceEmail: website.serviceEmail ?? null,
    customFields: website.customFields ?? {},
    revision: website.revision,
    createdTime: website.createdTime.toISOString(),
    updatedTime: website.updatedTime.toISOString(),
    _links: [self],
  }
}

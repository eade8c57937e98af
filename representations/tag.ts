import type { Tag } from '../db/entities/index.ts'
import { resourceUrl } from './links.ts'

export function presentTag(tag: Tag, baseUrl: string) {
  return {
    id: tag.id,
    name: tag.name,
    type: tag.type,
    revision: tag.revision,
    createdTime: tag.createdTime.toISOString(),
    updatedTime: tag.updatedTime.toISOString(),
    _links: [{ rel: 'self', href: resourceUrl(baseUrl, tag.organizationId, 'tags', tag.id) }],
  }
}

import type { CustomField } from '../db/entities/index.ts'
import { resourceUrl } from './links.ts'

export function presentCustomField(field: CustomField, baseUrl: string) {
  const { organizationId, resource, id } = field
  return {
    name: id,
    type: field.type,
    description: field.description ?? null,
    isEnabled: field.isEnabled,
    additionalSchema: field.additionalSchema ?? null,
    revision: field.revision,
    createdTime: field.createdTime.toISOString(),
    updatedTime: field.updatedTime.toISOString(),
    _links: [{ rel: 'self', href: resourceUrl(baseUrl, organizationId, 'custom-fields', resource, id) }],
  }
}

import { createWebsite, type NewWebsite } from '../../commands/catalog/create-website.ts'
import { requireUnreferenced } from '../../commands/references.ts'
import { Website as WebsiteRow } from '../../db/entities/index.ts'
import { websiteSearch } from '../../db/entities/website.ts'
import { presentWebsite } from '../../representations/website.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { fieldsOf } from '../query/fields.ts'
import { remove } from '../resources/delete.ts'
import type { Resource, Writer } from '../resources/resource.ts'
import { Website } from '../schemas/website.ts'

export const websites: Resource<WebsiteRow> = {
  name: 'Website',
  label: 'website',
  path: 'websites',
  schema: Website,
  entity: WebsiteRow,
  table: 'websites',
  search: websiteSearch,
  fields: fieldsOf(Website),
  present: (row, { baseUrl }) => presentWebsite(row, baseUrl),
}

export const websiteWriter: Writer<WebsiteRow, Website> = {
  create: (unit, id, body) => createWebsite(unit, id, valuesOf(body)),
  update: (_, row, body) => void Object.assign(row, valuesOf(body)),
}

export async function deleteWebsite(context: OperationContext): Promise<OperationResponse> {
  return await remove(context, websites, (unit, row) => requireUnreferenced(unit, 'websites', row.id))
}

function valuesOf(body: Website): NewWebsite {
  return {
    name: body.name,
    url: body.url ?? null,
    servicePhone: body.servicePhone ?? null,
    serviceEmail: body.serviceEmail ?? null,
    customFields: body.customFields ?? {},
  }
}

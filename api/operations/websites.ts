import { createWebsite, type NewWebsite } from '../../db/commands/create-website.ts'
import { Website as WebsiteRow } from '../../db/entities/index.ts'
import { websiteSearch } from '../../db/entities/website.ts'
import { presentWebsite } from '../../db/representations/website.ts'
import { fieldsOf } from '../query/fields.ts'
import type { Resource, Writer } from '../resource.ts'
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

function valuesOf(body: Website): NewWebsite {
  return {
    name: body.name,
    url: body.url ?? null,
    servicePhone: body.servicePhone ?? null,
    serviceEmail: body.serviceEmail ?? null,
    customFields: body.customFields ?? {},
  }
}

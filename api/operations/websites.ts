import { createWebsite } from '../../db/commands/create-website.ts'
import { Website as WebsiteRow } from '../../db/entities/index.ts'
import { presentWebsite } from '../../db/representations/website.ts'
import { command, type OperationAnswer, type OperationContext } from '../operation.ts'
import { answerCreated, readOne } from '../resource.ts'
import type { Website } from '../schemas/website.ts'

export async function create(context: OperationContext): Promise<OperationAnswer> {
  const body = context.body as Website
  const row = await command(context, async (unit) =>
    createWebsite(unit, {
      name: body.name,
      url: body.url ?? null,
      servicePhone: body.servicePhone ?? null,
      serviceEmail: body.serviceEmail ?? null,
      customFields: body.customFields ?? null,
    }),
  )
  return answerCreated(context, 'websites', row, presentWebsite)
}

export async function read(context: OperationContext): Promise<OperationAnswer> {
  return await readOne(context, WebsiteRow, presentWebsite)
}

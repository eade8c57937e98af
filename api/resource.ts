/** What creating and reading have in common over all resources. */
import type { EntityClass } from '@mikro-orm/core'
import { resourceUrl } from '../db/representations/links.ts'
import type { OperationAnswer, OperationContext } from './operation.ts'
import { Problem } from './problems.ts'

interface ResourceRow {
  organizationId: string
  id: string
  revision: number
}

type Present<T> = (row: T, baseUrl: string) => unknown

/** 201 with the new resource and where it is. */
export function answerCreated<T extends ResourceRow>(
  { baseUrl, organizationId }: OperationContext,
  path: string,
  row: T,
  present: Present<T>,
): OperationAnswer {
  return {
    body: present(row, baseUrl),
    location: resourceUrl(baseUrl, organizationId, path, row.id),
    revision: row.revision,
  }
}

/** The resource of the path's id, in the caller's organization. */
export async function readOne<T extends ResourceRow>(
  { em, organizationId, params, baseUrl }: OperationContext,
  entity: EntityClass<T>,
  present: Present<T>,
): Promise<OperationAnswer> {
  const id = params.id ?? ''
  const row = (await em.findOne(entity as EntityClass<ResourceRow>, { organizationId, id })) as T | null
  if (row === null)
    throw new Problem('not-found', `There is no ${entity.name.toLowerCase()} with the id ${id}.`)
  return { body: present(row, baseUrl), revision: row.revision }
}

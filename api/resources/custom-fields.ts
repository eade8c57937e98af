import { InvalidFieldsError } from '../../billing/errors.ts'
import { checkCustomFields } from '../../commands/custom-fields.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { Resource, ResourceRow } from './resource.ts'

export function hasCustomFields({ schema }: Pick<Resource<ResourceRow>, 'schema'>): boolean {
  const { properties = {} } = schema as { properties?: object }
  return 'customFields' in properties
}

/** Applies the definitions; a new record, without a `row`, takes their defaults. Throws InvalidFieldsError. */
export async function withCustomFields<Row extends ResourceRow, Body>(
  unit: UnitOfWork,
  resource: Resource<Row>,
  { checksCustomFields = false }: { readonly checksCustomFields?: boolean },
  body: Body,
  row: Row | null,
): Promise<Body> {
  if (checksCustomFields || !hasCustomFields(resource)) return body
  const { customFields } = body as WithCustomFields
  // PATCH leaves them.
  if (customFields === undefined && row !== null) return body
  const given = customFields ?? {}
  const stored = row === null ? null : ((row as WithCustomFields).customFields ?? {})
  const { values, problems } = await checkCustomFields(unit, resource.path, given, stored)
  if (problems.length > 0) throw new InvalidFieldsError(problems)
  return { ...body, customFields: values }
}

interface WithCustomFields {
  readonly customFields?: Readonly<Record<string, unknown>> | null
}

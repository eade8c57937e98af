import { canonicalJson } from '../billing/canonical-json.ts'
import {
  type CustomFieldType,
  type CustomValues,
  checkedCustomFields,
  type FieldConstraints,
  type FieldDefinition,
} from '../billing/custom-fields.ts'
import { CustomField } from '../db/entities/index.ts'
import { statement } from '../db/statement.ts'
import type { UnitOfWork } from '../db/unit-of-work.ts'

/** Enabled definitions as one JSON document; binds the organization and the resource. */
export const definitionsSql = `(select coalesce(jsonb_agg(jsonb_build_object('name', id, 'type', type,
    'constraints', coalesce(additional_schema, '{}')) order by id), '[]')
  from custom_fields where organization_id = ? and resource = ? and is_enabled)`

/** Checks custom fields against their definitions; reads nothing if they are the same as `stored`. */
export async function checkCustomFields(
  { em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>,
  resource: string,
  given: CustomValues,
  stored: CustomValues | null,
): Promise<ReturnType<typeof checkedCustomFields>> {
  if (stored !== null && canonicalJson(stored) === canonicalJson(given))
    return { values: given, problems: [] }
  const [row] = await statement<{ definitions: FieldDefinition[] }>(
    em,
    'read-custom-field-definitions',
    `select ${definitionsSql} as definitions`,
    [organizationId, resource],
  )
  return checkedCustomFields(row?.definitions ?? [], given, stored)
}

/** Of a record whose caller cannot give it any: none is required. */
export async function defaultCustomFields(
  unit: Pick<UnitOfWork, 'em' | 'organizationId'>,
  resource: string,
): Promise<CustomValues> {
  return (await checkCustomFields(unit, resource, {}, null)).values
}

export interface NewCustomField {
  readonly type: CustomFieldType
  readonly description: string | null
  readonly isEnabled: boolean
  readonly additionalSchema: FieldConstraints | null
}

export function createCustomField(
  unit: UnitOfWork,
  resource: string,
  name: string,
  given: NewCustomField,
): CustomField {
  return unit.create(CustomField, { id: name, resource, ...given })
}

import { defineEntity, p } from '@mikro-orm/core'
import type { CustomFieldType, FieldConstraints } from '../../billing/custom-fields.ts'
import { id, json, resourceColumns, searchExpression } from './columns.ts'

export const customFieldSearch = searchExpression('resource', 'type', 'description')

const CustomFieldSchema = defineEntity({
  name: 'CustomField',
  tableName: 'custom_fields',
  properties: {
    organizationId: id().primary(),
    /** As in paths: `customers`. */
    resource: p.string().length(30).primary(),
    /** Its name in `customFields`. */
    id: p.string().length(60).primary(),
    type: p.string().length(20).$type<CustomFieldType>(),
    description: p.text().nullable(),
    isEnabled: p.boolean().default(true),
    additionalSchema: json<FieldConstraints>().nullable(),
    ...resourceColumns,
  },
})

export class CustomField extends CustomFieldSchema.class {}
CustomFieldSchema.setClass(CustomField)

import { defineEntity, p } from '@mikro-orm/core'
import { listIndexes, resourceColumns, searchExpression, tenantKey } from './columns.ts'

export const tagSearch = searchExpression('name', 'type')

const TagSchema = defineEntity({
  name: 'Tag',
  tableName: 'tags',
  indexes: [
    ...listIndexes('tags', tagSearch),
    {
      name: 'tags_name_unique',
      expression:
        'create unique index "tags_name_unique" on "tags" ("organization_id", "type", lower("name"))',
    },
  ],
  properties: {
    ...tenantKey,
    name: p.string(),
    type: p.string().length(20).$type<'customer'>(),
    ...resourceColumns,
  },
})

export class Tag extends TagSchema.class {}
TagSchema.setClass(Tag)

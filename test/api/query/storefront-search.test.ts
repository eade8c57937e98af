import { expect, test } from '@jest/globals'
import * as storefront from '../../../api/operations/storefront.ts'

const resources = Object.values(storefront).flatMap((one) =>
  'search' in one ? [[one.path, one.search, one.schema] as const] : [],
)

test.each(resources)('%s searches what a customer sees, and nothing else', (_, search, schema) => {
  const { properties } = schema as { properties?: object }
  const columns = [...search.matchAll(/"(\w+)"/g)].map(([, column = '']) => column)
  const members = columns.map((column) =>
    column.replaceAll(/_[a-z]/g, (letters) => letters.slice(1).toUpperCase()),
  )
  expect(members).toContain('id')
  expect(Object.keys(properties ?? {})).toEqual(expect.arrayContaining(members))
})

import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { PROBLEMS } from '../../api/http/problems.ts'
import { openApiDocument } from '../../api/openapi.ts'
import { problemPage } from '../../api/pages/problem-page.ts'
import { ROUTES } from '../../api/routes.ts'
import { FIELD_CODES } from '../../billing/errors.ts'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
const rowsBelow = (heading: string): string[] => {
  const [, section = ''] = page.split(`## ${heading}\n`)
  return (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| `'))
}

test('docs/errors.md lists every problem', () => {
  expect(rowsBelow('Problems')).toEqual(
    Object.entries(PROBLEMS).map(([code, { status, title }]) => `| \`${code}\` | ${status} | ${title} |`),
  )
})

test('docs/errors.md lists every code of a field', () => {
  expect(rowsBelow('Failing fields')).toEqual(
    Object.entries(FIELD_CODES).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
  )
})

test('the OpenAPI document lists them as an enumeration', () => {
  const { components } = openApiDocument('https://billing.example', ROUTES) as unknown as {
    components: { schemas: { InvalidField: object } }
  }
  expect(components.schemas.InvalidField).toMatchObject({
    required: ['field', 'pointer', 'code', 'message'],
    properties: { code: { enum: Object.keys(FIELD_CODES) } },
  })
})

test('the pages of problems with fields explain the codes, the others do not', () => {
  for (const code of Object.keys(FIELD_CODES)) {
    expect(problemPage('validation-error')).toContain(`<code>${code}</code>`)
    expect(problemPage('malformed-request')).toContain(`<code>${code}</code>`)
  }
  expect(problemPage('conflict')).not.toContain('<code>not-found</code>')
})

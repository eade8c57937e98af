import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { compatibilityPage } from '../compat/page.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('docs/compatibility.md is up to date; npm run docs:compatibility writes it', () => {
  expect(readFileSync(join(ROOT, 'docs/compatibility.md'), 'utf8')).toBe(compatibilityPage())
})

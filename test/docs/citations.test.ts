import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const files = globSync('*/**/*.ts', {
  cwd: ROOT,
  exclude: (name) => name === 'node_modules' || name.startsWith('.'),
})
const CITATION = /\b(specification|decisions)((?:,? (?:and )?\d+(?:\.\d+)*)+)/g

test('every section that a comment cites is there', () => {
  const headings = ['specification', 'decisions'].flatMap((page) =>
    [...readFileSync(join(ROOT, `docs/spec/${page}.md`), 'utf8').matchAll(/^## [SD] ([\d.]+) /gm)].map(
      ([, section]) => `${page} ${section}`,
    ),
  )
  const cited = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(CITATION)].flatMap(([, page, sections = '']) =>
      [...sections.matchAll(/\d+(?:\.\d+)*/g)].map(([section]) => `${page} ${section}`),
    ),
  )
  expect(cited.length).toBeGreaterThan(10)
  expect([...new Set(cited)].filter((section) => !headings.includes(section))).toEqual([])
})

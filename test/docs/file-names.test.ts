import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const pages = globSync(['README.md', 'CONTRIBUTING.md', 'docs/**/*.md'], { cwd: ROOT })
/** A path from the root in backticks, with a folder and an ending, or a folder that ends with a slash. */
const PATH = /`([\w.-]+\/(?:[\w.*-]+\/)*(?:[\w.*-]+\.(?:tsx?|mjs|md|sh|ya?ml|json|html))?)`/g
const LINK = /\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g
/** What is made while the service runs. */
const MADE = ['.data/', 'bench/results/']

function nowhere(page: string, text: string): string[] {
  const paths = [...text.matchAll(PATH)].map(([, path = '']) => join(ROOT, path))
  const links = [...text.matchAll(LINK)].map(([, link = '']) => join(ROOT, dirname(page), link))
  return [...paths, ...links].filter((path) => {
    if (MADE.some((made) => path.startsWith(join(ROOT, made)))) return false
    return path.includes('*') ? globSync(path).length === 0 : !existsSync(path)
  })
}

test('the documents name files', () => {
  const named = pages.flatMap((page) => [...readFileSync(join(ROOT, page), 'utf8').matchAll(PATH)])
  expect(named.length).toBeGreaterThan(60)
})

test.each(pages)('every file and link of %s exists', (page) => {
  expect(nowhere(page, readFileSync(join(ROOT, page), 'utf8'))).toEqual([])
})

test.each(['See `billing/no-such-rule.ts`.', 'In `no-such-room/`.', '[here](no-such-page.md)'])(
  'a page that says %p is found',
  (text) => {
    expect(nowhere('docs/page.md', text)).toHaveLength(1)
  },
)

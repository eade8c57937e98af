import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { troubleInShell } from '../support/shell-block.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LANGUAGES = ['sh', 'bash', 'zsh', 'shell', 'console']

const pages = globSync(['README.md', 'CONTRIBUTING.md', 'docs/**/*.md'], { cwd: ROOT })

const blocks = pages.flatMap((page) =>
  [...readFileSync(`${ROOT}/${page}`, 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)]
    .filter(([, language = '']) => LANGUAGES.includes(language))
    .map(([, , text = ''], index) => ({ name: `${page}, shell block ${index + 1}`, text })),
)

test('there are shell blocks', () => {
  expect(blocks.length).toBeGreaterThan(5)
})

test.each(blocks)('$name can be pasted', ({ text }) => {
  expect(troubleInShell(text)).toEqual([])
})

describe('what an interactive shell would not take is found', () => {
  test.each([
    ['npm test     # all tests', 'a comment'],
    ['curl http://127.0.0.1:3000/x?limit=1', '? outside of quotes'],
    [`echo '{"a": "'$(ls *.ts)'"}'`, '* outside of quotes'],
    ['echo "done!"', '! outside of single quotes'],
    ['export ORG=org_…', 'a placeholder'],
    ["echo 'open", 'a quote that does not end'],
  ])('%s', (command, trouble) => {
    expect(troubleInShell(command).join()).toContain(trouble)
  })

  test.each(["sed -E 's/[a-z]*/#/'", 'curl "http://x/?a=$B#c"', 'echo a#b \\\n  -d \'{"n": "!"}\''])(
    '%s is fine',
    (command) => {
      expect(troubleInShell(command)).toEqual([])
    },
  )
})

/** `test/spec-coverage.md`: every rule of the specification, and the test that shows it or the theme it waits for. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { isNode, type Node, nodesOf, parse, ROOT } from './import-graph.ts'

const THEMES = ['contract', 'payments', 'orders', 'webhooks', 'engine room']
/** Sections of the specification (S) and of the decisions beside it (D); each has rules. */
const SECTIONS = [
  ...[
    '1',
    '2.0',
    '2.1',
    '2.2',
    '2.3',
    '2.4',
    '2.5',
    '2.6',
    '3',
    '4',
    '5',
    '6.1',
    '6.2',
    '6.3',
    '7',
    '8',
    '9',
  ].map((section) => `S ${section}`),
  ...['1', '2.1', '2.2', '2.3', '2.4', '2.5', '2.6', '2.7', '2.8', '2.9', '2.10', '3', '4', '5'].map(
    (section) => `D ${section}`,
  ),
  ...[
    '6.1',
    '6.2',
    '6.3',
    '6.4',
    '6.5',
    '7',
    '8.1',
    '8.2',
    '8.3',
    '8.4',
    '8.5',
    '8.6',
    '8.7',
    '9',
    '10',
    '11',
  ].map((section) => `D ${section}`),
]
const BETWEEN = ' › '

type Titles = (file: string) => readonly string[] | null

describe('the coverage of the specification', () => {
  const text = readFileSync(join(ROOT, 'test/spec-coverage.md'), 'utf8')
  const { rows } = readTable(text)

  test('names tests that exist, or a theme that is to come', () => {
    expect(mistakes(text, titlesOf)).toEqual([])
  })

  test('has rules in every section', () => {
    const ids = rows.map(({ id }) => id)
    expect(SECTIONS.filter((section) => !ids.some((id) => id.startsWith(`${section}.`)))).toEqual([])
    expect(rows.length).toBeGreaterThan(250)
  })
})

describe('the check of the coverage', () => {
  const check = (...rows: string[]) =>
    mistakes(['| Rule | In short | Shown by |', '|---|---|---|', ...rows].join('\n'), (file) =>
      file === 'test/a.test.ts' ? ['the first test', 'the second test', 'the second'] : null,
    )

  test('takes a test by its name or a unique part of it, a theme, and both', () => {
    expect(
      check(
        '| S 1.1 | a | `test/a.test.ts › first` |',
        '| S 1.2 | b | later: engine room |',
        '| D 2.10.3 | c | `test/a.test.ts › the second`<br>later: orders |',
      ),
    ).toEqual([])
  })

  test.each([
    ['| S 1.1 | a | `test/b.test.ts › first` |', 'S 1.1: there is no test file test/b.test.ts'],
    ['| S 1.1 | a | `test/a.test.ts › third` |', 'S 1.1: no test in test/a.test.ts has "third" in its name'],
    ['| S 1.1 | a | `test/a.test.ts › the` |', 'S 1.1: 3 tests in test/a.test.ts have "the" in their names'],
    [
      '| S 1.1 | a | `test/a.test.ts` |',
      'S 1.1: "`test/a.test.ts`" is neither `file › test` nor `later: theme`',
    ],
    ['| S 1.1 | a | later: some day |', `S 1.1: "some day" is none of ${THEMES.join(', ')}`],
    ['| S 1.1 | a | |', 'S 1.1: "" is neither `file › test` nor `later: theme`'],
    ['| S 1.1 | | later: orders |', 'S 1.1: says nothing'],
    ['| S one | a | later: orders |', 'not a row: | S one | a | later: orders |'],
    ['| S 1.1 | a | b | later: orders |', 'not a row: | S 1.1 | a | b | later: orders |'],
  ])('refuses %s', (row, mistake) => {
    expect(check(row)).toEqual([mistake])
  })

  test('refuses a rule that stands there twice', () => {
    expect(check('| D 8.3.1 | a | later: orders |', '| D 8.3.1 | b | later: orders |')).toEqual([
      'D 8.3.1: stands there twice',
    ])
  })

  test('finds the names of tests in a source, but of none that is skipped or only spoken of', () => {
    const source = `
      // test('in a comment', () => {})
      const text = "test('in a text', () => {})"
      describe('a group', () => {
        test('plain', () => {})
        it.only(\`in \${a} template\`, () => {})
        test.each([1, 2])('for %i', () => {})
        describe.each\`a\`('tagged', () => {})
        test.skip('left out', () => {})
        test.todo('promised')
        expect('nothing').toBe('a test')
      })`
    expect(titlesIn('a.test.ts', source)).toEqual(['a group', 'plain', 'in … template', 'for %i', 'tagged'])
  })
})

interface Row {
  readonly id: string
  readonly rule: string
  readonly shownBy: readonly string[]
}

/** The rows of all tables, and lines that are neither row nor heading of one. */
function readTable(text: string): { rows: Row[]; strangers: string[] } {
  const rows: Row[] = []
  const strangers: string[] = []
  for (const line of text.split('\n').filter((line) => line.startsWith('|'))) {
    if (/^\|\s*Rule\s*\||^\|[-|\s]+\|$/.test(line)) continue
    const cells = line.split('|').slice(1, -1)
    const [id = '', rule = '', shownBy = ''] = cells.map((cell) => cell.trim())
    if (cells.length !== 3 || !/^[SD] \d+(?:\.\d+)*$/.test(id)) strangers.push(`not a row: ${line}`)
    else rows.push({ id, rule, shownBy: shownBy.split('<br>') })
  }
  return { rows, strangers }
}

function mistakes(text: string, titles: Titles): string[] {
  const { rows, strangers } = readTable(text)
  const seen = new Set<string>()
  return [
    ...strangers,
    ...rows.flatMap(({ id, rule, shownBy }) => {
      const found = shownBy.flatMap((reference) => mistakeOf(reference, titles) ?? [])
      if (rule === '') found.unshift('says nothing')
      if (seen.has(id)) found.unshift('stands there twice')
      seen.add(id)
      return found.map((mistake) => `${id}: ${mistake}`)
    }),
  ]
}

function mistakeOf(reference: string, titles: Titles): string | null {
  const theme = /^later: (.*)$/.exec(reference)?.[1]
  if (theme !== undefined) return THEMES.includes(theme) ? null : `"${theme}" is none of ${THEMES.join(', ')}`
  const [file, part, ...more] = /^`(.*)`$/.exec(reference)?.[1]?.split(BETWEEN) ?? []
  if (file === undefined || part === undefined || part === '' || more.length > 0)
    return `"${reference}" is neither \`file › test\` nor \`later: theme\``
  const found = titles(file)
  if (found === null) return `there is no test file ${file}`
  if (found.includes(part)) return null
  const fitting = found.filter((title) => title.includes(part))
  if (fitting.length === 0) return `no test in ${file} has "${part}" in its name`
  return fitting.length === 1 ? null : `${fitting.length} tests in ${file} have "${part}" in their names`
}

const known = new Map<string, readonly string[]>()

/** Names of the tests and groups of a file; null when there is no such file. */
function titlesOf(file: string): readonly string[] | null {
  if (!/^test\/.*\.test\.ts$/.test(file) || !existsSync(join(ROOT, file))) return null
  const titles = known.get(file) ?? titlesIn(file, readFileSync(join(ROOT, file), 'utf8'))
  known.set(file, titles)
  return titles
}

function titlesIn(path: string, text: string): string[] {
  return [...nodesOf(parse(path, text))].flatMap((node) => {
    if (node.type !== 'CallExpression' || !startsTest(node.callee)) return []
    const [first]: unknown[] = Array.isArray(node.arguments) ? node.arguments : []
    const title = isNode(first) && isNode(first.expression) ? textOf(first.expression) : null
    return title === null ? [] : [title]
  })
}

/** `test`, `it` or `describe`, with `.only`, `.each(…)` or `` .each`…` ``; not `.skip`, `.todo` and the like. */
function startsTest(callee: unknown): boolean {
  if (!isNode(callee)) return false
  switch (callee.type) {
    case 'Identifier':
      return ['test', 'it', 'describe'].includes(String(callee.value))
    case 'MemberExpression':
      return startsTest(callee.object) && isNode(callee.property) && callee.property.value === 'only'
    case 'CallExpression':
      return startsEach(callee.callee)
    case 'TaggedTemplateExpression':
      return startsEach(callee.tag)
    default:
      return false
  }
}

function startsEach(node: unknown): boolean {
  return (
    isNode(node) &&
    node.type === 'MemberExpression' &&
    isNode(node.property) &&
    node.property.value === 'each' &&
    startsTest(node.object)
  )
}

function textOf(node: Node): string | null {
  if (node.type === 'StringLiteral') return String(node.value)
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node.quasis)) return null
  return node.quasis.map((part) => (isNode(part) ? String(part.cooked) : '')).join('…')
}

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { isNode, type Node, nodesOf, parse, ROOT } from './import-graph.ts'

/** What is still to be built; the head of the table says what belongs to each. */
const THEMES = ['orders', 'payments', 'compliance', 'platform', 'next stage']
/** The specification, the decisions beside it, guarantees to operators, the design card. */
const PARTS = ['S', 'D', 'G', 'C']
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
    '6.0',
    '6.1',
    '6.2',
    '6.3',
    '7',
    '8',
    '9',
  ].map((section) => `S ${section}`),
  ...['0', '1', '2.1', '2.2', '2.3', '2.4', '2.5', '2.6', '2.7', '2.8', '2.9', '2.10', '3', '4', '5'].map(
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
  ...['1', '2', '3', '4', '5', '6'].map((section) => `G ${section}`),
  'C 1',
]

type Titles = (file: string) => readonly string[] | null

describe('the coverage of the specification', () => {
  const text = readFileSync(join(ROOT, 'test/spec-coverage.md'), 'utf8')
  const { rows } = readTable(text)

  test('names for each rule tests that exist, or the theme that will bring it', () => {
    expect(mistakes(text, titlesOf)).toEqual([])
  })

  test('has rules in every section', () => {
    const ids = rows.map(({ id }) => id)
    expect(SECTIONS.filter((section) => !ids.some((id) => id.startsWith(`${section}.`)))).toEqual([])
    expect(rows.length).toBeGreaterThan(700)
  })

  test('says at its head what belongs to each theme, and has rules for each', () => {
    const head = text.slice(0, text.indexOf('\n## '))
    expect(THEMES.filter((theme) => !head.includes(`- **${theme}**: `))).toEqual([])
    const waited = new Set(rows.flatMap(({ shownBy }) => shownBy))
    expect(THEMES.filter((theme) => !waited.has(`later: ${theme}`))).toEqual([])
  })
})

describe('the check of the coverage', () => {
  const check = (...rows: string[]) =>
    mistakes(['## S 1 One', '| Rule | In short | Shown by |', '|---|---|---|', ...rows].join('\n'), (file) =>
      file === 'test/a.test.ts'
        ? ['the first test', 'the second test', 'the second', 'told twice', 'told twice']
        : null,
    )

  test('takes a test by its title or by a beginning that no other has, or a theme', () => {
    expect(
      check(
        '| S 1.1 | a | `test/a.test.ts › the first` |',
        '| S 1.2 | b | later: orders |',
        '| S 1.2.1 | c | `test/a.test.ts › the second`<br>`test/a.test.ts › the second test` |',
        '| S 1.10 | d | `test/a.test.ts › the first test` |',
      ),
    ).toEqual([])
  })

  test.each([
    ['| S 1.1 | a | `test/b.test.ts › first` |', 'S 1.1: there is no test file test/b.test.ts'],
    ['| S 1.1 | a | `test/a.test.ts › first` |', 'S 1.1: no test in test/a.test.ts is called "first …"'],
    ['| S 1.1 | a | `test/a.test.ts › the` |', 'S 1.1: 3 tests in test/a.test.ts are called "the …"'],
    [
      '| S 1.1 | a | `test/a.test.ts › told twice` |',
      'S 1.1: 2 tests in test/a.test.ts are called "told twice"',
    ],
    [
      '| S 1.1 | a | `test/a.test.ts` |',
      'S 1.1: "`test/a.test.ts`" is neither `file › test` nor `later: theme`',
    ],
    ['| S 1.1 | a | later: some day |', `S 1.1: "some day" is none of ${THEMES.join(', ')}`],
    ['| S 1.1 | a | |', 'S 1.1: "" is neither `file › test` nor `later: theme`'],
    ['| S 1.1 | | later: orders |', 'S 1.1: says nothing'],
    ['| S one | a | later: orders |', 'not a row: | S one | a | later: orders |'],
    ['| X 1.1 | a | later: orders |', 'not a row: | X 1.1 | a | later: orders |'],
    ['| S 1.1 | a | b | later: orders |', 'not a row: | S 1.1 | a | b | later: orders |'],
    ['| S 2.1 | a | later: orders |', 'S 2.1: stands under S 1'],
    ['| S 11.1 | a | later: orders |', 'S 11.1: stands under S 1'],
    [
      '| S 1.1 | a | `test/a.test.ts › the first`<br>later: orders |',
      'S 1.1: is both shown and waited for; it is two rules',
    ],
    [
      '| S 1.1 | a | `test/a.test.ts › the first`<br>`test/a.test.ts › the first` |',
      'S 1.1: names a test twice',
    ],
  ])('refuses %s', (row, mistake) => {
    expect(check(row)).toEqual([mistake])
  })

  test('refuses a rule that has the number of another one, or a smaller one than the rule before it', () => {
    const row = (id: string) => `| ${id} | a | later: orders |`
    expect(check(row('S 1.3'), row('S 1.3'))).toEqual(['S 1.3: follows S 1.3'])
    expect(check(row('S 1.10'), row('S 1.9'))).toEqual(['S 1.9: follows S 1.10'])
    expect(check(row('S 1.3.1'), row('S 1.3'))).toEqual(['S 1.3: follows S 1.3.1'])
    expect(check('## D 1 Another part', row('D 1.1'), '## S 1 The first part', row('S 1.1'))).toEqual([
      'S 1.1: follows D 1.1',
    ])
  })

  test('finds the titles of tests in a source, but of no group, and of none that is skipped or only spoken of', () => {
    const source = `
      // test('in a comment', () => {})
      const text = "test('in a text', () => {})"
      describe('a group', () => {
        test('plain', () => {})
        it.only(\`in \${a} template\`, () => {})
        test.each([1, 2])('for %i', () => {})
        test.each\`a\`('tagged', () => {})
        describe.each([1])('a group for %i', () => {})
        test.skip('left out', () => {})
        test.todo('promised')
        expect('nothing').toBe('a test')
      })`
    expect(titlesIn('a.test.ts', source)).toEqual(['plain', 'in … template', 'for %i', 'tagged'])
  })
})

interface Row {
  readonly id: string
  readonly section: string
  readonly rule: string
  readonly shownBy: readonly string[]
}

function readTable(text: string): { rows: Row[]; strangers: string[] } {
  const rows: Row[] = []
  const strangers: string[] = []
  let section = ''
  for (const line of text.split('\n')) {
    section = /^## ([A-Z] [\d.]+) /.exec(line)?.[1] ?? section
    if (!line.startsWith('|') || /^\|\s*Rule\s*\||^\|[-|\s]+\|$/.test(line)) continue
    const cells = line.split('|').slice(1, -1)
    const [id = '', rule = '', shownBy = ''] = cells.map((cell) => cell.trim())
    const [, part = ''] = /^([A-Z]) \d+(?:\.\d+)+$/.exec(id) ?? []
    if (cells.length !== 3 || !PARTS.includes(part)) strangers.push(`not a row: ${line}`)
    else rows.push({ id, section, rule, shownBy: shownBy.split('<br>') })
  }
  return { rows, strangers }
}

function mistakes(text: string, titles: Titles): string[] {
  const { rows, strangers } = readTable(text)
  return [
    ...strangers,
    ...rows.flatMap(({ id, section, rule, shownBy }, index) => {
      const found = shownBy.flatMap((reference) => mistakeOf(reference, titles) ?? [])
      const before = rows[index - 1]?.id
      if (rule === '') found.push('says nothing')
      if (!id.startsWith(`${section}.`)) found.push(`stands under ${section}`)
      if (before !== undefined && compareIds(before, id) >= 0) found.push(`follows ${before}`)
      if (new Set(shownBy).size < shownBy.length) found.push('names a test twice')
      const waits = shownBy.filter((reference) => reference.startsWith('later: ')).length
      if (waits > 0 && shownBy.length > 1) found.push('is both shown and waited for; it is two rules')
      return found.map((mistake) => `${id}: ${mistake}`)
    }),
  ]
}

/** By part, then number by number; `S 1.9` before `S 1.10`, `S 1.3` before `S 1.3.1`. */
function compareIds(one: string, other: string): number {
  const numbers = (id: string) => [PARTS.indexOf(id.charAt(0)), ...id.slice(2).split('.').map(Number)]
  const [left, right] = [numbers(one), numbers(other)]
  for (const [index, number] of left.entries()) {
    const difference = number - (right[index] ?? -1)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

function mistakeOf(reference: string, titles: Titles): string | null {
  const theme = /^later: (.*)$/.exec(reference)?.[1]
  if (theme !== undefined) return THEMES.includes(theme) ? null : `"${theme}" is none of ${THEMES.join(', ')}`
  const [, file, title] = /^`([^ ]+) › (.+)`$/.exec(reference) ?? []
  if (file === undefined || title === undefined)
    return `"${reference}" is neither \`file › test\` nor \`later: theme\``
  const found = titles(file)
  if (found === null) return `there is no test file ${file}`
  const same = found.filter((one) => one === title).length
  if (same > 0) return same === 1 ? null : `${same} tests in ${file} are called "${title}"`
  const beginning = found.filter((one) => one.startsWith(title)).length
  if (beginning === 1) return null
  return beginning === 0
    ? `no test in ${file} is called "${title} …"`
    : `${beginning} tests in ${file} are called "${title} …"`
}

const known = new Map<string, readonly string[]>()

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

/** `test` or `it`, with `.only`, `.each(…)` or `` .each`…` ``; not `.skip`, `.todo` and the like. */
function startsTest(callee: unknown): boolean {
  if (!isNode(callee)) return false
  switch (callee.type) {
    case 'Identifier':
      return ['test', 'it'].includes(String(callee.value))
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

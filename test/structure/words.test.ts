/** The glossary has the field's own word for each private one. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { ROOT, readSources } from './import-graph.ts'

const PRIVATE: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\b(?:settle[sd]?|settling|settlements?)\b/, 'advance'],
  [/\b(?:rings|ringing|rang|a ring)\b/, 'a timer fires'],
  [/\bhappenings?\b/, 'domain event'],
  [/\buntold\b/, 'not emitted'],
  [/\bvouch(?:es|ed)?\b/, 'issue'],
  [/\bin vain\b/, 'timed out, not found'],
  [/\b(?:came|becomes?|became|come) of\b/, 'outcome of, issued from'],
  [/\b(?:give|gives|given|giving) back\b/, 'refund, return'],
  [/\bleft of\b/, 'refundable'],
  [/\b(?:kept answers?|keep answers?)\b/, 'stored response'],
  [/\b(?:judges?|judged|judging)\b/, 'check, validate'],
  [/\b(?:mends?|mended|mending)\b/, 'fix'],
  [/\bengines?\b/, 'Temporal, local services'],
  [/\bglanc(?:e|es|ed|ing)\b/, 'check'],
  [/\bpatience\b/, 'timeout'],
]
/** The directory of downloaded programs keeps its name, as do events, languages and other products. */
const ALLOWED = /'engines'|Docker engine|RulesEngine|allSettled|balance-transaction-settled|settlementTime/g

function privateWords(text: string): string[] {
  const words = text
    .replaceAll(ALLOWED, '')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
  return PRIVATE.flatMap(([word, instead]) => {
    const found = word.exec(words)
    return found === null ? [] : [`"${found[0]}": say ${instead}`]
  })
}

test.each(['/** Settled by then. */', 'const lockedForGiveBack = 1', 'settled_through', 'a ring of timers'])(
  'finds one in %s',
  (text) => {
    expect(privateWords(text)).toHaveLength(1)
  },
)

test('finds none in words that only look alike', () => {
  expect(privateWords('strings, bringing, unsettling-free spring; given background')).toEqual([])
})

/** They list such words themselves. */
const LISTS = ['test/structure/words.test.ts', 'test/docs/public-texts.test.ts']

test('no source file has one', () => {
  const ours = readSources().filter(({ path }) => !LISTS.includes(path))
  expect(ours.length).toBeGreaterThan(300)
  expect(
    ours.flatMap(({ path }) =>
      privateWords(readFileSync(join(ROOT, path), 'utf8')).map((word) => `${path}: ${word}`),
    ),
  ).toEqual([])
})

test('no document has one', () => {
  const documents = [
    'README.md',
    'CONTRIBUTING.md',
    ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md') && path !== 'glossary.md')
      .map((path) => join('docs', path)),
  ]
  expect(
    documents.flatMap((path) =>
      privateWords(readFileSync(join(ROOT, path), 'utf8')).map((word) => `${path}: ${word}`),
    ),
  ).toEqual([])
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { parseSync } from '@swc/core'
import { ROOT, readSources } from './import-graph.ts'

const sources = () =>
  readSources().filter(
    ({ path }) =>
      /^(access|api|activities|billing|cli|commands|db|delivery|events|gateways|ops|representations|taxes|wallets|worker)\//.test(
        path,
      ) && !path.startsWith('db/migrations/'),
  )

test('only db/statement.ts runs SQL text; the migrations, and the lock around them, have a way of their own', () => {
  // `db/exchange.ts` has the protocol's message of that name.
  const ways = ['db/orm.ts', 'db/statement.ts', 'db/exchange.ts']
  const others = sources().filter(({ path }) => !ways.includes(path))
  expect(others.length).toBeGreaterThan(100)
  expect(
    others
      .filter(({ path }) => /\.execute\s*[<(]/.test(readFileSync(join(ROOT, path), 'utf8')))
      .map(({ path }) => path),
  ).toEqual([])
})

test('every prepared statement is given a name of its own where it is run', () => {
  const names = sources().flatMap(({ path }) => statementNames(readFileSync(join(ROOT, path), 'utf8')))
  expect(names.length).toBeGreaterThan(40)
  // `*` stands for the names of tables.
  for (const name of names) expect(name).toMatch(/^[a-z]+(-[a-z]+)*(-?\*)*(-[a-z]+-\*)?$/)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

interface Node {
  readonly type?: string
  readonly value?: unknown
}

function statementNames(source: string): string[] {
  const names: string[] = []
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return
    const {
      type,
      callee,
      arguments: given,
    } = node as Node & { callee?: Node; arguments?: { expression: Node }[] }
    if (type === 'CallExpression' && callee?.type === 'Identifier' && callee.value === 'statement') {
      names.push(nameOf(given?.[1]?.expression))
    }
    for (const child of Object.values(node)) visit(child)
  }
  visit(parseSync(source, { syntax: 'typescript', target: 'es2024' }))
  return names
}

function nameOf(node: Node | undefined): string {
  if (node?.type === 'StringLiteral') return String(node.value)
  const { quasis } = (node ?? {}) as { quasis?: { cooked: string }[] }
  return quasis?.map(({ cooked }) => cooked).join('*') ?? 'a name that is not given at the call'
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { ROOT, readSources } from './import-graph.ts'

const HOME = 'billing/money.ts'
/** What makes a binary fraction of an amount or a price. */
const INEXACT =
  /\b(?:Number|parseFloat|Number\.parseFloat)\([^)]*(?:[aA]mount(?:Due)?|[pP]rice)\b|\.toNumber\(/

describe('amounts', () => {
  const ours = readSources().filter(({ path }) => !/^(?:test|bench)\//.test(path) && path !== HOME)

  test('are computed with by one type', () => {
    const others = ours.filter(({ references }) =>
      references.some(({ specifier }) => /^(?:decimal\.js|big\.js|bignumber\.js)/.test(specifier)),
    )
    expect(others.map(({ path }) => path)).toEqual([])
  })

  test('become numbers nowhere but in money.ts', () => {
    const inexact = ours.filter(({ path }) => INEXACT.test(readFileSync(join(ROOT, path), 'utf8')))
    expect(inexact.map(({ path }) => path)).toEqual([])
    expect('amount: Number(invoice.amountDue)').toMatch(INEXACT)
    expect('due.toNumber()').toMatch(INEXACT)
  })
})

/** SQL of our own goes one way: values bound by PostgreSQL, never spliced into the text. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { ROOT, readSources } from './import-graph.ts'

test('only db/statement.ts runs SQL text; the migrations, and the lock around them, have a way of their own', () => {
  const others = readSources()
    .filter(({ path }) => /^(api|activities|billing|db|delivery|worker)\//.test(path))
    .filter(
      ({ path }) => !path.startsWith('db/migrations/') && path !== 'db/orm.ts' && path !== 'db/statement.ts',
    )
  expect(others.length).toBeGreaterThan(100)
  expect(
    others
      .filter(({ path }) => /\.execute\s*[<(]/.test(readFileSync(join(ROOT, path), 'utf8')))
      .map(({ path }) => path),
  ).toEqual([])
})

import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

const FOLDER = fileURLToPath(new URL('../../docs/adr', import.meta.url))
const records = globSync('0*.md', { cwd: FOLDER }).toSorted()
const text = (record: string): string => readFileSync(join(FOLDER, record), 'utf8')

test.each(records)('%s has the form of a decision record', (record) => {
  expect(text(record)).toMatch(
    /^# .+\n\n- Status: (accepted|replaced by \d+)\n- Date: \d{4}-\d\d-\d\d\n\n## Context\n/,
  )
  const headings = [...text(record).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual(['Context', 'Decision', 'Alternatives', 'Drawbacks'])
})

test('the index lists every record with its title and date', () => {
  const rows = [...readFileSync(join(FOLDER, 'README.md'), 'utf8').matchAll(/^\| \d+ \|.*$/gm)].map(
    ([row]) => row,
  )
  const wanted = records.map((record) => {
    const [, title] = /^# (.+)$/m.exec(text(record)) ?? []
    const [, date] = /^- Date: (.+)$/m.exec(text(record)) ?? []
    return `| ${Number(basename(record).slice(0, 4))} | [${title}](${record}) | ${date} |`
  })
  expect(rows).toEqual(wanted)
})

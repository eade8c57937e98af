import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { FAILURE_REASONS } from '../../delivery/sender.ts'
import { createMetrics } from '../../ops/metrics.ts'
import { WORKFLOW_NAMES } from '../../workflows/contract.ts'

const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split(/ ?\| ?/).slice(1, -1))
const registered = createMetrics().registry.getMetricsAsArray() as unknown as {
  name: string
  type: string
  labelNames: readonly string[]
}[]
const isOfNode = ({ name }: { name: string }) => /^(?:process|nodejs)_/.test(name)

test('docs/metrics.md lists the metrics that the code registers, with type and labels, and no other', () => {
  expect(rows.map(([name, type, labels]) => [name, type, labels])).toEqual(
    registered
      .filter((metric) => !isOfNode(metric))
      .map(({ name, type, labelNames }) => [
        `\`${name}\``,
        type,
        labelNames.map((label) => `\`${label}\``).join(', '),
      ]),
  )
  expect(rows.filter(([, , , meaning = '']) => !/^[A-Z].*\.$/.test(meaning))).toEqual([])
})

test('docs/metrics.md names every workflow, and every reason of a failed attempt', () => {
  const named = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name)
  expect(named(/^`workflow` is .*$/m.exec(page)?.[0] ?? '')).toEqual(['workflow', ...WORKFLOW_NAMES])
  const [, , , meaning = ''] = rows.find(([name]) => name === '`billing_webhook_attempts_total`') ?? []
  expect(named(meaning)).toEqual(['outcome', 'delivered', ...FAILURE_REASONS])
})

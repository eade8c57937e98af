import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { EMITTED_EVENTS, EVENT_TYPES } from '../../billing/event-types.ts'
import { eventsPage } from '../../dev/docs/events-page.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('docs/events.md is up to date; npm run docs:events writes it', () => {
  expect(readFileSync(join(ROOT, 'docs/events.md'), 'utf8')).toBe(eventsPage())
})

test('the emitted events are the types that the code names', () => {
  const named = new Set(
    globSync('{billing,events,commands,activities,worker,api/operations}/**/*.ts', { cwd: ROOT })
      .filter((file) => file !== 'billing/event-types.ts')
      .flatMap((file) => [...readFileSync(join(ROOT, file), 'utf8').matchAll(/'([a-z]+(?:-[a-z]+)+)'/g)])
      .map(([, text]) => text),
  )
  expect(EMITTED_EVENTS.map(({ type }) => type).toSorted()).toEqual(
    EVENT_TYPES.filter((type) => named.has(type)).toSorted(),
  )
})

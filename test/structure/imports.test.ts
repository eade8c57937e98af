import { describe, expect, test } from '@jest/globals'
import { inspect, readSources, type SourceFile, targetOf } from './import-graph.ts'

interface Rule {
  /** Folders (with a slash) and files of ours that it may import, besides its own folder. */
  readonly imports: readonly string[] | 'anything'
  readonly types?: readonly string[]
  /** Absent: any. */
  readonly packages?: readonly string[]
}

const CONTRACT = 'workflows/contract.ts'

/** Imports point one way; what is not said here is refused. */
const RULES: Readonly<Record<string, Rule>> = {
  billing: { imports: [] },
  access: { imports: ['billing/'] },
  config: { imports: ['package.json', 'billing/id-format.ts'] },
  workflows: { imports: [], packages: ['@temporalio/workflow', '@temporalio/common'] },
  gateways: { imports: ['billing/'] },
  taxes: { imports: ['billing/'] },
  documents: { imports: ['billing/'] },
  ops: { imports: ['config/'] },
  db: { imports: ['billing/', 'access/', 'config/', CONTRACT] },
  representations: { imports: ['db/', 'billing/', 'access/'] },
  events: { imports: ['representations/', 'db/', 'billing/'] },
  delivery: { imports: ['db/', 'billing/', 'config/'] },
  wallets: { imports: ['delivery/', 'config/'] },
  commands: {
    imports: [
      'delivery/',
      'events/',
      'representations/',
      'db/',
      'taxes/',
      'billing/',
      'access/',
      'config/',
      CONTRACT,
    ],
    types: ['gateways/port.ts', 'gateways/movement.ts', 'gateways/accounts.ts', 'gateways/notifications.ts'],
  },
  activities: {
    imports: ['commands/', 'delivery/', 'gateways/', 'events/', 'db/', 'billing/', 'config/', CONTRACT],
    types: ['workflows/workflows.ts'],
  },
  api: {
    imports: [
      'commands/',
      'delivery/',
      'gateways/',
      'wallets/',
      'documents/',
      'events/',
      'representations/',
      'db/',
      'billing/',
      'access/',
      'config/',
      'ops/',
      CONTRACT,
    ],
  },
  worker: {
    imports: [
      'activities/',
      'commands/',
      'delivery/',
      'gateways/',
      'db/',
      'billing/',
      'config/',
      'ops/',
      'workflows/',
    ],
  },
  cli: { imports: ['commands/', 'delivery/', 'db/', 'billing/', 'config/', CONTRACT] },
  dev: { imports: 'anything' },
  bench: { imports: 'anything' },
  test: { imports: 'anything' },
}

const MAY_READ_ENVIRONMENT = /^(?:config\/|dev\/|bench\/|cli\/|test\/|\w+\/main\.ts$)/
const WITHOUT_CLOCK =
  /^(?:billing|access|documents|taxes|db|representations|events|commands|delivery|activities|gateways|wallets)\//

describe('the source files', () => {
  const sources = readSources()

  test('import in one direction', () => {
    expect(sources.length).toBeGreaterThan(100)
    expect(sources.flatMap(wrongImports)).toEqual([])
  })

  test('import no file that is not there', () => {
    const paths = new Set([...sources.map(({ path }) => path), 'package.json'])
    const missing = sources.flatMap((source) =>
      source.references
        .filter(({ kind }) => kind !== 'file')
        .map((reference) => targetOf(source.path, reference))
        .filter((target) => target !== null && !paths.has(target) && !target.startsWith('node_modules/'))
        .map((target) => `${source.path} imports ${target}, which does not exist`),
    )
    expect(missing).toEqual([])
  })

  test('leave the contract with Temporal free of imports', () => {
    expect(sources.find(({ path }) => path === CONTRACT)?.references).toEqual([])
  })

  test('do not import each other in a circle', () => {
    expect(circles(sources)).toEqual([])
  })

  test('read the environment at the edge only', () => {
    expect(environmentReaders(sources)).toEqual([])
  })

  test('take the instant as an argument below the edge', () => {
    expect(clockReaders(sources)).toEqual([])
  })
})

describe('the check of the source files', () => {
  const check = (path: string, text: string) => wrongImports(inspect(path, text))

  test.each([
    ['billing/money.ts', `import { p } from '../db/new-id.ts'`],
    ['billing/money.ts', `import type { Config } from '../config/config.ts'`],
    ['workflows/follow.ts', `import { setTimeout } from 'node:timers'`],
    ['workflows/follow.ts', `export * from '../db/new-id.ts'`],
    ['db/orm.ts', `const { follow } = await import('../workflows/follow.ts')`],
    ['api/server.ts', `import { startWorker } from '../worker/worker.ts'`],
    ['api/operations/plans.ts', `import { startReceiver } from '../../test/support/receiver.ts'`],
    ['activities/activities.ts', `import { subscription } from '../workflows/workflows.ts'`],
    ['worker/worker.ts', `import { demo } from '../dev/demo.ts'`],
    ['somewhere/else.ts', `import { demo } from '../dev/demo.ts'`],
  ])('refuses in %s: %s', (path, text) => {
    expect(check(path, text)).toHaveLength(1)
  })

  test.each([
    ['billing/periods.ts', `import { addDuration } from './durations.ts'`],
    ['billing/money.ts', `import { Decimal } from 'decimal.js'`],
    ['workflows/follow.ts', `import { condition } from '@temporalio/workflow'`],
    ['db/unit-of-work.ts', `import type { WorkflowName } from '../workflows/contract.ts'`],
    ['activities/activities.ts', `import type { Activities } from '../workflows/workflows.ts'`],
    ['billing/money.ts', `// import { p } from '../db/new-id.ts'\nconst text = "from '../db/new-id.ts'"`],
    ['bench/main.ts', `import { startReceiver } from '../test/support/receiver.ts'`],
  ])('takes in %s: %s', (path, text) => {
    expect(check(path, text)).toEqual([])
  })

  test('finds a circle of any length, also where a type closes it', () => {
    const file = (name: string, text: string) => inspect(`billing/${name}.ts`, text)
    expect(
      circles([
        file('a', `import { b } from './b.ts'`),
        file('b', `import { c } from './c.ts'`),
        file('c', `export { a } from './a.ts'`),
      ]),
    ).toEqual(['billing/a.ts → billing/b.ts → billing/c.ts → billing/a.ts'])
    expect(
      circles([file('a', `import { b } from './b.ts'`), file('b', `import type { A } from './a.ts'`)]),
    ).toEqual(['billing/a.ts → billing/b.ts → billing/a.ts'])
  })

  test.each([
    'export const url = process.env.DATABASE_URL',
    `export const url = process['env'].DATABASE_URL`,
    'const { env } = process',
    `import { env } from 'node:process'`,
  ])('finds the environment in: %s', (text) => {
    expect(environmentReaders([inspect('db/orm.ts', text)])).toHaveLength(1)
    expect(environmentReaders([inspect('worker/main.ts', text)])).toEqual([])
  })

  test.each(['new Date()', 'Date.now()', 'Date()', 'Temporal.Now.instant()'])(
    'finds the clock in: %s',
    (text) => {
      expect(clockReaders([inspect('billing/periods.ts', text)])).toHaveLength(1)
      expect(clockReaders([inspect('api/server.ts', text)])).toEqual([])
    },
  )

  test('does not take a date made from a number for the clock', () => {
    expect(
      clockReaders([inspect('billing/periods.ts', 'new Date(0); Date.UTC(2026, 0); Date.parse("")')]),
    ).toEqual([])
  })
})

function wrongImports(source: SourceFile): string[] {
  const folder = source.path.slice(0, source.path.indexOf('/'))
  const rule = RULES[folder]
  if (rule === undefined)
    return [`${folder}/ has no rule for its imports: say in test/structure/imports.test.ts what they may be`]
  return source.references.flatMap((reference) => {
    const target = targetOf(source.path, reference)
    if (target === null) {
      const allowed = rule.packages === undefined || rule.packages.includes(reference.specifier)
      return allowed
        ? []
        : [`${source.path} imports ${reference.specifier}; ${folder}/ may only import ${rule.packages}`]
    }
    if (rule.imports === 'anything') return []
    const permitted = [
      `${folder}/`,
      ...rule.imports,
      ...(reference.kind === 'type' ? (rule.types ?? []) : []),
    ].some((place) => (place.endsWith('/') ? target.startsWith(place) : target === place))
    return permitted ? [] : [`${source.path} imports ${target}, and ${folder}/ may not`]
  })
}

function environmentReaders(sources: readonly SourceFile[]): string[] {
  return sources
    .filter(({ path, readsEnvironment }) => readsEnvironment && !MAY_READ_ENVIRONMENT.test(path))
    .map(({ path }) => `${path} reads process.env: take a value of config/config.ts instead`)
}

function clockReaders(sources: readonly SourceFile[]): string[] {
  return sources
    .filter(({ path, readsClock }) => readsClock && WITHOUT_CLOCK.test(path))
    .map(({ path }) => `${path} reads the clock: take the instant as an argument`)
}

/** Circles of imports, of types too, each once, beginning with its first file by name. */
function circles(sources: readonly SourceFile[]): string[] {
  const imports = new Map(
    sources.map((source) => [
      source.path,
      source.references
        .filter(({ kind }) => kind !== 'file')
        .flatMap((reference) => targetOf(source.path, reference) ?? []),
    ]),
  )
  const found = new Set<string>()
  const done = new Set<string>()
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start >= 0) {
      const circle = trail.slice(start)
      const first = circle.indexOf(circle.toSorted()[0] ?? path)
      const turned = [...circle.slice(first), ...circle.slice(0, first)]
      found.add([...turned, turned[0]].join(' → '))
    } else if (!done.has(path)) {
      for (const target of imports.get(path) ?? []) walk(target, [...trail, path])
      done.add(path)
    }
  }
  for (const path of imports.keys()) walk(path, [])
  return [...found]
}

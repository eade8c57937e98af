/** The parts that the service is to be built of, and no other parts for the same job. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { ROOT, reachableFrom, readSources } from './import-graph.ts'

const sources = readSources()
const inService = reachableFrom(['api/main.ts', 'worker/main.ts', 'cli/migrate.ts'], sources)
const { dependencies, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>
  scripts: Record<string, string>
}

/** Files that the service loads and that import a package, or a part of it, beyond types. */
const importersOf = (name: string): string[] =>
  sources
    .filter(({ path }) => inService.has(path))
    .filter(({ references }) =>
      references.some(
        ({ specifier, kind }) =>
          kind === 'import' && (specifier === name || specifier.startsWith(`${name}/`)),
      ),
    )
    .map(({ path }) => path)

const JOBS: Readonly<Record<string, { readonly by: string; readonly not: readonly string[] }>> = {
  HTTP: { by: 'koa', not: ['express', 'fastify', 'hapi', '@hapi/hapi', 'restify', 'hono', '@nestjs/core'] },
  records: {
    by: '@mikro-orm/postgresql',
    not: ['typeorm', 'sequelize', 'prisma', '@prisma/client', 'knex', 'drizzle-orm', 'mongoose'],
  },
  time: {
    by: '@temporalio/workflow',
    not: ['bull', 'bullmq', 'agenda', 'pg-boss', 'graphile-worker', 'node-cron', 'cron', 'node-schedule'],
  },
}

describe('the service is built of the parts of its design:', () => {
  test.each(Object.entries(JOBS))('%s by one package, and by no other of its kind', (_, { by, not }) => {
    expect(Object.keys(dependencies)).toContain(by)
    expect(Object.keys(dependencies).filter((name) => not.includes(name))).toEqual([])
  })

  test('everything is TypeScript that runs as it stands, but for what sets up a fresh clone', () => {
    const others = sources.filter(({ path }) => inService.has(path) && !path.endsWith('.ts'))
    expect(others.map(({ path }) => path)).toEqual([])
    expect(scripts.api).toContain('api/main.ts')
    expect(scripts.worker).toContain('worker/main.ts')
    expect(Object.keys(scripts)).not.toContain('build')
  })

  test('requests come in through Koa: the API has no other server', () => {
    expect(importersOf('koa')).toContain('api/server.ts')
    const servers = ['node:http', 'node:https', 'node:http2'].flatMap(importersOf)
    expect(servers.filter((path) => path.startsWith('api/'))).toEqual(['api/server.ts'])
  })

  test('records are entities of MikroORM, one file each', () => {
    const entities = sources.filter(
      ({ path }) => path.startsWith('db/entities/') && !/\/(?:index|columns)\.ts$/.test(path),
    )
    expect(entities.length).toBeGreaterThan(15)
    for (const { path, references } of entities) {
      expect({ path, imports: references.map(({ specifier }) => specifier) }).toEqual({
        path,
        imports: expect.arrayContaining(['@mikro-orm/core']),
      })
    }
  })

  test('deadlines are workflows of Temporal', () => {
    expect(importersOf('@temporalio/worker').length).toBeGreaterThan(0)
    const workflows = sources.filter(({ references }) =>
      references.some(({ specifier }) => specifier === '@temporalio/workflow'),
    )
    const elsewhere = workflows.filter(({ path }) => !/^(workflows|bench)\//.test(path))
    expect(elsewhere.map(({ path }) => path)).toEqual([])
    expect(workflows.length).toBeGreaterThan(0)
  })

  test('tests run under Jest', () => {
    expect(scripts.test).toContain('jest')
  })
})

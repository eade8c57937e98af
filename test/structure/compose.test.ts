/** Compared with the sources that they package; no container runs here. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { SETTINGS } from '../../config/config.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { troubleInShell } from '../support/shell-block.ts'
import { ROOT, reachableFrom, readSources } from './import-graph.ts'

interface Service {
  readonly image?: string
  readonly build?: string
  readonly command?: readonly string[]
  readonly entrypoint?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly stop_grace_period?: string
  readonly restart?: string
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const MAINS = { api: 'api/main.ts', worker: 'worker/main.ts', migrate: 'cli/migrate.ts' } as const
const PASSWORDS = ['POSTGRES', 'OWNER', 'API', 'WORKER', 'TEMPORAL'].map((name) => `${name}_PASSWORD`)
const COMMAND = 'cli/create-organization.ts'

describe('the compose file', () => {
  const { services } = parseCompose(read('docker-compose.yml'))
  const ours = Object.entries(services).filter(([, { build }]) => build !== undefined)

  test('has the local services, their one-shot jobs and the processes of the service', () => {
    expect(Object.keys(services).sort()).toEqual([
      'api',
      'migrate',
      'postgres',
      'postgres-roles',
      'temporal',
      'temporal-namespace',
      'temporal-schema',
      'temporal-ui',
      'worker',
    ])
    expect(services.postgres?.image).toMatch(/^postgres:18\./)
    expect(services.temporal?.image).toBe('temporalio/server:1.32.1')
    expect(services['temporal-schema']?.image).toBe('temporalio/admin-tools:1.32.1')
  })

  test('checks the health of every service, or waits for its success', () => {
    expect(unwatched(services)).toEqual([])
  })

  test('depends on services that are there, under a condition that they can meet', () => {
    expect(brokenDependencies(services)).toEqual([])
  })

  test('opens ports on the loopback address only', () => {
    expect(openPorts(services)).toEqual([])
    expect(Object.values(services).flatMap(({ ports }) => ports ?? [])).not.toEqual([])
  })

  test('holds no secret, and says which one is missing', () => {
    expect(literalSecrets(services)).toEqual([])
    for (const name of ['MASTER_KEY', ...PASSWORDS]) {
      const uses = read('docker-compose.yml').match(new RegExp(`\\$\\{${name}[^}]*\\}`, 'g')) ?? []
      expect(uses.length).toBeGreaterThan(0)
      expect(uses.filter((use) => !new RegExp(`^\\$\\{${name}:\\?.{20,}\\}$`).test(use))).toEqual([])
    }
  })

  describe('documents lines for new secrets', () => {
    const lines =
      read('docker-compose.yml').match(/(?:^# {3}.*\n)*^# {3}.*openssl rand.*\n(?:^# {3}.*\n)*/m)?.[0] ?? ''
    const command = lines.replaceAll(/^# {3}/gm, '')
    const folder = mkdtempSync(join(tmpdir(), 'secrets-'))
    const run = () =>
      spawnSync('bash', ['-c', `umask 022\n${command}\ntouch other`], { cwd: folder, encoding: 'utf8' })
    const env = join(folder, '.env')

    afterAll(() => rmSync(folder, { recursive: true }))

    test('which only their owner may read, and which no second run replaces', () => {
      expect(run()).toMatchObject({ status: 0, stderr: '' })
      const text = readFileSync(env, 'utf8')
      const names = [...text.matchAll(/^(\w+)=\S{44,48}$/gm)].map(([, name]) => name)
      expect(names).toEqual([...PASSWORDS, 'MASTER_KEY'])
      expect(statSync(env).mode & 0o777).toBe(0o600)
      expect(run().stderr).toContain('.env')
      expect(readFileSync(env, 'utf8')).toBe(text)
    })

    test('and which leave the shell as it was', () => {
      expect(troubleInShell(command)).toEqual([])
      expect(statSync(join(folder, 'other')).mode & 0o777).toBe(0o644)
      expect(
        spawnSync('bash', ['-c', `${command}\necho $-`], { cwd: folder, encoding: 'utf8' }).stdout,
      ).not.toContain('C')
    })

    test('which are neither committed nor sent to a build', () => {
      expect(read('.gitignore').split('\n')).toContain('.env')
      expect(read('.dockerignore').split('\n')).not.toContain('!.env')
    })
  })

  test('lets nothing but the set-up of the roles work as the superuser', () => {
    const users = Object.entries(services).flatMap(([name, { environment = {} }]) => {
      const { DATABASE_URL: url, SQL_USER, POSTGRES_USER, PGUSER } = environment
      const login = url === undefined ? undefined : /\/\/(\w+):/.exec(url)?.[1]
      return [login, SQL_USER, POSTGRES_USER, PGUSER].flatMap((user) =>
        user === undefined ? [] : [[name, user]],
      )
    })
    expect(Object.fromEntries(users)).toEqual({
      'postgres-roles': 'postgres',
      'temporal-schema': 'temporal',
      temporal: 'temporal',
      migrate: 'billing_owner',
      api: 'api',
      worker: 'worker',
    })
  })

  test('pins the images it does not build', () => {
    expect(
      unpinned(Object.values(services).flatMap(({ image, build }) => (build === undefined ? [image] : []))),
    ).toEqual([])
  })

  test('runs one image, by commands that are npm scripts too', () => {
    expect(new Set(ours.map(([, { image, build }]) => `${image} ${build}`)).size).toBe(1)
    const commands = Object.fromEntries(ours.map(([name, { command }]) => [name, command?.join(' ')]))
    // npm's shell makes way for the process, so that signals reach it; a container has no shell in between.
    const script = (name: keyof typeof MAINS) => packageFile.scripts[name]?.replace(/^exec /, '')
    expect(commands).toEqual({ api: script('api'), worker: script('worker'), migrate: script('migrate') })
    for (const [name, main] of Object.entries(MAINS)) {
      expect(commands[name]).toBe(`node ${main}`)
      expect(existsSync(join(ROOT, main))).toBe(true)
    }
  })

  test('mounts files that are there', () => {
    const mounted = Object.values(services).flatMap(({ volumes }) =>
      (volumes ?? []).filter((volume) => volume.startsWith('.')).map((volume) => volume.split(':')[0] ?? ''),
    )
    expect(mounted).toEqual(expect.arrayContaining(['./deploy/postgres', './deploy/temporal']))
    expect(mounted.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    const scripts = Object.values(services).flatMap(({ entrypoint, volumes }) => {
      const [folder = ''] = volumes?.find((volume) => volume.includes(':/scripts:'))?.split(':') ?? []
      return (entrypoint ?? [])
        .filter((word) => word.startsWith('/scripts/'))
        .map((word) => word.replace('/scripts', folder))
    })
    expect(scripts).toHaveLength(3)
    for (const script of scripts) expect(read(script)).toMatch(/^#!\/bin\/sh\n(?:#.*\n)*set -eu\n/)
  })

  test('sets only variables that the service knows', () => {
    const known = new Set(SETTINGS.map(({ name }) => name))
    const unknown = ours.flatMap(([service, { environment }]) =>
      Object.keys(environment ?? {})
        .filter((name) => !known.has(name))
        .map((name) => `${service}: ${name}`),
    )
    expect(unknown).toEqual([])
  })

  test('gives requests and activities under way time to finish', () => {
    expect([services.api, services.worker].map((service) => service?.stop_grace_period)).toEqual([
      '60s',
      '60s',
    ])
  })

  test("lets the sandbox's clock skip time, and dispatches the tasks of organizations in turn", () => {
    const file = services.temporal?.environment?.DYNAMIC_CONFIG_FILE_PATH ?? ''
    // The folder: a mounted file stays the old one after an upgrade has replaced it.
    expect(services.temporal?.volumes).toContain(`./deploy/temporal:${dirname(file)}:ro`)
    expect(basename(file)).toBe('dynamic-config.yaml')
    const settings: unknown = parse(read('deploy/temporal/dynamic-config.yaml'))
    expect(settings).toMatchObject({
      'frontend.WorkflowTimeSkippingEnabled': [{ value: true }],
      'matching.enableFairness': [{ value: true }],
    })
  })
})

describe('the Dockerfile', () => {
  const stages = parseDockerfile(read('Dockerfile'))
  const last = stages.at(-1)
  const sources = readSources()
  const commands = sources.map(({ path }) => path).filter((path) => path.startsWith('cli/'))
  const reached = [...reachableFrom([...Object.values(MAINS), ...commands, COMMAND], sources)]
  const copied = (last?.instructions ?? []).flatMap(({ keyword, text }) =>
    keyword === 'COPY' && !text.startsWith('--from') ? text.split(/\s+/).slice(0, -1) : [],
  )

  test('copies every folder that the processes load, and no other', () => {
    const folders = reached.map((path) => path.split('/')[0] ?? path)
    expect(copied.toSorted()).toEqual([...new Set([...folders, 'package.json'])].toSorted())
    expect(copied.filter((path) => ['dev', 'test', 'bench'].includes(path))).toEqual([])
    expect(packageFile.scripts['organization:create']).toBe(`node ${COMMAND}`)
  })

  test('sends the copied files to the build, and nothing else', () => {
    const lines = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(lines[0]).toBe('*')
    expect(lines.slice(1).toSorted()).toEqual(
      [...copied, 'package-lock.json'].map((path) => `!${path}`).toSorted(),
    )
  })

  test('installs every package that the processes load', () => {
    const packages = sources
      .filter(({ path }) => reached.includes(path))
      .flatMap(({ references }) => references)
      .filter(({ specifier, kind }) => kind === 'import' && !/^(?:\.|node:)/.test(specifier))
      .map(({ specifier }) => (/^@[^/]+\/[^/]+|^[^/]+/.exec(specifier) ?? [''])[0])
    const installed = Object.keys(packageFile.dependencies)
    expect(installed.length).toBeGreaterThan(0)
    expect([...new Set(packages)].filter((name) => !installed.includes(name))).toEqual([])
  })

  test('pins the image it starts from', () => {
    const names = new Set(stages.map(({ name }) => name))
    const bases = stages.map(({ base }) => base).filter((base) => !names.has(base))
    expect(bases).toEqual([expect.stringMatching(/^node:24\.\d+\.\d+-.*slim$/)])
    expect(unpinned(bases)).toEqual([])
  })

  test('runs as a user without privileges', () => {
    const user = last?.instructions.findLast(({ keyword }) => keyword === 'USER')
    expect(user?.text).toBe('node')
  })

  test('starts the API unless told otherwise', () => {
    const command = last?.instructions.findLast(({ keyword }) => keyword === 'CMD')
    expect(JSON.parse(command?.text ?? '[]')).toEqual(['node', MAINS.api])
  })
})

describe('the check of the compose file', () => {
  const { services } = parseCompose(`
services:
  database: {image: 'postgres', environment: {POSTGRES_PASSWORD: changeme}, ports: ['5432:5432']}
  job: {image: 'tools:latest', depends_on: {database: {condition: service_healthy}}}
  app:
    build: .
    environment: {DATABASE_URL: 'postgres://app:hunter2@database/app', MASTER_KEY: '\${MASTER_KEY:-c2VjcmV0}'}
    ports: ['127.0.0.1:3000:3000', '0.0.0.0:3001:3001']
    healthcheck: {test: [CMD, 'true']}
    depends_on: {cache: {condition: service_started}}
`)

  test('finds what nothing watches', () => {
    expect(unwatched(services)).toEqual([
      'database has no health check, and nothing waits for its success',
      'job has no health check, and nothing waits for its success',
    ])
  })

  test('finds dependencies that cannot be met', () => {
    expect(brokenDependencies(services)).toEqual([
      'job waits for the health of database, which has no health check',
      'app waits for cache, which is not there',
    ])
  })

  test('finds ports that are open to the network', () => {
    expect(openPorts(services)).toEqual(['database: 5432:5432', 'app: 0.0.0.0:3001:3001'])
  })

  test('finds secrets and defaults of secrets', () => {
    expect(literalSecrets(services)).toEqual([
      'database: POSTGRES_PASSWORD',
      'app: DATABASE_URL',
      'app: MASTER_KEY',
    ])
  })

  test('finds images without a version', () => {
    const images = Object.values(services).flatMap(({ image }) => (image === undefined ? [] : [image]))
    expect(unpinned([...images, 'postgres:18.3'])).toEqual(['postgres', 'tools:latest'])
  })
})

function parseCompose(text: string): Compose {
  return parse(text, { merge: true }) as Compose
}

interface Stage {
  readonly base: string
  readonly name: string
  readonly instructions: readonly { readonly keyword: string; readonly text: string }[]
}

function parseDockerfile(text: string): Stage[] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const stages: { base: string; name: string; instructions: { keyword: string; text: string }[] }[] = []
  for (const line of lines) {
    const [, keyword = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? []
    if (keyword === 'FROM') {
      const [base = '', , name = ''] = rest.split(/\s+/)
      stages.push({ base, name, instructions: [] })
    } else {
      stages.at(-1)?.instructions.push({ keyword, text: rest })
    }
  }
  return stages
}

type Services = Compose['services']

/** Services that could fail without anyone noticing. */
function unwatched(services: Services): string[] {
  const awaited = new Set(
    Object.values(services).flatMap(({ depends_on }) =>
      Object.entries(depends_on ?? {})
        .filter(([, { condition }]) => condition === 'service_completed_successfully')
        .map(([name]) => name),
    ),
  )
  return Object.entries(services)
    .filter(([name, { healthcheck }]) => healthcheck === undefined && !awaited.has(name))
    .map(([name]) => `${name} has no health check, and nothing waits for its success`)
}

function brokenDependencies(services: Services): string[] {
  return Object.entries(services).flatMap(([name, { depends_on }]) =>
    Object.entries(depends_on ?? {}).flatMap(([other, { condition }]) => {
      const target = services[other]
      if (target === undefined) return [`${name} waits for ${other}, which is not there`]
      if (condition === 'service_healthy' && target.healthcheck === undefined)
        return [`${name} waits for the health of ${other}, which has no health check`]
      if (condition === 'service_completed_successfully' && target.restart !== 'no')
        return [`${name} waits for the end of ${other}, which is started again`]
      return []
    }),
  )
}

function openPorts(services: Services): string[] {
  return Object.entries(services).flatMap(([name, { ports }]) =>
    (ports ?? []).filter((port) => !String(port).startsWith('127.0.0.1:')).map((port) => `${name}: ${port}`),
  )
}

/** Variables that are secrets by name, or addresses with a password, and are not from the environment. */
function literalSecrets(services: Services): string[] {
  return Object.entries(services).flatMap(([service, { environment }]) =>
    Object.entries(environment ?? {})
      .filter(([name, value]) => {
        const password = /:\/\/[^:/@]*:(.*)@/.exec(value)?.[1]
        if (password !== undefined) return !isGiven(password)
        return /PASSWORD|PWD|SECRET|TOKEN|KEY/.test(name) && !isGiven(value)
      })
      .map(([name]) => `${service}: ${name}`),
  )
}

function isGiven(value: string): boolean {
  return /^\$\{\w+(?::\?[^}]+|:-)\}$/.test(value)
}

function unpinned(images: readonly (string | undefined)[]): (string | undefined)[] {
  return images.filter((image) => !/^[\w./-]+:v?\d+\.\d+[\w.-]*$/.test(image ?? ''))
}

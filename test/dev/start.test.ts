import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { ulid } from 'ulid'
import { freePort } from '../../dev/services/ports.ts'
import { allProcesses } from '../../dev/services/processes.ts'
import { ensureNamespace } from '../../dev/services/temporal-namespace.ts'
import { apiClient } from '../support/api-client.ts'
import { testServices } from '../support/services.ts'
import { troubleInShell } from '../support/shell-block.ts'
import { waitFor } from '../support/wait-for.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

interface Run {
  readonly child: ChildProcess
  output(): string
  ended: Promise<number | null>
}

function run(script: string, env: Record<string, string>, args: string[] = []): Run {
  const child = spawn(process.execPath, [join(ROOT, script), ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout?.on('data', (chunk) => {
    output += chunk
  })
  child.stderr?.on('data', (chunk) => {
    output += chunk
  })
  return { child, output: () => output, ended: once(child, 'exit').then(([code]) => code as number | null) }
}

/** The guard of a service ends right after its owner. */
const everyProcessGone = (directory: string) =>
  waitFor('every process to be gone', () =>
    allProcesses().some(({ pid, command }) => pid !== process.pid && command.includes(directory))
      ? null
      : true,
  )

describe('npm start', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'billing-start-'))
  let env: Record<string, string>
  let first: Run
  let receiver: Run | null = null

  const printed = (of: Run, name: string): string =>
    new RegExp(`^${name} +(\\S+)$`, 'm').exec(of.output())?.[1] ?? ''
  const isReady = (of: Run) =>
    waitFor(
      'the line "ready"',
      () => {
        if (of.child.exitCode !== null) throw new Error(of.output())
        return /^ready http/m.test(of.output()) ? true : null
      },
      60_000,
    )

  beforeAll(async () => {
    chmodSync(dataDir, 0o755)
    const port = await freePort()
    env = {
      DATA_DIR: dataDir,
      PORT: String(port),
      OPS_PORT: String(await freePort()),
      LOCAL_TEMPORAL_PORT: String(await freePort()),
      LOCAL_TEMPORAL_UI_PORT: String(await freePort()),
      // Of somebody else's Temporal server: the one that is started here has neither keys nor TLS.
      TEMPORAL_API_KEY: 'left-in-the-shell',
    }
    first = run('dev/start.ts', env)
    await isReady(first)
  }, 90_000)
  afterAll(async () => {
    receiver?.child.kill('SIGTERM')
    await receiver?.ended
    if (first.child.exitCode === null) first.child.kill('SIGTERM')
    await first.ended
    rmSync(dataDir, { recursive: true, force: true })
  }, 60_000)

  const client = (of: Run) =>
    apiClient(`http://127.0.0.1:${env.PORT}`, printed(of, 'Organization'), {
      'SVC-APIKEY': printed(of, 'Secret key'),
    })

  test('ends its start-up with addresses, keys, a request that works as printed, and the line "ready"', async () => {
    const [, url = '', body = ''] = /^curl -sS '(\S+)' .* -d '(.*)'$/m.exec(first.output()) ?? []
    expect(url).toContain(printed(first, 'Organization'))
    const placed = await client(first).post(new URL(url).pathname, JSON.parse(body))
    expect(placed.status).toBe(201)
    await waitFor('the order to be active', async () =>
      (await client(first).get(`subscriptions/${placed.body.id}`)).body.status === 'active' ? true : null,
    )
    const pasted = /^(?:export|curl) .*$/gm
    for (const [command] of first.output().matchAll(pasted)) expect(troubleInShell(command)).toEqual([])
    expect(first.output().match(pasted)).toHaveLength(2)
    expect((await fetch(printed(first, 'Temporal UI'))).status).toBe(200)
    expect(await (await fetch(printed(first, 'Metrics'))).text()).toContain(
      'billing_http_request_duration_seconds',
    )
  }, 60_000)

  test('the receiver of the walk verifies and prints what comes, with the printed variables of any PORT', async () => {
    const port = String(await freePort())
    const [line = ''] = /^export .*$/m.exec(first.output()) ?? []
    const variables = Object.fromEntries(
      [...line.matchAll(/(\w+)='([^']*)'/g)].map(([, name, value]) => [name, value]),
    )
    const args = ['--organization', variables.ORG ?? '', '--port', port]
    const receiving = run('dev/receiver.ts', variables, args)
    receiver = receiving
    await waitFor('the receiver', () => (receiving.output().includes('receiving on') ? true : null))
    await client(first).post('webhooks', { url: `http://127.0.0.1:${port}/` })
    await client(first).post('customers', { firstName: 'Grace' })
    await waitFor('the event', () => (receiving.output().includes('customer-created') ? true : null))
    expect(receiving.output()).toContain('verified')
    expect(receiving.output()).not.toContain('DISCARDED')
  }, 60_000)

  test('a busy port is one clear message, before anything is started', async () => {
    const holder = createServer()
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
    const address = holder.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const refused = run('dev/start.ts', { ...env, DATA_DIR: `${dataDir}/other`, PORT: String(port) })
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toContain(`port ${port} is in use`)
    expect(refused.output().trim().split('\n').length).toBeLessThanOrEqual(2)
    holder.close()
  })

  test('one port for both servers is one clear message, before anything is started', async () => {
    const PORT = String(await freePort())
    const refused = run('dev/start.ts', { ...env, DATA_DIR: `${dataDir}/other`, PORT, OPS_PORT: PORT })
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toContain(`PORT and OPS_PORT are both ${PORT}`)
    expect(refused.output().trim().split('\n')).toHaveLength(2)
  })

  test.each([
    ['http://localhost:1', 'leave BASE_URL out, or set PORT to 1'],
    ['127.0.0.1:3000', 'BASE_URL must be an http:// or https:// URL'],
  ])(
    'a BASE_URL where nothing listens is one clear message, before anything is started: %s',
    async (BASE_URL, message) => {
      const refused = run('dev/start.ts', {
        ...env,
        DATA_DIR: `${dataDir}/other`,
        PORT: String(await freePort()),
        BASE_URL,
      })
      expect(await refused.ended).toBe(1)
      expect(refused.output()).toContain(message)
      expect(refused.output().trim().split('\n')).toHaveLength(2)
    },
  )

  test('with a Temporal server of its own says what it waits for, and goes on when the namespace is created', async () => {
    const { adminUrl, temporalAddress } = testServices()
    const namespace = `missing-${ulid().toLowerCase()}`
    const database = `test_${ulid().toLowerCase()}`
    const admin = new pg.Client({ connectionString: adminUrl })
    await admin.connect()
    await admin.query(`create database ${database}`)
    const waiting = run('dev/start.ts', {
      DATA_DIR: `${dataDir}/own-temporal`,
      DATABASE_URL: new URL(`/${database}`, adminUrl).href,
      TEMPORAL_ADDRESS: temporalAddress,
      TEMPORAL_NAMESPACE: namespace,
      PORT: String(await freePort()),
      OPS_PORT: String(await freePort()),
      LOG_LEVEL: 'silent',
    })
    try {
      const said = `Waiting for Temporal at ${temporalAddress}: not polling: the namespace ${namespace} does not exist`
      await waitFor('what it waits for', () => (waiting.output().includes(said) ? true : null), 60_000)
      expect(waiting.output()).not.toContain('ready http')
      await ensureNamespace({ address: temporalAddress, namespace, isHopeless: () => false })
      await isReady(waiting)
      expect(waiting.output().split('Waiting for Temporal')).toHaveLength(2)
    } finally {
      waiting.child.kill('SIGINT')
      await waiting.ended
      await admin.query(`drop database ${database} with (force)`)
      await admin.end()
    }
  }, 180_000)

  test('SIGTERM drains and leaves no process behind; a second start continues on the same data', async () => {
    const organization = printed(first, 'Organization')
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    expect(first.output().trim().endsWith('Stopped.')).toBe(true)
    await everyProcessGone(dataDir)

    const second = run('dev/start.ts', env)
    try {
      await isReady(second)
      expect(printed(second, 'Organization')).toBe(organization)
      expect(printed(second, 'Secret key')).toBe(printed(first, 'Secret key'))
    } finally {
      second.child.kill('SIGINT')
      expect(await second.ended).toBe(0)
    }
    await everyProcessGone(dataDir)
  }, 90_000)
})

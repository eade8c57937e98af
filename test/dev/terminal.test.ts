/** A start that is ended in any way ends its services too. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type IPty, spawn } from '@lydell/node-pty'
import { freePort } from '../../dev/services/ports.ts'
import { childrenOf, isRunning, processFacts, sendSignal } from '../../dev/services/processes.ts'
import { closed, opened } from '../support/open-things.ts'
import { waitFor } from '../support/wait-for.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CTRL_C = '\x03'
/** The terminal may show the Ctrl-C on the same line. */
const STOPPED = /^(?:\^C)*Stopped\.\r?$/m
const READY_WITHIN = 90_000
/** A drain, and the stop of three services, on a busy machine. */
const GONE_WITHIN = 60_000

const dataDir = mkdtempSync(join(tmpdir(), 'billing-terminal-'))
let env: Record<string, string>

interface Terminal {
  readonly pty: IPty
  /** npm, which leads the terminal's process group. */
  readonly npm: number
  output(): string
  readonly ended: Promise<number>
}

function npmStart(): Terminal {
  const pty = spawn('npm', ['start'], { cwd: ROOT, env, cols: 200 })
  opened(pty, 'npm start')
  let output = ''
  pty.onData((text) => {
    output += text
  })
  const ended = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode }) => {
      closed(pty)
      resolve(exitCode)
    })
  })
  return { pty, npm: pty.pid, output: () => output, ended }
}

const shows = (terminal: Terminal, pattern: RegExp, timeout: number): Promise<true> =>
  waitFor(
    `${pattern} in the terminal`,
    () => {
      if (pattern.test(terminal.output())) return true
      if (!isRunning(terminal.npm)) throw new Error(`npm start ended:\n${terminal.output()}`)
      return null
    },
    timeout,
  )

function services(): number[] {
  const files = ['postgres/postgres.pid', 'temporal/temporal.pid', 'temporal/temporal-ui.pid']
  return files
    .map((file) => join(dataDir, file))
    .filter(existsSync)
    .map((file) => (JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid)
    .flatMap((pid) => [pid, ...childrenOf(pid)])
}

/** Node, the child of npm or of npm's shell. */
function launcher(npm: number): number {
  const [child] = childrenOf(npm)
  if (child === undefined) throw new Error('npm has no child')
  return processFacts(child)?.command.includes('dev/start.ts') ? child : launcher(child)
}

beforeAll(async () => {
  chmodSync(dataDir, 0o755) // as root, PostgreSQL runs as another user, who has to get in
  env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    TERM: 'xterm',
    DATA_DIR: dataDir,
    PORT: String(await freePort()),
    OPS_PORT: String(await freePort()),
    LOCAL_TEMPORAL_PORT: String(await freePort()),
    LOCAL_TEMPORAL_UI_PORT: String(await freePort()),
  }
})

afterAll(() => {
  for (const pid of services()) sendSignal(pid, 'SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
})

describe('npm start in a terminal leaves nothing behind', () => {
  const gentle: [string, (terminal: Terminal) => void][] = [
    ['Ctrl-C', ({ pty }) => pty.write(CTRL_C)],
    ['Ctrl-C twice', ({ pty }) => pty.write(CTRL_C + CTRL_C)],
    ['SIGINT to the process group', ({ npm }) => sendSignal(-npm, 'SIGINT')],
    ['SIGTERM to npm', ({ npm }) => sendSignal(npm, 'SIGTERM')],
    [
      'SIGTERM to npm twice',
      ({ npm }) => {
        sendSignal(npm, 'SIGTERM')
        sendSignal(npm, 'SIGTERM')
      },
    ],
  ]
  test.each(gentle)(
    'after %s, and says "Stopped."',
    async (_name, stop) => {
      const terminal = npmStart()
      await shows(terminal, /^ready http/m, READY_WITHIN)
      const started = services()
      expect(started.length).toBeGreaterThan(3)
      stop(terminal)
      expect(await terminal.ended).toBe(0)
      expect(terminal.output()).toMatch(STOPPED)
      expect(started.filter(isRunning)).toEqual([])
    },
    READY_WITHIN + GONE_WITHIN,
  )

  test(
    'after a Ctrl-C that has come later than the first, which gives up the drain, and says "Stopped."',
    async () => {
      const terminal = npmStart()
      await shows(terminal, /^ready http/m, READY_WITHIN)
      const started = services()
      const unfinished = connect(Number(env.PORT), '127.0.0.1')
      unfinished.on('error', () => {})
      await new Promise((resolve) => unfinished.write('GET / HTTP/1.1\r\nHost: any\r\n', resolve))
      // Requests that came later have a response: the half of one has been read.
      for (let request = 0; request < 3; request += 1) {
        expect((await fetch(`http://127.0.0.1:${env.PORT}/healthz`)).status).toBe(200)
      }
      const impatience = setInterval(() => terminal.pty.write(CTRL_C), 500)
      try {
        expect(await terminal.ended).toBe(130)
      } finally {
        clearInterval(impatience)
        unfinished.destroy()
      }
      expect(terminal.output()).toMatch(STOPPED)
      expect(started.filter(isRunning)).toEqual([])
    },
    READY_WITHIN + GONE_WITHIN,
  )

  test(
    'after Ctrl-C while it is still starting, and says "Stopped."',
    async () => {
      const terminal = npmStart()
      await waitFor('PostgreSQL', () => (services().length > 0 ? true : null), READY_WITHIN)
      const started = services()
      terminal.pty.write(CTRL_C)
      await terminal.ended
      expect(terminal.output()).toMatch(STOPPED)
      expect([...started, ...services()].filter(isRunning)).toEqual([])
    },
    READY_WITHIN + GONE_WITHIN,
  )

  const hard: [string, (terminal: Terminal) => void][] = [
    ['the process is killed', ({ npm }) => sendSignal(launcher(npm), 'SIGKILL')],
    ['npm and its process group are killed', ({ npm }) => sendSignal(-npm, 'SIGKILL')],
    ['the terminal is closed', ({ pty }) => pty.kill('SIGHUP')],
  ]
  test.each(hard)(
    'after %s',
    async (_name, end) => {
      const terminal = npmStart()
      await shows(terminal, /^ready http/m, READY_WITHIN)
      const node = launcher(terminal.npm)
      const started = [node, ...services()]
      end(terminal)
      await waitFor('all to be gone', () => (started.some(isRunning) ? null : true), GONE_WITHIN)
      await terminal.ended
    },
    READY_WITHIN + GONE_WITHIN,
  )
})

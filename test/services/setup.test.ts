// The set-up step before npm start and npm test, with a stand-in for npm.
import { execFile } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const dev = fileURLToPath(new URL('../../dev', import.meta.url))
let clone: string

/** Counts its runs and leaves a node_modules with a Node, slowly enough for a second start to meet it. */
const STAND_IN = `
  import { appendFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
  if (existsSync('fail')) { console.error('no network'); process.exit(3) }
  rmSync('node_modules', { recursive: true, force: true })
  await new Promise((resolve) => setTimeout(resolve, 300))
  mkdirSync('node_modules/.bin', { recursive: true })
  if (process.env.NODE_TO_LINK) symlinkSync(process.env.NODE_TO_LINK, 'node_modules/.bin/node')
  appendFileSync('runs', process.argv.slice(2).join(' ') + '\\n')`

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'billing-setup-'))
  mkdirSync(join(clone, 'dev', 'services'), { recursive: true })
  for (const file of ['setup.mjs', 'services/lock.mjs'])
    copyFileSync(join(dev, file), join(clone, 'dev', file))
  mkdirSync(join(clone, 'npm'))
  writeFileSync(join(clone, 'npm', 'package.json'), '{"type":"module"}')
  writeFileSync(join(clone, 'npm', 'npm-cli.js'), STAND_IN)
  writeLock('first')
})

afterEach(() => rmSync(clone, { recursive: true, force: true }))

test('packages are installed when they are missing or the lock file changed, and else not', async () => {
  expect(await setUp()).toMatchObject({ code: 0, output: expect.stringContaining('Packages installed in') })
  expect(runs()).toEqual([expect.stringMatching(/^ci .*--no-audit/)])
  expect(await setUp()).toEqual({ code: 0, output: '' })
  expect(runs()).toHaveLength(1)
  writeLock('second')
  await setUp()
  expect(runs()).toHaveLength(2)
})

test('of two starts at once, one installs and the other waits', async () => {
  const [one, other] = await Promise.all([setUp(), setUp()])
  expect([one.code, other.code]).toEqual([0, 0])
  expect(`${one.output}${other.output}`).toContain('which is installing packages already')
  expect(runs()).toHaveLength(1)
})

test('packages that npm has installed by hand are taken as they are', async () => {
  await setUp()
  rmSync(join(clone, 'node_modules', '.installed-lock'))
  copyFileSync(join(clone, 'package-lock.json'), join(clone, 'node_modules', '.package-lock.json'))
  expect(await setUp()).toEqual({ code: 0, output: '' })
  expect(runs()).toHaveLength(1)
})

test('a failed installation says why, and is tried again at the next start', async () => {
  writeFileSync(join(clone, 'fail'), '')
  const { code, output } = await setUp()
  expect(code).toBe(1)
  expect(output).toContain('no network\nInstalling packages failed: npm ci ended with exit code 3.')
  rmSync(join(clone, 'fail'))
  expect((await setUp()).code).toBe(0)
})

test('packages without Node 24 give one clear message', async () => {
  const { code, output } = await setUp('/bin/false')
  expect(code).toBe(1)
  expect(output).toContain('Node 24 is needed, and the packages did not bring it')
})

test('packages without a Node leave the one that runs, if it is Node 24', async () => {
  expect(await setUp('')).toMatchObject({ code: 0, output: expect.stringContaining('Packages installed in') })
})

function writeLock(version: string): void {
  const packages = { '': { version }, 'node_modules/a': { version } }
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages }))
}

function runs(): string[] {
  const file = join(clone, 'runs')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

function setUp(nodeToLink = process.execPath): Promise<{ code: number; output: string }> {
  const env = {
    PATH: process.env.PATH,
    npm_execpath: join(clone, 'npm', 'npm-cli.js'),
    NODE_TO_LINK: nodeToLink,
  }
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(clone, 'dev', 'setup.mjs')],
      { env, cwd: clone },
      (error, stdout, stderr) =>
        resolve({
          code: typeof error?.code === 'number' ? error.code : error ? -1 : 0,
          output: stdout + stderr,
        }),
    )
  })
}

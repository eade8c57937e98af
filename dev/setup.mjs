// Set-up before `npm start` and `npm test`: installs the packages when they are missing or the lock file has changed,
// and checks that they brought Node 24, or that it runs already. Plain JavaScript for Node 20 and newer, without dependencies.
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withLock } from './services/lock.mjs'

const NODE_MAJOR = 24
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const stamp = join(modules, '.installed-lock')

try {
  if (!isInstalled()) {
    mkdirSync(join(root, '.data'), { recursive: true })
    const onWait = (holder) =>
      console.log(`Waiting for process ${holder}, which is installing packages already.`)
    await withLock(join(root, '.data', 'setup.lock'), installOnce, { onWait })
  }
  checkNode()
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}

function isInstalled() {
  if (!existsSync(modules)) return false
  const wanted = lockHash()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return true
  if (!npmHasInstalled()) return false
  writeFileSync(stamp, wanted)
  return true
}

async function installOnce() {
  // Another process may have done it while this one waited for the lock.
  if (isInstalled()) return
  const hash = lockHash()
  await withProgress('Installing packages with npm ci, which takes about a minute', runNpm)
  writeFileSync(stamp, hash)
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
}

/** Whether npm's own record of node_modules agrees with the lock file: someone has run npm by hand. */
function npmHasInstalled() {
  try {
    const packagesOf = (file) => JSON.parse(readFileSync(file, 'utf8')).packages
    const present = packagesOf(join(modules, '.package-lock.json'))
    return Object.entries(packagesOf(join(root, 'package-lock.json'))).every(([path, wanted]) => {
      if (path === '') return true
      const found = present[path]
      return found
        ? found.version === wanted.version && found.integrity === wanted.integrity
        : wanted.optional === true
    })
  } catch {
    return false
  }
}

function runNpm() {
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--include=dev', '--include=optional']
  const [file, first] = npmProgram()
  const child = spawn(file, [...first, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: pathOutsideOfModules() },
    shell: process.platform === 'win32' && first.length === 0,
  })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => output.push(part))
  const forward = (signal) => child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, forward)
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`npm could not be started: ${error.message}`)))
    child.once('close', (code, signal) => {
      for (const name of ['SIGINT', 'SIGTERM']) process.off(name, forward)
      if (code === 0) return resolve()
      // The cause comes first; what follows it is npm's usage text.
      const text = Buffer.concat(output).toString().trim().split('\n').slice(0, 15).join('\n')
      reject(
        new Error(
          `${text}\nInstalling packages failed: npm ci ended with ${signal ?? `exit code ${code}`}.`.trim(),
        ),
      )
    })
  })
}

/** The npm that runs us, on its own Node: the one in node_modules is about to be replaced. */
function npmProgram() {
  const npm = process.env.npm_execpath
  if (!npm || !existsSync(npm) || !/^npm-cli\.c?js$/.test(basename(npm))) return ['npm', []]
  const node = process.env.npm_node_execpath
  return [node && existsSync(node) ? node : process.execPath, [npm]]
}

function pathOutsideOfModules() {
  const entries = (process.env.PATH ?? '').split(delimiter)
  return entries.filter((entry) => !entry.startsWith(modules)).join(delimiter)
}

async function withProgress(what, work) {
  const begun = Date.now()
  const seconds = () => Math.round((Date.now() - begun) / 1000)
  const { isTTY } = process.stdout
  process.stdout.write(isTTY ? `${what} …` : `${what} …\n`)
  const tick = () => process.stdout.write(isTTY ? `\r${what} … ${seconds()} s` : `${what} … ${seconds()} s\n`)
  const ticker = setInterval(tick, isTTY ? 1000 : 15_000)
  try {
    await work()
    process.stdout.write(
      `${isTTY ? '\r' : ''}Packages installed in ${seconds()} s.${isTTY ? '\x1b[K' : ''}\n`,
    )
  } catch (error) {
    if (isTTY) process.stdout.write('\n')
    throw error
  } finally {
    clearInterval(ticker)
  }
}

/** npm runs the Node of the packages, and without one that of the PATH, which runs this. */
function checkNode() {
  const node = join(modules, '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')
  const version = existsSync(node) ? versionOf(node) : process.version
  if (version?.startsWith(`v${NODE_MAJOR}.`)) return
  throw new Error(
    `Node ${NODE_MAJOR} is needed, and the packages did not bring it for ${process.platform}-${process.arch}` +
      ` (${existsSync(node) ? node : 'that of the PATH'}: ${version ?? 'does not run'}).` +
      ` Put a Node ${NODE_MAJOR} on the PATH, delete node_modules and run the command again.`,
  )
}

function versionOf(node) {
  try {
    return execFileSync(node, ['--version'], { encoding: 'utf8', shell: process.platform === 'win32' }).trim()
  } catch {
    return null
  }
}

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tryLock, unlock } from '../../dev/services/lock.mjs'

const module = new URL('../../dev/services/lock.mjs', import.meta.url).href
const directory = mkdtempSync(join(tmpdir(), 'billing-lock-'))
const lock = join(directory, 'lock')

afterEach(() => unlock(lock))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test('a live holder keeps the lock until it gives it back, and may take it again itself', async () => {
  expect(tryLock(lock)).toEqual({ taken: true })
  expect(tryLock(lock).taken).toBe(true)
  expect(inOtherProcess(`console.log(tryLock(path).holder)`)).toBe(String(process.pid))
  inOtherProcess(`unlock(path)`)
  expect(inOtherProcess(`console.log(tryLock(path).taken)`)).toBe('false')
})

test('the lock of a process that is gone is void', () => {
  inOtherProcess(`tryLock(path)`)
  expect(tryLock(lock)).toEqual({ taken: true })
})

test('of many that find a void lock at once, exactly one takes it', async () => {
  inOtherProcess(`tryLock(path)`)
  const code = `${imports()} console.log(tryLock(path).taken); setTimeout(() => {}, 1500)`
  const responses = await Promise.all(Array.from({ length: 6 }, () => firstLine(code)))
  expect(responses.filter((response) => response === 'true')).toHaveLength(1)
})

function imports(): string {
  return `const { tryLock, unlock } = await import(${JSON.stringify(module)}); const path = ${JSON.stringify(lock)};`
}

function inOtherProcess(statement: string): string {
  const args = ['--input-type=module', '-e', `${imports()} ${statement}`]
  return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout.trim()
}

function firstLine(code: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Promise((resolve) => {
    let output = ''
    child.stdout.on('data', (part) => {
      output += part
    })
    child.once('close', () => resolve(output.trim()))
  })
}

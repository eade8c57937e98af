import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { ROOT } from './import-graph.ts'

interface Entry {
  readonly integrity?: string
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
}

test('the lock file has the hash of each package, but for optional ones that Linux on x64 does not install', () => {
  const isForLinux = ({ os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: Entry) =>
    os.includes('linux') && cpu.includes('x64') && libc.includes('glibc')
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Entry>
  }
  const packages = Object.entries(lock.packages)
  const unchecked = packages.filter(
    ([path, entry]) => path !== '' && !/^sha512-\S{80,}$/.test(entry.integrity ?? ''),
  )
  expect(
    unchecked.filter(([, entry]) => entry.optional !== true || isForLinux(entry)).map(([path]) => path),
  ).toEqual([])
  expect(packages.length).toBeGreaterThan(unchecked.length * 10)
})

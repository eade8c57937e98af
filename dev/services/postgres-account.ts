import { execFileSync, spawnSync } from 'node:child_process'

export type Account = { uid: number; gid: number }

/** Returns null, our own account, unless we are root, which PostgreSQL refuses. Throws if there is none. */
export function postgresAccount(): Account | null {
  if (process.getuid?.() !== 0) return null
  const account = usable('postgres') ?? usable('nobody') ?? created()
  if (account) return account
  throw new Error(
    'PostgreSQL does not run as root, and no other account can be used. Start as another user, or set DATABASE_URL.',
  )
}

/** True if the account can enter the directory through all of its parents and write in it. */
export function canUse(account: Account, directory: string): boolean {
  return runs(account, '/bin/sh', ['-c', 'cd -- "$0" && test -w .', directory])
}

/** True if the account can execute the program and load its libraries. */
export function canRun(account: Account, program: string): boolean {
  return runs(account, program, ['--version'])
}

function usable(name: string): Account | null {
  try {
    const id = (flag: string) =>
      Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
    const account = { uid: id('-u'), gid: id('-g') }
    return account.uid > 0 && runs(account, '/bin/sh', ['-c', ':']) ? account : null
  } catch {
    return null
  }
}

function created(): Account | null {
  spawnSync('useradd', ['--system', '--no-create-home', '--shell', '/bin/false', 'postgres'], {
    stdio: 'ignore',
  })
  return usable('postgres')
}

function runs(account: Account, program: string, args: string[]): boolean {
  return spawnSync(program, args, { cwd: '/', stdio: 'ignore', ...account }).status === 0
}

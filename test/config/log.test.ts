import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { createLog } from '../../config/log.ts'
import { waitFor } from '../support/wait-for.ts'

describe('the log', () => {
  const logged = (write: (log: ReturnType<typeof createLog>) => void): string => {
    let text = ''
    write(
      createLog('trace', {
        write(line) {
          text += line
        },
      }),
    )
    return text
  }

  test.each(['pan', 'cvv', 'password', 'secretKey', 'authorization', 'SVC-APIKEY', 'token'])(
    'takes out the member %s, at the top and one level down',
    (name) => {
      const text = logged((log) => log.info({ [name]: 'hush-hush', deeper: { [name]: 'hush-hush' } }))
      expect(text).not.toContain('hush-hush')
      expect(text.match(/\[redacted\]/g)).toHaveLength(2)
    },
  )

  test.each([
    'sk_sandbox_abcdefghijklmnop',
    'pk_live_abcdefghijklmnop',
    '4111111111111111',
    '4111 1111 1111 1111',
  ])('takes %s out of an error, its message and its stack', (secret) => {
    const error = new Error(`could not use ${secret}`)
    const text = logged((log) => log.error({ err: Object.assign(error, { parameters: [secret] }) }, 'failed'))
    expect(text).not.toContain(secret)
    expect(text).toContain('could not use [redacted]')
  })
})

describe('the log of a process', () => {
  const directory = mkdtempSync(join(tmpdir(), 'billing-log-'))
  let child: ChildProcess | undefined
  afterEach(() => void child?.kill('SIGKILL'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  /** Logs a line every 20 ms, says so on stderr after each tenth, and ends when told. */
  const PROGRAM = `
    import { createLog } from '${new URL('../../config/log.ts', import.meta.url).href}'
    const log = createLog('info')
    process.on('SIGTERM', () => {
      log.info('last line')
      process.exit(0)
    })
    let number = 0
    setInterval(() => {
      number += 1
      log.info({ number, filler: 'x'.repeat(200) }, 'a line')
      if (number % 10 === 0) process.stderr.write('on ')
    }, 20)`

  /** @param kilobytes of its files, past which it meets the end of its room. */
  function logging(file: string, kilobytes?: number) {
    const stdout = openSync(file, 'a')
    const limit = kilobytes === undefined ? '' : `ulimit -f ${kilobytes};`
    const command = `${limit} exec "$0" --input-type=module -e "$1"`
    const started = spawn('bash', ['-c', command, process.execPath, PROGRAM], {
      stdio: ['ignore', stdout, 'pipe'],
    })
    closeSync(stdout)
    child = started
    let text = ''
    started.stderr?.on('data', (chunk) => {
      text += chunk
    })
    const logged = (times: number) =>
      waitFor(`${times} times ten lines`, () => {
        if (started.exitCode !== null) throw new Error(`it ended: ${text}`)
        return text.split('on ').length > times ? true : null
      })
    const stop = async () => {
      const exited = once(started, 'exit')
      started.kill('SIGTERM')
      const late = new Promise((resolve) => setTimeout(resolve, 10_000, ['it did not end']).unref())
      const [code] = (await Promise.race([exited, late])) as unknown[]
      return code
    }
    return { logged, stop }
  }

  const onLinux = existsSync('/dev/full') ? test : test.skip

  onLinux(
    'neither ends nor holds it while its disk is full',
    async () => {
      const { logged, stop } = logging('/dev/full')
      await logged(3)
      expect(await stop()).toBe(0)
    },
    60_000,
  )

  onLinux(
    'goes on in whole lines once its disk has room again',
    async () => {
      const file = join(directory, 'log')
      const { logged, stop } = logging(file, 8)
      await logged(8)
      expect(readFileSync(file, 'utf8')).toHaveLength(8 * 1024)
      const before = readFileSync(file, 'utf8')
      truncateSync(file)
      await waitFor('a line', () => (readFileSync(file, 'utf8').includes('a line') ? true : null))
      expect(await stop()).toBe(0)
      // Twice as much as there was room for, without a gap where the room ended.
      const lines = `${before}${readFileSync(file, 'utf8')}`.split('\n').slice(0, 40)
      const numbers = lines.map((line) => (JSON.parse(line) as { number: number }).number)
      expect(numbers).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
    },
    60_000,
  )

  test('has every line when the process ends, through a pipe too', async () => {
    const lines = 5_000
    const started = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { createLog } from '${new URL('../../config/log.ts', import.meta.url).href}'
         const log = createLog('info')
         console.log('ready')
         for (let number = 0; number < ${lines}; number += 1) log.info({ number, filler: 'x'.repeat(200) })
         process.exit(0)`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    child = started
    let text = ''
    for await (const chunk of started.stdout) text += chunk
    const numbers = text
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => (JSON.parse(line) as { number: number }).number)
    expect(numbers).toEqual(Array.from({ length: lines }, (_, number) => number))
  }, 60_000)
})

import { describe, expect, test } from '@jest/globals'
import { createLog } from '../../config/log.ts'

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

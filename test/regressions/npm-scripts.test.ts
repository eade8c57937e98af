import { describe, expect, test } from '@jest/globals'
import packageFile from '../../package.json' with { type: 'json' }

describe('npm scripts that run until they are stopped', () => {
  // npm passes a signal on to the shell it started, and a shell that is not replaced by its command dies without passing
  // it on: the service went on as an orphan.
  test.each(['start', 'api', 'worker', 'receiver'] as const)(
    '%s replaces its shell, so that signals reach it',
    (name) => {
      expect(packageFile.scripts[name]).toMatch(/^exec node /)
    },
  )
})

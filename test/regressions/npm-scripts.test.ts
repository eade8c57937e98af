import { describe, expect, test } from '@jest/globals'
import packageFile from '../../package.json' with { type: 'json' }

describe('npm scripts that run until they are stopped', () => {
  // npm passes a signal to its shell only. A shell that is not replaced by its command dies without passing it on.
  test.each(['start', 'api', 'worker', 'receiver'] as const)(
    '%s replaces its shell, so that signals reach it',
    (name) => {
      expect(packageFile.scripts[name]).toMatch(/^exec node /)
    },
  )
})

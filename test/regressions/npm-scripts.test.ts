import { describe, expect, test } from '@jest/globals'
import packageFile from '../../package.json' with { type: 'json' }

describe('npm scripts that run until they are stopped', () => {
  // npm signals only its shell: without `exec` the shell dies and the service goes on as an orphan.
  test.each(['start', 'api', 'worker', 'receiver'] as const)(
    '%s replaces its shell, so that signals reach it',
    (name) => {
      expect(packageFile.scripts[name]).toMatch(/^exec node /)
    },
  )
})

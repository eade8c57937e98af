import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { temporalConnection } from '../../config/temporal-connection.ts'

const ADDRESS = 'temporal.example:7233'

describe('the connection to Temporal', () => {
  const home = mkdtempSync(join(tmpdir(), 'billing-temporal-'))
  afterAll(() => rmSync(home, { recursive: true, force: true }))
  const written = (folder: string, text: string): string => {
    const file = join(home, folder, 'temporalio', 'temporal.toml')
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, text)
    return file
  }

  test('has key and TLS of the environment', () => {
    expect(temporalConnection(ADDRESS, { TEMPORAL_API_KEY: 'key' })).toEqual({
      address: ADDRESS,
      tls: true,
      apiKey: 'key',
    })
    expect(temporalConnection(ADDRESS, { TEMPORAL_TLS: 'false', TEMPORAL_GRPC_META_TEAM: 'a' })).toEqual({
      address: ADDRESS,
      tls: false,
      metadata: { team: 'a' },
    })
  })

  test.each(['', '  '])('takes a setting that is empty for none: %j', (blank) => {
    const env = Object.fromEntries(
      ['API_KEY', 'TLS', 'TLS_SERVER_NAME', 'TLS_CLIENT_CERT_PATH', 'PROFILE', 'CONFIG_FILE'].map((name) => [
        `TEMPORAL_${name}`,
        blank,
      ]),
    )
    expect(temporalConnection(ADDRESS, env)).toEqual({ address: ADDRESS })
  })

  test('has those of a file too', () => {
    const file = written('named', '[profile.default]\napi_key = "from-file"\n')
    for (const env of [{ TEMPORAL_CONFIG_FILE: file }, { XDG_CONFIG_HOME: join(home, 'named') }]) {
      expect(temporalConnection(ADDRESS, env)).toMatchObject({ tls: true, apiKey: 'from-file' })
    }
  })

  test('does without a file of the user that cannot be read, but not without one that is named', () => {
    expect(temporalConnection(ADDRESS, { HOME: '/dev/null' })).toEqual({ address: ADDRESS })
    const file = '/dev/null/temporal.toml'
    expect(() => temporalConnection(ADDRESS, { TEMPORAL_CONFIG_FILE: file })).toThrow(file)
    written('broken', 'no toml')
    expect(() => temporalConnection(ADDRESS, { XDG_CONFIG_HOME: join(home, 'broken') })).toThrow('TOML')
  })
})

import { createPrivateKey } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ConfigurationError, loadConfig } from '../../config/config.ts'
import { readMerchantIdentity } from '../../config/merchant-identity.ts'
import {
  type Authority,
  type Certificate,
  type Certificates,
  certificates,
  hasOpenssl,
} from '../support/certificates.ts'
import { startService } from '../support/service.ts'

const whereOpensslIs = hasOpenssl() ? describe : describe.skip

whereOpensslIs('the merchant identity', () => {
  let files: Certificates
  let authority: Authority
  let own: Certificate
  let other: Certificate

  beforeAll(() => {
    files = certificates()
    authority = files.authority('Authority')
    own = authority.issue('merchant.com.example')
    other = authority.issue('merchant.com.other')
  })
  afterAll(() => files?.remove())

  const settings = (members: Record<string, string> = {}) => ({
    ENVIRONMENT: 'live',
    APPLE_PAY_MERCHANT_ID: 'merchant.com.example',
    APPLE_PAY_CERT_FILE: own.certFile,
    APPLE_PAY_KEY_FILE: own.keyFile,
    ...members,
  })
  const read = (members?: Record<string, string>) => readMerchantIdentity(loadConfig(settings(members)))
  const file = (content: string | Buffer): string => {
    const path = join(dirname(own.certFile), 'other.pem')
    writeFileSync(path, content)
    return path
  }
  function problemsOf(members: Record<string, string>): readonly string[] {
    try {
      read(members)
    } catch (error) {
      if (error instanceof ConfigurationError) return error.problems
      throw error
    }
    throw new Error('the identity was accepted')
  }

  test('is read from its files', () => {
    expect(read()).toEqual({
      merchantIdentifier: 'merchant.com.example',
      certificate: own.cert,
      privateKey: own.key,
      expiredTime: expect.any(Date),
    })
  })

  test('is null in the sandbox, whose wallet needs none, and if it is not configured', () => {
    expect(read({ ENVIRONMENT: 'sandbox' })).toBeNull()
    expect(readMerchantIdentity(loadConfig({ ENVIRONMENT: 'live' }))).toBeNull()
  })

  test.each(['APPLE_PAY_MERCHANT_ID', 'APPLE_PAY_CERT_FILE', 'APPLE_PAY_KEY_FILE'])(
    'without %s is refused: the settings go together',
    (name) => {
      expect(() => loadConfig(settings({ [name]: '' }))).toThrow(/go together/)
    },
  )

  test('whose files cannot be read is refused with both files named', () => {
    const missing = join(dirname(own.certFile), 'missing.pem')
    expect(problemsOf({ APPLE_PAY_CERT_FILE: missing, APPLE_PAY_KEY_FILE: missing })).toEqual([
      `APPLE_PAY_CERT_FILE: ${missing} cannot be read (ENOENT)`,
      `APPLE_PAY_KEY_FILE: ${missing} cannot be read (ENOENT)`,
    ])
  })

  test.each<[string, () => string | Buffer]>([
    ['is a text', () => 'certificate'],
    ['is empty', () => ''],
    ['is the key', () => own.key],
    ['is in DER', () => Buffer.from(own.cert.replaceAll(/-----.*-----|\s/g, ''), 'base64')],
  ])('whose certificate %s is refused', (_, content) => {
    const path = file(content())
    expect(problemsOf({ APPLE_PAY_CERT_FILE: path })).toEqual([
      `APPLE_PAY_CERT_FILE: ${path} does not contain a certificate in PEM`,
    ])
  })

  test.each<[string, () => string]>([
    ['is a text', () => 'key'],
    ['is the certificate', () => own.cert],
    ['has a passphrase', () => encrypted(own.key)],
  ])('whose key %s is refused', (_, content) => {
    const path = file(content())
    expect(problemsOf({ APPLE_PAY_KEY_FILE: path })).toEqual([
      `APPLE_PAY_KEY_FILE: ${path} does not contain a private key in PEM without a passphrase`,
    ])
  })

  test('whose key is that of another certificate is refused', () => {
    expect(problemsOf({ APPLE_PAY_KEY_FILE: other.keyFile })).toEqual([
      'APPLE_PAY_KEY_FILE does not contain the private key of the certificate in APPLE_PAY_CERT_FILE',
    ])
  })

  test('that expires within 30 days is reported in the log at start', async () => {
    const lasting = authority.issue('merchant.com.example', [], 60)
    for (const [{ certFile, keyFile }, isReported] of [
      [own, true],
      [lasting, false],
    ] as const) {
      const service = await startService({
        worker: false,
        settings: settings({ APPLE_PAY_CERT_FILE: certFile, APPLE_PAY_KEY_FILE: keyFile }),
      })
      const warned = service.log.some((line) => line.includes('APPLE_PAY_CERT_FILE expires within'))
      await service.stop()
      expect(warned).toBe(isReported)
    }
  })
})

function encrypted(key: string): string {
  return createPrivateKey(key)
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'passphrase' })
    .toString()
}

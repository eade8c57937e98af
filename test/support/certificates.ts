/** Certificates made by openssl for each run, so that the repository has no key. */
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificate {
  readonly cert: string
  readonly key: string
  readonly certFile: string
  readonly keyFile: string
}

export interface Authority {
  readonly ca: string
  /** Issues a certificate for a server of these names, or for a client if there are none. */
  issue(subject: string, names?: readonly string[], days?: number): Certificate
}

export interface Certificates {
  authority(subject: string): Authority
  remove(): void
}

export function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export function certificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'))
  let made = 0
  const file = (content: string): string => {
    made += 1
    const path = join(folder, `${made}.pem`)
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }
  const openssl = (...parts: string[]) => execFileSync('openssl', parts, { stdio: 'pipe' })
  const newKey = (): string =>
    generateKeyPairSync('ec', {
      namedCurve: 'prime256v1',
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey

  return {
    authority(subject) {
      const [keyFile, certFile] = [file(newKey()), file('')]
      openssl(
        'req',
        '-x509',
        '-new',
        '-key',
        keyFile,
        '-days',
        '2',
        '-subj',
        `/CN=${subject}`,
        '-out',
        certFile,
      )
      return {
        ca: readFileSync(certFile, 'utf8'),
        issue(name, names = [], days = 1) {
          const key = newKey()
          const [ownKey, request, certificate] = [file(key), file(''), file('')]
          const extensions = file(
            names.length === 0
              ? 'extendedKeyUsage=clientAuth'
              : `extendedKeyUsage=serverAuth\nsubjectAltName=${names.map((one) => `DNS:${one}`).join(',')}`,
          )
          openssl('req', '-new', '-key', ownKey, '-subj', `/CN=${name}`, '-out', request)
          openssl(
            ...['x509', '-req', '-in', request, '-CA', certFile, '-CAkey', keyFile, '-CAcreateserial'],
            ...['-days', String(days), '-extfile', extensions, '-out', certificate],
          )
          return { cert: readFileSync(certificate, 'utf8'), key, certFile: certificate, keyFile: ownKey }
        },
      }
    },
    remove: () => rmSync(folder, { recursive: true }),
  }
}

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Config, ConfigurationError } from './config.ts'

export interface MerchantIdentity {
  readonly merchantIdentifier: string
  /** PEM. */
  readonly certificate: string
  /** PEM. */
  readonly privateKey: string
  readonly expiredTime: Date
}

/** Null in the sandbox and if none is configured. @throws ConfigurationError that repeats nothing of the files. */
export function readMerchantIdentity({
  environment,
  applePayMerchantId: merchantIdentifier,
  applePayCertFile,
  applePayKeyFile,
}: Config): MerchantIdentity | null {
  if (environment === 'sandbox') return null
  if (merchantIdentifier === null || applePayCertFile === null || applePayKeyFile === null) return null
  const problems: string[] = []
  const certificateFile = readPem(
    'APPLE_PAY_CERT_FILE',
    applePayCertFile,
    (pem) => new X509Certificate(pem),
    'does not contain a certificate in PEM',
    problems,
  )
  const keyFile = readPem<KeyObject>(
    'APPLE_PAY_KEY_FILE',
    applePayKeyFile,
    (pem) => createPrivateKey(pem),
    'does not contain a private key in PEM without a passphrase',
    problems,
  )
  if (certificateFile === null || keyFile === null) throw new ConfigurationError(problems)
  if (!certificateFile.content.checkPrivateKey(keyFile.content)) {
    throw new ConfigurationError([
      'APPLE_PAY_KEY_FILE does not contain the private key of the certificate in APPLE_PAY_CERT_FILE',
    ])
  }
  return {
    merchantIdentifier,
    certificate: certificateFile.pem,
    privateKey: keyFile.pem,
    expiredTime: new Date(certificateFile.content.validTo),
  }
}

function readPem<Content>(
  setting: string,
  path: string,
  parse: (pem: string) => Content,
  otherwise: string,
  problems: string[],
): { readonly pem: string; readonly content: Content } | null {
  let pem: string
  try {
    pem = readFileSync(path, 'utf8')
  } catch (error) {
    problems.push(`${setting}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return null
  }
  try {
    return { pem, content: parse(pem) }
  } catch {
    problems.push(`${setting}: ${path} ${otherwise}`)
    return null
  }
}

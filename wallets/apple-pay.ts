/**
 * Requests merchant sessions by mutual TLS:
 * https://developer.apple.com/documentation/applepayontheweb/requesting-an-apple-pay-payment-session
 */
import type { MerchantIdentity } from '../config/merchant-identity.ts'
import type { AddressGuard } from '../delivery/address-guard.ts'
import type { NamesOptions } from '../delivery/names.ts'
import { createSender } from '../delivery/sender.ts'
import { type MerchantSession, type Wallet, WalletFailedError } from './port.ts'

/** Milliseconds once the host's name is resolved. The look-up has up to five seconds: twenty in all. */
export const SESSION_TIMEOUT = 15_000
/** Bytes. A session has less than a tenth of it. */
const LARGEST_SESSION = 64 * 1024

export interface ApplePayConnection {
  readonly timeout?: number
  readonly port?: number
  readonly names?: NamesOptions
  readonly ca?: string
}

export function createApplePay(
  { merchantIdentifier, certificate, privateKey }: MerchantIdentity,
  guard: AddressGuard,
  { timeout = SESSION_TIMEOUT, port = 443, names = {}, ca }: ApplePayConnection = {},
): Wallet {
  const sender = createSender(guard, {
    timeout,
    names,
    tls: { cert: certificate, key: privateKey, ...(ca === undefined ? {} : { ca }) },
    largestResponse: LARGEST_SESSION,
    returnedResponse: LARGEST_SESSION,
  })
  return {
    async validate({ organizationId, host, domainName, displayName }) {
      const { status, body, failure } = await sender.send({
        organizationId,
        url: `https://${host}:${port}/paymentservices/paymentSession`,
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
        body: JSON.stringify({
          merchantIdentifier,
          displayName,
          initiative: 'web',
          initiativeContext: domainName,
        }),
        anySuccessStatus: false,
      })
      if (failure !== null) throw failed(status === null ? failure : `${failure}, status ${status}`)
      return readSession(body ?? '')
    },
    close: () => sender.close(),
  }
}

function readSession(text: string): MerchantSession {
  try {
    const session: unknown = JSON.parse(text)
    if (typeof session === 'object' && session !== null && !Array.isArray(session))
      return session as MerchantSession
  } catch {
    // The parser's message quotes the text.
  }
  throw failed('the response is not a JSON object')
}

function failed(reason: string): WalletFailedError {
  return new WalletFailedError(`Apple Pay did not return a merchant session: ${reason}.`)
}

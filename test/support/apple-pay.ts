/** Responds as Apple Pay's gateway does, and asks for a client certificate of its authority. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ApplePayConnection } from '../../wallets/apple-pay.ts'
import { type Certificate, certificates } from './certificates.ts'

export const GATEWAY = 'apple-pay-gateway.apple.com'
/** Its values must be in no log. */
export const SESSION = {
  epochTimestamp: 1_683_210_471_377,
  expiresAt: 1_683_214_071_377,
  merchantSessionIdentifier: 'SSH5F16FF313BC246698E095440F39D9BAE_7E0DD8CB4E6B9B9F',
  nonce: '500a2a26',
  merchantIdentifier: 'A77873CD368A460BD5D3325AD76B01C16CFFF654F9A993F4',
  domainName: 'shop.example',
  displayName: 'Shop',
  signature: '308006092a864886f70d010702a0803080020101',
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

export interface ReceivedRequest {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly host: string | undefined
  readonly contentType: string | undefined
  readonly body: unknown
  /** Common name of the client's certificate. */
  readonly client: string
  readonly servername: string | false | undefined
}

export interface AppleGateway {
  readonly received: ReceivedRequest[]
  readonly lookedUp: string[]
  readonly identity: Certificate
  /** A certificate of an authority that the gateway does not know. */
  readonly stranger: Certificate
  readonly connection: ApplePayConnection & { readonly port: number; readonly ca: string }
  answer(answer: Answer): void
  /** Shows a certificate that no authority of the client has signed, from now on. */
  pretend(): void
  reset(): void
  stop(): Promise<void>
}

export async function startAppleGateway(): Promise<AppleGateway> {
  const files = certificates()
  const [known, unknown] = [files.authority('Known'), files.authority('Unknown')]
  const own = known.issue('Gateway', [GATEWAY])
  const pretended = unknown.issue('Gateway', [GATEWAY])
  const received: ReceivedRequest[] = []
  const lookedUp: string[] = []
  const session: Answer = (_, response) => response.end(JSON.stringify(SESSION))
  let answer = session

  const server = createServer(
    { ...own, ca: known.ca, requestCert: true, rejectUnauthorized: true },
    async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const socket = request.socket as TLSSocket & { servername?: string | false }
      received.push({
        method: request.method,
        path: request.url,
        host: request.headers.host,
        contentType: request.headers['content-type'],
        body: JSON.parse(Buffer.concat(chunks).toString()),
        client: String(socket.getPeerCertificate().subject.CN),
        servername: socket.servername,
      })
      answer(request, response)
    },
  )
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    received,
    lookedUp,
    identity: known.issue('merchant.com.example'),
    stranger: unknown.issue('merchant.com.stranger'),
    connection: {
      port,
      ca: known.ca,
      names: {
        resolve: async (name) => {
          lookedUp.push(name)
          return [{ address: '127.0.0.1', family: 4 }]
        },
      },
    },
    answer(other) {
      answer = other
    },
    pretend: () => server.setSecureContext({ ...pretended, ca: known.ca }),
    reset() {
      answer = session
      server.setSecureContext({ ...own, ca: known.ca })
      received.length = 0
      lookedUp.length = 0
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      files.remove()
    },
  }
}

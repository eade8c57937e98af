import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { createAddressGuard } from '../../delivery/address-guard.ts'
import { LOOKUP_TIMEOUT } from '../../delivery/names.ts'
import { freePort } from '../../dev/services/ports.ts'
import { type ApplePayConnection, createApplePay, SESSION_TIMEOUT } from '../../wallets/apple-pay.ts'
import { type MerchantSession, type MerchantValidation, WalletFailedError } from '../../wallets/port.ts'
import { type AppleGateway, GATEWAY, SESSION, startAppleGateway } from '../support/apple-pay.ts'
import { hasOpenssl } from '../support/certificates.ts'

const LOOPBACK = ['127.0.0.1/32']
const VALIDATION: MerchantValidation = {
  organizationId: 'org_1',
  host: GATEWAY,
  domainName: 'shop.example',
  displayName: 'Shop',
}

const whereOpensslIs = hasOpenssl() ? describe : describe.skip

whereOpensslIs('a merchant session', () => {
  let gateway: AppleGateway

  beforeAll(async () => {
    gateway = await startAppleGateway()
  })
  afterEach(() => gateway.reset())
  afterAll(() => gateway?.stop())

  interface Options extends ApplePayConnection {
    readonly certificate?: { readonly cert: string; readonly key: string }
    readonly allowed?: readonly string[]
  }

  async function validate({
    certificate = gateway.identity,
    allowed = LOOPBACK,
    ...connection
  }: Options = {}): Promise<MerchantSession> {
    const identity = {
      merchantIdentifier: 'merchant.com.example',
      certificate: certificate.cert,
      privateKey: certificate.key,
      expiredTime: new Date(),
    }
    const wallet = createApplePay(identity, createAddressGuard(allowed), {
      ...gateway.connection,
      ...connection,
    })
    try {
      return await wallet.validate(VALIDATION)
    } finally {
      await wallet.close()
    }
  }

  async function reasonOf(options: Options = {}): Promise<string> {
    const error = await validate(options).then(
      () => null,
      (failure: unknown) => failure,
    )
    if (!(error instanceof WalletFailedError)) throw new Error('no WalletFailedError', { cause: error })
    expect(error.cause).toBeUndefined()
    const [, reason = ''] = /^Apple Pay did not return a merchant session: (.+)\.$/.exec(error.message) ?? []
    return reason
  }

  test('has 20 seconds in all, the look-up of the name among them', () => {
    expect(LOOKUP_TIMEOUT + SESSION_TIMEOUT).toBe(20_000)
  })

  test('is requested by mutual TLS, under the name of the host, and returned as it is', async () => {
    expect(await validate()).toEqual(SESSION)
    expect(gateway.received).toEqual([
      {
        method: 'POST',
        path: '/paymentservices/paymentSession',
        host: `${GATEWAY}:${gateway.connection.port}`,
        contentType: 'application/json',
        body: {
          merchantIdentifier: 'merchant.com.example',
          displayName: 'Shop',
          initiative: 'web',
          initiativeContext: 'shop.example',
        },
        client: 'merchant.com.example',
        servername: GATEWAY,
      },
    ])
    expect(gateway.lookedUp).toEqual([GATEWAY])
  })

  test.each([201, 204, 400, 417, 500, 503])('fails at a response with status %i', async (status) => {
    gateway.answer((_, response) => response.writeHead(status).end(status === 204 ? '' : '{"secret": 1}'))
    expect(await reasonOf()).toBe(`status, status ${status}`)
  })

  test.each([301, 302, 307, 308])(
    'fails at a redirect with status %i, which is not followed',
    async (status) => {
      gateway.answer((_, response) => response.writeHead(status, { Location: '/elsewhere' }).end())
      expect(await reasonOf()).toBe(`redirect, status ${status}`)
      expect(gateway.received).toHaveLength(1)
    },
  )

  test.each(['', '<html>', '{"a":', '[]', '"text"', 'null', '1'])(
    'fails at a body of %j, which is no JSON object',
    async (body) => {
      gateway.answer((_, response) => response.end(body))
      expect(await reasonOf()).toBe('the response is not a JSON object')
    },
  )

  test('has at most 64 KiB; a longer response fails', async () => {
    const long = (length: number) => ({ text: 'x'.repeat(length - '{"text":""}'.length) })
    gateway.answer((_, response) => response.end(JSON.stringify(long(65_536))))
    expect(await validate()).toEqual(long(65_536))
    gateway.answer((_, response) => response.end(JSON.stringify(long(65_537))))
    expect(await reasonOf()).toBe('response-too-large, status 200')
  })

  test('fails if the response does not end in time', async () => {
    gateway.answer(() => {})
    expect(await reasonOf({ timeout: 1_000 })).toBe('timeout')
    gateway.answer((_, response) => void response.write('{'))
    expect(await reasonOf({ timeout: 1_000 })).toBe('timeout, status 200')
  })

  test('fails with a certificate of an authority that Apple Pay does not know', async () => {
    // Some servers send an alert, others hang up.
    expect(await reasonOf({ certificate: gateway.stranger })).toMatch(/^(tls|connection-reset)$/)
    expect(gateway.received).toEqual([])
  })

  test('is not requested from a server whose certificate is not trusted', async () => {
    gateway.pretend()
    expect(await reasonOf()).toBe('tls')
    expect(gateway.received).toEqual([])
  })

  test('is not requested at an address that is not public', async () => {
    expect(await reasonOf({ allowed: [] })).toBe('address-refused')
    expect(gateway.received).toEqual([])
  })

  test('fails if nothing listens, or if the name is not known', async () => {
    expect(await reasonOf({ port: await freePort() })).toBe('connection-refused')
    const resolve = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
    expect(await reasonOf({ names: { resolve } })).toBe('dns')
  })

  test('is requested over a connection of its own', async () => {
    const ports = new Set<unknown>()
    gateway.answer((request, response) => {
      ports.add(request.socket.remotePort)
      response.end('{}')
    })
    const wallet = createApplePay(
      {
        merchantIdentifier: 'm',
        certificate: gateway.identity.cert,
        privateKey: gateway.identity.key,
        expiredTime: new Date(),
      },
      createAddressGuard(LOOPBACK),
      gateway.connection,
    )
    for (let turn = 0; turn < 3; turn += 1) await wallet.validate(VALIDATION)
    await wallet.close()
    expect(ports.size).toBe(3)
  })
})

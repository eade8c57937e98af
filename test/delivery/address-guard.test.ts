import { describe, expect, test } from '@jest/globals'
import { AddressRefusedError, createAddressGuard } from '../../delivery/address-guard.ts'
import { webhookUrlProblem } from '../../delivery/webhook-url.ts'

const SPECIAL: readonly (readonly [string, string])[] = [
  ['this network', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['private', '10.1.2.3'],
  ['private', '172.16.0.1'],
  ['private', '192.168.0.1'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['carrier-grade NAT', '100.127.255.254'],
  ['loopback', '127.0.0.1'],
  ['link-local, where clouds keep their metadata', '169.254.169.254'],
  ['protocol assignments', '192.0.0.1'],
  ['documentation', '192.0.2.1'],
  ['documentation', '198.51.100.1'],
  ['documentation', '203.0.113.1'],
  ['benchmarks', '198.18.0.1'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['IPv4-mapped loopback', '::ffff:127.0.0.1'],
  ['IPv4-mapped private', '::ffff:a00:1'],
  ['IPv4-compatible', '::127.0.0.1'],
  ['IPv4-translated', '::ffff:0:7f00:1'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['NAT64 of a public address', '64:ff9b::808:808'],
  ['local NAT64', '64:ff9b:1::7f00:1'],
  ['local NAT64', '64:ff9b:1:ffff::1'],
  ['6to4', '2002:7f00:1::'],
  ['Teredo', '2001::1'],
  ['documentation', '2001:db8::1'],
  ['documentation', '3fff::1'],
  ['unique local', 'fd00:ec2::254'],
  ['link-local', 'fe80::1'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
  ['discard', '100::1'],
  ['not given out', '4000::1'],
]

describe('the address guard', () => {
  const guard = createAddressGuard([])

  test.each(SPECIAL)('refuses %s: %s', (_, address) => {
    expect(guard.allows(address, 443)).toBe(false)
  })

  test.each(['8.8.8.8', '100.63.255.255', '172.32.0.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])(
    'allows the public address %s',
    (address) => {
      expect(guard.allows(address, 443)).toBe(true)
    },
  )

  test('refuses what is not an address', () => {
    for (const text of ['', 'localhost', '127.1', '0x7f.0.0.1']) expect(guard.allows(text, 443)).toBe(false)
  })

  test('makes the exceptions of the configuration and no other', () => {
    const open = createAddressGuard(['10.1.0.0/16', 'fd00::/8'])
    expect(['10.1.2.3', '::ffff:10.1.2.3', 'fd12::1'].map((address) => open.allows(address, 443))).toEqual([
      true,
      true,
      true,
    ])
    expect(['10.2.0.1', 'fc00::1', '127.0.0.1'].map((address) => open.allows(address, 443))).toEqual([
      false,
      false,
      false,
    ])
  })
})

describe('the ports of the service itself', () => {
  const guard = createAddressGuard(['127.0.0.0/8', '::1/128', '10.0.0.0/8'], [3000, 5432])

  test.each(['127.0.0.1', '127.9.9.9', '::ffff:127.0.0.1', '::1'])('are closed on %s', (address) => {
    expect([3000, 5432].map((port) => guard.allows(address, port))).toEqual([false, false])
    expect(guard.allows(address, 8080)).toBe(true)
    expect(() => guard.allowed('receiver.example', 5432, [{ address, family: 4 }])).toThrow(
      AddressRefusedError,
    )
  })

  test('are open on other machines', () => {
    expect(guard.allows('10.1.2.3', 3000)).toBe(true)
  })

  test('are refused in a URL already', () => {
    const problem = (url: string) => webhookUrlProblem(url, { guard, environment: 'sandbox' })
    expect(problem('http://127.0.0.1:5432/')?.message).toMatch(/special network/)
    expect(problem('http://127.1:3000/')?.message).toMatch(/special network/)
    expect(problem('http://127.0.0.1:8080/')).toBeNull()
  })
})

describe('the URL of a webhook', () => {
  const guard = createAddressGuard([])
  const problem = (url: string, environment: 'sandbox' | 'live' = 'sandbox') =>
    webhookUrlProblem(url, { guard, environment })?.message ?? null

  test.each(SPECIAL)('cannot be a literal address that is %s: %s', (_, address) => {
    const host = address.includes(':') ? `[${address}]` : address
    expect(problem(`http://${host}/`)).toMatch(/special network/)
  })

  test('may be a name, which is checked at each attempt', () => {
    for (const url of ['http://localhost/', 'https://shop.example:8443/hooks?x=1', 'https://8.8.8.8/']) {
      expect(problem(url)).toBeNull()
    }
  })

  test('is https in live, and http as well in the sandbox', () => {
    expect(problem('http://shop.example/', 'live')).toMatch(/https/)
    expect(problem('https://shop.example/', 'live')).toBeNull()
    expect(problem('http://shop.example/')).toBeNull()
  })
})

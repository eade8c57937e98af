import { describe, expect, test } from '@jest/globals'
import { addressIsAllowed, areWithin } from '../../access/allowed-ips.ts'

const networks = (many: number) => Array.from({ length: many }, (_, at) => `198.${at >> 8}.${at & 255}.0/24`)

describe('addresses that a key may be used from', () => {
  test.each([
    ['198.51.100.7', '198.51.100.7'],
    ['198.51.100.*', '198.51.100.255'],
    ['198.51.*.*', '::ffff:198.51.100.7'],
    ['198.51.100.130/25', '198.51.100.129'],
    ['0.0.0.0/0', '255.255.255.255'],
    ['2001:db8::/33', '2001:db8:7fff::1'],
    ['::ffff:198.51.100.0/120', '198.51.100.7'],
  ])('%s has %s', (entry, address) => {
    expect(addressIsAllowed(['203.0.113.1', entry, '203.0.113.0/24', '2001:4860::1'], address)).toBe(true)
  })

  test.each([
    ['198.51.100.7', '198.51.100.8'],
    ['198.51.100.130/25', '198.51.100.127'],
    ['0.0.0.0/0', '2001:db8::1'],
    ['::/0', '198.51.100.7'],
    ['2001:db8::/33', '2001:db8:8000::1'],
    ['198.51.100.*', 'unknown'],
  ])('%s does not have %s', (entry, address) => {
    expect(addressIsAllowed([entry], address)).toBe(false)
  })

  test.each<[string[] | null, string[] | null, boolean]>([
    [null, null, true],
    [['198.51.100.7'], null, true],
    [null, ['0.0.0.0/0', '::/0'], false],
    [[], ['198.51.100.7'], true],
    [['198.51.100.7', '198.51.100.64/26'], ['198.51.100.*'], true],
    [['198.51.100.0/24'], ['198.51.100.0/25', '198.51.100.128/25', '198.51.100.1'], true],
    [['198.51.100.0/23'], ['198.51.100.*'], false],
    [['198.51.100.7', '203.0.113.1'], ['198.51.100.*'], false],
    [['0.0.0.0/0'], ['::/0'], false],
    [['no address'], ['0.0.0.0/0'], false],
    [['198.51.100.7'], ['no address'], false],
  ])('%j are within %j: %p', (wanted, held, within) => {
    expect(areWithin(wanted, held)).toBe(within)
  })

  test('are read once to compare two lists, whatever their lengths', () => {
    let reads = 0
    const held = new Proxy(networks(1000).reverse(), {
      get: (target, name, receiver) => {
        if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1
        return Reflect.get(target, name, receiver)
      },
    })
    expect(areWithin(networks(1000), held)).toBe(true)
    expect(reads).toBeGreaterThan(0)
    expect(reads).toBeLessThanOrEqual(2 * held.length)
  })
})

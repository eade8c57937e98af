/** Entries are addresses, CIDR ranges and patterns like `198.51.100.*`. No request comes from a private address. */
import ipaddr from 'ipaddr.js'
import type { FieldProblem } from '../billing/errors.ts'

type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

const PROHIBITED_V4 = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '100.64.0.0/10',
].map(cidr)
const PROHIBITED_V6 = ['::1/128', 'fe80::/10', 'fc00::/7'].map(cidr)

/** Returns why an entry is no valid restriction; null when it is. */
export function allowedIpProblem(entry: string): FieldProblem | null {
  const network = networkOf(entry)
  if (network === null)
    return {
      code: 'wrong-format',
      message: 'must be an IPv4 or IPv6 address, a CIDR range, or an IPv4 pattern such as 198.51.100.*',
    }
  const [address, bits] = network
  const prohibited = address.kind() === 'ipv4' ? PROHIBITED_V4 : PROHIBITED_V6
  return prohibited.some(([other, otherBits]) => overlaps(address, bits, other, otherBits))
    ? {
        code: 'not-allowed',
        message: 'must not be a private, loopback, link-local, shared or unique-local address',
      }
    : null
}

export function addressIsAllowed(entries: readonly string[], address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const caller = ipaddr.process(address) // IPv4-mapped IPv6 is the IPv4 address it stands for
  return entries.some((entry) => {
    const network = networkOf(entry)
    return network !== null && network[0].kind() === caller.kind() && caller.match(network[0], network[1])
  })
}

/** True if `held` allows every address that `wanted` allows; null allows all. */
export function areWithin(wanted: readonly string[] | null, held: readonly string[] | null): boolean {
  if (held === null) return true
  return wanted?.every((entry) => held.some((other) => contains(networkOf(other), networkOf(entry)))) ?? false
}

function contains(outer: Network | null, inner: Network | null): boolean {
  if (outer === null || inner === null || outer[0].kind() !== inner[0].kind()) return false
  return outer[1] <= inner[1] && inner[0].match(outer[0], outer[1])
}

function networkOf(entry: string): Network | null {
  try {
    if (entry.includes('/')) {
      const [address, bits] = ipaddr.parseCIDR(entry)
      if (address.kind() === 'ipv4' && !ipaddr.IPv4.isValidFourPartDecimal(entry.split('/')[0] ?? ''))
        return null
      return unmapped([address, bits])
    }
    const wildcard = /^(\d{1,3})\.(\d{1,3}|\*)\.(\d{1,3}|\*)\.\*$/.exec(entry)
    if (wildcard !== null) {
      const parts = entry.split('.')
      const fixed = parts.indexOf('*')
      if (parts.slice(fixed).some((part) => part !== '*')) return null
      return [ipaddr.IPv4.parse(parts.map((part) => (part === '*' ? '0' : part)).join('.')), fixed * 8]
    }
    if (!ipaddr.isValid(entry) || (!entry.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(entry)))
      return null
    const address = ipaddr.parse(entry)
    return unmapped([address, address.kind() === 'ipv4' ? 32 : 128])
  } catch {
    return null
  }
}

function unmapped([address, bits]: Network): Network {
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96)
    return [address.toIPv4Address(), bits - 96]
  return [address, bits]
}

function overlaps(one: Network[0], oneBits: number, other: Network[0], otherBits: number): boolean {
  const bits = Math.min(oneBits, otherBits)
  return one.kind() === other.kind() && one.match(other, bits)
}

function cidr(text: string): Network {
  return ipaddr.parseCIDR(text)
}

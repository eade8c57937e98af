/** Entries are addresses, CIDR ranges and patterns like `198.51.100.*`. No request comes from a private address. */
import ipaddr from 'ipaddr.js'
import type { FieldProblem } from '../billing/errors.ts'
import { lastUsed } from '../billing/last-used.ts'

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
  return contains(rangesOf(entries), rangeOf([caller, lengthOf(caller)]))
}

/** True if `held` allows every address that `wanted` allows; null allows all. */
export function areWithin(wanted: readonly string[] | null, held: readonly string[] | null): boolean {
  if (held === null) return true
  if (wanted === null) return false
  const ranges = rangesOf(held)
  return wanted.every((entry) => {
    const network = networkOf(entry)
    return network !== null && contains(ranges, rangeOf(network))
  })
}

/** First and last address as numbers: those of IPv6, and above them those of IPv4. */
type Range = readonly [bigint, bigint]

const FIRST_V4 = 2n ** 128n
/** Lists whose ranges are kept, since a key's is asked for on every request. */
const KEPT = 200

/** In ascending order, and none touches the next. */
const rangesOf = lastUsed(
  KEPT,
  (entries: readonly string[]) => entries.join(),
  (entries): readonly Range[] => {
    const ranges = entries.flatMap((entry) => {
      const network = networkOf(entry)
      return network === null ? [] : [rangeOf(network)]
    })
    const joined: Range[] = []
    for (const [first, last] of ranges.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))) {
      const [begin, end] = joined.at(-1) ?? [0n, -2n]
      if (first > end + 1n) joined.push([first, last])
      else joined[joined.length - 1] = [begin, last > end ? last : end]
    }
    return joined
  },
)

function rangeOf([address, bits]: Network): Range {
  const number = BigInt(`0x${Buffer.from(address.toByteArray()).toString('hex')}`)
  const size = 2n ** BigInt(lengthOf(address) - bits)
  const first = (address.kind() === 'ipv4' ? FIRST_V4 : 0n) + number - (number % size)
  return [first, first + size - 1n]
}

function lengthOf(address: Network[0]): number {
  return address.kind() === 'ipv4' ? 32 : 128
}

function contains(ranges: readonly Range[], [first, last]: Range): boolean {
  let [from, to] = [0, ranges.length]
  while (from < to) {
    const middle = (from + to) >> 1
    const [begin, end] = ranges[middle] as Range
    if (begin <= first && last <= end) return true
    if (begin > first) to = middle
    else from = middle + 1
  }
  return false
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
    return unmapped([address, lengthOf(address)])
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

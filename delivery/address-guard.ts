/** The address that a socket connects to is checked at every attempt, so changing DNS responses gain nothing. */
import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'
  readonly code = 'ADDRESS_REFUSED'
}

export interface AddressGuard {
  allows(address: string, port: number): boolean
  /** @throws AddressRefusedError if none of the addresses may be connected to. */
  allowed(
    hostname: string,
    port: number,
    addresses: readonly LookupAddress[],
  ): [LookupAddress, ...LookupAddress[]]
}

/** The only block of IPv6 that is assigned as global unicast; the rest is not routed. */
const GLOBAL_UNICAST_V6 = ipaddr.parseCIDR('2000::/3')

/** Creates a guard that refuses special-use addresses outside of `allowedCidrs`, and our own `closedPorts`. */
export function createAddressGuard(
  allowedCidrs: readonly string[],
  closedPorts: readonly number[] = [],
): AddressGuard {
  const exceptions = allowedCidrs.map((cidr) => ipaddr.parseCIDR(cidr))
  const allows = (address: string, port: number): boolean => {
    if (isIP(address) === 0) return false
    const parsed = ipaddr.process(address) // IPv4-mapped IPv6 is checked as the IPv4 address that it reaches
    const isExcepted = exceptions.some(
      ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
    )
    if (isExcepted) return parsed.range() !== 'loopback' || !closedPorts.includes(port)
    if (parsed.range() !== 'unicast') return false
    return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST_V6)
  }
  return {
    allows,
    allowed(hostname, port, addresses) {
      const [first, ...others] = addresses.filter(({ address }) => allows(address, port))
      if (first === undefined)
        throw new AddressRefusedError(`${hostname} does not resolve to a public address`)
      return [first, ...others]
    },
  }
}

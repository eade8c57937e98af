/**
 * Which addresses a webhook may reach (decided by the address the socket connects to, at every attempt).
 *
 * Names are judged by what they resolve to at that moment, so that an answer that changes between two look-ups gains
 * nothing. Everything that is not plain public unicast is refused, unless configuration opens it.
 */
import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The target, or everything its name resolves to, is not a public address. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'
  readonly code = 'ADDRESS_REFUSED'
}

export interface AddressGuard {
  /** Whether a literal address may be connected to. */
  allows(address: string): boolean
  /**
   * Of the addresses of a name, those that may be connected to.
   *
   * @throws AddressRefusedError if there is none.
   */
  allowed(hostname: string, addresses: readonly LookupAddress[]): [LookupAddress, ...LookupAddress[]]
}

/** Of IPv6 only this much is given out as global unicast; the rest of the space is not routed. */
const GLOBAL_UNICAST_V6 = ipaddr.parseCIDR('2000::/3')

/** A guard that refuses special-use addresses but for the networks of `allowedCidrs`. */
export function createAddressGuard(allowedCidrs: readonly string[]): AddressGuard {
  const exceptions = allowedCidrs.map((cidr) => ipaddr.parseCIDR(cidr))
  const allows = (address: string): boolean => {
    if (isIP(address) === 0) return false
    const parsed = ipaddr.process(address) // IPv4-mapped IPv6 is judged as the IPv4 address it reaches
    if (exceptions.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits)))
      return true
    if (parsed.range() !== 'unicast') return false
    return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST_V6)
  }
  return {
    allows,
    allowed(hostname, addresses) {
      // All of several addresses count for themselves: the socket is offered none that is inside.
      const [first, ...others] = addresses.filter(({ address }) => allows(address))
      if (first === undefined)
        throw new AddressRefusedError(`${hostname} does not resolve to a public address`)
      return [first, ...others]
    },
  }
}

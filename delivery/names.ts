/** `lookup` shares four threads with signatures: hosts file and DNS are read directly, without search domains. */
import { type LookupAddress, lookup, promises } from 'node:dns'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { isOutOfDescriptors, OwnFaultError } from './own-fault.ts'

/** Milliseconds for a look-up, including its wait for a place. */
export const LOOKUP_TIMEOUT = 5_000
const PER_ORGANIZATION = 16
/** How long IPv6 addresses are awaited once those of IPv4 are known, in milliseconds. */
const IPV6_DELAY = 250
const HOSTS_FRESH_FOR = 10_000

export class NameError extends Error {
  override readonly name = 'NameError'
  readonly code = 'NAME_NOT_RESOLVED'
}

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

export interface NamesOptions {
  readonly resolve?: Resolve
  readonly timeout?: number
  readonly perOrganization?: number
}

/** @throws NameError; OwnFaultError if the organization has too many look-ups or descriptors run out. */
export type Names = (hostname: string, organizationId: string) => Promise<readonly LookupAddress[]>

export function createNames({
  resolve = systemResolve(),
  timeout = LOOKUP_TIMEOUT,
  perOrganization = PER_ORGANIZATION,
}: NamesOptions = {}): Names {
  const underWay = new Map<string, Promise<readonly LookupAddress[]>>()
  const places = new Map<string, { taken: number; readonly waiting: Set<() => void> }>()

  const resolveOnce = (hostname: string): Promise<readonly LookupAddress[]> => {
    const known = underWay.get(hostname)
    if (known !== undefined) return known
    const resolving = resolve(hostname).finally(() => underWay.delete(hostname))
    underWay.set(hostname, resolving)
    return resolving
  }

  const takePlace = async (organizationId: string, ended: Promise<never>): Promise<() => void> => {
    const place = places.get(organizationId) ?? { taken: 0, waiting: new Set() }
    places.set(organizationId, place)
    if (place.taken >= perOrganization) {
      const { promise: free, resolve: enter } = Promise.withResolvers<void>()
      place.waiting.add(enter)
      await Promise.race([free, ended]).finally(() => place.waiting.delete(enter))
    } else place.taken += 1
    return () => {
      const [next] = place.waiting
      if (next !== undefined) {
        // The place passes to the next look-up, so the number taken stays the same.
        place.waiting.delete(next)
        next()
        return
      }
      place.taken -= 1
      if (place.taken === 0) places.delete(organizationId)
    }
  }

  return async (hostname, organizationId) => {
    const { promise: ended, reject: end } = Promise.withResolvers<never>()
    ended.catch(() => {})
    let isBegun = false
    const late = setTimeout(
      () => end(isBegun ? new NameError(`${hostname} was not resolved in time`) : new OwnFaultError('busy')),
      timeout,
    )
    try {
      const leave = await takePlace(organizationId, ended)
      isBegun = true
      const resolving = resolveOnce(hostname)
      // A place is held until the look-up ends, even if its caller has stopped waiting.
      resolving.then(leave, leave)
      return await Promise.race([resolving, ended])
    } catch (error) {
      if (error instanceof OwnFaultError || error instanceof NameError) throw error
      if (isOutOfDescriptors()) throw new OwnFaultError('exhausted', { cause: error })
      throw new NameError(`${hostname} was not resolved`, { cause: error })
    } finally {
      clearTimeout(late)
    }
  }
}

/** Returns a resolver that uses the hosts file, then DNS; the system's if no DNS server can be queried. */
function systemResolve(): Resolve {
  const resolver = new promises.Resolver({ timeout: 1_500, tries: 2 })
  const hosts = hostsFile()
  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '')
    const known = (await hosts()).get(name)
    if (known !== undefined) return known
    const v6 = resolver.resolve6(name).then(
      (found) => found.map((address) => ({ address, family: 6 })),
      () => [],
    )
    try {
      const v4 = (await resolver.resolve4(name)).map((address) => ({ address, family: 4 }))
      return [...v4, ...(await Promise.race([v6, sleep(IPV6_DELAY, [], { ref: false })]))]
    } catch (error) {
      const found = await v6
      if (found.length > 0) return found
      if ((error as { code?: unknown }).code === 'ECONNREFUSED')
        return await promisify(lookup)(name, { all: true })
      throw error
    }
  }
}

function hostsFile(): () => Promise<ReadonlyMap<string, readonly LookupAddress[]>> {
  const path = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'
  let content: Promise<ReadonlyMap<string, readonly LookupAddress[]>> | null = null
  let readAt = Number.NEGATIVE_INFINITY
  return () => {
    if (content === null || performance.now() - readAt > HOSTS_FRESH_FOR) {
      readAt = performance.now()
      content = readFile(path, 'utf8').then(parseHosts, () => parseHosts(''))
    }
    return content
  }
}

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** If several lines name a host, all of them count. */
export function parseHosts(text: string): ReadonlyMap<string, readonly LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = (line.split('#')[0] ?? '').trim().split(/\s+/)
    for (const name of names) {
      const known = hosts.get(name.toLowerCase()) ?? []
      hosts.set(name.toLowerCase(), [...known, { address, family: address.includes(':') ? 6 : 4 }])
    }
  }
  if (!hosts.has('localhost')) hosts.set('localhost', [...LOOPBACK])
  return hosts
}

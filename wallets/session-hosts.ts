/**
 * The hosts that Apple publishes for merchant sessions: the merchant identity is shown to no other.
 * https://developer.apple.com/documentation/applepayontheweb/setting-up-your-server lists the first four.
 * Earlier editions list the regional hosts too, which the SDK may still name in `validationURL`.
 */
export const SESSION_HOSTS: ReadonlySet<string> = new Set([
  'apple-pay-gateway.apple.com',
  'apple-pay-gateway-cert.apple.com',
  'cn-apple-pay-gateway.apple.com',
  'cn-apple-pay-gateway-cert.apple.com',
  ...regional('apple-pay-gateway-nc', 5),
  ...regional('apple-pay-gateway-pr', 5),
  ...regional('cn-apple-pay-gateway-sh', 3),
  ...regional('cn-apple-pay-gateway-tj', 3),
])

function regional(prefix: string, pods: number): string[] {
  return Array.from({ length: pods }, (_, index) => `${prefix}-pod${index + 1}`).flatMap((pod) => [
    `${pod}.apple.com`,
    `${pod}-dr.apple.com`,
  ])
}

/** Only the host of the URL is used: its caller is an untrusted browser (decisions 11). */
export function sessionHost(validationUrl: string): { readonly host: string } | { readonly problem: string } {
  const url = URL.parse(validationUrl)
  if (url === null) return { problem: 'must be an absolute URI' }
  if (url.protocol !== 'https:') return { problem: 'must begin with https://' }
  if (url.username !== '' || url.password !== '')
    return { problem: 'must not contain a user name or password' }
  if (url.port !== '') return { problem: 'must not contain a port other than 443' }
  if (!SESSION_HOSTS.has(url.hostname)) {
    return { problem: 'must be on a host that Apple Pay publishes for merchant sessions' }
  }
  return { host: url.hostname }
}

import { expect, test } from '@jest/globals'
import { SESSION_HOSTS, sessionHost } from '../../wallets/session-hosts.ts'

test('there are 36 hosts, all of them of Apple', () => {
  expect(SESSION_HOSTS.size).toBe(36)
  for (const host of SESSION_HOSTS)
    expect(host).toMatch(/^(cn-)?apple-pay-gateway(-[a-z0-9-]+)?\.apple\.com$/)
})

test.each([
  'apple-pay-gateway.apple.com',
  'apple-pay-gateway-cert.apple.com',
  'cn-apple-pay-gateway.apple.com',
  'cn-apple-pay-gateway-cert.apple.com',
  'apple-pay-gateway-nc-pod1.apple.com',
  'apple-pay-gateway-nc-pod5.apple.com',
  'apple-pay-gateway-pr-pod1.apple.com',
  'apple-pay-gateway-pr-pod5-dr.apple.com',
  'cn-apple-pay-gateway-sh-pod3.apple.com',
  'cn-apple-pay-gateway-tj-pod1-dr.apple.com',
])('%s is one of them, whatever the path', (host) => {
  for (const rest of ['', '/', '/paymentservices/startSession', ':443/paymentservices/paymentSession']) {
    expect(sessionHost(`https://${host}${rest}`)).toEqual({ host })
  }
  expect(sessionHost(`HTTPS://${host.toUpperCase()}/`)).toEqual({ host })
})

test.each([
  ['apple-pay-gateway.apple.com', 'must be an absolute URI'],
  ['//apple-pay-gateway.apple.com/', 'must be an absolute URI'],
  ['https://', 'must be an absolute URI'],
  ['http://apple-pay-gateway.apple.com/', 'must begin with https://'],
  ['ftp://apple-pay-gateway.apple.com/', 'must begin with https://'],
  ['file:///etc/passwd', 'must begin with https://'],
  ['https://user@apple-pay-gateway.apple.com/', 'must not contain a user name or password'],
  ['https://:pass@apple-pay-gateway.apple.com/', 'must not contain a user name or password'],
  ['https://apple-pay-gateway.apple.com@receiver.example/', 'must not contain a user name or password'],
  ['https://apple-pay-gateway.apple.com:8443/', 'must not contain a port other than 443'],
  ['https://apple-pay-gateway.apple.com:80/', 'must not contain a port other than 443'],
])('%s is refused: it %s', (url, problem) => {
  expect(sessionHost(url)).toEqual({ problem })
})

test.each([
  'https://apple.com/',
  'https://www.apple.com/',
  'https://apple-pay-gateway.apple.com.receiver.example/',
  'https://receiver.example/apple-pay-gateway.apple.com',
  'https://receiver.example#@apple-pay-gateway.apple.com/',
  'https://receiver.example\\.apple-pay-gateway.apple.com/',
  'https://xapple-pay-gateway.apple.com/',
  'https://x.apple-pay-gateway.apple.com/',
  'https://apple-pay-gateway.apple.com./',
  'https://apple-pay-gateway-nc-pod0.apple.com/',
  'https://apple-pay-gateway-nc-pod6.apple.com/',
  'https://cn-apple-pay-gateway-sh-pod4.apple.com/',
  'https://cn-apple-pay-gateway-nc-pod1.apple.com/',
  'https://apple-pay-gateway-internal.apple.com/',
  'https://17.171.78.7/',
  'https://127.0.0.1/',
  'https://[::1]/',
  'https://localhost/',
])('%s is refused: its host is not published', (url) => {
  expect(sessionHost(url)).toEqual({
    problem: 'must be on a host that Apple Pay publishes for merchant sessions',
  })
})

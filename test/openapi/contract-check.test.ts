import { describe, expect, test } from '@jest/globals'
import { openApiDocument } from '../../api/openapi.ts'
import { ROUTES } from '../../api/routes.ts'
import { contractProblem, eventContractProblem } from '../support/contract.ts'

const document = openApiDocument('https://billing.example', ROUTES) as unknown as {
  components: { examples: Record<string, { value: Record<string, unknown> }> }
  webhooks: Record<
    string,
    { post: { requestBody: { content: Record<string, { example: Record<string, unknown> }> } } }
  >
}
const example = (name: string) => document.components.examples[name]?.value ?? {}

const ORGANIZATION = '/organizations/org_1'
const RATE = {
  'x-ratelimit-limit': '3000',
  'x-ratelimit-remaining': '2999',
  ratelimit: '"default";r=2999;t=600',
  'ratelimit-policy': '"default";q=3000;w=600',
}
const respond = (
  request: string,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): string | null => {
  const [method = '', path = ''] = request.split(' ')
  return contractProblem({
    method,
    path: path.startsWith('/') ? path : `${ORGANIZATION}/${path}`,
    status,
    headers: new Headers({
      'request-id': '3f2c1b7e-6c0d-4c55-9a59-5b7f5f0b6a11',
      'content-type': status < 400 ? 'application/json; charset=utf-8' : 'application/problem+json',
      ...headers,
    }),
    text: body === undefined ? '' : JSON.stringify(body),
  })
}
const problem = (code: string, status: number) => ({
  type: `https://billing.example/problems/${code}`,
  title: 'A problem',
  status,
  detail: 'A detail.',
  instance: 'urn:request:1',
  code,
})

describe('the check of responses', () => {
  const customer = example('Customer')

  test('accepts what is documented', () => {
    expect(respond('GET customers/cus_1', 200, customer, { etag: '"3"' })).toBeNull()
    expect(respond('GET customers/cus_1/', 200, customer)).toBeNull()
    expect(respond('GET customers/cus_1?fields=id', 200, { id: 'cus_1' })).toBeNull()
    expect(respond('GET customers/cus_1', 304, undefined)).toBeNull()
    expect(respond('GET customers/cus_1', 404, problem('not-found', 404))).toBeNull()
    expect(respond('DELETE customers/cus_1', 204, undefined, RATE)).toBeNull()
    const location = { location: 'https://billing.example/customers/cus_1', ...RATE }
    expect(respond('POST customers', 201, customer, location)).toBeNull()
    expect(respond('GET /nowhere', 404, problem('not-found', 404))).toBeNull()
    expect(respond('PATCH customers/cus_1', 405, problem('method-not-allowed', 405))).toBeNull()
    expect(respond('GET /demo/anything', 200, 'a page')).toBeNull()
  })

  test.each([
    ['a status', () => respond('GET customers/cus_1', 418, problem('not-found', 418)), 'not documented'],
    ['a status of another method', () => respond('GET customers/cus_1', 201, customer), 'not documented'],
    ['a success of an unknown path', () => respond('GET /nowhere', 200, {}), 'not documented'],
    ['a missing member', () => respond('GET customers/cus_1', 200, { id: 'cus_1' }), 'required property'],
    [
      'an additional member',
      () => respond('GET customers/cus_1', 200, { ...customer, nickname: 'Ada' }),
      'additional properties',
    ],
    [
      'an additional member of an object inside',
      () => respond('GET customers/cus_1', 200, { ...customer, leadSource: { medium: 'search' } }),
      'does not match',
    ],
    ['a wrong type', () => respond('GET customers/cus_1', 200, { ...customer, revision: '3' }), 'integer'],
    [
      'a wrong time',
      () => respond('GET customers/cus_1', 200, { ...customer, createdTime: 'today' }),
      'format',
    ],
    ['an item of a list', () => respond('GET customers', 200, [{}], PAGE), 'required property'],
    ['a missing header', () => respond('GET customers', 200, []), 'Pagination-Total'],
    ['a header of a create', () => respond('POST customers', 201, customer, RATE), 'Location'],
    [
      'a header that is not documented',
      () => respond('GET customers/cus_1', 200, customer, { location: 'https://billing.example' }),
      'Location',
    ],
    [
      'a problem of another status',
      () => respond('GET customers/x', 404, problem('conflict', 404)),
      'allowed',
    ],
    [
      'another content type',
      () => respond('GET customers/cus_1', 200, customer, { 'content-type': 'text/html' }),
      'text/html',
    ],
    ['a body of nothing', () => respond('DELETE customers/cus_1', 204, {}, RATE), 'has a body'],
  ])('refuses %s', (_, check, reason) => {
    expect(check()).toContain(reason)
  })
})

const PAGE = { 'pagination-total': '1', 'pagination-limit': '100', 'pagination-offset': '0' }

describe('the check of events', () => {
  const sample =
    document.webhooks['dispute-created']?.post.requestBody.content['application/json']?.example ?? {}

  test('accepts what is documented', () => {
    expect(eventContractProblem('dispute-created', JSON.stringify(sample))).toBeNull()
  })

  test('refuses a missing member, an additional one, and a type that is not documented', () => {
    const check = (payload: object) => eventContractProblem('dispute-created', JSON.stringify(payload))
    expect(check({ ...sample, cause: undefined })).toContain('cause')
    expect(check({ ...sample, more: 1 })).toContain('more')
    expect(check({ ...sample, _embedded: {} })).toContain('dispute')
    expect(eventContractProblem('dispute-lost', '{}')).toContain('not documented')
  })
})

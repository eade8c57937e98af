/** RFC 8288. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pageHeaders } from '../../api/query/paging.ts'
import type { ApiResponse } from '../support/api-client.ts'
import { create } from '../support/create.ts'
import { startService, type TestService } from '../support/service.ts'

function offsets(link: string | null | undefined): Record<string, string | null> {
  return Object.fromEntries(
    [...(link ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, url = '', relation = '']) => [
      relation,
      new URL(url).searchParams.get('offset'),
    ]),
  )
}

describe('the links of a page', () => {
  const links = (total: number, limit: number, offset: number) =>
    offsets(pageHeaders({ total, limit, offset }, 'https://billing.example/x?sort=id').Link)

  test.each([
    ['the first of three', links(25, 10, 0), { first: '0', next: '10', last: '20' }],
    ['the second of three', links(25, 10, 10), { first: '0', prev: '0', next: '20', last: '20' }],
    ['the last of three', links(25, 10, 20), { first: '0', prev: '10', last: '20' }],
    ['the only one', links(10, 10, 0), { first: '0', last: '0' }],
    ['none at all', links(0, 10, 0), { first: '0', last: '0' }],
    ['one between pages', links(25, 10, 5), { first: '0', prev: '0', next: '15', last: '20' }],
    ['one behind the end', links(25, 10, 900), { first: '0', prev: '20', last: '20' }],
    ['no items', links(25, 0, 0), {}],
    ['the last that can be requested', links(5000, 100, 1000), { first: '0', prev: '900' }],
  ])('that is %s', (_, found, expected) => {
    expect(found).toEqual(expected)
  })

  test('keep the other parameters', () => {
    const { Link = '' } = pageHeaders({ total: 3, limit: 1, offset: 0 }, 'https://billing.example/x?q=a%20b')
    expect(Link).toContain('<https://billing.example/x?q=a+b&limit=1&offset=1>; rel="next"')
  })
})

test('the links of a long query are left out, because clients refuse large headers', () => {
  const headersOf = (length: number) =>
    pageHeaders({ total: 9, limit: 1, offset: 4 }, `https://billing.example/x?q=${'a'.repeat(length)}`)
  expect(Object.keys(offsets(headersOf(900).Link))).toEqual(['first', 'prev', 'next', 'last'])
  expect(headersOf(15_000)).toEqual({
    'Pagination-Total': '9',
    'Pagination-Limit': '1',
    'Pagination-Offset': '4',
  })
})

describe('a list', () => {
  let service: TestService

  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterAll(() => service.stop())

  test('takes a list of members as one parameter or as several', async () => {
    const { api } = await service.organization()
    await create(api, 'websites', { name: 'B', url: 'https://b.example' })
    await create(api, 'websites', { name: 'A', url: 'https://a.example' })
    const one = await api.get('websites?fields=name,url&sort=name,-id')
    const several = await api.get('websites?fields=name&fields=url&sort=name&sort=-id')
    expect(several.body).toEqual(one.body)
    expect(one.body).toEqual([
      { name: 'A', url: 'https://a.example' },
      { name: 'B', url: 'https://b.example' },
    ])
    expect((await api.get('websites?limit=1&limit=2')).status).toBe(400)
  })

  test('is read by a client with as long a query as a request can have', async () => {
    const { api } = await service.organization()
    const { status, headers } = await api.get(`websites?q=${'a'.repeat(15_000)}`)
    expect([status, headers.get('pagination-total'), headers.get('link')]).toEqual([200, '0', null])
  })

  test('can be read from link to link, and no item is missed', async () => {
    const { api, organizationId } = await service.organization()
    const made = []
    for (const name of ['A', 'B', 'C', 'D', 'E']) made.push((await create(api, 'websites', { name })).id)
    const read: unknown[] = []
    let next: string | undefined = `/organizations/${organizationId}/websites?limit=2&sort=name`
    while (next !== undefined) {
      const { body, headers }: ApiResponse<{ id: string }[]> = await api.get(next)
      read.push(...body.map(({ id }) => id))
      const link: string | undefined = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
      expect(link ?? service.baseUrl).toContain(service.baseUrl)
      next = link?.slice(service.baseUrl.length)
    }
    expect(read).toEqual(made)
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { ApiClient } from '../support/api-client.ts'
import { type Catalogue, catalogue } from '../support/catalogue.ts'
import { expectProblem } from '../support/expect-problem.ts'
import { startService, type TestService } from '../support/service.ts'

type Body = Record<string, unknown>

describe('tags', () => {
  let service: TestService
  let merchant: Catalogue
  let api: ApiClient

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '1000000' } })
    merchant = await catalogue(service)
    api = merchant.api
  })
  afterAll(() => service.stop())

  let made = 0
  const tag = async (name = `Tag ${++made}`): Promise<{ id: string; name: string }> => {
    const response = await api.post<{ id: string; name: string }>('tags', { name, type: 'customer' })
    expect({ name, status: response.status }).toEqual({ name, status: 201 })
    return response.body
  }
  const customer = async (): Promise<string> => String((await api.post('customers', {})).body.id)
  const read = async (id: string) => {
    const { tags, revision } = (await api.get<Body>(`customers/${id}`)).body
    return { tags: (tags as { name: string }[]).map(({ name }) => name), revision }
  }
  const send = (method: string, path: string, body?: object) =>
    api.send(method, path, {
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    })
  const eventsOf = async (id: string): Promise<Body[]> =>
    (
      await service.database.orm.em
        .fork()
        .getConnection()
        .execute<{ payload: string }[]>(
          `select payload from events where entity_id = ? and type = 'customer-updated' order by position`,
          [id],
        )
    ).map(({ payload }) => JSON.parse(payload))

  test('are created, read by id or name, listed, renamed and deleted', async () => {
    const response = await api.post<Body>('tags', { name: 'Big spender', type: 'customer' })
    const { id } = response.body
    const url = `${service.baseUrl}/organizations/${merchant.organizationId}/tags/${id}`
    expect(response.status).toBe(201)
    expect(response.headers.get('location')).toBe(url)
    expect(response.body).toEqual({
      id: expect.stringMatching(/^tag_/),
      name: 'Big spender',
      type: 'customer',
      revision: 1,
      createdTime: expect.stringMatching(/Z$/),
      updatedTime: response.body.createdTime,
      _links: [{ rel: 'self', href: url }],
    })
    for (const named of [id, 'Big%20spender', 'big%20SPENDER'])
      expect((await api.get(`tags/${named}`)).body).toEqual(response.body)
    expect((await api.get(`tags/${id}`, { 'If-None-Match': '"1"' })).status).toBe(304)
    expect((await api.get<Body[]>('tags?q=spender&filter=type:customer&sort=name')).body).toEqual([
      response.body,
    ])
    const renamed = await api.send<Body>('PATCH', 'tags/Big%20spender', {
      body: JSON.stringify({ ...response.body, name: 'Whale' }),
      headers: { 'Content-Type': 'application/json', 'If-Match': '"1"' },
    })
    expect(renamed).toMatchObject({ status: 200, body: { id, name: 'Whale', revision: 2 } })
    const same = await send('PATCH', 'tags/Whale', { name: 'Whale' })
    expect(same).toMatchObject({ status: 200, body: { revision: 2 } })
    expectProblem(await api.delete(`tags/${id}`, { 'If-Match': '"1"' }), 412, 'precondition-failed')
    expect((await api.delete(`tags/${id}`)).status).toBe(204)
    expectProblem(await api.get(`tags/${id}`), 404, 'not-found')
  })

  test.each<[string, { name?: string; type?: string }, string[]]>([
    ['no name', { type: 'customer' }, ['name']],
    ['an empty name', { name: '', type: 'customer' }, ['name']],
    ['no type', { name: 'x' }, ['type']],
    ['an unknown type', { name: 'x', type: 'order' }, ['type']],
    ['a type that is not supported yet', { name: 'x', type: 'kyc-document' }, ['type']],
  ])('%s: 422', async (_, body, fields) => {
    const response = await api.post('tags', body)
    expect(expectProblem(response, 422, 'validation-error')).toEqual(fields)
    if (body.type === 'kyc-document') expect(response.body.detail).toMatch(/not supported yet/)
  })

  test('have a name of their own, in any case, also when two are created at once', async () => {
    const [one, other] = [await tag(), await tag()]
    const again = await api.post('tags', { name: one.name.toUpperCase(), type: 'customer' })
    expect(expectProblem(again, 422, 'validation-error')).toEqual(['name'])
    const taken = await send('PATCH', `tags/${other.id}`, { name: one.name })
    expect(expectProblem(taken, 422, 'validation-error')).toEqual(['name'])
    const upper = await send('PATCH', `tags/${one.id}`, { name: one.name.toUpperCase() })
    expect(upper.status).toBe(200)
    const raced = await Promise.all(
      Array.from({ length: 4 }, () => api.post('tags', { name: 'Raced', type: 'customer' })),
    )
    expect(raced.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422])
  })

  test('keep their type: 409', async () => {
    const { id } = await tag()
    expectProblem(await send('PATCH', `tags/${id}`, { type: 'aml-check' }), 409, 'conflict')
  })

  test('are given to customers and taken from them, many at once', async () => {
    const { id, name } = await tag()
    const ids = [await customer(), await customer()]
    const untouched = await customer()
    const path = `tags/${id}/customers`
    const given = await send('POST', path, { customerIds: [...ids, ids[0]] })
    expect({ status: given.status, body: given.body }).toEqual({ status: 204, body: '' })
    for (const one of ids) expect(await read(one)).toEqual({ tags: [name], revision: 2 })
    expect(await read(untouched)).toEqual({ tags: [], revision: 1 })
    expect((await send('POST', path, { customerIds: ids })).status).toBe(204)
    expect(await read(ids[0] ?? '')).toEqual({ tags: [name], revision: 2 })
    expect((await send('DELETE', path, { customerIds: [ids[0], untouched] })).status).toBe(204)
    expect(await read(ids[0] ?? '')).toEqual({ tags: [], revision: 3 })
    expect(await read(ids[1] ?? '')).toEqual({ tags: [name], revision: 2 })
    expect(await read(untouched)).toEqual({ tags: [], revision: 1 })
    expect(await eventsOf(ids[0] ?? '')).toMatchObject([
      { _embedded: { customer: { revision: 2, tags: [{ id, name, type: 'customer' }] } } },
      { _embedded: { customer: { revision: 3, tags: [] } } },
    ])
  })

  test('are given to one customer by its path', async () => {
    const { id, name } = await tag()
    const one = await customer()
    for (const _ of [1, 2]) {
      expect((await send('POST', `tags/${encodeURIComponent(name)}/customers/${one}`)).status).toBe(204)
      expect(await read(one)).toEqual({ tags: [name], revision: 2 })
    }
    for (const _ of [1, 2]) {
      expect((await send('DELETE', `tags/${id}/customers/${one}`)).status).toBe(204)
      expect(await read(one)).toEqual({ tags: [], revision: 3 })
    }
  })

  test('of nobody: 404; to nobody: 422 for all, or 404 in a path', async () => {
    const { id } = await tag()
    const one = await customer()
    for (const [method, path, body] of [
      ['GET', 'tags/nothing'],
      ['PATCH', 'tags/nothing', { name: 'x' }],
      ['DELETE', 'tags/nothing'],
      ['POST', 'tags/nothing/customers', { customerIds: [one] }],
      ['DELETE', 'tags/nothing/customers', { customerIds: [one] }],
      ['POST', `tags/nothing/customers/${one}`],
      ['DELETE', `tags/nothing/customers/${one}`],
      ['POST', `tags/${id}/customers/nobody`],
      ['DELETE', `tags/${id}/customers/nobody`],
    ] as const) {
      expectProblem(await send(method, path, body), 404, 'not-found')
    }
    for (const method of ['POST', 'DELETE']) {
      const some = await send(method, `tags/${id}/customers`, { customerIds: [one, 'nobody'] })
      expect(expectProblem(some, 422, 'validation-error')).toEqual(['customerIds.1'])
      const none = await send(method, `tags/${id}/customers`, { customerIds: [] })
      expect(expectProblem(none, 422, 'validation-error')).toEqual(['customerIds'])
    }
    expect(await read(one)).toEqual({ tags: [], revision: 1 })
  })

  test('that are renamed or deleted are so in their customers, each a revision', async () => {
    const [first, second] = [await tag(), await tag()]
    const one = await customer()
    for (const { id } of [first, second]) await send('POST', `tags/${id}/customers/${one}`)
    await send('PATCH', `tags/${first.id}`, { name: 'Renamed' })
    expect(await read(one)).toEqual({ tags: ['Renamed', second.name], revision: 4 })
    await api.delete(`tags/${second.id}`)
    expect(await read(one)).toEqual({ tags: ['Renamed'], revision: 5 })
    await api.delete(`tags/${first.id}`)
    expect(await read(one)).toEqual({ tags: [], revision: 6 })
    // One act for any number of customers: the two are those that were tagged.
    expect(await eventsOf(one)).toHaveLength(2)
  })

  test('in any race a customer shows no tag that is gone, and each under its name', async () => {
    for (let round = 0; round < 8; round += 1) {
      const [kept, gone] = [await tag(), await tag()]
      const one = await customer()
      await Promise.all([
        send('POST', `tags/${kept.id}/customers/${one}`),
        send('PATCH', `tags/${kept.id}`, { name: `${kept.name} renamed` }),
        send('POST', `tags/${gone.id}/customers`, { customerIds: [one] }),
        api.delete(`tags/${gone.id}`),
        api.put(`customers/${one}`, { firstName: 'Ada' }),
      ])
      expect((await read(one)).tags).toEqual([`${kept.name} renamed`])
    }
  })

  test('of another organization are not there', async () => {
    const { id, name } = await tag()
    const other = await catalogue(service)
    for (const named of [id, encodeURIComponent(name)])
      expectProblem(await other.api.get(`tags/${named}`), 404, 'not-found')
    const foreign = await send('POST', `tags/${id}/customers`, { customerIds: [other.customerId] })
    // Its own organization has a customer of that id only by chance.
    expect(expectProblem(foreign, 422, 'validation-error')).toEqual(['customerIds.0'])
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { EntityManager } from '@mikro-orm/postgresql'
import { createRequestLog } from '../../../api/tracking/request-log.ts'
import type { TrackedRequest } from '../../../api/tracking/tracked-request.ts'
import { createLog } from '../../../config/log.ts'
import { newId } from '../../../db/new-id.ts'
import { startService, type TestService } from '../../support/service.ts'
import { waitFor } from '../../support/wait-for.ts'

describe('the queue of the log of requests', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterAll(() => service.stop())

  const logged: string[] = []
  const log = createLog('debug', { write: (line) => void logged.push(line) })
  const counter = () => {
    const dropped = {
      count: 0,
      inc(count = 1) {
        dropped.count += count
      },
    }
    return dropped
  }
  const em = (): EntityManager => service.database.orm.em.fork()
  const away = (): EntityManager => {
    throw Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' })
  }
  const requestOf = (organizationId: string, members: Partial<TrackedRequest> = {}): TrackedRequest => ({
    organization_id: organizationId,
    id: newId('req'),
    status: 200,
    url: 'https://api.example/',
    route: '/',
    method: 'GET',
    request: null,
    response: 'x'.repeat(100),
    request_headers: {},
    response_headers: {},
    api_key_id: 'api_key_1',
    user_id: null,
    ip_address: '127.0.0.1',
    user_agent: null,
    related_resource_ids: [],
    duration: 1,
    created_time: new Date().toISOString(),
    ...members,
  })
  const countOf = async (organizationId: string): Promise<number> => {
    const [row] = await em()
      .getConnection()
      .execute<{ count: number }[]>(
        'select count(*)::int as count from api_requests where organization_id = ?',
        [organizationId],
      )
    return row?.count ?? -1
  }

  test('writes many requests in few statements, each once', async () => {
    let statements = 0
    const dropped = counter()
    const requests = createRequestLog({
      em: () => {
        statements += 1
        return em()
      },
      log,
      dropped,
      interval: 10,
    })
    for (let index = 0; index < 450; index += 1) requests.add(requestOf('org_many'))
    await waitFor('all requests', async () => ((await countOf('org_many')) === 450 ? true : null))
    expect(statements).toBe(5)
    await requests.close()
    expect([await countOf('org_many'), dropped.count]).toEqual([450, 0])
  })

  test('drops and counts what exceeds its bounds, by number and by size', async () => {
    const dropped = counter()
    const bounds = { requests: 3, characters: 1_000 }
    const requests = createRequestLog({ em, log, dropped, interval: 60_000, bounds })
    for (let index = 0; index < 5; index += 1) requests.add(requestOf('org_bounded'))
    expect(dropped.count).toBe(2)
    await requests.close()
    requests.add(requestOf('org_bounded'))
    expect([await countOf('org_bounded'), dropped.count]).toEqual([3, 3])
    const large = createRequestLog({ em, log, dropped, interval: 60_000, bounds })
    large.add(requestOf('org_large', { request: 'x'.repeat(901) }))
    large.add(requestOf('org_large', { request: 'x'.repeat(900) }))
    await large.close()
    expect([await countOf('org_large'), dropped.count]).toEqual([1, 4])
  })

  test('keeps what waits while the database is away, and writes it when it is back', async () => {
    const dropped = counter()
    let isAway = true
    const requests = createRequestLog({ em: () => (isAway ? away() : em()), log, dropped, interval: 1 })
    requests.add(requestOf('org_patient'))
    await waitFor(
      'the failure',
      () => logged.find((line) => line.includes('cannot be written for now')) ?? null,
    )
    isAway = false
    requests.add(requestOf('org_patient'))
    await waitFor('both', async () => ((await countOf('org_patient')) === 2 ? true : null))
    expect(dropped.count).toBe(0)
    await requests.close()
  })

  test('drops what the database refuses, and goes on', async () => {
    const dropped = counter()
    const requests = createRequestLog({ em, log, dropped, interval: 60_000 })
    requests.add(requestOf('org_refused', { method: 'A METHOD OF TOO MANY LETTERS' }))
    for (let index = 0; index < 150; index += 1) requests.add(requestOf('org_refused'))
    await requests.close()
    expect([await countOf('org_refused'), dropped.count]).toEqual([51, 100])
  })

  test('does not wait at its end for a database that is away', async () => {
    const dropped = counter()
    const requests = createRequestLog({ em: away, log, dropped, interval: 60_000 })
    for (let index = 0; index < 150; index += 1) requests.add(requestOf('org_end'))
    const began = performance.now()
    await requests.close()
    expect(dropped.count).toBe(150)
    expect(performance.now() - began).toBeLessThan(1_000)
  })
})

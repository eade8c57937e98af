/** Connections that died in a transaction once stayed lent out: the pool ran dry and never closed. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { MikroORM } from '@mikro-orm/postgresql'
import { createOrderAdvancer } from '../../activities/advance-order.ts'
import { createQuarantine } from '../../activities/quarantine.ts'
import { problemOf } from '../../api/http/problems.ts'
import { createLog } from '../../config/log.ts'
import { isInfrastructureFailure } from '../../db/infrastructure-failure.ts'
import { activityDependencies } from '../support/activities.ts'
import { catalogue, orderBody } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ worker: false })
})
afterAll(() => service.stop())

test('more transactions than the pool has places may lose their connection, and the service goes on', async () => {
  const { api } = await service.organization()
  for (let died = 0; died < 20; died += 1) {
    const transaction = service.database.orm.em.fork().transactional(async (em) => {
      await em
        .getConnection()
        .execute('select pg_terminate_backend(pg_backend_pid())', [], 'run', em.getTransactionContext())
    })
    await expect(transaction).rejects.toThrow()
  }
  expect((await api.post('websites', { name: 'Still here' })).status).toBe(201)
})

/** After a failover: an address that still leads to the old primary, now a standby. */
async function makeReadOnly(orm: MikroORM, connections: number): Promise<void> {
  const met = Array.from({ length: connections }, () => Promise.withResolvers<void>())
  await Promise.all(
    met.map(async ({ resolve }) => {
      await orm.em.fork().transactional(async (em) => {
        const run = (sql: string) => em.getConnection().execute(sql, [], 'run', em.getTransactionContext())
        await run('set default_transaction_read_only = on')
        resolve()
        await Promise.all(met.map(({ promise }) => promise))
      })
    }),
  )
}

test('connections to a server that has become read-only are replaced, and requests on them are 503', async () => {
  const { api } = await service.organization()
  await makeReadOnly(service.apiDatabase.orm, 3)
  const statuses: number[] = []
  while (statuses.at(-1) !== 201 && statuses.length < 10) {
    const { status, headers } = await api.post('websites', { name: 'After a failover' })
    statuses.push(status)
    if (status !== 201) expect(headers.get('Retry-After')).toBe('5')
  }
  expect(statuses.slice(0, -1)).toContain(503)
  expect(new Set(statuses)).toEqual(new Set([503, 201]))
})

test('an order is not quarantined for a server that has become read-only', async () => {
  const merchant = await catalogue(service)
  const { body: order } = await merchant.api.post('subscriptions', orderBody(merchant))
  const em = () => service.database.orm.em.fork()
  const quarantines: string[] = []
  const quarantine = createQuarantine({
    em: () => service.apiDatabase.orm.em.fork(),
    log: createLog('silent'),
    now: Date.now,
    counter: { inc: ({ workflow }) => void quarantines.push(workflow) },
  })
  const orders = createOrderAdvancer({ ...activityDependencies(service), em, quarantine })
  const advance = () =>
    orders.advance({
      organizationId: merchant.organizationId,
      recordId: String(order.id),
      clock: Date.now(),
      base: null,
    })
  await makeReadOnly(service.database.orm, 1)
  await expect(advance()).rejects.toMatchObject({ code: '25006' })
  expect(quarantines).toEqual([])
  await advance()
  expect((await merchant.api.get(`subscriptions/${order.id}`)).body).toMatchObject({ status: 'active' })
})

test.each<[string, { readonly code?: string; readonly syscall?: string; readonly errors?: object[] }]>([
  ['a server that has become read-only', { code: '25006' }],
  ['files of the server that cannot be read', { code: '58030' }],
  ['a name that cannot be looked up', { code: 'EAI_AGAIN', syscall: 'getaddrinfo' }],
  ['a network that is away', { code: 'ENETUNREACH', syscall: 'connect' }],
  ['a socket that is not there', { code: 'ENOENT', syscall: 'connect' }],
  ['all addresses of a server that refuse', { errors: [{ code: 'ECONNREFUSED' }] }],
])('%s is a failure of the database to requests and to workers alike', (_, { errors, ...properties }) => {
  const of = (given: object) => Object.assign(new Error('given'), given)
  const error = errors === undefined ? of(properties) : new AggregateError(errors.map(of))
  expect(isInfrastructureFailure(error)).toBe(true)
  expect(problemOf(error)).toMatchObject({ code: 'unavailable', extras: { headers: { 'Retry-After': '5' } } })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { ApiClient } from '../support/api-client.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { type Call, titleOf } from './call.ts'
import { isAbsent, type Memory, makeCall } from './client.ts'
import { noFindings } from './comparison.ts'
import { DIFFERENCES } from './differences.ts'
import { OPERATIONS } from './facts.ts'
import type { Operation } from './operations.ts'
import { PENDING_OPERATIONS } from './pending.ts'
import { WRITE_ONLY } from './read-only.ts'
import type { ShapeName } from './shapes.ts'
import { SUITES } from './suites.ts'

const BUILT = SUITES.map(({ title, calls }) => ({
  title,
  calls: calls.filter(({ operation }) => !PENDING_OPERATIONS.has(operation)),
})).filter(({ calls }) => calls.length > 0)
const shown: Pick<Memory, 'findings' | 'notSupported'> = { findings: new Map(), notSupported: new Map() }

let service: TestService
let receiver: Receiver
beforeAll(async () => {
  // No operation needs a second connection while it has one.
  service = await startService({ apiPoolSize: 1 })
  receiver = await startReceiver()
})
afterAll(async () => {
  await receiver.close()
  await service.stop()
})

describe.each(BUILT)('$title', ({ calls }) => {
  let api: ApiClient
  let memory: Memory
  beforeAll(async () => {
    const organization = await service.organization()
    api = organization.api
    memory = {
      ...shown,
      records: {
        organization: { id: organization.organizationId },
        receiver: { id: new URL(receiver.url).hostname, url: receiver.url },
      },
    }
  })

  test.each(calls.map((call) => [titleOf(call), call] as const))(
    '%s: the response is what clients expect',
    async (_, call) => {
      expect(await makeCall(api, call, memory)).toEqual([])
    },
  )
})

describe('the operations', () => {
  let organizationId: string
  beforeAll(async () => {
    ;({ organizationId } = await service.organization())
  })

  test('each have a call, or a reason why this release lacks them', () => {
    const called = new Set(SUITES.flatMap(({ calls }) => calls.map(({ operation }) => operation)))
    const operations = Object.keys(OPERATIONS) as Operation[]
    expect(operations.length).toBeGreaterThan(250)
    expect(operations.filter((one) => !called.has(one) && !PENDING_OPERATIONS.has(one))).toEqual([])
  })

  test.each([...PENDING_OPERATIONS.keys()])('%s is not in this release', async (operation) => {
    expect(await isAbsent(service.baseUrl, organizationId, operation)).toBe(true)
  })

  test('one that exists is not taken for absent', async () => {
    expect(await isAbsent(service.baseUrl, organizationId, 'GET customers')).toBe(false)
    expect(await isAbsent(service.baseUrl, organizationId, 'PUT plans/{id}')).toBe(false)
    expect(await isAbsent(service.baseUrl, organizationId, 'GET organizations')).toBe(false)
    expect(await isAbsent(service.baseUrl, organizationId, 'PATCH organizations/{id}')).toBe(false)
  })
})

describe('what clients do not expect', () => {
  let memory: Memory
  let api: ApiClient
  beforeAll(async () => {
    const organization = await service.organization()
    api = organization.api
    memory = {
      records: { organization: { id: organization.organizationId } },
      findings: new Map(),
      notSupported: new Map(),
    }
  })

  test.each<[string, Call, string]>([
    ['a status', { operation: 'GET customers/{id}', of: ['=x'] }, 'returns 404 instead of 200: '],
    [
      'a value of another shape',
      { operation: 'GET status', shape: 'Transaction' },
      'returns status: "ok" is not ',
    ],
    ['an empty list', { operation: 'GET websites' }, 'is an empty list'],
    ['a refusal', { operation: 'POST customers', body: 'given', with: { emial: 'x' } }, 'refuses emial: '],
    [
      'no refusal',
      {
        operation: 'PATCH organizations/{id}',
        of: ['organization'],
        fromRoot: true,
        sends: 'Website',
        body: 'given',
        with: { settings: { billing: { pendingOrderTtl: 'P1D' } } },
      },
      'takes settings',
    ],
    ['a feature', { operation: 'POST customers', body: 'given', notYet: '' }, 'returns 201 instead of 422'],
    [
      'a query that is refused',
      { operation: 'DELETE customers/{id}', of: ['=x'], query: { colour: 'red' } },
      'refuses the query colour',
    ],
  ])('is noticed: %s', async (_, call, differs) => {
    expect(await makeCall(api, call, memory)).toContainEqual(expect.stringMatching(`^${differs}`))
  })
})

/** Asserted last: what all calls together have shown. */
describe('the shapes', () => {
  test('differ as DIFFERENCES says, and no more', () => {
    const names = [...new Set([...shown.findings.keys(), ...shown.notSupported.keys()])].toSorted()
    expect(names.length).toBeGreaterThan(40)
    expect(names.map((name) => [name, differencesOf(name)])).toEqual(
      names.map((name) => {
        const { notSupported = {}, notReturned = {}, otherwise = {} } = DIFFERENCES[name] ?? {}
        return [
          name,
          {
            notSupported: Object.keys(notSupported).toSorted(),
            notReturned: Object.keys(notReturned).toSorted(),
            otherwise: Object.keys(otherwise).toSorted(),
          },
        ]
      }),
    )
    expect(Object.keys(DIFFERENCES).filter((name) => !names.includes(name as ShapeName))).toEqual([])
  })
})

function differencesOf(name: ShapeName) {
  const { returned, notReturned, otherwise } = shown.findings.get(name) ?? noFindings()
  const writeOnly = WRITE_ONLY[name] ?? []
  return {
    notSupported: [...(shown.notSupported.get(name) ?? [])].toSorted(),
    notReturned: [...notReturned]
      .filter((path) => !returned.has(path) && !writeOnly.includes(path))
      .toSorted(),
    otherwise: [...otherwise.keys()].toSorted(),
  }
}

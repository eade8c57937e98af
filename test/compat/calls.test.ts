/** Every call of a client of this API family, against a real service: what works, and what this release lacks. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { ApiClient } from '../support/api-client.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { type Call, titleOf } from './call.ts'
import { isAbsent, type Memory, makeCall } from './client.ts'
import { noFindings } from './comparison.ts'
import { DIFFERENCES, type Differences } from './differences.ts'
import { OPERATIONS } from './facts.ts'
import type { Operation } from './operations.ts'
import { PENDING_OPERATIONS } from './pending.ts'
import { WRITE_ONLY } from './read-only.ts'
import { noRefused } from './refusals.ts'
import type { ShapeName } from './shapes.ts'
import { SUITES } from './suites.ts'

const BUILT = SUITES.map(({ title, calls }) => ({
  title,
  calls: calls.filter(({ operation }) => !PENDING_OPERATIONS.has(operation)),
})).filter(({ calls }) => calls.length > 0)
/** What all calls have shown of the shapes. */
const shown: Pick<Memory, 'findings' | 'refused'> = { findings: new Map(), refused: new Map() }

let service: TestService
let receiver: Receiver
beforeAll(async () => {
  service = await startService()
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
  })
})

describe('what clients do not expect', () => {
  let memory: Memory
  let api: ApiClient
  beforeAll(async () => {
    ;({ api } = await service.organization())
    memory = { records: {}, findings: new Map(), refused: new Map() }
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
    ['no refusal', { operation: 'POST customers', body: 'given', refuses: { email: '' } }, 'takes email'],
    ['a feature', { operation: 'POST customers', body: 'given', notYet: '' }, 'returns 201 instead of 422'],
    [
      'a query that is refused',
      { operation: 'DELETE customers/{id}', of: ['=x'], query: { colour: 'red' } },
      'refuses the query colour',
    ],
    ['a query that is taken', { operation: 'GET websites', withoutQuery: ['sort'] }, 'takes the query sort'],
  ])('is noticed: %s', async (_, call, differs) => {
    expect(await makeCall(api, call, memory)).toContainEqual(expect.stringMatching(`^${differs}`))
  })
})

/** Asserted last: what all calls together have shown. */
describe('the shapes', () => {
  const listed = Object.keys(DIFFERENCES) as ShapeName[]

  test('differ in nothing else', () => {
    const others = [...shown.findings.keys(), ...shown.refused.keys()].filter((one) => !listed.includes(one))
    expect(shown.findings.size).toBeGreaterThan(15)
    expect(others.map((name) => [name, differencesOf(name)])).toEqual(others.map((name) => [name, NONE]))
  })

  test.each(listed)('%s differs as DIFFERENCES says, and no more', (name) => {
    const { otherwise = {}, refuses = {}, ...rest } = DIFFERENCES[name] ?? {}
    expect(differencesOf(name)).toEqual(
      sorted({ ...rest, otherwise: Object.keys(otherwise), refuses: Object.keys(refuses) }),
    )
  })
})

type Lists = Record<keyof Differences, readonly string[]>
const NONE: Lists = {
  notSupported: [],
  missing: [],
  unknown: [],
  refuses: [],
  notReturned: [],
  otherwise: [],
}

function differencesOf(name: ShapeName): Lists {
  const { returned, notReturned, otherwise } = shown.findings.get(name) ?? noFindings()
  const { notSupported, unknown, refuses } = shown.refused.get(name) ?? noRefused()
  const writeOnly = WRITE_ONLY[name] ?? []
  const never = [...notReturned].filter((path) => !returned.has(path) && !writeOnly.includes(path))
  const missing = [...unknown].filter((path) => never.includes(path))
  return sorted({
    notSupported: [...notSupported],
    missing,
    unknown: [...unknown].filter((path) => !missing.includes(path)),
    refuses: [...refuses],
    notReturned: never.filter((path) => !missing.includes(path)),
    otherwise: [...otherwise.keys()],
  })
}

function sorted(given: Partial<Lists>): Lists {
  const { notSupported, missing, unknown, refuses, notReturned, otherwise } = { ...NONE, ...given }
  return {
    notSupported: notSupported.toSorted(),
    missing: missing.toSorted(),
    unknown: unknown.toSorted(),
    refuses: refuses.toSorted(),
    notReturned: notReturned.toSorted(),
    otherwise: otherwise.toSorted(),
  }
}

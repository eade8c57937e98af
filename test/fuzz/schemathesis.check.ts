/**
 * `npm run fuzz`, because it installs Schemathesis: needs Python with venv. No response may be 5xx, undocumented or
 * against its schema. `FUZZ_EXAMPLES` is the number of examples per operation.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { catalogue, orderBody } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'

/** Milliseconds. */
const TIMEOUT = 3_000_000
const EXAMPLES = process.env.FUZZ_EXAMPLES ?? '25'

/** They send requests elsewhere, or wait for a worker that does not run here. */
const ELSEWHERE = 'PostWebhookPreview|(Post|Put|Patch)GatewayAccount.*|PostSubscriptionFastForward'
/** They end or restrict the key of the requests, which Schemathesis finds in responses: what follows would be 401. */
const ON_KEYS = '(Put|Patch|Delete)ApiKey'
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
].join(',')

interface Parameter {
  name?: string
  schema?: object
}
interface Schema {
  properties?: Record<string, Schema>
  [keyword: string]: unknown
}
interface Document {
  webhooks?: object
  paths: Record<string, Record<string, { parameters?: Parameter[]; responses: Record<string, unknown> }>>
  components: { parameters: Record<string, Parameter>; schemas: Record<string, Schema> }
}

describe('requests made from the document', () => {
  let service: TestService
  let directory: string
  let keys: Readonly<Record<'secret' | 'publishable', string>>
  let document: Document
  let organizationId: string

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'billing-fuzz-'))
    service = await startService({
      worker: false,
      settings: { RATE_LIMIT: '10000000', READ_RATE_LIMIT: '10000000' },
    })
    const merchant = await catalogue(service)
    const order = await merchant.api.post('subscriptions', orderBody(merchant))
    keys = { secret: merchant.secretKey, publishable: merchant.publishableKey }
    document = (await merchant.api.get<Document>('/openapi.json')).body
    const { customerId, websiteId, planId } = merchant
    organizationId = merchant.organizationId
    withKnownIds(
      document,
      { customerId, websiteId, planId, subscriptionId: String(order.body.id) },
      organizationId,
    )
    await run('python3', '-m', 'venv', 'venv')
    await run(join(directory, 'venv/bin/python'), '-m', 'pip', 'install', '--quiet', 'schemathesis==4.32.5')
  }, TIMEOUT)
  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true })
    await service.stop()
  })

  const run = (command: string, ...args: string[]): Promise<{ failed: boolean; output: string }> =>
    new Promise((resolve) => {
      execFile(command, args, { cwd: directory, maxBuffer: 1e9 }, (error, stdout, stderr) =>
        resolve({ failed: error !== null, output: `${stdout}${stderr}` }),
      )
    })
  const fuzz = async (described: Document, ...options: string[]) => {
    writeFileSync(join(directory, 'openapi.json'), JSON.stringify(described))
    const result = await run(
      join(directory, 'venv/bin/st'),
      'run',
      'openapi.json',
      `--url=${service.baseUrl}`,
      `--checks=${CHECKS}`,
      '--phases=examples,coverage,fuzzing',
      '--suppress-health-check=all',
      '--generation-deterministic',
      '--warnings=off',
      '--continue-on-failure',
      '--no-color',
      ...options,
    )
    const cases = [...result.output.matchAll(/(\d+) generated/g)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    )
    const faults = service.log.filter((line) => /"level":"?(50|error)/.test(line)).slice(0, 10)
    console.log([`${cases} cases`, ...faults, result.output.slice(-6_000)].join('\n'))
    return { ...result, cases }
  }

  const excluding = (...names: string[]) => `--exclude-operation-id-regex=^(${names.join('|')})$`
  const isSecretKeyAlive = async () => {
    const headers = { 'SVC-APIKEY': keys.secret }
    return (
      (await fetch(`${service.baseUrl}/organizations/${organizationId}/plans`, { headers })).status === 200
    )
  }

  test(
    'are found out by a document that does not hold',
    async () => {
      const wrong = structuredClone(document)
      const path = '/organizations/{organizationId}/websites/{id}'
      delete wrong.paths[path]?.get?.responses['404']
      const { Website } = wrong.components.schemas
      if (Website?.properties !== undefined) Website.properties.name = { type: 'integer' }
      const { failed, output } = await fuzz(
        wrong,
        '--include-operation-id=GetWebsite',
        '--max-examples=50',
        `--header=SVC-APIKEY:${keys.secret}`,
      )
      expect(failed).toBe(true)
      expect(output).toContain('Undocumented status code')
      expect(output).toContain('Response violates schema')
    },
    TIMEOUT,
  )

  test.each([
    ['a secret key', () => [excluding(ELSEWHERE, ON_KEYS), `--header=SVC-APIKEY:${keys.secret}`], 5_000],
    ['a publishable key', () => [excluding(ELSEWHERE), `--header=Authorization:${keys.publishable}`], 500],
    ['no key', () => [excluding(ELSEWHERE), '--generation-with-security-parameters=false'], 500],
  ])(
    'with %s have documented responses',
    async (_, options, least) => {
      const { failed, output, cases } = await fuzz(document, `--max-examples=${EXAMPLES}`, ...options())
      expect({ failed, output: failed ? output.slice(-20_000) : '' }).toEqual({ failed: false, output: '' })
      expect(cases).toBeGreaterThan(least)
      expect(await isSecretKeyAlive()).toBe(true)
    },
    TIMEOUT,
  )

  test(
    'on keys have documented responses, also once their own has ended',
    async () => {
      const { failed, output } = await fuzz(
        document,
        `--include-operation-id-regex=^(${ON_KEYS})$`,
        `--max-examples=${EXAMPLES}`,
        `--header=SVC-APIKEY:${keys.secret}`,
      )
      expect({ failed, output: failed ? output.slice(-20_000) : '' }).toEqual({ failed: false, output: '' })
    },
    TIMEOUT,
  )
})

/**
 * Ids are mostly those of records that exist, so that requests get beyond "not found". Without `fields`: a part of a
 * record does not have what its schema requires.
 */
function withKnownIds(
  document: Document,
  ids: Readonly<Record<string, string>>,
  organizationId: string,
): void {
  delete document.webhooks
  const { OrganizationId } = document.components.parameters
  if (OrganizationId !== undefined) OrganizationId.schema = { type: 'string', enum: [organizationId] }
  for (const [path, methods] of Object.entries(document.paths)) {
    const [, group = ''] = /^\/organizations\/\{organizationId\}\/([a-z-]+)s\/\{id\}/.exec(path) ?? []
    const known = ids[`${group}Id`]
    for (const operation of Object.values(methods)) {
      operation.parameters = operation.parameters?.filter(({ name }) => name !== 'fields') ?? []
      for (const parameter of operation.parameters)
        if (known !== undefined && parameter.name === 'id')
          parameter.schema = { type: 'string', enum: [known, 'nobody', 'a@b~c'] }
    }
  }
  for (const [name, { properties = {} }] of Object.entries(document.components.schemas)) {
    if (!name.endsWith('Body')) continue
    for (const [member, id] of Object.entries(ids))
      if (properties[member]?.type !== undefined) properties[member] = { type: 'string', enum: [id] }
    const plan = name === 'SubscriptionItemPlanBody' ? properties.id : undefined
    if (plan !== undefined) properties.id = { type: 'string', enum: [ids.planId] }
  }
}

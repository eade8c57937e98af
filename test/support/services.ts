/** The local services of a test run, passed from the global set-up to test files by the environment. */

export interface TestServices {
  readonly adminUrl: string
  /** A migrated database that each test file clones. */
  readonly templateName: string
  readonly temporalAddress: string
  readonly namespace: string
  readonly bundlePath: string
}

const VARIABLE = 'BILLING_TEST_SERVICES'

export function publishServices(services: TestServices): void {
  process.env[VARIABLE] = JSON.stringify(services)
}

export function testServices(): TestServices {
  const text = process.env[VARIABLE]
  if (text === undefined) throw new Error('the global set-up has not run')
  return JSON.parse(text) as TestServices
}

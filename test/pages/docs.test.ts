import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { ROUTES } from '../../api/routes.ts'
import { type Browser, startBrowser } from '../support/browser.ts'
import { startService, type TestService } from '../support/service.ts'

/** The reference is a large page, and two test files share the cores. Milliseconds. */
const TIMEOUT = 90_000

describe('the reference', () => {
  let service: TestService
  let browser: Browser | null = null

  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterEach(async () => {
    const { asked = [], complaints = [] } = browser ?? {}
    await browser?.close()
    browser = null
    const elsewhere = asked.filter(
      (url) => !url.startsWith(`${service.baseUrl}/`) && !url.startsWith('data:'),
    )
    expect({ elsewhere, complaints }).toEqual({ elsewhere: [], complaints: [] })
    expect(asked.some((url) => url.endsWith('/openapi.json'))).toBe(true)
  })
  afterAll(() => service.stop())

  const open = async (options: Parameters<typeof startBrowser>[0] = {}, width = 1280): Promise<Page> => {
    browser = await startBrowser(options)
    const page = await browser.page()
    page.setDefaultTimeout(TIMEOUT)
    await page.setViewportSize({ width, height: 900 })
    await page.goto(`${service.baseUrl}/docs`)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    return page
  }
  const style = async (page: Page, property: string): Promise<string> =>
    String(await page.evaluate(`getComputedStyle(document.body)['${property}']`))
  const brightness = (color: string) =>
    (color.match(/\d+/g) ?? []).slice(0, 3).reduce((sum, part) => sum + Number(part), 0)

  test('shows the introduction, every resource, and an operation with its example', async () => {
    const page = await open({ colorScheme: 'light' })
    expect(await page.getByRole('heading', { level: 1 }).first().textContent()).toContain(
      'Subscription Billing Service API',
    )
    for (const name of ['Organization', 'Customers', 'Subscriptions', 'Webhooks', 'Service'])
      expect(await page.getByText(name, { exact: true }).count()).toBeGreaterThan(0)
    await page.getByText('Customers', { exact: true }).first().click()
    const listed = ROUTES.filter(({ path }) => path.startsWith('customers'))
    for (const { summary } of listed) await page.getByText(summary, { exact: true }).first().waitFor()
    await page.getByText('Create a customer', { exact: true }).first().click()
    await page.getByText('Idempotency-Key', { exact: true }).first().waitFor()
    await page.getByText('"ada@example.com"').first().waitFor()
    expect(page.url()).toContain('/docs#/customers/')
  }, 200_000)

  test('is dark where the reader prefers it', async () => {
    const page = await open({ colorScheme: 'dark' })
    expect(brightness(await style(page, 'backgroundColor'))).toBeLessThan(200)
    expect(brightness(await style(page, 'color'))).toBeGreaterThan(400)
  }, 200_000)

  test('fits a phone, with its menu', async () => {
    const page = await open({}, 390)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    expect(await page.getByText('Plans', { exact: true }).first().isVisible()).toBe(false)
  }, 200_000)
})

describe('what the reference is loaded with', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ worker: false, settings: { ENVIRONMENT: 'live' } })
  })
  afterAll(() => service.stop())

  test.each(['/docs', '/docs/redoc.js'])(
    '%s permits no script but its own, and no other host',
    async (path) => {
      const response = await fetch(`${service.baseUrl}${path}`)
      expect(response.status).toBe(200)
      const policy = response.headers.get('content-security-policy') ?? ''
      expect(policy).toContain(
        "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'",
      )
      expect(policy).not.toMatch(/https?:|unsafe-eval|\*/)
      const text = await response.text()
      expect(text).not.toContain('cdn.redoc.ly')
    },
  )

  test('the page names no host', async () => {
    expect(await (await fetch(`${service.baseUrl}/docs`)).text()).not.toMatch(
      /(src|href|url)="(https?:)?\/\//,
    )
  })
})

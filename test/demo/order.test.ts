import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { type Browser, startBrowser } from '../support/browser.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { startService, type TestService } from '../support/service.ts'
import { contrasts } from './legibility.ts'

describe('the order demo', () => {
  let service: TestService
  let merchant: Catalogue
  let browser: Browser
  let page: Page
  let id: string

  beforeAll(async () => {
    service = await startService()
    merchant = await catalogue(service)
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  const field = (name: string) => page.getByRole('textbox', { name, exact: true })
  const open = (fragment = `#organization=${merchant.organizationId}&key=${merchant.secretKey}`) =>
    page.goto(`${service.baseUrl}/demo/orders/${id}${fragment}`)
  const fact = (name: string) => page.locator(`dt:text-is("${name}") + dd`)

  beforeEach(async () => {
    id = String((await merchant.api.post('subscriptions', orderBody(merchant))).body.id)
    page = await browser.page()
  })
  afterEach(async () => {
    await page.close()
    const elsewhere = browser.asked.filter(
      (url) => !url.startsWith(`${service.baseUrl}/`) && url !== 'data:,',
    )
    expect(elsewhere).toEqual([])
  })

  test('shows the order with its invoices and timeline to whoever gives organization and key', async () => {
    await open('')
    expect(await page.getByRole('region', { name: 'The order' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Show the order' }).click()
    expect(await field('Organization').getAttribute('aria-invalid')).toBe('true')
    await field('Organization').fill(merchant.organizationId)
    await page.getByLabel('Secret key').fill(merchant.secretKey)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'The order' }).waitFor()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(`Order ${id}`)
    expect(['pending', 'active']).toContain(await fact('Status').textContent())
    expect(await page.getByRole('table', { name: 'Invoices' }).getByRole('row').count()).toBe(2)
    await page.reload()
    await page.getByRole('region', { name: 'The order' }).waitFor()
    expect(browser.complaints).toEqual([])
  })

  test("moves the order's clock and shows what happened until then", async () => {
    await open()
    await page.getByRole('button', { name: 'Look again' }).waitFor()
    await page.waitForFunction(
      () =>
        document.querySelector('dd')?.textContent === 'active' || document.getElementById('refresh')?.click(),
    )
    await page.getByRole('button', { name: '31 days on' }).click()
    expect(await field('Move it to').inputValue()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    await page.getByRole('button', { name: 'Move the clock' }).click()
    await page
      .getByRole('status')
      .filter({ hasText: 'The clock has been moved.' })
      .waitFor({ timeout: 30_000 })
    expect(await fact('Period').textContent()).toBe('2')
    expect(await page.getByRole('table', { name: 'Invoices' }).getByRole('row').count()).toBe(3)
    expect(await page.locator('#timeline li').count()).toBeGreaterThan(3)
    expect(await page.locator('#now').textContent()).toContain('ahead of real time')

    await field('Move it to').fill('2020-01-31')
    await page.getByRole('button', { name: 'Move the clock' }).click()
    await page.getByRole('alert').filter({ hasText: 'Validation failed' }).waitFor()
    expect(await page.locator('#to-message').textContent()).toContain('must not be before')
    expect(await field('Move it to').getAttribute('aria-invalid')).toBe('true')
    await field('Move it to').fill('tomorrow')
    await page.getByRole('button', { name: 'Move the clock' }).click()
    expect(await page.locator('#to-message').textContent()).toContain('Write it as')
  })

  test('keeps the key in this tab alone, and takes none of live', async () => {
    await open()
    await page.getByRole('region', { name: 'The order' }).waitFor()
    expect(page.url()).toBe(`${service.baseUrl}/demo/orders/${id}`)
    expect(browser.asked.join('\n')).not.toContain(merchant.secretKey)
    expect(await page.evaluate(() => localStorage.length + document.cookie.length)).toBe(0)
    await page.getByLabel('Secret key').fill('sk_live_something')
    expect(await page.locator('#key-message').textContent()).toContain('sk_sandbox_')
    await page.getByLabel('Secret key').fill('sk_sandbox_nobody')
    await page.getByRole('button', { name: 'Show the order' }).click()
    await page.getByRole('alert').filter({ hasText: 'Unauthorized' }).waitFor()
  })

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 320],
  ] as const)('is legible in %s at %i pixels, without scrolling sideways', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    await open()
    await page.getByRole('region', { name: 'The order' }).waitFor()
    const { poorest, overflow } = await page.evaluate(contrasts)
    expect(poorest.ratio).toBeGreaterThanOrEqual(4.5)
    expect(overflow).toBeLessThanOrEqual(0)
  })

  test('is there in the sandbox only, and holds nothing of any order', async () => {
    const live = await startService({
      worker: false,
      settings: { ENVIRONMENT: 'live', TEMPORAL_ADDRESS: '127.0.0.1:1', WEBHOOK_ALLOWED_CIDRS: '' },
    })
    expect((await fetch(`${live.baseUrl}/demo/orders/${id}`)).status).toBe(404)
    await live.stop()
    const [one, other] = await Promise.all(
      [id, 'nothing'].map(async (order) => (await fetch(`${service.baseUrl}/demo/orders/${order}`)).text()),
    )
    expect(one).toBe(other)
  })
})

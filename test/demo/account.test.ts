import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { type Browser, startBrowser } from '../support/browser.ts'
import { filesWithCardData } from '../support/card-data.ts'
import { type Catalogue, catalogue, orderBody } from '../support/catalogue.ts'
import { create } from '../support/create.ts'
import { startService, type TestService } from '../support/service.ts'
import { contrasts } from './legibility.ts'

const PASSWORD = ' a Secret with spaces '
const PAN = '4242424242424242'
const TYPED = /4242 ?4242 ?4242 ?4242/

describe('the account demo', () => {
  let service: TestService
  let merchant: Catalogue
  let browser: Browser
  let page: Page
  let username: string
  let orderId: string
  let count = 0

  beforeAll(async () => {
    service = await startService({ worker: false, settings: { RATE_LIMIT: '100000' } })
    merchant = await catalogue(service)
    const { id } = await create(merchant.api, 'subscriptions', orderBody(merchant))
    orderId = String(id)
    await service.database.orm.em
      .fork()
      .getConnection()
      .execute("update invoices set status = 'unpaid', issued_time = '2026-01-31T09:00:00Z'")
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  const field = (name: string) => page.getByLabel(name, { exact: true })
  const table = (name: string) => page.getByRole('table', { name })
  const account = () => page.getByRole('region', { name: 'Your account' })
  const open = (fragment = `#organization=${merchant.organizationId}&key=${merchant.publishableKey}`) =>
    page.goto(`${service.baseUrl}/demo/account${fragment}`)
  const signIn = async (password = PASSWORD) => {
    await field('Username').fill(username)
    await field('Password').fill(password)
    await page.keyboard.press('Enter')
  }
  const seen = () =>
    page.evaluate(() => JSON.stringify([location.href, { ...sessionStorage }, document.cookie]))

  beforeEach(async () => {
    count += 1
    username = `ada.${count}@example.com`
    const { customerId } = merchant
    await create(merchant.api, 'credentials', { username, password: PASSWORD, customerId })
    page = await browser.page()
  })
  afterEach(async () => {
    await page.close()
    const elsewhere = browser.asked.filter(
      (url) => !url.startsWith(`${service.baseUrl}/`) && url !== 'data:,',
    )
    expect(elsewhere).toEqual([])
  })

  test('shows a customer who signs in the own orders and invoices, and adds a card', async () => {
    await open()
    expect(await account().count()).toBe(0)
    await signIn()
    await account().waitFor()
    expect(await page.getByRole('status').textContent()).toBe('You are signed in.')
    expect(await page.locator('dt:text-is("Name") + dd').textContent()).toBe('Ada')
    expect(await table('Orders').getByRole('row').nth(1).textContent()).toContain(orderId)
    const invoice = await table('Invoices').getByRole('row').nth(1).textContent()
    expect(invoice).toContain('2026-01-31 09:00:00')
    expect(invoice).toContain('€9.90')
    expect(await table('Cards').getByRole('row').count()).toBe(1)

    await page.getByRole('button', { name: 'Use a test card' }).click()
    await page.getByRole('button', { name: 'Add the card' }).click()
    await page.getByRole('status').filter({ hasText: 'Visa ending in 1111 was added.' }).waitFor()
    expect(await table('Cards').getByRole('row').nth(1).textContent()).toContain('…1111')
    expect(await field('Card number').inputValue()).toBe('')
    const cards = await merchant.api.get<object[]>(
      `payment-instruments?filter=customerId:${merchant.customerId}`,
    )
    expect(cards.body).toEqual([expect.objectContaining({ last4: '1111', status: 'active' })])
    expect(browser.complaints).toEqual([])
  })

  test('forgets everything when the customer signs out, or the page is left', async () => {
    await open()
    await signIn()
    await account().waitFor()
    expect(await seen()).not.toMatch(/eyJ|Secret/)
    await page.getByRole('button', { name: 'Sign out' }).click()
    expect(await account().count()).toBe(0)
    expect(await page.locator('#orders tr, #invoices tr, #cards tr, #facts dd').count()).toBe(0)
    expect(await field('Password').inputValue()).toBe('')
    expect(await field('Username').evaluate((input) => input === document.activeElement)).toBe(true)
    await signIn()
    await account().waitFor()
    await page.goto(`${service.baseUrl}/docs`)
    await page.goBack()
    expect(await account().count()).toBe(0)
    await page.waitForFunction(
      (id) => [...document.querySelectorAll('input')].some(({ value }) => value === id),
      merchant.organizationId,
    )
  })

  test('says that username or password is wrong, and when there were too many attempts', async () => {
    await open()
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await signIn(`wrong ${attempt}`)
      await page.getByRole('alert').filter({ hasText: 'The username or the password is wrong.' }).waitFor()
      await page.locator('#submit:not([aria-busy])').waitFor()
    }
    await signIn()
    await page.getByRole('alert').filter({ hasText: 'Too many requests' }).waitFor()
    expect(await account().count()).toBe(0)
  })

  test('sends nothing while a field is empty or holds a secret key, and keeps no secret key', async () => {
    await open('')
    const before = browser.asked.length
    await page.getByRole('button', { name: 'Sign in' }).click()
    for (const name of ['Organization', 'Publishable key', 'Username', 'Password']) {
      expect(await field(name).getAttribute('aria-invalid')).toBe('true')
    }
    await field('Publishable key').fill(merchant.secretKey)
    await page.keyboard.press('Enter')
    expect(await page.locator('#key-message').textContent()).toContain('must never reach a browser')
    expect(await seen()).not.toContain('sk_')
    expect(browser.asked.slice(before)).toEqual([])
  })

  test('ends with the session: a new password signs the customer out', async () => {
    await open()
    await signIn()
    await account().waitFor()
    const listed = await merchant.api.get<{ id: string; username: string }[]>('credentials')
    const own = listed.body.find((one) => one.username === username)
    const changed = { ...own, password: 'another' }
    expect((await merchant.api.put(`credentials/${own?.id}`, changed)).status).toBe(200)
    await page.getByRole('button', { name: 'Use a test card' }).click()
    await page.getByRole('button', { name: 'Add the card' }).click()
    await page.getByRole('alert').filter({ hasText: 'Unauthorized' }).waitFor()
    expect(await account().count()).toBe(0)
    expect(await page.locator('#number').inputValue()).toBe('')
  })

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 320],
  ] as const)('is legible in %s at %i pixels, without scrolling sideways', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    await open()
    await field('Publishable key').fill('sk_')
    const before = await page.evaluate(contrasts)
    await field('Publishable key').fill(merchant.publishableKey)
    await signIn()
    await account().waitFor()
    for (const { poorest, overflow } of [before, await page.evaluate(contrasts)]) {
      expect(poorest.ratio).toBeGreaterThanOrEqual(4.5)
      expect(overflow).toBeLessThanOrEqual(0)
    }
  })

  test('is there in the sandbox only, holds no data, and forbids what the other pages forbid', async () => {
    const live = await startService({
      worker: false,
      settings: { ENVIRONMENT: 'live', TEMPORAL_ADDRESS: '127.0.0.1:1', WEBHOOK_ALLOWED_CIDRS: '' },
    })
    expect((await fetch(`${live.baseUrl}/demo/account`)).status).toBe(404)
    await live.stop()
    const [one, other] = await Promise.all(
      ['account', 'checkout'].map((name) => fetch(`${service.baseUrl}/demo/${name}`)),
    )
    expect(one?.status).toBe(200)
    const policy = one?.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toBe(other?.headers.get('content-security-policy'))
  })

  test('leaves no digit of a card and no password in storage, history, profile or logs', async () => {
    await open()
    await signIn()
    await account().waitFor()
    await field('Card number').fill(PAN)
    await field('Expiry month').fill('12')
    await field('Expiry year').fill('90')
    await page.getByRole('button', { name: 'Add the card' }).click()
    await page.getByRole('status').filter({ hasText: 'was added' }).waitFor()
    expect(browser.asked.join('\n')).not.toMatch(/4242 ?4242|Secret|eyJ/)
    await browser.quit()
    expect(filesWithCardData(browser.profile, TYPED)).toEqual([])
    expect(service.log.join('')).not.toContain(PASSWORD)
  })
})
